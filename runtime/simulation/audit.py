"""The end of a run: everybody is quiet, and what the API shows, what the database holds and what was promised agree.

It first lets everything settle, stopping what would go on for ever, and then reads everything the way a client does.
"""

from typing import Final

import trio

from runtime.simulation import checkers
from runtime.simulation.client import ClientHabits, SimulatedClient
from runtime.simulation.composition import TOKEN
from runtime.simulation.contents import Contents, read_contents
from runtime.simulation.edits import edits_stand
from runtime.simulation.history import History, Json, SessionName
from runtime.simulation.life import Life
from runtime.simulation.operations import send_params
from runtime.simulation.removals import removals_stand, restore_all
from runtime.simulation.world import WORKSPACE, World

_BY_ITSELF_SECONDS: Final = 1.5
_SETTLE_SECONDS_MAX: Final = 120.0
_ENDING_SECONDS_MAX: Final = 10.0
"""A process that does not want to go holds its place among the connections for so long."""
_TRIES: Final = 3
_QUIET_SECONDS: Final = 1.0
"""After this long without faults everybody has been told everything."""


async def audit(world: World, life: Life, clients: list[SimulatedClient]) -> None:
    """Settle, then compare. Notes what is wrong."""
    auditor = SimulatedClient(
        name="auditor",
        workspace_id=WORKSPACE,
        habits=ClientHabits(),
        network=world.network,
        history=world.history,
        chance=world.chances.source("auditor"),
        token=TOKEN,
        note=world.note,
        all_watches=world.watches,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(auditor.stay_connected)
        nursery.start_soon(auditor.read_what_was_not_shown)
        await auditor.linked()
        await restore_all(auditor)
        await settle(world.history, auditor)
        await use_once_more(world.history, auditor, WORKSPACE)
        await trio.sleep(_QUIET_SECONDS)
        await _compare(world, life, auditor, clients)
        nursery.cancel_scope.cancel()


async def settle(history: History, auditor: SimulatedClient) -> None:
    """Wait until no turn is active; an agent that would go on for ever is stopped, a turn that waits is not."""
    patience = trio.current_time() + _BY_ITSELF_SECONDS
    with trio.move_on_after(_SETTLE_SECONDS_MAX) as scope:
        while True:
            listed = await auditor.ask("session/list", {"active": True})
            if not listed.result["items"]:
                return
            for session in listed.result["items"]:
                name = {"agentSessionId": session["agentSessionId"], "turnId": session["activeTurnId"]}
                turn = await auditor.ask("turn/get", name)
                told = turn.result["turn"]["delivery"] != "not_dispatched"
                if told and trio.current_time() > patience:
                    await auditor.ask("turn/cancel", name)
            await trio.sleep(0.3)
    if scope.cancelled_caught:
        history.violated("everything settles", f"active after {_SETTLE_SECONDS_MAX:g} s: {listed.result}")


async def use_once_more(history: History, auditor: SimulatedClient, workspace_id: str) -> None:
    """The next prompt works (promise 5), in every session there is; then each is closed."""
    names = [session["agentSessionId"] for session, _ in await auditor.pages("session/list", {})]
    for name in names:
        problem = await _send_goodbye(auditor, (workspace_id, name), f"last-1-{name}")
        for number in range(2, _TRIES + 1):
            if problem is None:
                break
            # Forgiven: an agent that has closed its ears is only found out by talking to it, and a conversation
            # that went with its agent is told of and has its way back.
            await trio.sleep(_ENDING_SECONDS_MAX)
            mode = {"mode": "fresh"} if "not_resumable" in problem else {}
            await auditor.ask("session/resume", {"agentSessionId": name, **mode})
            problem = await _send_goodbye(auditor, (workspace_id, name), f"last-{number}-{name}")
        if problem is not None:
            history.violated("the next prompt works", f"{name}: {problem}")
    for name in names:
        closed = await auditor.ask("session/close", {"agentSessionId": name})
        if closed.state != "answered":
            history.violated("a session can be closed", f"{name}: {closed.error}")


async def _send_goodbye(auditor: SimulatedClient, session: SessionName, submit_id: str) -> str | None:
    """What is wrong, if the turn is not completed."""
    sent = await auditor.ask("session/send", send_params(session[1], submit_id, "[[say goodbye]]"))
    if sent.state != "answered":
        return sent.code
    turn_id = sent.result["turn"]["turnId"]
    await auditor.wait_settled(session, turn_id, _SETTLE_SECONDS_MAX)
    turn = auditor.row("turn", session, turn_id)
    return None if turn is not None and turn["outcome"] == "completed" else str(turn)


async def _compare(
    world: World, life: Life, auditor: SimulatedClient, clients: list[SimulatedClient]
) -> None:
    history, notes = world.history, world.machine.notes
    assert life.store is not None
    contents = read_contents(life.store.reader, WORKSPACE)
    # What a root is read with may be cut to a page, so sub-agents are read by their names.
    below = [row for row in contents.sessions.values() if row["parent"] is not None and not row["deletedAt"]]
    shown = await _read_all(auditor, below)
    health = await auditor.ask("health/read", {})
    world.read_log(life.store)
    for client in (*clients, auditor):
        if client.link is not None and client.watches:
            # It was told everything there is; whatever it does not have by now, it missed.
            watch = client.watches[-1]
            watch.last = max(watch.last, life.store.committer.last_commit_seq)
            for doubt in watch.doubts.values():
                history.violated("text rebuilt from deltas equals the row", doubt)
    for check in (
        checkers.acknowledged_is_durable(history, contents),
        edits_stand(history, contents),
        removals_stand(history, contents),
        checkers.same_submit_same_effect(history),
        checkers.told_at_most_once(notes),
        checkers.told_only_what_is_marked(notes, contents),
        checkers.answered_once(history, notes),
        checkers.nothing_is_open(contents, "in the end"),
        checkers.rows_agree_with_log(contents, world.log),
        checkers.roots_settle_last(world.log),
        checkers.published_is_durable(world.watches, world.log),
        checkers.nothing_is_missed(world.watches, world.log),
    ):
        for violation in check:
            history.violated(violation.promise, violation.detail)
    _agree(world, shown, contents)
    if health.result["status"] != "ok" and not world.options.disk:
        history.violated("a service left in peace is healthy", str(health.result))


async def _read_all(auditor: SimulatedClient, below: list[Json]) -> Contents:
    """Everything as a client reads it; `below` are the sessions that no list shows."""
    shown = Contents()
    for interaction, _ in await auditor.pages("interaction/list", {}):
        asked = (interaction[name] for name in ("workspaceId", "agentSessionId", "turnId", "requestId"))
        workspace_id, session_id, turn_id, request_id = asked
        shown.interactions[workspace_id, session_id, turn_id, request_id] = interaction
    listed = [session for session, _ in await auditor.pages("session/list", {})]
    for session in (*listed, *below):
        name = session["workspaceId"], session["agentSessionId"]
        read = await auditor.ask("session/get", {"agentSessionId": name[1]})
        shown.sessions[name] = read.result["session"]
        rest: list[tuple[Json, int]] = []
        if read.result["turnsCursor"] is not None:
            rest = await auditor.pages("turn/list", {"agentSessionId": name[1]}, read.result["turnsCursor"])
        for turn in (*read.result["turns"], *(turn for turn, _ in rest)):
            shown.turns[*name, turn["turnId"]] = turn
        for message in await _messages(auditor, name[1]):
            shown.messages[*name, message["messageId"]] = message
    return shown


async def _messages(auditor: SimulatedClient, session: str) -> list[Json]:
    messages: list[Json] = []
    after = 0
    while True:
        params = {"agentSessionId": session, "afterVersion": after, "limit": 50}
        page = (await auditor.ask("session/messages", params)).result
        messages += page["messages"]
        if not page["hasMore"]:
            return messages
        after = messages[-1]["version"]


def _agree(world: World, shown: Contents, contents: Contents) -> None:
    for session in (*shown.sessions.values(), *contents.sessions.values()):
        session.pop("runtime")  # an observation, of which the database knows nothing
    for what in ("sessions", "turns", "messages", "interactions"):
        by_api, by_database = getattr(shown, what), getattr(contents, what)
        if by_api != by_database:
            differing = [name for name in by_api | by_database if by_api.get(name) != by_database.get(name)]
            world.history.violated("the API shows what the database holds", f"{what}: {differing}")
