"""Subscriptions that outlive what happens to them: lost connections, replays cut short, slow consumers, other stores."""

from collections.abc import Sequence

import anyio
import pytest

import greenroom_client
from greenroom_client import (
    BufferLimits,
    Client,
    ConnectionLost,
    DaemonUnreachable,
    GreenroomError,
    Position,
    Subscription,
    SubscriptionEvent,
    connect,
    connect_to_daemon,
    text_of,
)
from tests.client.loops import on_both_loops
from tests.client.odd_daemon import SOON, Line, odd_daemon
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon, token_of


async def take(events: Subscription, number: int) -> list[SubscriptionEvent]:
    return [await anext(events) for _ in range(number)]


def told(events: Sequence[SubscriptionEvent]) -> list[str]:
    """Events in short: `commit 3`, `gap text reconnected 3`."""
    short = []
    for event in events:
        words = [event["type"], event.get("lost"), event.get("reason"), event.get("commitSeq")]
        short.append(" ".join(str(word) for word in words if word is not None))
    return short


@pytest.mark.case("FC-14")
@on_both_loops
async def test_a_lost_connection_goes_on_after_the_last_commit_and_repeats_none():
    asked = []

    async def dies_in_the_middle(line: Line) -> None:
        await line.welcome()
        asked.append(await line.subscribed(10))
        await line.commit(11)
        await line.event("checkpoint", commitSeq=13)

    async def dies_in_the_replay(line: Line) -> None:
        await line.welcome()
        asked.append(await line.subscribed(20))
        await line.commit(14)
        await line.bytes(b"\x81\x7e\x01\x00{")  # half a frame

    async def repeats_itself(line: Line) -> None:
        await line.welcome()
        asked.append(await line.subscribed(20, subscription_id=5))
        for number in (12, 14, 15, 15, 16):
            await line.commit(number, subscription_id=5)
        await line.wait_for_end()

    async with odd_daemon(dies_in_the_middle, dies_in_the_replay, repeats_itself) as daemon:
        async with connect(daemon.url, token="t", options=SOON) as client:
            async with client.subscribe("w", agent_session_ids=["s"]) as events:
                assert events.position == Position("store-1", 10)
                got = told(await take(events, 2))
                assert events.position == Position("store-1", 13)
                got += told(await take(events, 5))
                assert events.position == Position("store-1", 16)
    assert got == [
        "commit 11",
        "checkpoint 13",
        "gap text reconnected 13",
        "commit 14",
        "gap text reconnected 14",
        "commit 15",
        "commit 16",
    ]
    assert [(one.get("storeId"), one.get("afterCommitSeq")) for one in asked] == [
        (None, None),
        ("store-1", 13),
        ("store-1", 14),
    ]
    assert all(one["agentSessionIds"] == ["s"] for one in asked)


@pytest.mark.case("FC-14")
@on_both_loops
async def test_what_cannot_be_replayed_is_a_gap_of_facts():
    async def dies(line: Line) -> None:
        await line.welcome("store-1")
        await line.subscribed(10)
        await line.commit(11)

    async def another_store(line: Line) -> None:
        await line.welcome("store-2")
        await line.subscribed(3, gap=True)
        await line.commit(4)
        await line.event("resync", commitSeq=9)
        await line.event("something_new", commitSeq="odd", text="kept")
        await line.wait_for_end()

    async with odd_daemon(dies, another_store) as daemon:
        async with connect(daemon.url, token="t", options=SOON) as client, client.subscribe("w") as events:
            got = await take(events, 5)
            assert events.position == Position("store-2", 9)
    assert told(got)[:4] == ["commit 11", "gap facts not_in_log 3", "commit 4", "resync 9"]
    assert dict(got[4])["text"] == "kept"
    assert [greenroom_client.facts_are_missing(event) for event in got] == [False, True, False, True, False]


@on_both_loops
async def test_hints_and_sides_are_in_no_log_so_a_lost_connection_loses_them():
    async def dies(line: Line) -> None:
        await line.welcome()
        await line.subscribed(10)

    async def stays(line: Line) -> None:
        await line.welcome()
        await line.subscribed(10)
        await line.wait_for_end()

    async with odd_daemon(dies, stays) as daemon, connect(daemon.url, token="t", options=SOON) as client:
        async with client.subscribe("*", topics=["host.updated"]) as events:
            assert told(await take(events, 1)) == ["gap facts reconnected 10"]


