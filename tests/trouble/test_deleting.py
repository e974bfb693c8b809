"""Deletions and trouble: kill -9 in the middle, restarts, replays, and others who are at it at the same time."""

import random
from typing import Any

import pytest
import trio

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start, text
from tests.end_to_end.test_disk_trouble import files_may_grow

KILLS = 8


def named(*sessions: str) -> dict[str, Any]:
    return {"workspaceId": "w", "agentSessionIds": list(sessions)}


async def deleted(client: Client) -> list[str]:
    listed = await client.request("session/listDeleted", workspaceId="w")
    return [row["agentSessionId"] for row in listed["items"]]


async def living(client: Client) -> list[str]:
    listed = await client.request("session/list", workspaceId="w")
    return [row["agentSessionId"] for row in listed["items"]]


@pytest.mark.case("FC-06", "FC-59")
@pytest.mark.rule("ST-023", "ST-024")
async def test_a_kill_in_the_middle_leaves_it_finished_or_undone_and_doing_it_again_finishes_it(
    make_daemon: MakeDaemon,
) -> None:
    daemon, chance = make_daemon(), random.Random(7)
    outcomes = set()
    for number in range(KILLS):
        names = [f"s{number}-{place}" for place in range(3)]
        async with connected(daemon) as client:
            await client.subscribe("w")
            talks = [
                await start(
                    client,
                    "w",
                    "[[say x]] [[ask]]",
                    agentSessionId=name,
                    clientSubmitId=f"create-{name}",
                )
                for name in names
            ]
            for talk in talks:
                await talk.pending()
            asked = await client.send("session/delete", **named(*names))
            for _ in range(chance.choice((0, 0, 1, 2, 5, 20))):
                await client.request("health/read")
            # The pid is killed from another thread, at whatever step the deletion has come to.
            await trio.to_thread.run_sync(daemon.kill)
            acknowledged = asked.answer is not None and "result" in asked.answer
        assert await trio.to_thread.run_sync(daemon.providers_left) == []
        await trio.to_thread.run_sync(daemon.start)
        async with connected(daemon) as back:
            gone = set(await deleted(back)) & set(names)
            assert gone in (set(), set(names)), "all of them or none"
            assert gone or not acknowledged
            outcomes.add(bool(gone))
            for talk in talks:
                if not gone:
                    turn = await back.request("turn/get", **talk.key, turnId=talk.turn["turnId"])
                    assert turn["turn"]["phase"] == "settled"
            again = await back.request("session/delete", **named(*names))
            assert {row["agentSessionId"] for row in again["sessions"]} == set(names)
            assert set(names) <= set(await deleted(back))
            assert await living(back) == []
    assert outcomes, "some were cut off early, some late; both ends are fine"


