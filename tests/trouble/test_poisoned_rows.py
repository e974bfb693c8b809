"""Rows that nobody can read or build on, written while the daemon was down: each costs its own session and nothing else.

They stand for any bug in what a session's code does: the product has no hook that makes it fail.
"""

from collections.abc import AsyncIterator, Iterator
from itertools import count

import pytest
import trio

from store.connection import open_for_writing
from store.open import DATABASE_FILE_NAME
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import agent
from tests.end_to_end.talk import Talk, start, text
from tests.trouble.agents import gone
from tests.trouble.beside import undisturbed

WORKSPACE = "poisoned"
BESIDE = "beside"
_numbers = count(1)
OF = "(SELECT id FROM sessions WHERE agent_session_id = '{}')"
POISON = {
    "unreadable": "UPDATE sessions SET settings = 'no json' WHERE id = {of}",
    "unfinished": "UPDATE turns SET phase = 'asleep' WHERE session_ref = {of} AND phase <> 'settled'",
    "old-turn": "UPDATE turns SET timings = '[' WHERE session_ref = {of}",
    "old-message": "UPDATE messages SET content = '7' WHERE session_ref = {of} AND role = 'assistant'",
    # The user's next message finds its place, the agent's finds it taken: the unit fails in the middle of the turn.
    "taken-place": "UPDATE messages SET sequence = sequence + 2 WHERE session_ref = {of} AND role = 'assistant'",
}
"""What is wrong with each session. All of them said hello before."""


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, dict[str, Json]]]:
    folder = tmp_path_factory.mktemp("poisoned")
    daemon = Daemon(folder, {"targets": [agent("logged", folder)]})
    daemon.start()

    async def live() -> dict[str, Json]:
        created: dict[str, Json] = {}
        async with connected(daemon) as client:
            await client.subscribe(WORKSPACE)
            for name in (*POISON, "sound"):
                talk = await start(
                    client,
                    WORKSPACE,
                    "[[say hello]]",
                    agentSessionId=name,
                    target="logged",
                    clientSubmitId=f"create-{name}",
                )
                await client.settled(talk.turn)
                created[name] = talk.created
            unfinished = Talk(client, _key("unfinished"), created["unfinished"])
            turn = await unfinished.send("[[say on and on]][[hang]]")
            await client.event("message_delta", turnId=turn["turnId"])
        return created

    created = trio.run(live)
    daemon.kill()
    assert daemon.providers_left() == []
    connection = open_for_writing(daemon.data_dir / DATABASE_FILE_NAME)
    for name, statement in POISON.items():
        connection.execute(statement.format(of=OF.format(name)))
    connection.close()
    daemon.start()
    yield daemon, created
    assert daemon.stop() == 0
    daemon.end()


@pytest.fixture
async def client(poisoned: tuple[Daemon, dict[str, Json]]) -> AsyncIterator[Client]:
    async with connected(poisoned[0]) as one:
        await one.subscribe(WORKSPACE)
        await one.subscribe(BESIDE)
        yield one


@pytest.fixture
def talks(poisoned: tuple[Daemon, dict[str, Json]], client: Client) -> dict[str, Talk]:
    # Far apart, since the tests share the sessions and a submit id is used once.
    sends = 1000 * next(_numbers)
    return {name: Talk(client, _key(name), created, sends=sends) for name, created in poisoned[1].items()}


def _key(name: str) -> dict[str, str]:
    return {"workspaceId": WORKSPACE, "agentSessionId": name}


async def quarantined(client: Client) -> set[str]:
    """What health names; it names each as a problem, too, and is only degraded."""
    health = await client.request("health/read")
    assert health["status"] == "degraded"
    problems = {p["agentSessionId"] for p in health["problems"] if p["code"] == "session.quarantined"}
    named = {row["agentSessionId"] for row in health["quarantined"]}
    assert problems == named
    return named


@pytest.mark.case("FC-40", "FC-49")
@pytest.mark.parametrize("name", ["unreadable", "unfinished"])
async def test_session_that_cannot_be_read_answers_that_it_is_set_aside(
    client: Client, talks: dict[str, Talk], name: str
) -> None:
    async with undisturbed(client, BESIDE):
        talk = talks[name]
        commands = {
            "session/send": {"clientSubmitId": "more", "content": text("more")},
            "turn/cancel": {"turnId": talk.turn["turnId"]},
            "session/close": {},
            "session/resume": {},
        }
        for method, params in commands.items():
            refusal = await client.refused(method, **talk.key, **params)
            assert refusal["code"] == "session.quarantined", method
        assert (await client.refused("session/get", **talk.key))["code"] == "session.quarantined"
        repeated = {"workspaceId": WORKSPACE, "agentTargetId": "logged", "clientSubmitId": f"create-{name}"}
        assert (await client.refused("session/create", **repeated))["code"] in (
            "session.quarantined",
            "submit.conflict",
        )
        assert name in await quarantined(client)
        assert (await talks["sound"].say("[[say still here]]"))["outcome"] == "completed"


@pytest.mark.case("FC-40")
async def test_unreadable_rows_hide_nothing_else_from_lists(client: Client, talks: dict[str, Talk]) -> None:
    listed = await client.request("session/list", workspaceId=WORKSPACE, limit=200)
    assert {item["agentSessionId"] for item in listed["items"]} >= talks.keys() - {"unreadable"}
    await client.request("interaction/list", workspaceId=WORKSPACE)


@pytest.mark.case("FC-40")
async def test_unreadable_rows_of_the_past_cost_only_the_reads_that_need_them(
    client: Client, talks: dict[str, Talk]
) -> None:
    turn, message = talks["old-turn"], talks["old-message"]
    cancel = await client.refused("turn/cancel", **turn.key, turnId=turn.turn["turnId"])
    assert cancel["code"] == "session.quarantined"
    assert (await client.refused("turn/list", **turn.key))["code"] == "session.quarantined"
    assert (await client.refused("session/messages", **message.key, afterVersion=0))[
        "code"
    ] == "session.quarantined"
    for talk in (turn, message):
        assert (await talk.say("[[say still here]]"))["outcome"] == "completed"


@pytest.mark.case("FC-40", "FC-49", "FC-25")
async def test_session_whose_code_crashes_again_and_again_is_set_aside_readable(
    poisoned: tuple[Daemon, dict[str, Json]], client: Client, talks: dict[str, Talk]
) -> None:
    async with undisturbed(client, BESIDE):
        talk = talks["taken-place"]
        turn = await talk.say("[[say in a taken place]][[hang]]")
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "internal")
        assert gone(poisoned[0], talk)

        codes = [
            (
                await client.refused(
                    "session/send", **talk.key, clientSubmitId=f"crash-{n}", content=text("again")
                )
            )["code"]
            for n in range(5)
        ]
        assert codes == [*["internal"] * 3, *["session.quarantined"] * 2]
        assert "taken-place" in await quarantined(client)

        read = await client.request("session/get", **talk.key)
        assert read["session"]["runtime"]["state"] == "quarantined"
        assert read["activeTurn"] is None
        assert "hello" in await talk.texts()
        await client.request("session/resume", **talk.key)
        assert "taken-place" not in {
            row["agentSessionId"] for row in (await client.request("health/read"))["quarantined"]
        }
