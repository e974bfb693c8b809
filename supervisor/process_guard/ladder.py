"""The orderly end of a provider process, step by step from a polite word to a kill.

Owns the order and the bound of each step (`reliability §4`, FC-03). It must not know how a step is done:
that is the process's own, in production as in the simulator.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from supervisor.process_guard.port import LadderTimes, ProcessHandle, ProtocolClose


class EndableProcess(ProcessHandle, Protocol):
    """What the ladder needs beside the public handle."""

    async def tree_ended(self) -> bool:
        """Wait for the reaper's last word. True: nothing of the tree is left."""

    async def end_without_reaper(self, seconds: float) -> None:
        """Kill what is left by recorded identity and mark.

        Raises:
            CloseFailed: something would not end within `seconds`.
        """


async def end(
    process: EndableProcess, times: LadderTimes, protocol_close: ProtocolClose | None = None
) -> None:
    """Protocol close, end of input, TERM to the group, kill of the tree, kill without the reaper.

    Each step is taken only if the one before had no effect in its time. Shielded, since a cancelled
    teardown would leave processes, and so bounded as a whole (architecture rule 14). Does not read: a
    provider that blocks on a full stdout is ended by TERM or the kill.

    Raises:
        CloseFailed: the last step had no effect either.
        BaseException: whatever unexpected `protocol_close` raised, after the tree has been ended.
    """
    with trio.CancelScope(shield=True, deadline=trio.current_time() + times.total_seconds):
        try:
            await _leave_by_itself(process, times, protocol_close)
        finally:
            await _end_tree(process, times)


async def _leave_by_itself(
    process: EndableProcess, times: LadderTimes, protocol_close: ProtocolClose | None
) -> None:
    if protocol_close is not None:
        with trio.move_on_after(times.protocol_close_seconds):
            try:
                await protocol_close()
                await process.wait()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # it does not listen any more: the next steps do not need it to
    process.stdin.close()
    if await _within(times.stdin_close_seconds, process.wait):
        return
    process.terminate()
    await _within(times.terminate_seconds, process.wait)


async def _end_tree(process: EndableProcess, times: LadderTimes) -> None:
    process.kill_tree()
    with trio.CancelScope(shield=True):  # the scope around may have run out by a step that overslept
        if not await _within(times.kill_seconds, process.tree_ended):
            await process.end_without_reaper(times.last_resort_seconds)


async def _within(seconds: float, step: Callable[[], Awaitable[object]]) -> bool:
    """Whether `step` came to a true result in time."""
    with trio.move_on_after(seconds):
        return bool(await step())
    return False
