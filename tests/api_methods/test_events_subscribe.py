"""`events/subscribe`: what is told of whom, and that replay meets live without a hole."""

import pytest

from tests.end_to_end.client import ACTIVITY, Client, Json, connected
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import start, streamed, text_of

EVERYTHING = "[[think 3]] [[say a]] [[tool x output=y]] [[plan a;b]] [[stream 20 size=50]] [[edit a.py]]"


def sequences(client: Client, subscription: int | None = None) -> list[int]:
    events = (
        client.events("commit")
        if subscription is None
        else client.events("commit", subscriptionId=subscription)
    )
    return [event["commitSeq"] for event in events]


# --- what one turn looks like ---------------------------------------------------------------------------------------


@pytest.mark.rule("AP-012", "AP-014")
async def test_rows_precede_their_deltas_and_ends_precede_the_settled_turn(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, EVERYTHING)
    await client.settled(talk.turn)
    opened: set[str] = set()
    ended: set[str] = set()
    settled = False
    for event in client.events():
        assert not (settled and event["type"] == "message_delta")
        if event["type"] == "message_delta":
            assert event["messageId"] in opened - ended
            assert event["topic"] == ACTIVITY
        for change in event.get("changes", ()):
            row = change["row"]
            if change["type"] == "message":
                assert not settled
                assert row["messageId"] not in ended, "an ended message does not change"
                opened.add(row["messageId"])
                if row["status"] != "streaming":
                    ended.add(row["messageId"])
        settled = settled or any(
            change["row"].get("phase") == "settled" for change in event.get("changes", ())
        )
        if settled:
            assert opened == ended
    assert settled
    for message in await talk.messages():
        if message["role"] == "assistant":
            assert streamed(client, message["messageId"]) == text_of(message)


async def test_numbers_of_commits_grow_and_contain_what_replies_said(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, EVERYTHING)
    await client.settled(talk.turn)
    numbers = sequences(client)
    assert numbers == sorted(set(numbers))
    assert talk.created["commitSeq"] == numbers[0]
    newest = 0
    for event in client.events("commit"):
        versions = [c["row"]["version"] for c in event["changes"] if c["type"] == "message"]
        assert len(versions) == len(set(versions)), "every row of a message has a version of its own"
        assert min(versions, default=newest + 1) > newest, "who reads after a version misses nothing"
        newest = max([newest, *versions])
    assert client.rows("session")[-1]["messageVersion"] == newest


@pytest.mark.rule("AP-016", "RT-044")
async def test_runtime_activity_tells_what_is_never_stored(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say x]]")
    await client.settled(talk.turn)
    await client.event("runtime_activity", runtimeState="live", activity="idle")
    await client.request("session/close", **talk.key)
    await client.event("runtime_activity", runtimeState="absent")
    seen = [(event["runtimeState"], event["activity"]) for event in client.events("runtime_activity")]
    assert seen == [
        ("activating", "running"),
        ("live", "running"),
        ("live", "idle"),
        ("closing", "idle"),
        ("absent", "idle"),
    ]


async def test_the_reply_precedes_its_events_and_names_the_head(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, "[[stream 100 size=20 delay=2]]")
    await client.event("message_delta")
    async with connect() as late:
        sent = await late.send("events/subscribe", workspaceId=workspace, topics=[ACTIVITY])
        reply = await sent.result()
        assert (reply["subscriptionId"], reply["gap"]) == (1, False)
        await late.settled(talk.turn)
        assert all(place > sent.place for place, f in enumerate(late.received) if "subscriptionId" in f)
        assert min(sequences(late)) > reply["commitSeq"]
        assert reply["commitSeq"] in sequences(client) or reply["commitSeq"] >= talk.created["commitSeq"]


async def test_subscriptions_of_a_connection_are_told_apart(client: Client, workspace: str) -> None:
    second = await client.subscribe(workspace)
    third = await client.subscribe(f"{workspace}-other")
    assert (second, third) == (2, 3)
    talk = await start(client, workspace, "[[say x]]")
    await client.wait(
        lambda: len(client.rows("turn", turnId=talk.turn["turnId"], phase="settled")) == 2, "both"
    )
    assert sequences(client, 1) == sequences(client, 2) != []
    assert {event["type"] for event in client.events(subscriptionId=3)} <= {"checkpoint"}


