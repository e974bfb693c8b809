"""`ProcessHandle` in production: one provider below its reaper.

Owns the daemon's ends of the three streams and of the control socket, and the last resort when the reaper
is lost. It must not know what the provider speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import trio

from supervisor.process_guard.control import ReaperControl
from supervisor.process_guard.forced_end import Ownership, end_owned
from supervisor.process_guard.ladder import end
from supervisor.process_guard.pipes import PipeSink, PipeSource
from supervisor.process_guard.port import CloseFailed, ExitStatus, LadderTimes, ProtocolClose
from supervisor.process_guard.process_table import ProcessTable


class ProviderProcess:
    """One launched provider; see `ProcessHandle` for its public methods."""

    def __init__(
        self,
        label: str,
        control: ReaperControl,
        streams: tuple[PipeSink, PipeSource, PipeSource],
        *,
        mark: Mapping[str, str],
        table: ProcessTable,
        on_closed: Callable[[], None],
    ) -> None:
        """Takes over `control` and `streams`. The control has told of reaper and provider already.

        Args:
            mark: the variables that this launch alone has in its environment.
            on_closed: called once, when nothing of the tree is left.
        """
        assert control.reaper is not None
        assert control.provider is not None
        self.label = label
        self.pid = control.provider.pid
        self.reaper_pid = control.reaper.pid
        self.stdin, self.stdout, self.stderr = streams
        self._control = control
        self._provider = control.provider
        self._reaper = control.reaper
        self._mark = mark
        self._table = table
        self._on_closed = on_closed
        self._closing = trio.Lock()
        self._closed = False

    @property
    def exited(self) -> ExitStatus | None:
        self._control.take_news()
        if self._control.exited is None and self._control.over:
            return ExitStatus()
        return self._control.exited

    async def wait(self) -> ExitStatus:
        await self._control.until(lambda: self._control.exited)
        return self._control.exited or ExitStatus()

    def terminate(self) -> None:
        self._control.terminate()

    def kill_tree(self) -> None:
        self._control.end_orders()

    async def tree_ended(self) -> bool:
        """See `EndableProcess`."""
        await self._control.until(lambda: self._control.remaining is not None)
        return self._control.remaining == ()

    async def end_without_reaper(self, seconds: float) -> None:
        """See `EndableProcess`. The reaper itself is ended too: it is dead, stuck or at its wits' end."""
        ownership = Ownership(
            members=frozenset({self._provider, *(self._control.remaining or ())}),
            holders=frozenset({self._reaper}),
            mark=self._mark,
        )
        result = await end_owned(self._table, ownership, seconds)
        if result.remaining:
            raise CloseFailed(self.label, tuple(row.pid for row in result.remaining))

    async def close(self, times: LadderTimes, protocol_close: ProtocolClose | None = None) -> ExitStatus:
        with trio.CancelScope(shield=True):  # bounded by the ladder of whoever came first
            async with self._closing:
                if not self._closed:
                    try:
                        await end(self, times, protocol_close)
                    finally:
                        self._free()
                    self._closed = True
                    self._on_closed()
        return self.exited or ExitStatus()

    def _free(self) -> None:
        """Also after a failure: the sweeper that tries again needs identities, no descriptors."""
        for end_of_pipe in (self.stdin, self.stdout, self.stderr):
            end_of_pipe.close()
        self._control.close()
