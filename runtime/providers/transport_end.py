"""Ends a process tree, or a connection to one that goes on: shielded, within a bound (architecture rule 14).

Owns the last minutes of a process and of its pipes. Who is told of the end was told before.
"""

from collections.abc import Callable

import trio

from runtime.providers.output_reader import read_to_end
from runtime.providers.transport import ProviderTransport
from supervisor.cell import guard
from supervisor.failpoints import failpoints
from supervisor.process_guard.port import LadderTimes

CLOSE_MARGIN_SECONDS = 1.0
"""How much later than its own bound the end of a process may come before it counts as failed."""


class EndNotSeen(Exception):
    """Ending a process took longer than its own bound. Not `CloseFailed`: there, what remains is known."""


async def end_transport(
    transport: ProviderTransport, times: LadderTimes, read_bytes: int, feed_stderr: Callable[[bytes], None]
) -> Exception | None:
    """End it, with all it forked. Returns what went wrong, in which case something may still be alive."""
    faults: list[Exception] = []
    closed = False
    with trio.CancelScope(shield=True) as shield:
        shield.deadline = trio.current_time() + times.total_seconds + CLOSE_MARGIN_SECONDS
        with guard(faults.append):
            async with trio.open_nursery() as nursery:
                # A process that cannot write its last words cannot leave by itself: its pipes are emptied.
                nursery.start_soon(read_to_end, transport.output, read_bytes, lambda _: None)
                if transport.errors is not None:
                    nursery.start_soon(read_to_end, transport.errors, read_bytes, feed_stderr)
                with guard(faults.append):
                    if failpoints.on:
                        await failpoints.reach("provider.close.before")
                    await transport.close(times)
                    if failpoints.on:
                        await failpoints.reach("provider.close.after")
                    closed = True
                nursery.cancel_scope.cancel()
    if not closed and not faults:
        return EndNotSeen(f"{transport.label} was not ended within {times.total_seconds:g} s")
    return faults[0] if faults else None
