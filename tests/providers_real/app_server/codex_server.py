"""How codex app-server is run here: a home of its own, a loopback model in place of an account.

Owns the target entry and the home it names. Nothing of the person who runs the tests reaches Codex, and whatever would
leave the machine meets a closed port.
"""

import json
from pathlib import Path
from typing import Any

from tests.doubles.model_server import ModelRequest, ModelServer
from tests.end_to_end.client import Json

TARGET = "codex"
SHELL_TOOL = "exec_command"
PATCH_TOOL = "apply_patch"
QUESTION_TOOL = "request_user_input"
ASKING = {"approvalPolicy": "untrusted", "sandbox": "danger-full-access"}
"""Settings of a session whose commands are asked for; without a sandbox, which not every machine can have."""
FREE = {"approvalPolicy": "never", "sandbox": "danger-full-access"}

CONFIGURATION = """\
model = "gpt-5.5"
model_provider = "loopback"
sandbox_mode = "danger-full-access"
approval_policy = "never"
check_for_update_on_startup = false
cli_auth_credentials_store = "file"

[model_providers.loopback]
name = "Loopback"
base_url = "{url}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[analytics]
enabled = false

[feedback]
enabled = false

[history]
persistence = "none"

[features]
default_mode_request_user_input = true
plugins = false
apps = false
remote_plugin = false
"""
_CLOSED_PORT = "http://127.0.0.1:9"


def codex_server(program: str, home: Path, model: ModelServer, configuration: str = CONFIGURATION) -> Json:
    """The `[[targets]]` entry. What the configuration of Codex allows is more than any session asks for."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(configuration.replace("{url}", model.url))
    return {
        "id": TARGET,
        "provider": "codex",
        "command": [program, "app-server"],
        "env": {"CODEX_HOME": str(home), "HTTPS_PROXY": _CLOSED_PORT, "NO_PROXY": "127.0.0.1"},
    }


def sandbox_told(request: ModelRequest) -> str:
    """The sandbox Codex worked in, as it told its model."""
    told: dict[str, Any] = json.loads(request.body["client_metadata"]["x-codex-turn-metadata"])
    return str(told["sandbox_mode"])


def tool_calls(messages: list[Json]) -> list[Json]:
    """The calls among messages."""
    return [message["toolCall"] for message in messages if message["kind"] == "tool_call"]
