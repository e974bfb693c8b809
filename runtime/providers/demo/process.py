"""The demo agent as a program: one loop over stdin and the clock, the only place of it that does I/O.

Owns the pipes, the environment and what happens to the process. It imports little, because it has to start fast.
"""

# ruff: noqa: PTH123 - pathlib alone would add a third to the time this program takes to start

import os
import select
import sys
import time
from collections.abc import Mapping

from runtime.providers.demo.actions import (
    Action,
    CloseInput,
    DemoSettings,
    Die,
    Exit,
    Repeat,
    ScriptedAgent,
    Spawn,
    WakeAt,
    Write,
)
from runtime.providers.demo.agent import DemoAgent
from runtime.providers.demo.files import FileStore

LIFETIME_SECONDS = 600.0
"""A stubborn agent, one with a closed input, or a grandchild lives no longer than this on its own."""

_READ_BYTES = 65536
_STDIN, _STDOUT, _STDERR = 0, 1, 2


def main() -> None:
    """Run until stdin ends; see docs/demo-agent.md for arguments and environment."""
    environment = os.environ
    if exit_code := environment.get("DEMO_EXIT_CODE"):
        os._exit(int(exit_code))
    stubborn = environment.get("DEMO_STUBBORN") == "1"
    if stubborn:
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    folder = sys.argv[sys.argv.index("--state") + 1] if "--state" in sys.argv[:-1] else ""
    folder = folder or environment.get("DEMO_STATE", "")
    store = FileStore(folder) if folder else None
    agent = DemoAgent(settings_of(environment), store)
    loop = AgentLoop(
        agent, stubborn, environment.get("DEMO_LOG", ""), int(environment.get("DEMO_READ_RATE", "0"))
    )
    try:
        if banner := environment.get("DEMO_BANNER"):
            _write(_STDOUT, banner.encode("utf-8", "replace") + b"\n")
        loop.run()
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    if stubborn:
        time.sleep(LIFETIME_SECONDS)
    os._exit(0)


def settings_of(environment: Mapping[str, str]) -> DemoSettings:
    """The settings that the environment asks for."""
    return DemoSettings(
        identity=os.urandom(6).hex(),
        startup_seconds=int(environment.get("DEMO_STARTUP_MS", "0")) / 1000,
        answers_initialize=environment.get("DEMO_NO_INITIALIZE") != "1",
        protocol_version=int(environment.get("DEMO_PROTOCOL_VERSION", "1")),
        loads=environment.get("DEMO_NO_LOAD") != "1",
        resumes=environment.get("DEMO_NO_RESUME") != "1",
        takes_images=environment.get("DEMO_NO_IMAGES") != "1",
        needs_sign_in=environment.get("DEMO_NEEDS_SIGN_IN") == "1",
        answers_settings=environment.get("DEMO_NO_SETTINGS") != "1",
    )


class AgentLoop:
    """Plays an agent over this process's own pipes."""

    def __init__(
        self, agent: ScriptedAgent, stubborn: bool = False, log_path: str = "", read_rate: int = 0
    ) -> None:
        self._agent = agent
        self._stubborn = stubborn
        self._log_path = log_path
        self._read_rate = read_rate
        """Bytes a second to read at most; 0 for as fast as they come."""
        self._wake_at: float | None = None
        self._open = True
        self._ends_at = 0.0

    def run(self) -> None:
        """Until the input ends, or the agent does."""
        poll = select.poll()
        poll.register(_STDIN, select.POLLIN)
        held = b""
        while self._open or time.monotonic() < self._ends_at:
            if poll.poll(self._wait_milliseconds()) if self._open else self._sleep():
                data = self._read()
                if not data:
                    self._input_ended()
                    poll = select.poll()
                *lines, held = (held + data).split(b"\n")
                for line in lines:
                    self._log(line)
                    if line.strip():
                        self._perform(self._agent.receive(line, time.monotonic()))
            if self._wake_at is not None and time.monotonic() >= self._wake_at:
                self._perform(self._agent.wake(time.monotonic()))

    def _wait_milliseconds(self) -> float | None:
        return None if self._wake_at is None else max(0.0, (self._wake_at - time.monotonic()) * 1000)

    def _sleep(self) -> bool:
        """The input is closed: only timers are left, and an end of it all."""
        until = self._ends_at if self._wake_at is None else min(self._wake_at, self._ends_at)
        time.sleep(max(0.0, until - time.monotonic()))
        return False

    def _read(self) -> bytes:
        if not self._read_rate:
            return os.read(_STDIN, _READ_BYTES)
        time.sleep(0.05)
        return os.read(_STDIN, max(1, self._read_rate // 20))

    def _input_ended(self) -> None:
        if not self._stubborn:
            self._perform(self._agent.end_of_input(time.monotonic()))
        self._close_input()

    def _close_input(self) -> None:
        self._open = False
        self._ends_at = time.monotonic() + LIFETIME_SECONDS

    def _perform(self, actions: list[Action]) -> None:
        self._wake_at = None
        for action in actions:
            match action:
                case Write(data, piecewise):
                    size = 1 if piecewise else len(data)
                    for start in range(0, len(data), size):
                        _write(_STDOUT, data[start : start + size])
                case Repeat(data, times, to_stderr):
                    for _ in range(times):
                        _write(_STDERR if to_stderr else _STDOUT, data)
                case WakeAt(when):
                    self._wake_at = when
                case Spawn():
                    _spawn(action)
                case CloseInput():
                    os.close(_STDIN)
                    self._close_input()
                case Exit(code):
                    os._exit(code)
                case Die():
                    os.kill(os.getpid(), 9)

    def _log(self, line: bytes) -> None:
        if self._log_path:
            with open(self._log_path, "ab") as file:
                file.write(line + b"\n")


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _spawn(action: Spawn) -> None:
    """A grandchild that sleeps, with the agent's pipes still open in it, as careless tools leave them."""
    pid = os.fork()
    if pid:
        if action.pid_file:
            with open(action.pid_file, "a", encoding="utf-8") as file:
                file.write(f"{pid}\n")
        return
    if action.own_session:
        os.setsid()
    if action.stubborn:
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(LIFETIME_SECONDS)
    os._exit(0)
