"""An in-memory `ProcessLauncher`: each process is a script, an async function, on bounded in-memory pipes.

Works under a MockClock, without real I/O. Its end goes through the real ladder of the process guard, so that
steps, order and bounds are those of production.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs
import trio

from supervisor.process_guard.ladder import end
from supervisor.process_guard.port import (
    ChildInputClosed,
    CloseFailed,
    ExitStatus,
    LadderTimes,
    LaunchRequest,
    ProtocolClose,
)
from tests.doubles.virtual_time import pass_time

PIPE_BYTES = 64 * 1024
TERM, KILL = 15, 9


class Pipe:
    """One direction, bounded like the kernel's: a writer waits while it is full, a reader while it is empty."""

    def __init__(self, capacity: int = PIPE_BYTES) -> None:
        self.capacity = capacity
        self.bytes_written = 0
        self.reader_closed = False
        self._data = bytearray()
        self._ended = False
        self._changed = trio.Event()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def write(self, data: bytes) -> None:
        await trio.lowlevel.checkpoint()
        rest = memoryview(data)
        while rest:
            if self.reader_closed:
                raise ChildInputClosed("nobody reads")
            if self._ended:
                raise trio.ClosedResourceError("this end was closed")
            room = self.capacity - len(self._data)
            if room <= 0:
                await self._changed.wait()
                continue
            self._data += rest[:room]
            self.bytes_written += min(room, len(rest))
            rest = rest[room:]
            self._wake()

    async def read(self, max_bytes: int) -> bytes:
        await trio.lowlevel.checkpoint()
        while not self._data:
            if self.reader_closed:
                raise trio.ClosedResourceError("this end was closed")
            if self._ended:
                return b""
            await self._changed.wait()
        data = bytes(self._data[:max_bytes])
        del self._data[:max_bytes]
        self._wake()
        return data

    def end(self) -> None:
        """The writer is gone."""
        self._ended = True
        self._wake()

    def close_reader(self) -> None:
        self.reader_closed = True
        self._wake()


@attrs.define
class Sink:
    pipe: Pipe

    async def write(self, data: bytes) -> None:
        await self.pipe.write(data)

    def close(self) -> None:
        self.pipe.end()


@attrs.define
class Source:
    pipe: Pipe

    async def read(self, max_bytes: int) -> bytes:
        return await self.pipe.read(max_bytes)

    def close(self) -> None:
        self.pipe.close_reader()


class Died(Exception):
    """Raised by a script: end by this signal."""

    def __init__(self, signal: int) -> None:
        self.signal = signal


@attrs.define(eq=False)
class Agent:
    """What a script sees of its own process."""

    request: LaunchRequest
    stdin: Pipe
    stdout: Pipe
    stderr: Pipe
    ignores_term: bool = False
    leaves_pipes_open: bool = False
    """Somebody who outlives the process holds its output pipes."""
    cannot_be_killed: bool = False
    _line: bytes = b""

    async def read_line(self) -> str | None:
        """The next line of stdin without its end; None at the end of input."""
        while b"\n" not in self._line:
            data = await self.stdin.read(PIPE_BYTES)
            if not data:
                return None
            self._line += data
        line, _, self._line = self._line.partition(b"\n")
        return line.decode()

    async def say(self, *lines: str) -> None:
        await self.stdout.write("".join(line + "\n" for line in lines).encode())


Script = Callable[[Agent], Awaitable[int | None]]


class ScriptedProcess:
    """`ProcessHandle` (and `EndableProcess`) around one running script."""

    def __init__(self, pid: int, request: LaunchRequest, agent: Agent) -> None:
        self.label = request.label
        self.pid, self.reaper_pid = pid, pid + 1
        self.agent = agent
        self.stdin, self.stdout, self.stderr = Sink(agent.stdin), Source(agent.stdout), Source(agent.stderr)
        self.exited: ExitStatus | None = None
        self.signals: list[int] = []
        self.closes = 0
        self._scope = trio.CancelScope()
        self._over = trio.Event()
        self._closing = trio.Lock()

    async def run(self, script: Script) -> None:
        code: int | None = None
        with self._scope:
            try:
                code = await script(self.agent) or 0
            except Died as death:
                self.exited = ExitStatus(signal=death.signal)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                code = 1  # a write to a pipe nobody reads
        if self.exited is None:
            self.exited = ExitStatus(code=code) if code is not None else ExitStatus(signal=self.signals[-1])
        self.agent.stdin.close_reader()
        if not self.agent.leaves_pipes_open:
            self._end_output()
        self._over.set()

    def _end_output(self) -> None:
        self.agent.stdout.end()
        self.agent.stderr.end()

    async def wait(self) -> ExitStatus:
        await self._over.wait()
        assert self.exited is not None
        return self.exited

    def terminate(self) -> None:
        self._signal(TERM, resisted=self.agent.ignores_term)

    def kill_tree(self) -> None:
        self._signal(KILL, resisted=self.agent.cannot_be_killed)
        if not self.agent.cannot_be_killed:
            self._end_output()

    def _signal(self, number: int, *, resisted: bool) -> None:
        if self.exited is None:
            self.signals.append(number)
            if not resisted:
                self._scope.cancel()

    async def tree_ended(self) -> bool:
        await self._over.wait()
        return True

    async def end_without_reaper(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._over.wait()
            return
        raise CloseFailed(self.label, (self.pid,))

    async def close(self, times: LadderTimes, protocol_close: ProtocolClose | None = None) -> ExitStatus:
        self.closes += 1
        with trio.CancelScope(shield=True):
            async with self._closing:
                try:
                    await end(self, times, protocol_close)
                finally:
                    for stream in (self.stdin, self.stdout, self.stderr):
                        stream.close()
        assert self.exited is not None
        return self.exited


class ScriptedLauncher:
    """Launches scripts.

    Args:
        nursery: where the scripts run; it outlives every connection, as the operating system does.
        script: what each process does, unless `scripts` still holds one for the next launch.
    """

    def __init__(self, nursery: trio.Nursery, script: Script) -> None:
        self.script = script
        self.scripts: list[Script] = []
        self.launch_seconds = 0.0
        self.fault: Exception | None = None
        self.processes: list[ScriptedProcess] = []
        self.attempts = 0
        self.on_launch: Callable[[], None] = lambda: None
        self.nursery = nursery

    @property
    def living(self) -> list[ScriptedProcess]:
        return [process for process in self.processes if process.exited is None]

    async def launch(self, request: LaunchRequest) -> ScriptedProcess:
        self.attempts += 1
        self.on_launch()
        await pass_time(self.launch_seconds)
        if self.fault is not None:
            raise self.fault
        agent = Agent(request, Pipe(), Pipe(), Pipe())
        process = ScriptedProcess(1000 + 10 * len(self.processes), request, agent)
        self.processes.append(process)
        script = self.scripts.pop(0) if self.scripts else self.script
        self.nursery.start_soon(process.run, script)
        return process
