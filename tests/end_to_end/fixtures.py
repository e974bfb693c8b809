"""The daemon most tests share, and clients of it. One process for the whole run: each test has its own workspace."""

import base64
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from runtime.providers.demo import demo_command
from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon

Connect = Callable[..., AbstractAsyncContextManager[Client]]
MakeDaemon = Callable[..., Daemon]

CANCEL_GRACE_SECONDS = 1
TOKENS = {
    "reader": {"scope": "read"},
    "worker": {"scope": "control"},
    "tenant": {"scope": "control", "workspaces": ["tenant-1", "tenant-2"]},
    "rooted": {"scope": "control", "roots": ["ROOT"]},
    "careful": {"scope": "control", "maxEffect": "edits"},
}
"""Further tokens of the shared daemon; `ROOT` is a folder below its own."""
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}
"""The headers with which a client asks for the WebSocket."""
_numbers = count(1)


def agent(identifier: str, folder: Path, **environment: str) -> dict[str, Any]:
    """A target that runs the demo agent with some of its `DEMO_*` behaviours, and notes what it is told."""
    return {
        "id": identifier,
        "provider": "acp",
        "command": demo_command(str(folder / "agents")),
        "env": {"DEMO_LOG": str(folder / f"{identifier}.jsonl"), **environment},
    }


def shared_settings(folder: Path) -> dict[str, Any]:
    """The configuration of the shared daemon: an agent for each way of starting, a token for each scope."""
    (folder / "root").mkdir(parents=True, exist_ok=True)
    tokens = []
    for name, token in TOKENS.items():
        token_file = folder / f"{name}.token"
        token_file.write_text(token_of(name))
        token_file.chmod(0o600)
        roots = {"roots": [str(folder / "root")]} if "roots" in token else {}
        tokens.append({"name": name, "tokenFile": str(token_file), **token, **roots})
    return {
        "limits": {
            "cancelGraceSeconds": CANCEL_GRACE_SECONDS,
            "checkpointSeconds": 0.5,
            "settingsTimeoutSeconds": 1,
        },
        "targets": [
            agent("logged", folder),
            agent("slow", folder, DEMO_STARTUP_MS="1000"),
            agent("deaf", folder, DEMO_NO_INITIALIZE="1"),
            agent("sign-in", folder, DEMO_NEEDS_SIGN_IN="1"),
            agent("forgetful", folder, DEMO_NO_LOAD="1"),
            agent("blind", folder, DEMO_NO_IMAGES="1"),
            agent("stiff", folder, DEMO_NO_SETTINGS="1"),
            agent("broken", folder, DEMO_EXIT_CODE="3"),
            {"id": "missing", "provider": "acp", "command": ["no-such-agent-program"]},
            {**agent("disabled", folder), "enabled": False},
        ],
        "tokens": tokens,
    }


def token_of(name: str) -> str:
    """A further token, as its file holds it."""
    return base64.urlsafe_b64encode(f"token of the {name}, for tests".encode()).decode().rstrip("=")


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The shared one. After the last test it stops cleanly, has logged no error and leaves no process."""
    folder = tmp_path_factory.mktemp("daemon")
    shared = Daemon(folder, shared_settings(folder))
    yield from running(shared)


@pytest.fixture
def make_daemon(tmp_path: Path) -> Iterator[MakeDaemon]:
    """Makes daemons with a configuration of their own, started unless told otherwise; all ended with the test."""
    made: list[Daemon] = []

    def make(settings: dict[str, Any] | None = None, *, start: bool = True, **options: Any) -> Daemon:
        one = Daemon(tmp_path / f"daemon-{len(made)}", settings or {}, **options)
        made.append(one)
        if start:
            one.start()
        return one

    yield make
    for one in made:
        one.end()


@pytest.fixture
def workspace() -> str:
    """A workspace nobody else uses."""
    return f"w{next(_numbers)}"


@pytest.fixture
def connect(daemon: Daemon) -> Connect:
    """Connects further clients to the shared daemon."""
    return partial(connected, daemon)


@pytest.fixture
async def client(connect: Connect, workspace: str) -> AsyncIterator[Client]:
    """A client that follows the test's workspace."""
    async with connect() as one:
        await one.subscribe(workspace)
        yield one


def running(one: Daemon) -> Iterator[Daemon]:
    """Runs a daemon for as long as a fixture lives; then it stops cleanly, has logged no error and leaves no process."""
    one.start()
    try:
        yield one
        if one.running:
            assert one.stop() == 0, one.log_tail()
        errors = [line for line in one.log_lines() if line.get("level") in ("error", "critical")]
        assert not errors, errors
    finally:
        one.end()
