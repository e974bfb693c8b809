"""The opening of a Side against the end of its source, its process, its owner, its place and itself; and its end."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, Final

import trio

from runtime.actors.replies import SideReply
from runtime.operations.operation import WatchedSink
from runtime.simulation.explore import now_or_later, one_order
from runtime.simulation.protocols.protocol import Protocol
from runtime.simulation.protocols.side_stage import SIDE, Caller, SideStage, W

Happening = Callable[[SideStage], Awaitable[None] | None]


async def race(answers: bool, against: Happening) -> str:
    """What the caller was told, and how it stands in the end. `answers` tells whether the provider does."""
    async with trio.open_nursery() as nursery:
        stage = SideStage(nursery, answers)
        caller = stage.open()

        async def happen() -> None:
            await now_or_later()
            outcome = against(stage)
            if outcome is not None:
                await outcome

        nursery.start_soon(happen)
        with trio.fail_after(100):
            await caller.answered.wait()
        with one_order():
            await trio.sleep(40)
        stage.check()
        nursery.cancel_scope.cancel()
    return f"{caller.word}, {stage.told[-1][1] if stage.told else 'nothing'}"


def die(stage: SideStage) -> None:
    """The process of the source ends."""
    for reference in stage.references:
        reference.lose()


def leave_place(stage: SideStage) -> Awaitable[None]:
    """The place in which the Side opens is left."""
    sink: Any = SimpleNamespace(deliver=lambda *_: None)
    return stage.sides.dispose(W, "pane", 1, WatchedSink(sink))


async def open_twice() -> str:
    """Two clients ask for the Side of one id."""
    second: list[Caller] = []
    end = await race(True, lambda stage: second.append(stage.open(2)))
    assert second[0].word == "side"
    return end


async def open_then_close() -> str:
    """How it stands in the end, and what the provider was told."""
    async with trio.open_nursery() as nursery:
        stage = SideStage(nursery)
        opened, closed = stage.open(), Caller()
        with one_order():
            await opened.answered.wait()
        await stage.sides.close(SIDE, WatchedSink(closed))
        stage.check()
        told = [type(command).__name__ for command in stage.references[0].told]
        nursery.cancel_scope.cancel()
    assert isinstance(closed.answer, SideReply)
    return f"{closed.answer.side.state}, {' '.join(told)}"


def _race(
    name: str, shows: str, against: Happening, *ends: str, answers: bool = True, schedules_min: int = 4
) -> Protocol:
    return Protocol(
        name=name,
        shows=shows,
        program=race,
        arguments=(answers, against),
        ends=frozenset(ends),
        schedules_min=schedules_min,
    )


PROTOCOLS: Final = (
    _race(
        "side-delete",
        "a deletion waits for an opening or refuses it, and no Side outlives its source",
        SideStage.delete,
        "side, closed",
        "session.deleted, nothing",
    ),
    _race(
        "side-process",
        "a process that dies fails the opening or expires the Side",
        die,
        "side, expired",
        "side, opened",
    ),
    _race(
        "side-silent",
        "a provider that never answers leaves nothing behind",
        lambda _: None,
        "provider.timeout, nothing",
        answers=False,
    ),
    _race(
        "side-owner",
        "an owner that is lost while it opens takes the Side along",
        lambda stage: stage.sides.owner_lost(1),
        "side, closed",
    ),
    _race(
        "side-stop",
        "a stop ends what opens meanwhile",
        lambda stage: stage.sides.shut_down(),
        "side, closed",
        "shutdown.in_progress, nothing",
    ),
    _race(
        "side-place",
        "a place that is left while its Side opens has none afterwards",
        leave_place,
        "side, closed",
        "side.expired, nothing",
    ),
    Protocol(
        name="side-twice",
        shows="two openings of one id make one fork",
        program=open_twice,
        ends=frozenset({"side, opened"}),
        schedules_min=4,
    ),
    Protocol(
        name="side-close",
        shows="a Side that is closed tells its provider and gives the connection back",
        program=open_then_close,
        ends=frozenset({"closed, OpenSide CloseThread"}),
        schedules_min=1,
    ),
)
