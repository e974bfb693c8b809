"""Bounds on how much lives at once: who waits, who makes room, and what is said to those for whom there is none."""

import pytest

from tests.end_to_end.client import Client, connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import DEMO, Talk, start, text


async def following(client: Client, *workspaces: str) -> None:
    for workspace in workspaces:
        await client.subscribe(workspace)


async def test_an_idle_session_makes_room_for_one_that_waits(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxLiveConnections": 1}})
    async with connected(daemon) as client:
        await following(client, "w")
        talks = [await start(client, "w", f"[[say {n}]]", clientSubmitId=f"{n}") for n in range(4)]
        for talk in talks:
            assert (await client.settled(talk.turn))["outcome"] == "completed"
        assert len(daemon.providers()) == 1
        states = [
            (await client.request("session/get", **talk.key))["session"]["runtime"]["state"] for talk in talks
        ]
        assert sorted(states) == ["hibernated", "hibernated", "hibernated", "live"]
        back = talks[states.index("hibernated")]
        assert (await back.say("[[recall]]"))["outcome"] == "completed"
        assert (await back.texts())[-1].startswith("I remember 1:")
        assert len(daemon.providers()) == 1


async def test_who_waits_is_submitted_and_not_dispatched_until_there_is_room(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxLiveConnections": 1, "cancelGraceSeconds": 1}})
    async with connected(daemon) as client:
        await following(client, "w")
        busy = await start(client, "w", "[[ask]]", clientSubmitId="busy")
        asked = await busy.pending()
        waiting = await start(client, "w", "[[say at last]]", clientSubmitId="waiting")
        turn = (await client.request("turn/get", **waiting.key, turnId=waiting.turn["turnId"]))["turn"]
        assert (turn["phase"], turn["delivery"]) == ("submitted", "not_dispatched")
        health = await client.request("health/read")
        assert health["queues"]["admission"] == 1
        given_up = await start(client, "w", "[[say never]]", clientSubmitId="given-up")
        reply = await client.request("turn/cancel", **given_up.key, turnId=given_up.turn["turnId"])
        assert (reply["turn"]["outcome"], reply["turn"]["delivery"]) == ("canceled", "not_dispatched")
        await busy.answer(asked)
        assert (await client.settled(busy.turn))["outcome"] == "completed"
        settled = await client.settled(waiting.turn)
        assert (settled["outcome"], settled["delivery"]) == ("completed", "accepted")
        assert settled["timings"]["queuedMs"] is not None
        assert await given_up.texts() == []


async def test_who_waits_too_long_fails_with_the_limit_and_the_next_prompt_works(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon({"limits": {"maxLiveConnections": 1, "admissionWaitSeconds": 0.5}})
    async with connected(daemon) as client:
        await following(client, "w")
        busy = await start(client, "w", "[[ask]]", clientSubmitId="busy")
        asked = await busy.pending()
        waiting = await start(client, "w", "[[say never]]", clientSubmitId="waiting")
        failed = await client.settled(waiting.turn)
        assert (failed["outcome"], failed["delivery"]) == ("failed", "not_dispatched")
        assert failed["error"]["code"] == "limit.exceeded"
        assert failed["error"]["retryable"] is True
        refused = await client.refused("session/resume", **waiting.key)
        assert (refused["code"], refused["retryable"]) == ("limit.exceeded", True)
        await busy.answer(asked)
        await client.settled(busy.turn)
        assert (await waiting.say("[[say now]]"))["outcome"] == "completed"
        assert await waiting.texts() == ["now"]


async def test_no_more_sessions_than_allowed_and_repeats_still_work(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxSessions": 2}})
    async with connected(daemon) as client:
        params = [{"workspaceId": "w", "agentTargetId": DEMO, "clientSubmitId": f"{n}"} for n in range(3)]
        made = [await client.request("session/create", **one) for one in params[:2]]
        refused = await client.refused("session/create", **params[2])
        assert (refused["code"], refused["retryable"]) == ("limit.exceeded", True)
        assert refused["details"] == {"limit": "maxSessions"}
        assert refused["delivery"] == "not_dispatched"
        assert (await client.request("session/create", **params[0]))["session"] == made[0]["session"]
        assert len((await client.request("session/list", workspaceId="w"))["items"]) == 2


async def test_creates_at_once_do_not_pass_the_limit_together(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxSessions": 5}})
    async with connected(daemon) as client:
        sent = [
            await client.send("session/create", workspaceId="w", agentTargetId=DEMO, clientSubmitId=f"{n}")
            for n in range(20)
        ]
        answers = [await client.wait(lambda one=one: one.answer, "a reply") for one in sent]
        codes = [answer["error"]["data"]["code"] for answer in answers if "error" in answer]
        assert codes == ["limit.exceeded"] * 15
        assert len((await client.request("session/list", workspaceId="w"))["items"]) == 5


async def test_a_session_that_cannot_keep_up_with_its_commands_says_so(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"sessionLaneMessages": 4}})
    async with connected(daemon) as client:
        await following(client, "w")
        talk = await start(client, "w", "[[ask]]")
        asked = await talk.pending()
        sent = [
            await client.send("session/send", **talk.key, clientSubmitId=f"{n}", content=text("x"))
            for n in range(200)
        ]
        answers = [await client.wait(lambda one=one: one.answer, "a reply") for one in sent]
        refusals = [answer["error"]["data"] for answer in answers]
        codes = {refusal["code"] for refusal in refusals}
        assert codes <= {"session.busy", "overloaded"}
        for refusal in refusals:
            assert refusal["delivery"] == "not_dispatched"
            if refusal["code"] == "overloaded":
                assert refusal["retryable"] is True
                assert refusal["retryAfterMs"] > 0
        await talk.answer(asked)
        await client.settled(talk.turn)
        assert (await talk.say("[[say still well]]"))["outcome"] == "completed"


async def test_an_idle_session_gives_its_process_up_and_wakes_for_the_next_prompt(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon({"limits": {"idleReleaseSeconds": 0.3}})
    async with connected(daemon) as client:
        await following(client, "w")
        talk = await start(client, "w", "[[say hello]]")
        await client.settled(talk.turn)
        await client.event("runtime_activity", runtimeState="hibernated")
        assert daemon.providers() == []
        assert await runtime_state(talk) == "hibernated"
        assert (await talk.say("[[recall]]"))["outcome"] == "completed"
        asking = await talk.send("[[sleep 600]] [[ask]]")
        asked = await client.row("interaction", turnId=asking["turnId"], status="pending")
        assert len(daemon.providers()) == 1, "a session with a turn is never idle, however long it waits"
        await talk.answer(asked)
        await client.settled(asking)


async def runtime_state(talk: Talk) -> str:
    detail = await talk.client.request("session/get", **talk.key)
    return str(detail["session"]["runtime"]["state"])


@pytest.mark.rule("RT-041")
@pytest.mark.case("FC-47")
async def test_many_stored_sessions_cost_no_process_and_little_to_list(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        for first in range(0, 400, 200):
            sent = [
                await client.send(
                    "session/create",
                    workspaceId="w",
                    agentTargetId=DEMO,
                    clientSubmitId=f"{first + n}",
                    cwd=str(daemon.home),
                )
                for n in range(200)
            ]
            for one in sent:
                await one.result()
    daemon.restart()
    async with connected(daemon) as client:
        seen, cursor = 0, None
        while True:
            page = await client.request("session/list", workspaceId="w", limit=200, cursor=cursor)
            seen += len(page["items"])
            cursor = page["nextCursor"]
            if cursor is None:
                break
        assert seen == 400
        for item in page["items"][:50]:
            await client.request("session/get", workspaceId="w", agentSessionId=item["agentSessionId"])
        assert daemon.providers() == []
        assert (await client.request("health/read"))["live"]["sessions"] == 0, "reading wakes nobody"
