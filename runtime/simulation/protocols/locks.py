"""Two lifecycle locks: a Side is opened while its source is closed, each in an order of its own."""

from contextlib import AbstractContextManager
from typing import Final

import trio

from runtime.simulation.explore import pause
from runtime.simulation.protocols.protocol import Protocol
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks

SOURCE: Final = LifecycleIdentity("session", "w", "source")
SIDE: Final = LifecycleIdentity("side", "w", "side")

_SECONDS_MAX: Final = 3


async def open_and_close(ordered: bool) -> str:
    """Whether both got both locks; two who take them one by one, in opposite order, may wait for one another."""
    locks = LifecycleLocks()
    done: list[str] = []

    async def take(identity: LifecycleIdentity, holder: str) -> AbstractContextManager[object]:
        """One lock, without regard to what else is held."""
        for _ in range(_SECONDS_MAX):
            if (held := locks.try_hold(identity, holder=holder)) is not None:
                return held
            await trio.sleep(1)
        raise AssertionError("it is cancelled before")

    async def take_both(holder: str, first: LifecycleIdentity, second: LifecycleIdentity) -> None:
        await pause(1)
        if ordered:
            async with locks.hold(first, second, holder=holder, deadline_seconds=5):
                await pause(1)
        else:
            with await take(first, holder):
                await pause(1)
                with await take(second, holder):
                    await pause(1)
        done.append(holder)

    with trio.move_on_after(_SECONDS_MAX - 0.5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(take_both, "open", SOURCE, SIDE)
            nursery.start_soon(take_both, "close", SIDE, SOURCE)
    assert locks.holders() == {}, "no lock is left"
    return "both done" if len(done) == 2 else "stuck"


PROTOCOLS: Final = (
    Protocol(
        name="two-locks",
        shows="an opening and a closing that need the same two locks never wait for one another",
        program=open_and_close,
        arguments=(True,),
        ends=frozenset({"both done"}),
        schedules_min=75,
    ),
)
