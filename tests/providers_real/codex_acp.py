"""How the real agent is run here: its own configuration folder, a loopback model in place of an account.

Owns the target entry and the folder it names. Nothing of the person who runs the tests reaches the agent: home and
settings are scratch folders, the key is a word, and whatever would leave the machine meets a closed port.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import trio

from supervisor.process_guard.process_table import kill_exact, read_row
from tests.doubles.model_server import ModelRequest, ModelServer
from tests.end_to_end.daemon import Daemon

TARGET = "codex-acp"
RECORDED = "codex-acp-recorded"
SHELL_TOOL = "exec_command"
MODEL = "gpt-5.2"
"""One whose properties the agent knows by itself; of others it warns within its answer."""
LOOK_SECONDS = 0.02
WAIT_SECONDS = 15.0

_SETTINGS = """\
model = "{model}"
model_provider = "loopback"
approval_policy = "untrusted"
sandbox_mode = "danger-full-access"

[model_providers.loopback]
name = "Loopback"
base_url = "{url}"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
request_max_retries = 0
stream_max_retries = 0
"""
_CLOSED_PORT = "http://127.0.0.1:9"
_RECORDER = Path(__file__).with_name("frame_recorder.py")


def codex_target(
    program: str, folder: Path, model: ModelServer, *, record_in: Path | None = None
) -> dict[str, Any]:
    """The `[[targets]]` entry; `folder` becomes the agent's own. With `record_in` every frame is kept in that file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(_SETTINGS.format(model=MODEL, url=model.url))
    recorder = [sys.executable, str(_RECORDER), str(record_in)] if record_in else []
    return {
        "id": RECORDED if record_in else TARGET,
        "provider": "acp",
        "command": [*recorder, program],
        "env": {
            "CODEX_HOME": str(folder),
            "LOOPBACK_KEY": "dummy",
            "HTTPS_PROXY": _CLOSED_PORT,
            "NO_PROXY": "127.0.0.1",
        },
    }


def recorded_frames(file: Path) -> list[dict[str, Any]]:
    """What daemon and agent said to each other so far; the last line may still be on its way."""
    whole = file.read_text().rpartition("\n")[0] if file.exists() else ""
    return [json.loads(line) for line in whole.splitlines()]


async def eventually(condition: Any, what: str, seconds: float = WAIT_SECONDS) -> Any:
    """What `condition` gives once something outside this process made it true."""
    with trio.move_on_after(seconds):
        while True:
            if found := condition():
                return found
            await trio.sleep(LOOK_SECONDS)
    raise AssertionError(f"waited {seconds} s for {what}")


async def holding(model: ModelServer, name: str) -> ModelRequest:
    """The request in which the model has come to this hold."""
    found: ModelRequest = await eventually(
        lambda: next((each for each in model.requests if each.holding == name), None), f"the hold {name}"
    )
    return found


EXAMINATION_WORDS = frozenset({"--version", "generate-json-schema"})


def _words_of(pid: int) -> frozenset[str]:
    try:
        return frozenset(Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0"))
    except OSError:
        return frozenset()


def agents(daemon: Daemon, program: str) -> list[int]:
    """The living agent processes of that daemon: neither those that only say what they are, nor an agent's own forks,
    which look like it until they become the command they were made for."""
    found = [pid for pid in daemon.providers() if _program_of(pid) == os.path.realpath(program)]
    parents = {pid: row.parent_pid for pid in found if (row := read_row(pid)) is not None}
    return [
        pid
        for pid, parent in parents.items()
        if parent not in parents and not EXAMINATION_WORDS & _words_of(pid)
    ]


def commands(daemon: Daemon, name: str) -> list[int]:
    """The living processes of that name that agents of that daemon started."""
    return [pid for pid in daemon.providers() if os.path.basename(_program_of(pid) or "") == name]


def kill_agent(pid: int) -> None:
    """SIGKILL to exactly this process, as the system does that has no memory left."""
    row = read_row(pid)
    assert row is not None, f"{pid} is gone already"
    kill_exact(row.identity)


def _program_of(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None  # ended meanwhile