@on_both_loops
async def test_a_refused_subscription_is_raised_where_it_is_asked_for(daemon: Daemon):
    async with connect(daemon.ready["url"], token=token_of("tenant")) as client:
        with pytest.raises(GreenroomError, match=r"auth\.forbidden"):
            async with client.subscribe("*"):
                pass
        async with client.subscribe("tenant-1") as events:
            assert events.position is not None


@on_both_loops
async def test_a_daemon_that_has_no_time_is_asked_again_and_one_that_forbids_is_not():
    async def dies(line: Line) -> None:
        await line.welcome()
        await line.subscribed(10)

    async def has_no_time(line: Line) -> None:
        await line.welcome()
        await line.refuse(await line.expect("events/subscribe"), "overloaded", retryable=True, retryAfterMs=1)
        await line.subscribed(10)
        await line.commit(11)

    async def forbids(line: Line) -> None:
        await line.welcome()
        await line.refuse(await line.expect("events/subscribe"), "auth.forbidden")
        await line.wait_for_end()

    async with odd_daemon(dies, has_no_time, forbids) as daemon:
        async with connect(daemon.url, token="t", options=SOON) as client, client.subscribe("w") as events:
            assert told(await take(events, 2)) == ["gap text reconnected 10", "commit 11"]
            with pytest.raises(GreenroomError, match=r"auth\.forbidden"):
                await anext(events)
            assert client.state == "connected"


@on_both_loops
async def test_iteration_ends_with_why_the_connection_could_not_be_had_again():
    async def dies(line: Line) -> None:
        await line.welcome()
        await line.subscribed(10)
        await line.commit(11)

    async with odd_daemon(dies) as daemon:
        async with connect(daemon.url, token="t", options=SOON) as client, client.subscribe("w") as events:
            assert told(await take(events, 1)) == ["commit 11"]
            with pytest.raises((ConnectionLost, DaemonUnreachable)):
                await anext(events)


@pytest.mark.rule("AP-021")
@on_both_loops
async def test_a_slow_consumer_is_cut_off_subscribed_anew_and_misses_no_fact():
    asked = []

    async def floods(line: Line) -> None:
        await line.welcome()
        asked.append(await line.subscribed(0, subscription_id=1))
        asked.append(await line.subscribed(0, subscription_id=2))
        for number in range(1, 11):
            await line.commit(number, subscription_id=1)
            await line.commit(number, subscription_id=2)
        await line.reply(await line.expect("health/read"), {"status": "ok"})
        asked.append(await line.subscribed(10, subscription_id=3))
        for number in range(5, 11):
            await line.commit(number, subscription_id=3)
        await line.wait_for_end()

    async with odd_daemon(floods) as daemon, connect(daemon.url, token="t", options=SOON) as client:
        async with (
            client.subscribe("w", buffer=BufferLimits(events_max=4)) as slow,
            client.subscribe("w") as fast,
        ):
            # Nobody takes from the slow one; neither the other subscription nor replies wait for it.
            assert told(await take(fast, 10)) == [f"commit {number}" for number in range(1, 11)]
            assert (await client.health_read())["status"] == "ok"
            assert told(await take(slow, 4)) == [f"commit {number}" for number in range(1, 5)]
            got = told(await take(slow, 1))
            assert got == ["gap text slow_consumer 4"]
    assert [one.get("afterCommitSeq") for one in asked] == [None, None, 4]


@on_both_loops
async def test_a_cancelled_step_loses_no_event():
    async def waits(line: Line) -> None:
        await line.welcome()
        await line.subscribed(0)
        for number in range(1, 4):
            await line.frame()
            await line.commit(number)
        await line.wait_for_end()

    got: list[SubscriptionEvent] = []
    async with odd_daemon(waits) as daemon, connect(daemon.url, token="t", options=SOON) as client:
        async with client.subscribe("w") as events:
            for _ in range(3):
                with anyio.move_on_after(0.01):
                    await anext(events)
                with anyio.move_on_after(0):
                    await client.health_read()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(poke, client)
                    got.append(await anext(events))
                    tasks.cancel_scope.cancel()
    assert told(got) == ["commit 1", "commit 2", "commit 3"]


async def poke(client: Client) -> None:
    await client.health_read()


