"""One agent process of the simulated world: an agent in memory behind three pipes, with a fate drawn at its birth.

It implements the process guard's `ProcessHandle`, and its orderly end goes through the guard's own ladder, so steps,
order and bounds are those of production.
"""

import math
import random
from typing import Protocol

import attrs
import trio

from runtime.providers.demo.actions import (
    Action,
    CloseInput,
    Die,
    Exit,
    Repeat,
    ScriptedAgent,
    Spawn,
    WakeAt,
    Write,
)
from runtime.simulation.pipes import Pipe, Weather
from supervisor.process_guard.ladder import end
from supervisor.process_guard.port import (
    ChildInputClosed,
    CloseFailed,
    ExitStatus,
    LadderTimes,
    ProtocolClose,
)

KILLED, TERMINATED = 9, 15
_READ_BYTES = 65536
_FLOOD_TIMES_MAX = 8
"""A flood is cut short: it shows the same bounds with fewer bytes."""


class Surroundings(Protocol):
    """What a process has around it."""

    @property
    def chance(self) -> random.Random:
        """Where its own chances come from."""

    def told(self, pid: int, line: bytes) -> None:
        """It has read a line."""

    def noise(self) -> bytes | None:
        """What it says between its frames."""

    def struck(self, fault: str) -> None:
        """Its fate has struck."""


@attrs.frozen(kw_only=True)
class AgentFate:
    """What will go wrong with one process."""

    dies_at_write: int | None = None
    torn: bool = False
    """It dies in the middle of that write."""
    stubborn: bool = False
    """It ignores the end of its input and TERM."""


class _Ended(Exception):
    """The process ends itself."""

    def __init__(self, status: ExitStatus) -> None:
        self.status = status


@attrs.define(eq=False)
class _Input:
    """The daemon's end of standard input."""

    pipe: Pipe
    orphaned: bool = False

    async def write(self, data: bytes) -> None:
        """See `ByteSink`."""
        if self.orphaned:
            raise trio.BrokenResourceError
        try:
            await self.pipe.send_all(data)
        except trio.BrokenResourceError as error:
            raise ChildInputClosed("the agent does not read") from error

    def close(self) -> None:
        """See `ByteSink`."""
        self.pipe.end()


@attrs.define(eq=False)
class _Output:
    """The daemon's end of standard output or error."""

    pipe: Pipe

    async def read(self, max_bytes: int) -> bytes:
        """See `ByteSource`."""
        return await self.pipe.receive(max_bytes)

    def close(self) -> None:
        """See `ByteSource`."""
        self.pipe.close_reader()


