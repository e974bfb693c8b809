"""How Claude Code is run here: folders of its own, a loopback model in place of an account.

Owns the target entry. Nothing of the person who runs the tests reaches Claude Code, the key is a word, and whatever would
leave the machine meets a closed port.
"""

from pathlib import Path

from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Json

TARGET = "claude"
MODEL = "claude-sonnet-4-5"
SHELL_TOOL = "Bash"
QUESTION_TOOL = "AskUserQuestion"
PLAN_TOOL = "ExitPlanMode"
AGENT_TOOL = "Agent"
_CLOSED_PORT = "http://127.0.0.1:9"


def claude_target(command: list[str], home: Path, model: ModelServer | None, **changes: object) -> Json:
    """The `[[targets]]` entry."""
    environment = claude_environment(home, model)
    return {"id": TARGET, "provider": "claude", "command": command, "env": environment, **changes}


def claude_environment(home: Path, model: ModelServer | None) -> dict[str, str]:
    """What keeps it here: its own home, its model, and nothing else to reach."""
    home.mkdir(parents=True, exist_ok=True)
    url = model.url.removesuffix("/v1") if model is not None else _CLOSED_PORT
    return {
        "CLAUDE_CONFIG_DIR": str(home / "configuration"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_MODEL": MODEL,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "HTTPS_PROXY": _CLOSED_PORT,
        "NO_PROXY": "127.0.0.1",
    }


def tool_calls(messages: list[Json]) -> list[Json]:
    """The calls among messages."""
    return [message["toolCall"] for message in messages if message["kind"] == "tool_call"]


def configuration_files(home: Path) -> set[str]:
    """The files that Claude Code keeps of what it is used for here, but for the marks of its own housekeeping."""
    kept = home / "configuration"
    files = {path.relative_to(kept) for path in kept.rglob("*") if path.is_file()}
    return {str(file) for file in files if file.name != ".last-cleanup" and file.parts[0] != "backups"}


def written_below(home: Path, words: str) -> list[str]:
    """The files in which these words stand."""
    named = words.encode()
    return [str(path) for path in home.rglob("*") if path.is_file() and named in path.read_bytes()]