@on_both_loops
async def test_a_changed_choice_holds_on_the_next_connection_too():
    asked = []

    async def updates(line: Line) -> None:
        await line.welcome()
        await line.subscribed(0)
        request = await line.expect("events/update")
        asked.append(request["params"])
        await line.reply(request, {"commitSeq": 0})
        await line.refuse(await line.expect("events/update"), "request.invalid")
        await line.expect("session/close")

    async def next_one(line: Line) -> None:
        await line.welcome()
        asked.append(await line.subscribed(0))
        await line.wait_for_end()

    async with (
        odd_daemon(updates, next_one) as daemon,
        connect(daemon.url, token="t", options=SOON) as client,
    ):
        async with client.subscribe("w") as events:
            await events.update(agent_session_ids=["a"], deltas=["a"])
            with pytest.raises(GreenroomError, match=r"request\.invalid"):
                await events.update(deltas="none")
            with pytest.raises(ConnectionLost):
                await client.session_close(workspace_id="w", agent_session_id="a")
            await anext(events)
    assert asked[0] == {"subscriptionId": 1, "agentSessionIds": ["a"], "deltas": ["a"]}
    assert (asked[1]["agentSessionIds"], asked[1]["deltas"]) == (["a"], ["a"])


# --- with a real daemon -----------------------------------------------------------------------------------------


@pytest.mark.case("FC-14")
@on_both_loops
async def test_a_subscription_outlives_a_killed_daemon_and_sees_how_its_turn_ended(make_daemon: MakeDaemon):
    daemon = make_daemon()
    async with connect_to_daemon(daemon.data_dir) as client, client.subscribe("w") as events:
        created = await client.session_create(
            workspace_id="w",
            agent_target_id="demo",
            client_submit_id="one",
            initial_content=greenroom_client.prompt("[[say before]] [[hang]]"),
        )
        rows = []
        while not any(row.get("phase") == "running" for row in rows):
            rows += changed(await anext(events))
        await anyio.to_thread.run_sync(daemon.kill)
        await anyio.to_thread.run_sync(daemon.start)  # on another port
        reasons = []
        while not any(row.get("phase") == "settled" for row in rows):
            event = await anext(events)
            reasons += [event["reason"]] if event["type"] == "gap" else []
            rows += changed(event)
        assert reasons == ["reconnected"]
        assert rows[-1].get("outcome", "interrupted") == "interrupted"
        turn = await greenroom_client.wait_for_turn(
            client,
            workspace_id="w",
            agent_session_id=created["session"]["agentSessionId"],
            turn_id=created["turn"]["turnId"],
        )
        assert turn["outcome"] == "interrupted"


def changed(event: SubscriptionEvent) -> list[dict]:
    return [dict(change["row"]) for change in event["changes"]] if event["type"] == "commit" else []


@pytest.mark.case("FC-14")
@on_both_loops
async def test_a_program_goes_on_where_it_was_before_its_own_restart(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        async with client.subscribe(workspace) as events:
            position = events.position
        created = await client.session_create(
            workspace_id=workspace, agent_target_id="demo", client_submit_id="one"
        )
    async with connect_to_daemon(daemon.data_dir) as client:
        async with client.subscribe(workspace, after=position) as events:
            rows = changed(await anext(events))
    assert [row["agentSessionId"] for row in rows] == [created["session"]["agentSessionId"]]


@on_both_loops
async def test_a_slow_consumer_of_a_real_stream_ends_with_the_same_rows(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        limits = BufferLimits(events_max=8)
        async with client.subscribe(workspace, buffer=limits) as slow:
            created = await client.session_create(
                workspace_id=workspace,
                agent_target_id="demo",
                client_submit_id="one",
                initial_content=greenroom_client.prompt("[[stream 400 delay=1]] [[say the end]]"),
            )
            session_id = created["session"]["agentSessionId"]
            view = greenroom_client.SessionView(workspace, session_id)
            await greenroom_client.wait_for_turn(
                client,
                workspace_id=workspace,
                agent_session_id=session_id,
                turn_id=created["turn"]["turnId"],
            )
            gaps = []
            while view.active_turn is not None or not view.turns:
                event = await anext(slow)
                view.receive(event)
                gaps += [event] if event["type"] == "gap" else []
        read = await client.session_messages(
            workspace_id=workspace, agent_session_id=session_id, after_version=0
        )
    assert {gap["lost"] for gap in gaps} == {"text"}
    assert [text_of(message) for message in view.messages] == [text_of(row) for row in by_sequence(read)]


def by_sequence(read) -> list:
    return sorted(read["messages"], key=lambda message: message["sequence"])
