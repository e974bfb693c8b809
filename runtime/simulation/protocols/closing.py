"""A session that is closed while its turn is being stopped."""

from typing import Final

import trio

from runtime.lifecycle import inputs as i
from runtime.providers.port import CancelTurn
from runtime.simulation.explore import now_or_later
from runtime.simulation.protocols.protocol import Protocol
from runtime.simulation.protocols.session_stage import Stage
from runtime.simulation.protocols.turns import code_of


async def close_and_cancel() -> str:
    """How the turn ended, and what the two callers were told."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn()
        turn_id = stage.last_turn.turn_id
        closing, cancelling = stage.answers("close"), stage.answers("cancel")

        async def close() -> None:
            await now_or_later()
            stage.offer(i.CloseSession(closing), control=True)

        async def cancel() -> None:
            stage.offer(i.RequestCancel(cancelling, turn_id), control=True)

        nursery.start_soon(close)
        nursery.start_soon(cancel)
        await stage.until(lambda: closing.outcome is not None and cancelling.outcome is not None)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()
    assert stage.last_turn.settled, "nothing runs in a session that is closed"
    assert len({turn.outcome for turn in stage.turns if turn.settled}) == 1, "a settled outcome stands"
    assert sum(isinstance(command, CancelTurn) for command in stage.told) <= 1, "an agent is stopped once"
    return f"{stage.last_turn.outcome}, close {code_of(closing)}, cancel {code_of(cancelling)}"


PROTOCOLS: Final = (
    Protocol(
        name="close-cancel",
        shows="a session that is closed while its turn is being stopped ends with that turn, and both are answered",
        program=close_and_cancel,
        ends=frozenset({"canceled, close taken, cancel taken"}),
        schedules_min=100,
    ),
)
