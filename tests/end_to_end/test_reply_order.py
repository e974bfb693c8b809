"""On the connection that asked, a command's reply comes before the first event that shows what it did (`contract §2`).

Every method that changes something has a case here, and a new one is missed. Seeded schedules of the same promise are
the simulation's (`runtime/simulation/effect_order.py`).
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeAlias

import attrs
import pytest

from runtime.wire.methods import METHODS
from tests.doubles.guided_agent import TARGET, guided_target
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import running
from tests.end_to_end.talk import Talk, answer_params, start, text

ROUNDS = 5
Shows: TypeAlias = Callable[[str, Json], bool]


@attrs.frozen
class Command:
    """What is asked, and how a change of a commit shows that it was done."""

    params: Json
    shows: Shows


Prepare: TypeAlias = Callable[[Client, str], Awaitable[Command]]


async def create(client: Client, workspace: str) -> Command:
    params = {"workspaceId": workspace, "agentTargetId": "demo", "clientSubmitId": f"c{len(client.received)}"}
    return Command(params | {"initialContent": text("[[say x]]")}, lambda kind, _: kind == "session")


async def send(client: Client, workspace: str) -> Command:
    talk = await idle(client, workspace)
    params = {**talk.key, "clientSubmitId": "s", "content": text("[[say x]]")}
    return Command(params, lambda kind, row: kind == "turn" and row["clientSubmitId"] == "s")


async def cancel(client: Client, workspace: str) -> Command:
    talk = await idle(client, workspace)
    turn = await talk.send("[[hang]]")
    await client.row("turn", turnId=turn["turnId"], phase="running")
    params = {**talk.key, "turnId": turn["turnId"]}
    return Command(params, lambda kind, row: kind == "turn" and row["cancelRequestedAt"] is not None)


async def respond(client: Client, workspace: str) -> Command:
    talk = await idle(client, workspace)
    await talk.send("[[ask]]")
    # Intermediate facts may come first; the row with the final result may not.
    return Command(
        answer_params(await talk.pending()),
        lambda kind, row: kind == "interaction" and row["answerDelivery"] == "delivered",
    )


async def guide(client: Client, workspace: str) -> Command:
    talk = await start(client, workspace, "go", target=TARGET, clientSubmitId=f"c{len(client.received)}")
    await client.row("turn", turnId=talk.turn["turnId"], phase="running")
    params = {**talk.key, "turnId": talk.turn["turnId"], "clientSubmitId": "g", "content": text("end")}
    return Command(params, lambda kind, row: kind == "message" and row["clientSubmitId"] == "g")


async def change_settings(client: Client, workspace: str) -> Command:
    talk = await idle(client, workspace)
    params = {**talk.key, "settings": {"model": "demo-large"}}
    return Command(params, lambda kind, row: kind == "session" and row["settings"]["model"] == "demo-large")


def edit(name: str, value: object, **params: object) -> Prepare:
    async def prepare(client: Client, workspace: str) -> Command:
        talk = await idle(client, workspace)
        return Command({**talk.key, **params}, lambda kind, row: kind == "session" and row[name] == value)

    return prepare


async def delete(client: Client, workspace: str) -> Command:
    return Command(trees(await idle(client, workspace)), lambda kind, _: kind == "session_removed")


async def restore(client: Client, workspace: str) -> Command:
    named = trees(await idle(client, workspace))
    await client.request("session/delete", **named)
    return Command(named, lambda kind, _: kind == "session_restored")


async def idle(client: Client, workspace: str) -> Talk:
    """A session whose turn has ended."""
    talk = await start(client, workspace, "[[say hello]]", clientSubmitId=f"c{len(client.received)}")
    await client.settled(talk.turn)
    return talk


def trees(talk: Talk) -> Json:
    return {"workspaceId": talk.key["workspaceId"], "agentSessionIds": [talk.session_id]}


CASES: dict[str, Prepare] = {
    "session/create": create,
    "session/send": send,
    "turn/cancel": cancel,
    "turn/guide": guide,
    "interaction/respond": respond,
    "session/rename": edit("title", "Mine", title="Mine"),
    "session/pin": edit("pinned", True, pinned=True),
    "session/updateSettings": change_settings,
    "session/delete": delete,
    "session/restore": restore,
}
TELL_NOTHING_OF_THEIR_OWN = {"session/resume", "session/close", "session/purge", "attachment/put"}
"""What they do shows in what is observed of a runtime, or not at all."""
OF_SIDES = ("side/", "surface/")
"""They make no commit: tests/providers_codex/hosted/test_hosted_sides.py."""


@pytest.fixture(scope="module")
def order_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("order")
    limits = {"sessionsPerConnection": {"codex": 1}}
    yield from running(Daemon(folder, {"targets": [guided_target(folder)], "limits": limits}))


def test_no_command_is_missing_here() -> None:
    changing = {method.name for method in METHODS.values() if method.scope == "control"}
    changing = {name for name in changing if not name.startswith(OF_SIDES)}
    assert changing | {"session/purge"} == CASES.keys() | TELL_NOTHING_OF_THEIR_OWN


@pytest.mark.rule("RT-028")
@pytest.mark.parametrize("method", CASES)
async def test_a_reply_precedes_the_first_event_that_shows_its_effect(
    order_daemon: Daemon, workspace: str, method: str
) -> None:
    async with connected(order_daemon) as client:
        await client.subscribe(workspace)
        for _ in range(ROUNDS):
            command = await CASES[method](client, workspace)
            before = len(client.received)
            sent = await client.send(method, **command.params)
            await sent.result()
            shown = await client.wait(lambda: places(client, before, command.shows), "its effect")  # noqa: B023 -- at once
            assert sent.place < shown[0]


def places(client: Client, after: int, shows: Shows) -> list[int]:
    """Where the commits stand that show an effect."""
    return [
        place
        for place, frame in enumerate(client.received)
        if place >= after and any(shows(change["type"], change["row"]) for change in frame.get("changes", ()))
    ]
