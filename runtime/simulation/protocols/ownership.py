"""What a user decides of a session while its turn ends: the title against the agent's, settings against the turn's end."""

from typing import Final

import trio

from runtime.actors.replies import SessionReply
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.simulation.explore import now_or_later
from runtime.simulation.protocols.protocol import Protocol
from runtime.simulation.protocols.session_stage import Stage

OURS: Final = "Ours"


async def rename_and_complete() -> str:
    """Whether the turn had ended when the user's title was acknowledged; the title is the user's in the end."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn()
        turn_id = stage.last_turn.turn_id
        caller = stage.answers("rename")

        async def rename() -> None:
            await now_or_later()
            stage.offer(i.RenameSession(caller, OURS))

        async def complete() -> None:
            stage.says(n.TitleReported("The agent's"))
            stage.says(n.TurnEnded(turn_id, "completed", stop_reason="end_turn"))

        nursery.start_soon(rename)
        nursery.start_soon(complete)
        await stage.until(lambda: caller.outcome is not None and stage.last_turn.settled)
        stage.says(n.TitleReported("The agent's, once more"))
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    assert isinstance(caller.outcome, SessionReply)
    shown = [(session.title, session.title_source) for session in stage.sessions]
    first = shown.index((OURS, "user"))
    assert set(shown[first:]) == {(OURS, "user")}, "no row behind the rename shows another title"
    assert stage.sessions[-1].active_turn_id is None, "the title's row is not one of before the end"
    return "renamed in the turn" if caller.outcome.session.active_turn_id else "renamed behind it"


async def set_and_complete() -> str:
    """Whether the turn had ended when the change of settings was acknowledged; both stand in the end."""
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        await stage.start_turn()
        turn_id = stage.last_turn.turn_id
        caller = stage.answers("set")

        async def change() -> None:
            await now_or_later()
            stage.offer(i.UpdateSettings(caller, {"model": "large"}))

        async def complete() -> None:
            stage.says(n.SettingsReported({"model": "small"}))
            stage.says(n.TurnEnded(turn_id, "completed", stop_reason="end_turn"))

        nursery.start_soon(change)
        nursery.start_soon(complete)
        await stage.until(lambda: caller.outcome is not None and stage.last_turn.settled)
        await stage.stay_for_a_while()
        nursery.cancel_scope.cancel()

    assert isinstance(caller.outcome, SessionReply)
    last = stage.sessions[-1]
    assert (last.settings.get("model"), last.settings_source.get("model")) == ("large", "explicit")
    assert last.active_turn_id is None
    return "set in the turn" if caller.outcome.session.active_turn_id else "set behind it"


PROTOCOLS: Final = (
    Protocol(
        name="rename-complete",
        shows="a user's title stands whenever it meets the agent's and the end of the turn",
        program=rename_and_complete,
        ends=frozenset({"renamed in the turn", "renamed behind it"}),
        schedules_min=200,
    ),
    Protocol(
        name="set-complete",
        shows="a change of settings stands whenever it meets the end of the turn",
        program=set_and_complete,
        ends=frozenset({"set in the turn", "set behind it"}),
        schedules_min=200,
    ),
)