@pytest.mark.case("FC-14")
@pytest.mark.rule("ST-026", "AP-019")
async def test_a_replay_tells_of_removal_and_restoration_in_their_order(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client, connected(daemon) as other:
        await client.subscribe("w")
        await other.subscribe("w", agentSessionIds=["other"])
        talk = await start(client, "w", "[[say x]]", agentSessionId="mine")
        await start(client, "w", agentSessionId="other")
        await client.settled(talk.turn)
        before = client.events("commit")[-1]["commitSeq"]
        store_id = client.hello["storeId"]
        await client.request("session/delete", **named("mine"))
        await client.request("session/restore", **named("mine"))
        await client.event("session_reset", agentSessionId="mine")
        await client.request("session/delete", **named("mine"))
        live = await lifecycle_of(client, 4)
        assert [kind for kind, _ in live] == [
            "session_removed",
            "session_restored",
            "session_reset",
            "session_removed",
        ]
        assert [number for _, number in live] == sorted(number for _, number in live)
        assert other.events("session_reset") == []
        assert other.rows("session_removed") == []
    await trio.to_thread.run_sync(daemon.kill)
    await trio.to_thread.run_sync(daemon.start)
    async with connected(daemon) as back:
        await back.subscribe("w", afterCommitSeq=before, storeId=store_id)
        assert await lifecycle_of(back, 4) == live
        assert await deleted(back) == ["mine"]
        await back.request("session/restore", **named("mine"))
        assert (await back.refused("session/send", **talk.key, clientSubmitId="b", content=[]))["code"]
        turn = await talk.through(back).send("[[recall]]", "after")
        assert (await back.settled(turn))["outcome"] == "completed"


async def lifecycle_of(client: Client, count: int) -> list[tuple[str, int]]:
    """The first changes that tell of a session's end and return, with their numbers, as this client got them."""

    def found() -> list[tuple[str, int]]:
        told: list[tuple[str, int]] = []
        for event in client.events():
            if event["type"] == "session_reset":
                told.append(("session_reset", event["commitSeq"]))
            told += [
                (change["type"], event["commitSeq"])
                for change in event.get("changes", ())
                if change["type"] in ("session_removed", "session_restored")
            ]
        return told

    return list(await client.wait(lambda: len(found()) >= count and found()[:count], "the changes"))


async def test_whoever_is_at_it_at_the_same_time_gets_an_answer_that_fits(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"cancelGraceSeconds": 1}})
    async with connected(daemon) as one, connected(daemon) as two:
        await one.subscribe("w")
        for round_number in range(6):
            name = f"s{round_number}"
            talk = await start(one, "w", "[[say x]] [[ask]]", agentSessionId=name)
            asked = await talk.pending()
            sent = {
                "delete": await one.send("session/delete", **named(name)),
                "send": await two.send(
                    "session/send", **talk.key, clientSubmitId="late", content=text("[[say late]]")
                ),
                "close": await two.send("session/close", **talk.key),
                "resume": await two.send("session/resume", **talk.key),
                "respond": await two.send(
                    "interaction/respond",
                    **talk.key,
                    turnId=talk.turn["turnId"],
                    requestId=asked["requestId"],
                    answer={"optionId": "allow-once"},
                ),
                "create": await two.send(
                    "session/create",
                    workspaceId="w",
                    agentTargetId="demo",
                    agentSessionId=name,
                    clientSubmitId=f"again-{name}",
                ),
                "again": await two.send("session/delete", **named(name)),
            }
            codes = {}
            for what, request in sent.items():
                answer = await request.client.wait(lambda request=request: request.answer, what)  # type: ignore[misc]
                codes[what] = answer["error"]["data"]["code"] if "error" in answer else "done"
            assert codes["delete"] == codes["again"] == "done", codes
            assert codes["create"] == "session.exists", codes
            assert codes["send"] in ("session.busy", "session.deleted"), codes
            assert codes["close"] in ("done", "session.deleted"), codes
            assert codes["resume"] in ("done", "session.busy", "session.deleted", "provider.lost"), codes
            assert codes["respond"] in (
                "done",
                "interaction.not_pending",
                "session.deleted",
                "provider.lost",
                "provider.timeout",
            ), codes
            settled = await one.settled(talk.turn)
            assert settled["outcome"] in ("canceled", "completed")
        assert await living(one) == []
        assert (await one.request("health/read"))["live"]["turns"] == 0


async def test_a_daemon_that_stops_in_the_middle_ends_in_time_and_the_deletion_can_be_done_again(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon({"limits": {"cancelGraceSeconds": 5, "shutdownGraceSeconds": 4}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[ignore-cancel]] [[say x]] [[hang]]", agentSessionId="mine")
        await client.event("message_delta")
        await client.send("session/delete", **named("mine"))
        await client.row("turn", turnId=talk.turn["turnId"], phase="settling")
        assert await trio.to_thread.run_sync(stopped, daemon) == 0
    await trio.to_thread.run_sync(daemon.start)
    async with connected(daemon) as back:
        await back.request("session/delete", **named("mine"))
        assert await deleted(back) == ["mine"]


def stopped(daemon: Daemon) -> int:
    return daemon.stop()


@pytest.mark.rule("RT-136")
async def test_a_deletion_that_takes_too_long_lets_go_of_its_session(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"lifecycleTimeoutSeconds": 1, "cancelGraceSeconds": 3}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[ignore-cancel]] [[say x]] [[hang]]", agentSessionId="mine")
        await client.event("message_delta")
        refused = await client.refused("session/delete", **named("mine"))
        assert (refused["code"], refused["delivery"]) == ("provider.timeout", "unknown")
        await client.settled(talk.turn)
        assert await deleted(client) == []
        assert (await talk.say("[[say again]]"))["outcome"] == "completed"
        await client.request("session/delete", **named("mine"))
        assert await deleted(client) == ["mine"]


@pytest.mark.case("FC-34")
async def test_a_disk_that_cannot_be_written_deletes_nothing_and_lets_go(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"storeReserveBytes": 0}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say x]]", agentSessionId="mine")
        await client.settled(talk.turn)
        files_may_grow(daemon, allowed=False)
        refused = await client.refused("session/delete", **named("mine"))
        assert (refused["code"], refused["retryable"]) == ("store.unavailable", True)
        put = {"workspaceId": "w", "mediaType": "image/png", "data": "aGVsbG8="}
        assert (await client.refused("attachment/put", **put))["code"] == "store.unavailable"
        files_may_grow(daemon, allowed=True)
        assert (await talk.say("[[say still here]]"))["outcome"] == "completed"
        await client.request("session/delete", **named("mine"))
        files_may_grow(daemon, allowed=False)
        for method in ("session/restore", "session/purge"):
            assert (await client.refused(method, **named("mine")))["code"] == "store.unavailable"
        files_may_grow(daemon, allowed=True)
        await client.request("attachment/put", **put)
        await client.request("session/restore", **named("mine"))
        assert (await talk.say("[[say back]]"))["outcome"] == "completed"
