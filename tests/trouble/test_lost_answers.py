"""Failpoints that stand for a bug in whoever is told of a commit: nobody waits for ever, and no restart is needed."""

from collections.abc import AsyncIterator, Iterator

import pytest
import trio

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.talk import Talk, create_params, text
from tests.trouble.beside import takes_prompts, undisturbed

WORKSPACE = "lost-answers"


@pytest.fixture(scope="module")
def faulty_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path_factory.mktemp("lost"), options=("--enable-faults",))
    daemon.start()
    yield daemon
    assert daemon.stop() == 0
    daemon.end()


@pytest.fixture
async def faulty(faulty_daemon: Daemon) -> AsyncIterator[Client]:
    async with connected(faulty_daemon) as client:
        await client.subscribe(WORKSPACE)
        yield client
        await client.request("fault/clear")


@pytest.mark.rule("ST-003")
@pytest.mark.case("FC-49")
@pytest.mark.parametrize("commit", range(1, 7))
async def test_a_lost_word_of_any_commit_of_a_turn_ends_that_turn_at_most(
    faulty: Client, commit: int
) -> None:
    """The commit stands, who waits for it reads "unknown", and the session takes the next prompt."""
    session = f"session-{commit}"
    key = {"workspaceId": WORKSPACE, "agentSessionId": session}
    params = create_params(WORKSPACE, agentSessionId=session, clientSubmitId=f"create-{commit}")
    created = await faulty.request("session/create", **params)
    talk = Talk(faulty, key, created, sends=100)
    await faulty.request("fault/inject", name="store.telling.before", action="raise", onPass=commit)
    sent = await faulty.send(
        "session/send", **key, clientSubmitId="one", content=text("[[say x]][[tool t]][[say y]]")
    )
    with trio.fail_after(20):
        await faulty.wait(lambda: sent.answer is not None, "the answer to the prompt")
        while (await faulty.request("session/get", **key))["activeTurn"] is not None:
            await trio.lowlevel.checkpoint()  # each look is a round trip
    answer = sent.answer
    assert answer is not None
    if "error" in answer:
        data = answer["error"]["data"]
        assert (data["code"], data["delivery"]) == ("internal", "unknown")
    [turn] = (await faulty.request("turn/list", **key))["items"]
    assert turn["phase"] == "settled"
    if turn["outcome"] != "completed":
        assert turn["error"]["code"] == "internal"
    await faulty.request("fault/clear")
    await takes_prompts(talk)
    assert (await faulty.request("health/read"))["quarantined"] == []


@pytest.mark.rule("ST-003")
@pytest.mark.case("FC-49")
async def test_a_lost_word_of_a_deletion_leaves_its_sessions_in_reach(faulty: Client) -> None:
    params = create_params(WORKSPACE, agentSessionId="doomed", clientSubmitId="create-doomed")
    await faulty.request("session/create", **params)
    key = {"workspaceId": WORKSPACE, "agentSessionId": "doomed"}
    await faulty.request("fault/inject", name="store.telling.before", action="raise", onPass=1)
    deletion = {"workspaceId": WORKSPACE, "agentSessionIds": ["doomed"]}
    refused = await faulty.refused("session/delete", **deletion)
    assert (refused["code"], refused["delivery"]) == ("internal", "unknown")
    await faulty.request("fault/clear")
    assert (await faulty.refused("session/get", **key))["code"] in ("session.deleted", "session.not_found")
    await faulty.request("session/delete", **deletion)
    await faulty.request("session/restore", **deletion)
    created = {"session": (await faulty.request("session/get", **key))["session"], "turn": None}
    await takes_prompts(Talk(faulty, key, created))


@pytest.mark.rule("ST-003")
@pytest.mark.case("FC-49", "FC-25")
async def test_a_word_that_is_lost_every_time_sets_its_session_aside_and_resume_takes_it_up(
    faulty: Client,
) -> None:
    params = create_params(WORKSPACE, agentSessionId="unlucky", clientSubmitId="create-unlucky")
    talk = Talk(
        faulty,
        {"workspaceId": WORKSPACE, "agentSessionId": "unlucky"},
        await faulty.request("session/create", **params),
    )
    await faulty.request("fault/inject", name="store.telling.before", action="raise")
    codes = []
    for number in range(6):
        send = {"clientSubmitId": f"unlucky-{number}", "content": text("[[say x]]")}
        codes.append((await faulty.refused("session/send", **talk.key, **send))["code"])
    assert codes[-1] == "session.quarantined"
    assert set(codes) == {"internal", "session.quarantined"}
    await faulty.request("fault/clear")
    health = await faulty.request("health/read")
    assert health["quarantined"] == [talk.key]
    async with undisturbed(faulty, WORKSPACE):
        await faulty.request("session/resume", **talk.key)
    await takes_prompts(talk)
    assert (await faulty.request("health/read"))["quarantined"] == []