async def test_there_are_only_so_many_on_a_connection(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxSubscriptionsPerConnection": 2}})
    params = {"workspaceId": "w", "topics": [ACTIVITY]}
    async with connected(daemon) as client, connected(daemon) as other:
        for _ in range(2):
            await client.request("events/subscribe", **params)
        refused = await client.refused("events/subscribe", **params)
        assert (refused["code"], refused["details"]) == (
            "limit.exceeded",
            {"limit": "maxSubscriptionsPerConnection"},
        )
        await other.request("events/subscribe", **params)
        await client.request("events/unsubscribe", subscriptionId=1)
        assert (await client.request("events/subscribe", **params))["subscriptionId"] == 3


# --- snapshots ------------------------------------------------------------------------------------------------------


async def test_who_subscribes_in_mid_stream_gets_a_snapshot_and_only_later_deltas(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, "[[stream 150 size=40 delay=2]]")
    await client.event("message_delta")
    async with connect() as late:
        for _ in range(10):
            await late.subscribe(workspace)
        await late.settled(talk.turn)
        [message] = [m for m in await talk.messages() if m["role"] == "assistant"]
        for subscription in range(1, 11):
            events = late.events(subscriptionId=subscription)
            snapshots = [e["message"] for e in events if e["type"] == "message_snapshot"]
            deltas = [e for e in events if e["type"] == "message_delta"]
            if not snapshots:
                assert not deltas
                continue
            [snapshot] = snapshots
            assert [d["deltaSeq"] for d in deltas] == list(
                range(snapshot["deltaSeq"], snapshot["deltaSeq"] + len(deltas))
            )
            whole = text_of(snapshot) + "".join(d["text"] for d in deltas)
            assert text_of(message) == whole
        assert late.events("message_snapshot"), "at least the first one came in mid-stream"


async def test_all_subscribers_see_the_same_text_under_the_same_numbers(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, "[[stream 300 size=20 delay=2]] [[think 5]] [[say 🙂]]")
    await client.event("message_delta")
    async with connect() as late:
        await late.subscribe(workspace)
        for one in (client, late):
            await one.settled(talk.turn)
        whole, part = numbered(client), numbered(late)
    assert part
    assert part.items() <= whole.items()
    assert "" not in whole.values()
    for message_id in {message_id for message_id, _ in whole}:
        numbers = [number for name, number in whole if name == message_id]
        assert numbers == list(range(len(numbers))), "from 0, without holes"


def numbered(client: Client) -> dict[tuple[str, int], str]:
    """The text of each delta by its message and number."""
    deltas = client.events("message_delta")
    texts = {(delta["messageId"], delta["deltaSeq"]): delta["text"] for delta in deltas}
    assert len(texts) == len(deltas), "no number twice"
    return texts


async def test_a_snapshot_of_a_running_tool_call_holds_it_whole(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, "[[tool slow status=pending]] [[hang]]")
    await client.row("message", kind="tool_call")
    async with connect() as late:
        await late.subscribe(workspace)
        snapshot = (await late.event("message_snapshot"))["message"]
        assert snapshot["toolCall"]["title"] == "slow"
        assert (snapshot["status"], snapshot["deltaSeq"]) == ("streaming", 0)
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    await client.settled(talk.turn)


async def test_without_deltas_there_are_no_snapshots_and_all_rows(
    client: Client, connect: Connect, workspace: str
) -> None:
    first = await start(client, workspace, "[[say a]] [[ask]]", clientSubmitId="a")
    await client.event("message_delta")
    async with connect() as quiet, connect() as choosy:
        await quiet.subscribe(workspace, deltas="none")
        await choosy.subscribe(workspace, deltas=["chosen"])
        second = await start(client, workspace, "[[say b]]", agentSessionId="chosen", clientSubmitId="b")
        await first.answer(await first.pending())
        for talk in (first, second):
            await client.settled(talk.turn)
            await quiet.settled(talk.turn)
            await choosy.settled(talk.turn)
        for kind in ("message_delta", "message_snapshot", "stream_gap"):
            assert quiet.events(kind) == []
        assert {event["agentSessionId"] for event in choosy.events("message_delta")} == {"chosen"}
        assert choosy.events("message_snapshot") == []
        rows = [row for row in quiet.rows("message", status="completed") if row["role"] == "assistant"]
        assert {text_of(row) for row in rows} >= {"b", "Permission: allow_once (allow-once)."}


# --- who hears what -------------------------------------------------------------------------------------------------


@pytest.mark.rule("AP-020")
async def test_workspaces_are_apart_and_a_star_hears_all(
    client: Client, connect: Connect, workspace: str
) -> None:
    other = f"{workspace}-other"
    async with connect() as there, connect() as everywhere:
        await there.subscribe(other)
        await everywhere.subscribe("*")
        talks = [await start(client, name, "[[say x]]") for name in (workspace, other)]
        for talk in talks:
            await everywhere.settled(talk.turn)
        await there.settled(talks[1].turn)
        await client.settled(talks[0].turn)
        for one, name in ((client, workspace), (there, other)):
            assert {row["workspaceId"] for row in one.rows("turn")} == {name}
            heard = {
                e.get("workspaceId") for e in one.events("message_delta") + one.events("runtime_activity")
            }
            assert heard == {name}
        assert {row["workspaceId"] for row in everywhere.rows("turn")} == {workspace, other}


async def test_named_sessions_alone(client: Client, connect: Connect, workspace: str) -> None:
    async with connect() as one:
        await one.subscribe(workspace, agentSessionIds=["chosen"])
        nobody = await one.subscribe(workspace, agentSessionIds=[])
        for name in ("other", "chosen"):
            talk = await start(client, workspace, "[[say x]]", agentSessionId=name, clientSubmitId=name)
            await client.settled(talk.turn)
        await one.settled(talk.turn)
        named = {row["agentSessionId"] for row in one.rows("turn")}
        others = one.events("message_delta") + one.events("runtime_activity")
        assert named | {event["agentSessionId"] for event in others} == {"chosen"}
        assert [e for e in one.events(subscriptionId=nobody) if e["type"] != "checkpoint"] == []


async def test_a_token_hears_no_workspace_beyond_its_own(
    client: Client, connect: Connect, workspace: str
) -> None:
    async with connect(token=token_of("tenant")) as tenant:
        for name in ("*", workspace):
            refused = await tenant.refused("events/subscribe", workspaceId=name, topics=[ACTIVITY])
            assert refused["code"] == "auth.forbidden"
        await tenant.subscribe("tenant-1")
    async with connect(token=token_of("reader")) as reader:
        await reader.subscribe(workspace)
        talk = await start(client, workspace, "[[say x]]")
        await reader.settled(talk.turn)


async def test_other_topics_hear_nothing_of_sessions(client: Client, workspace: str) -> None:
    reply = await client.request(
        "events/subscribe", workspaceId=workspace, topics=["agent.side.updated", "host.updated"]
    )
    talk = await start(client, workspace, "[[say x]]")
    await client.settled(talk.turn)
    mine = client.events(subscriptionId=reply["subscriptionId"])
    assert {event["topic"] for event in mine} <= {"host.updated"}


# --- replay ---------------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-14")
@pytest.mark.rule("AP-010")
async def test_what_was_missed_comes_once_in_order_and_live_follows(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, EVERYTHING)
    await client.settled(talk.turn)
    running = await talk.send("[[stream 100 size=20 delay=2]] [[tool x output=y]]")
    await client.event("message_delta", turnId=running["turnId"])
    async with connect() as late:
        for after in sequences(client)[:10]:
            reply = await late.request(
                "events/subscribe",
                workspaceId=workspace,
                topics=[ACTIVITY],
                afterCommitSeq=after,
                storeId=client.hello["storeId"],
            )
            assert reply["gap"] is False
        await client.settled(running)
        await late.wait(
            lambda: len(late.rows("turn", turnId=running["turnId"], phase="settled")) == 10, "all ten"
        )
        bodies = {e["commitSeq"]: e["changes"] for e in client.events("commit")}
        for subscription, after in enumerate(sequences(client)[:10], start=1):
            events = late.events("commit", subscriptionId=subscription)
            expected = [number for number in sequences(client) if number > after]
            assert [event["commitSeq"] for event in events] == expected
            assert all(event["changes"] == bodies[event["commitSeq"]] for event in events), "the same rows"


async def test_replay_keeps_to_the_filter(client: Client, connect: Connect, workspace: str) -> None:
    for name in ("one", "two"):
        talk = await start(client, workspace, "[[say x]]", agentSessionId=name, clientSubmitId=name)
        await client.settled(talk.turn)
    async with connect() as late:
        await late.subscribe(workspace, afterCommitSeq=0, agentSessionIds=["two"])
        await late.settled(talk.turn)
        assert {row["agentSessionId"] for row in late.rows("session")} == {"two"}


async def test_a_snapshot_comes_after_the_replay(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace, "[[say begun]] [[hang]]")
    await client.event("message_delta")
    async with connect() as late:
        await late.subscribe(workspace, afterCommitSeq=talk.created["commitSeq"] - 1)
        snapshot = await late.event("message_snapshot")
        assert text_of(snapshot["message"]) == "begun"
        kinds = [event["type"] for event in late.events()]
        assert kinds == ["commit"] * (len(kinds) - 1) + ["message_snapshot"]
        await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
        await late.settled(talk.turn)


@pytest.mark.parametrize("other", ["store", "beyond the head"])
async def test_what_cannot_be_replayed_is_a_gap_and_no_error(
    client: Client, connect: Connect, workspace: str, other: str
) -> None:
    talk = await start(client, workspace, "[[say x]]")
    await client.settled(talk.turn)
    params: Json = (
        {"afterCommitSeq": 0, "storeId": "another-store"}
        if other == "store"
        else {"afterCommitSeq": 2**53 - 1, "storeId": client.hello["storeId"]}
    )
    async with connect() as late:
        reply = await late.request("events/subscribe", workspaceId=workspace, topics=[ACTIVITY], **params)
        assert reply["gap"] is True
        turn = await talk.say("[[say y]]")
        await late.settled(turn)
        assert min(sequences(late)) > reply["commitSeq"], "only what is later than the head"


async def test_checkpoints_tell_a_quiet_workspace_how_far_the_store_has_come(
    client: Client, connect: Connect, workspace: str
) -> None:
    async with connect() as quiet:
        quiet_subscription = await quiet.subscribe(f"{workspace}-quiet")
        talk = await start(client, workspace, "[[say x]]")
        await client.settled(talk.turn)
        head = sequences(client)[-1]
        await quiet.wait(
            lambda: [e for e in quiet.events("checkpoint") if e["commitSeq"] >= head], "a checkpoint"
        )
        numbers = [event["commitSeq"] for event in quiet.events(subscriptionId=quiet_subscription)]
        assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"workspaceId": None}, "params.workspaceId"),
        ({"workspaceId": "**"}, "params.workspaceId"),
        ({"topics": None}, "params.topics"),
        ({"topics": []}, "params.topics"),
        ({"topics": ["agent.everything"]}, "params.topics[0]"),
        ({"deltas": "some"}, "params.deltas"),
        ({"deltas": [""]}, "params.deltas[0]"),
        ({"agentSessionIds": "a"}, "params.agentSessionIds"),
        ({"afterCommitSeq": -1}, "params.afterCommitSeq"),
        ({"storeId": ""}, "params.storeId"),
        ({"since": 3}, "params.since"),
    ],
)
async def test_what_is_wrong_with_it_is_named(
    client: Client, workspace: str, params: Json, path: str
) -> None:
    right: Json = {"workspaceId": workspace, "topics": [ACTIVITY]}
    refused = await client.refused("events/subscribe", **{**right, **params})
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)


async def test_of_what_has_ended_there_is_no_snapshot(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(
        client, workspace, "[[say x]] [[tool a output=b]] [[plan a;b]] [[tool c status=pending]]"
    )
    await client.settled(talk.turn)
    async with connect() as late:
        await late.subscribe(workspace)
        await late.request("health/read")
        assert late.events("message_snapshot") == []