class SimulatedProcess:
    """`ProcessHandle` around one agent."""

    def __init__(
        self,
        number: int,
        label: str,
        agent: ScriptedAgent,
        fate: AgentFate,
        weather: Weather,
        surroundings: Surroundings,
    ) -> None:
        self.label = label
        self.pid, self.reaper_pid = 1000 + number, 5000 + number
        self.exited: ExitStatus | None = None
        self._agent = agent
        self._fate = fate
        self._surroundings = surroundings
        self._in, self._out, self._err = (Pipe(weather, surroundings.chance) for _ in range(3))
        self.stdin, self.stdout, self.stderr = _Input(self._in), _Output(self._out), _Output(self._err)
        self._scope = trio.CancelScope()
        self._killed_by = KILLED
        self._over = trio.Event()
        self._closing = trio.Lock()
        self._writes = 0
        self._wake_at = math.inf
        self._deaf = False
        """Its input has ended, and only its timers are left."""

    # --- the handle -------------------------------------------------------------------------------------------

    async def wait(self) -> ExitStatus:
        """See `ProcessHandle`."""
        await self._over.wait()
        assert self.exited is not None
        return self.exited

    def terminate(self) -> None:
        """See `ProcessHandle`."""
        if not self._fate.stubborn:
            self._kill(TERMINATED)

    def kill_tree(self) -> None:
        """See `ProcessHandle`."""
        self._kill(KILLED)

    async def tree_ended(self) -> bool:
        """See `EndableProcess`."""
        await self._over.wait()
        return True

    async def end_without_reaper(self, seconds: float) -> None:
        """See `EndableProcess`."""
        with trio.move_on_after(seconds):
            await self._over.wait()
            return
        raise CloseFailed(self.label, (self.pid,))

    async def close(self, times: LadderTimes, protocol_close: ProtocolClose | None = None) -> ExitStatus:
        """See `ProcessHandle`."""
        with trio.CancelScope(shield=True):
            async with self._closing:
                try:
                    await end(self, times, protocol_close)
                finally:
                    for stream in (self.stdin, self.stdout, self.stderr):
                        stream.close()
        assert self.exited is not None
        return self.exited

    def orphan(self, seconds: float) -> None:
        """Its daemon died: nothing more reaches it, and after so long it is killed."""
        self.stdin.orphaned = True
        self._in.end()
        self._out.close_reader()
        self._err.close_reader()
        self._scope.deadline = min(self._scope.deadline, trio.current_time() + seconds)

    def _kill(self, signal: int) -> None:
        if self.exited is None and not self._scope.cancel_called:
            self._killed_by = signal
            self._scope.cancel()

    # --- the process ------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Its life, as a task of the machine."""
        status: ExitStatus | None = None
        with self._scope:
            try:
                await self._play()
            except _Ended as ended:
                status = ended.status
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                status = ExitStatus(code=1)  # nobody reads what it says
        self.exited = status or ExitStatus(signal=self._killed_by)
        self._agent.ended()
        self._in.close_reader()
        self._out.end()
        self._err.end()
        self._over.set()

    async def _play(self) -> None:
        held = b""
        while True:
            data = await self._input()
            if data is None:
                self._wake_at = math.inf
                await self._perform(self._agent.wake(trio.current_time()))
                continue
            if not data:
                await self._end_of_input()
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                self._surroundings.told(self.pid, line)
                await self._perform(self._agent.receive(line, trio.current_time()))

    async def _input(self) -> bytes | None:
        """What came; None when it is time to wake."""
        if self._deaf:
            await trio.sleep_until(self._wake_at)
            return None
        with trio.move_on_at(self._wake_at):
            return await self._in.receive(_READ_BYTES)
        return None

    async def _end_of_input(self) -> None:
        self._deaf = True
        if not self._fate.stubborn:
            await self._perform(self._agent.end_of_input(trio.current_time()))

    async def _perform(self, actions: list[Action]) -> None:
        self._wake_at = math.inf
        for action in actions:
            match action:
                case Write(data, piecewise):
                    await self._say(data, piecewise)
                case Repeat(data, times, to_stderr):
                    for _ in range(min(times, _FLOOD_TIMES_MAX)):
                        await (self._err if to_stderr else self._out).send_all(data)
                case WakeAt(when):
                    self._wake_at = when
                case Spawn():
                    pass  # the process guard ends grandchildren with their parent; there is nothing else to see
                case CloseInput():
                    self._in.close_reader()
                    self._deaf = True
                case Exit(code):
                    raise _Ended(ExitStatus(code=code))
                case Die():
                    raise _Ended(ExitStatus(signal=KILLED))

    async def _say(self, data: bytes, piecewise: bool) -> None:
        self._writes += 1
        if self._writes == self._fate.dies_at_write:
            self._surroundings.struck("torn frame" if self._fate.torn else "agent died")
            if self._fate.torn:
                await self._out.send_all(data[: self._surroundings.chance.randint(0, len(data) - 1)])
            raise _Ended(ExitStatus(signal=KILLED))
        noise = self._surroundings.noise()
        if noise is not None:
            await self._out.send_all(noise)
        if piecewise:
            middle = self._surroundings.chance.randint(0, len(data))
            await self._out.send_all(data[:middle])
            await trio.lowlevel.checkpoint()
            data = data[middle:]
        await self._out.send_all(data)
