"""`session/get`: one read that holds all a client needs to show a session, and starts nothing."""

import pytest
import trio

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import start


async def test_a_settled_session_shows_its_turns_newest_first(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say one]]")
    first = await client.settled(talk.turn)
    second = await talk.say("[[say two]]")
    detail = await client.request("session/get", **talk.key)
    assert detail["turns"] == [second, first]
    assert (detail["activeTurn"], detail["turnsCursor"]) == (None, None)
    assert (detail["children"], detail["interactions"]) == ([], [])
    session = detail["session"]
    assert session["activeTurnId"] is None
    assert session["messageVersion"] == max(message["version"] for message in await talk.messages())
    assert session["capabilities"]["load"] is True
    assert session["resumability"] == "resumable"
    assert session["lifecycleCapabilities"]["interrupt"] is True
    assert session["providerSessionId"]


@pytest.mark.rule("RT-001", "RT-012")
async def test_a_waiting_turn_shows_with_its_pending_interaction(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]]")
    asked = await talk.pending()
    detail = await client.request("session/get", **talk.key)
    assert detail["interactions"] == [asked]
    assert detail["activeTurn"]["turnId"] == talk.turn["turnId"] == detail["session"]["activeTurnId"]
    assert (detail["activeTurn"]["phase"], detail["activeTurn"]["outcome"]) == ("waiting", None)
    assert detail["turns"] == [detail["activeTurn"]]
    assert detail["session"]["runtime"]["state"] == "live"
    answered = await talk.answer(asked)
    await client.settled(talk.turn)
    later = await client.request("session/get", **talk.key)
    assert later["interactions"] == [answered], "those of the turns returned are there, whatever their status"


@pytest.mark.rule("ST-020")
async def test_what_an_agent_can_do_is_told_whole_once_and_stays_known(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say hello]]")
        await client.settled(talk.turn)
        told = client.rows("session")[-1]["capabilities"]
        assert told["load"] is True
        assert set(told.values()) <= {True, False}
        await client.request("session/rename", **talk.key, title="Another")
        await talk.say("[[title Mine]] [[usage used=1 size=2]] [[mode auto]]")
        await client.request("session/close", **talk.key)
        assert (await client.request("session/get", **talk.key))["session"]["capabilities"] == told
        first = next(place for place, row in enumerate(client.rows("session")) if row["capabilities"])
        assert all(row["capabilities"] == told for row in client.rows("session")[first:])
    await trio.to_thread.run_sync(daemon.restart)
    async with connected(daemon) as client:
        detail = await client.request("session/get", **talk.key)
        assert detail["session"]["capabilities"] == told
        assert detail["session"]["runtime"]["state"] == "absent"


async def test_the_reply_holds_every_commit_up_to_its_number(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[stream 20 delay=5]] [[tool a]] [[stream 20 delay=5]]")
    replies = []
    while True:
        replies.append(await client.request("session/get", **talk.key))
        if replies[-1]["activeTurn"] is None:
            break
    for reply in replies:
        upto = [e for e in client.events("commit") if e["commitSeq"] <= reply["commitSeq"]]
        turns = [c["row"] for event in upto for c in event["changes"] if c["type"] == "turn"]
        if turns and client.events("commit")[-1]["commitSeq"] >= reply["commitSeq"]:
            assert reply["turns"][0] == turns[-1]


async def test_what_does_not_fit_into_a_page_is_left_to_the_cursor_and_named(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxPageBytes": 6000}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say 0]]", cwd=None)
        turns = [await client.settled(talk.turn)]
        turns += [await talk.say(f"[[say {number}]]") for number in range(1, 9)]
        detail = await client.request("session/get", **talk.key)
        assert 1 <= len(detail["turns"]) < 9
        assert detail["incomplete"] == []
        page = {"nextCursor": detail["turnsCursor"]}
        seen = detail["turns"]
        while page["nextCursor"] is not None:
            page = await client.request("turn/list", **talk.key, cursor=page["nextCursor"], limit=3)
            seen += page["items"]
        assert seen == turns[::-1]


@pytest.mark.rule("RT-041")
async def test_reading_starts_no_process(client: Client, workspace: str, daemon: Daemon) -> None:
    talk = await start(client, workspace, "[[say hello]]")
    await client.settled(talk.turn)
    await client.request("session/close", **talk.key)
    before = sorted(daemon.providers())
    for projection in ("full", "summary"):
        detail = await client.request("session/get", **talk.key, projection=projection)
        assert detail["projection"] == projection
        assert detail["session"]["runtime"]["state"] == "absent"
    await talk.messages()
    await client.request("turn/list", **talk.key)
    await client.request("session/list", workspaceId=workspace)
    assert sorted(daemon.providers()) == before


@pytest.mark.rule("AP-005", "RT-040")
async def test_what_is_not_there_is_not_found(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    elsewhere = {**talk.key, "workspaceId": f"{workspace}-other"}
    unknown = {**talk.key, "agentSessionId": "unknown"}
    for key in (elsewhere, unknown):
        refused = await client.refused("session/get", **key)
        assert (refused["code"], refused["retryable"]) == ("session.not_found", False)


@pytest.mark.rule("AP-022")
async def test_each_projection_is_named_in_its_answer_and_neither_asks_the_agent(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    talk = await start(client, workspace)
    before = daemon.providers()
    for asked, answered in (
        ({}, "full"),
        ({"projection": "full"}, "full"),
        ({"projection": "summary"}, "summary"),
    ):
        detail = await client.request("session/get", **talk.key, **asked)
        assert detail["projection"] == answered
        assert detail["session"]["capabilities"] is None, "nobody has been asked what it can do"
    assert daemon.providers() == before


@pytest.mark.rule("AP-022")
async def test_a_summary_is_the_newest_turn_and_what_waits_and_turns_go_on_at_its_cursor(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say one]]")
    first = await client.settled(talk.turn)
    second = await talk.send("[[ask]]")
    asked = await talk.pending()
    full = await client.request("session/get", **talk.key)
    summary = await client.request("session/get", **talk.key, projection="summary")
    assert summary["session"] == full["session"]
    assert summary["activeTurn"] == full["activeTurn"] == full["turns"][0]
    assert summary["interactions"] == [asked]
    assert (summary["children"], summary["incomplete"]) == ([], [])
    assert (summary["turns"], len(full["turns"])) == (full["turns"][:1], 2)
    page = await client.request("turn/list", **talk.key, cursor=summary["turnsCursor"])
    assert [turn["turnId"] for turn in page["items"]] == [first["turnId"]]
    await talk.answer(asked)
    await client.settled(second)
    assert (await client.request("session/get", **talk.key, projection="summary"))["turns"][0][
        "phase"
    ] == "settled"


@pytest.mark.rule("AP-002")
async def test_another_projection_or_member_is_refused(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    refused = await client.refused("session/get", **talk.key, projection="tiny")
    assert refused["details"]["path"] == "params.projection"
    refused = await client.refused("session/get", **talk.key, turns=3)
    assert refused["details"]["path"] == "params.turns"
    refused = await client.refused("session/get", workspaceId=workspace)
    assert refused["details"] == {"path": "params.agentSessionId", "problem": "is missing"}


async def test_a_token_for_reading_is_enough(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace)
    async with connect(token=token_of("reader")) as reader:
        detail = await reader.request("session/get", **talk.key)
        assert detail["session"] == talk.created["session"]
    async with connect(token=token_of("tenant")) as tenant:
        assert (await tenant.refused("session/get", **talk.key))["code"] == "auth.forbidden"
