"""Agents that misbehave, frames that no directive sends, and looks at the agents' processes from outside."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from supervisor.process_guard.process_table import kill_exact, read_row
from tests.end_to_end.client import Json
from tests.end_to_end.daemon import Daemon, poll_until
from tests.end_to_end.fixtures import agent
from tests.end_to_end.talk import Talk

CANCEL_GRACE_SECONDS = 1
INITIALIZE_SECONDS = 4
FOREIGN_ENVIRONMENT = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_SSE_PORT": "1",
    "CODEX_SANDBOX": "seatbelt",
    "CODEX_THREAD_ID": "foreign",
    "GREENROOM_TOKEN": "hush",
    "API_KEY": "hush",
    "LC_TIME": "C",
    "INHERITED": "yes",
}
"""What the daemon is started with by an agent: a few marks of that agent, a few secrets, and little of use (FC-51)."""
ODD_FAULTS = (
    "floods before it shakes hands",
    "wrong version",
    "refuses to shake hands",
    "shakes hands with nothing",
    "opens nothing",
    "ends when asked to open",
    "opens without a name",
    "ends without a newline",
    "ends in the middle of a frame",
    "closes its output",
    "gives no reason",
    "gives an odd reason",
    "answers with nothing",
    "fails without words",
    "fails oddly",
)
BANNER = "Welcome back\n\n\x1b[32magent\x1b[0m is ready"


def troubled_settings(folder: Path) -> dict[str, Any]:
    """The configuration of the shared daemon: a target for each kind of agent that starts in some way of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    unexecutable = folder / "unexecutable-agent"
    unexecutable.write_text("#!/bin/sh\nexit 0\n")
    unexecutable.chmod(0o600)
    return {
        "inheritEnv": ["INHERITED", "CLAUDECODE"],
        "limits": {
            "cancelGraceSeconds": CANCEL_GRACE_SECONDS,
            "initializeTimeoutSeconds": INITIALIZE_SECONDS,
        },
        "targets": [
            agent("logged", folder),
            agent("banner", folder, DEMO_BANNER=BANNER),
            agent("slow", folder, DEMO_STARTUP_MS="1500"),
            agent("deaf", folder, DEMO_NO_INITIALIZE="1"),
            agent("broken", folder, DEMO_EXIT_CODE="3"),
            agent("replaying", folder, DEMO_NO_RESUME="1"),
            agent("forgetful", folder, DEMO_NO_LOAD="1"),
            agent("stubborn", folder, DEMO_STUBBORN="1"),
            *(odd_agent(fault) for fault in ODD_FAULTS),
            {"id": "missing", "provider": "acp", "command": ["no-such-agent-program"]},
            {"id": "unexecutable", "provider": "acp", "command": [str(unexecutable)]},
        ],
    }


def odd_agent(fault: str) -> dict[str, Any]:
    """The target of an agent with one fault that no directive has."""
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("odd_agent.py")), fault]
    return {"id": fault.replace(" ", "-"), "provider": "acp", "command": command}


# --- frames -------------------------------------------------------------------------------------------------------


def raw(frame: Json | str, *, escaped: bool = False) -> str:
    """The directive that puts this on a line of its own: characters beyond ASCII as they are, unless `escaped`."""
    text = frame if isinstance(frame, str) else json.dumps({"jsonrpc": "2.0", **frame}, ensure_ascii=escaped)
    return f"[[garbage {text.replace(']]', '] ]')}]]"


def update(talk: Talk, sort: str, /, *, escaped: bool = False, **members: Any) -> str:
    """The directive that sends this `session/update` of the conversation, which has to be open."""
    params = {"sessionId": conversation(talk), "update": {"sessionUpdate": sort, **members}}
    return raw({"method": "session/update", "params": params}, escaped=escaped)


def permission(
    talk: Talk, request_id: str, options: list[Json], *, escaped: bool = False, **call: Any
) -> str:
    """The directive that asks for permission, whatever comes of it."""
    params = {"sessionId": conversation(talk), "toolCall": call, "options": options}
    return raw({"id": request_id, "method": "session/request_permission", "params": params}, escaped=escaped)


def conversation(talk: Talk) -> str:
    """The agent's own id of it; known once the first turn has begun."""
    rows = talk.client.rows("session", agentSessionId=talk.session_id)
    return str(rows[-1]["providerSessionId"])


def said(talk: Talk, text: str, **members: Any) -> str:
    """The directive that sends a piece of text, characters beyond ASCII as they are and not as escapes."""
    return update(talk, "agent_message_chunk", content={"type": "text", "text": text}, **members)


def heard(daemon: Daemon, target: str) -> list[Json]:
    """Every whole frame that agents of a target have read, as they noted it (`DEMO_LOG`)."""
    log = daemon.folder / f"{target}.jsonl"
    lines = log.read_bytes().splitlines() if log.exists() else []
    return [frame for line in lines if (frame := _frame(line)) is not None]


def _frame(line: bytes) -> Json | None:
    try:
        return dict(json.loads(line))
    except ValueError:
        return None  # its writer was killed in the middle of it


# --- processes ----------------------------------------------------------------------------------------------------


def processes_of(daemon: Daemon, talk: Talk) -> list[int]:
    """Living processes that work in the directory of this session: its agent, and what that started."""
    return [pid for pid in daemon.providers() if _cwd(pid) == talk.created["session"]["cwd"]]


def agent_of(daemon: Daemon, talk: Talk) -> int:
    """The process of this session's agent: a demo agent below a reaper, where orphans of others may be too."""
    below = [
        pid for pid in processes_of(daemon, talk) if command_name(parent_of(pid)).startswith("greenroom")
    ]
    found = [pid for pid in below if b"runtime.providers.demo" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(found) == 1, found
    return found[0]


def parent_of(pid: int) -> int:
    row = read_row(pid)
    return 0 if row is None else row.parent_pid


def command_name(pid: int) -> str:
    """What `ps` shows; empty when there is no such process."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def gone(daemon: Daemon, talk: Talk, seconds: float = 6.0) -> bool:
    """Whether the agent of this session has ended within that time, with everything it started."""
    return poll_until(lambda: not processes_of(daemon, talk), seconds)


def kill(pid: int) -> None:
    """As the kernel does when memory runs out."""
    row = read_row(pid)
    assert row is not None, f"{pid} has ended already"
    kill_exact(row.identity)


def reset_peak(pid: int) -> None:
    """Forget the highest memory use so far."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def memory_bytes(pid: int, which: str) -> int:
    """`VmRSS`, what is used now, or `VmHWM`, the most that was used."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{which}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"the kernel does not tell {which}")


def _cwd(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None  # ended meanwhile
