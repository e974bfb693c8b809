"""Agents that read slowly, and sessions that seem idle, on a daemon with larger prompts and a shorter patience."""

from collections.abc import AsyncIterator, Iterator
from functools import partial

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon, poll_until
from tests.end_to_end.fixtures import agent
from tests.end_to_end.talk import Talk, start, text, text_of
from tests.process_guard.support import alive
from tests.trouble.agents import agent_of, gone, processes_of
from tests.trouble.beside import takes_prompts, undisturbed

IDLE_SECONDS = 1
LONGER_MS = 2500
PROMPT_BYTES = 10_000_000
READ_BYTES_A_SECOND = 4_000_000


@pytest.fixture(scope="module")
def other_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("other-limits")
    limits = {
        "maxMessageBytes": 12_000_000,
        "idleReleaseSeconds": IDLE_SECONDS,
        "cancelGraceSeconds": 1,
        "writeBehindMs": 100,
    }
    slow = agent("slow-reader", folder, DEMO_READ_RATE=str(READ_BYTES_A_SECOND))
    one = Daemon(folder, {"limits": limits, "targets": [slow]})
    one.start()
    try:
        yield one
        assert one.stop() == 0, one.log_tail()
    finally:
        one.end()


@pytest.fixture
async def client(other_daemon: Daemon, workspace: str) -> AsyncIterator[Client]:
    async with connected(other_daemon) as one:
        await one.subscribe(workspace)
        yield one


@pytest.mark.case("FC-55")
async def test_large_prompt_reaches_a_slow_reader_whole(client: Client, workspace: str) -> None:
    async with undisturbed(client, workspace):
        prompt = "[[say read all of it]]" + "p" * (PROMPT_BYTES // 4)
        talk = await start(client, workspace, prompt, target="slow-reader")
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["delivery"]) == ("completed", "accepted")
        stored, said = await talk.messages()
        assert text_of(stored) == prompt
        assert text_of(said) == "read all of it"


@pytest.mark.case("FC-55", "FC-12", "FC-49")
async def test_stop_is_not_stuck_behind_a_large_prompt(
    other_daemon: Daemon, client: Client, workspace: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, "p" * PROMPT_BYTES, target="slow-reader")
        await client.row("turn", turnId=talk.turn["turnId"], delivery="dispatching")
        await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["delivery"]) == ("canceled", "unknown")
        assert turn["cancelConfirmedAt"] is None
        await takes_prompts(talk)
        assert await talk.texts() == ["still here"]
        assert len(processes_of(other_daemon, talk)) == 1


@pytest.mark.case("FC-55")
async def test_prompt_over_the_limit_is_refused_before_anything_is_kept(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say hello]]")
    await client.settled(talk.turn)
    before = await talk.messages()
    refusal = await client.refused(
        "session/send", **talk.key, clientSubmitId="big", content=text("p" * 12_000_001)
    )
    assert (refusal["code"], refusal["delivery"]) == ("request.too_large", "not_dispatched")
    assert await talk.messages() == before
    again = await talk.send("[[say smaller]]", submit_id="big")
    assert (await client.settled(again))["outcome"] == "completed"


@pytest.mark.case("FC-21", "FC-09")
@pytest.mark.rule("RT-146")
async def test_only_what_is_idle_is_released_and_it_resumes_by_itself(
    other_daemon: Daemon, client: Client, workspace: str
) -> None:
    loud = await start(client, workspace, f"[[stream {LONGER_MS // 50} delay=50]]")
    silent = await start(client, workspace, f"[[tool build status=running]][[sleep {LONGER_MS}]][[say done]]")
    asking = await start(client, workspace, "[[ask allow_once]]")
    idle = await start(client, workspace, "[[say idle]]")
    asked = await client.row("interaction", agentSessionId=asking.session_id, status="pending")
    pids = {talk.session_id: agent_of(other_daemon, talk) for talk in (loud, silent, asking)}
    await client.settled(idle.turn)

    await client.event("runtime_activity", agentSessionId=idle.session_id, runtimeState="hibernated")
    assert gone(other_daemon, idle)
    for talk in (loud, silent):
        assert (await client.settled(talk.turn))["outcome"] == "completed"
    await asking.answer(asked)
    assert (await client.settled(asking.turn))["outcome"] == "completed"
    for talk in (loud, silent, asking):
        states = client.events("runtime_activity", agentSessionId=talk.session_id)
        settled = client.received.index(_settling_commit(client, talk))
        assert not [s for s in states if s["runtimeState"] != "live" and _between(client, s, talk, settled)]
        # Idle from here on, each of them goes the same way.
        assert poll_until(partial(ended, pids[talk.session_id]), 10)

    resumed = await idle.say("[[recall]]")
    assert resumed["outcome"] == "completed"
    assert (await idle.texts())[-1] == "I remember 1: [[say idle]]"


def ended(pid: int) -> bool:
    return not alive(pid)


def _settling_commit(client: Client, talk: Talk) -> Json:
    return next(
        event
        for event in client.events("commit")
        if any(
            c["row"].get("turnId") == talk.turn["turnId"] and c["row"].get("phase") == "settled"
            for c in event["changes"]
        )
    )


def _between(client: Client, event: Json, talk: Talk, settled: int) -> bool:
    first = client.events("runtime_activity", agentSessionId=talk.session_id, runtimeState="live")[0]
    return client.received.index(first) < client.received.index(event) < settled
