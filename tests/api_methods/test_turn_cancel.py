"""`turn/cancel`: exactly that turn, once; asked, confirmed and settled are three facts."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon, poll_until
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.talk import start, text, text_of


@pytest.mark.rule("RT-006", "RT-008", "RT-004")
async def test_asked_confirmed_and_settled_are_three_facts(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say begun]] [[cancel-late 200]] [[hang]]")
    await client.event("message_delta")
    sent = await client.send("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    asked = (await sent.result())["turn"]
    assert (asked["phase"], asked["outcome"]) == ("settling", None)
    assert asked["cancelRequestedAt"] is not None
    assert (asked["cancelConfirmedAt"], asked["settledAt"]) == (None, None)
    settled = await client.settled(talk.turn)
    assert (settled["outcome"], settled["stopReason"]) == ("canceled", "cancelled")
    assert settled["cancelConfirmedAt"] >= settled["cancelRequestedAt"] == asked["cancelRequestedAt"]
    rows = client.rows("turn", turnId=talk.turn["turnId"], phase="settling")
    assert [row["outcome"] for row in rows] == [None] * len(rows)
    first = next(
        place
        for place, frame in enumerate(client.received)
        if any(change["row"] == asked for change in frame.get("changes", ()))
    )
    assert sent.place < first, "the reply comes before the event that shows the cancel"


async def test_the_text_so_far_is_kept_as_interrupted(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say begun]] [[tool a status=pending]] [[hang]]")
    await client.row("message", kind="tool_call")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    await client.settled(talk.turn)
    said, called = (await talk.messages())[1:]
    assert text_of(said) == "begun"
    assert (called["status"], called["toolCall"]["status"]) == ("interrupted", "interrupted")
    assert (await talk.say("[[recall]]"))["outcome"] == "completed"


async def test_a_cancel_that_is_not_obeyed_is_forced(client: Client, workspace: str, daemon: Daemon) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[ignore-cancel]] [[say begun]] [[hang]]")
    await client.event("message_delta")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    settled = await client.settled(talk.turn)
    assert (settled["outcome"], settled["delivery"]) == ("canceled", "accepted")
    assert settled["cancelRequestedAt"] is not None
    assert settled["cancelConfirmedAt"] is None, "null says that it was forced"
    assert (await talk.say("[[say after]]"))["outcome"] == "completed"
    assert len(set(daemon.providers()) - before) == 1, "the disobedient process is gone"


@pytest.mark.rule("RT-007")
@pytest.mark.case("FC-43")
async def test_an_old_turn_never_stops_a_newer_one(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say one]]")
    first = await client.settled(talk.turn)
    second = await talk.send("[[say two]] [[ask]]")
    asked = await talk.pending()
    reply = await client.request("turn/cancel", **talk.key, turnId=first["turnId"])
    assert reply["turn"] == first
    await talk.answer(asked)
    assert (await client.settled(second))["outcome"] == "completed"


@pytest.mark.case("FC-43")
async def test_it_is_idempotent_from_any_client(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace, "[[say x]] [[cancel-late 100]] [[hang]]")
    await client.event("message_delta")
    params = {**talk.key, "turnId": talk.turn["turnId"]}
    async with connect() as other:
        sent = [await one.send("turn/cancel", **params) for one in (client, other, client, other)]
        turns = [(await one.result())["turn"] for one in sent]
    assert len({turn["cancelRequestedAt"] for turn in turns}) == 1
    settled = await client.settled(talk.turn)
    assert settled["outcome"] == "canceled"
    assert (await client.request("turn/cancel", **params))["turn"] == settled
    assert len(client.rows("turn", turnId=talk.turn["turnId"], phase="settled")) == 1


@pytest.mark.case("FC-43")
async def test_a_cancel_in_the_moment_of_the_end_spoils_neither(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    for number in range(20):
        turn = await talk.send(f"[[sleep {number % 4}]] [[say x]]")
        if number % 2:
            await client.row("turn", turnId=turn["turnId"], phase="running")
        await client.request("turn/cancel", **talk.key, turnId=turn["turnId"])
        settled = await client.settled(turn)
        assert settled["outcome"] in ("completed", "canceled")
        assert (settled["cancelConfirmedAt"] is not None) is (settled["outcome"] == "canceled")
    assert (await talk.say("[[say last]]"))["outcome"] == "completed"


async def test_a_turn_that_was_never_dispatched_is_canceled_at_once(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    talk = await start(client, workspace, "[[say never executed]]", target="slow")
    reply = await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = reply["turn"]
    assert (turn["phase"], turn["outcome"], turn["delivery"]) == ("settled", "canceled", "not_dispatched")
    assert turn["cancelConfirmedAt"] is not None


@pytest.mark.case("FC-44")
async def test_stop_while_the_agent_starts_executes_nothing_and_the_next_prompt_works(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[say do not run me]]", target="slow")
    await client.event("runtime_activity", runtimeState="activating")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    await client.event("runtime_activity", runtimeState="absent")
    gone = poll_until(lambda: set(daemon.providers()) <= before, PROVIDERS_END_SECONDS)
    assert gone, "what was starting for it alone is gone"
    assert (await talk.say("[[say run me]]"))["outcome"] == "completed"
    told = (daemon.folder / "slow.jsonl").read_text()
    assert ("do not run me" in told, told.count("run me")) == (False, 1)
    assert await talk.texts() == ["run me"]


async def test_prompt_and_cancel_in_one_breath(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say warm]]")
    await client.settled(talk.turn)
    first = await talk.send("[[hang]]")
    sent = [
        await client.send("turn/cancel", **talk.key, turnId=first["turnId"]),
        await client.send("session/send", **talk.key, clientSubmitId="next", content=text("[[say next]]")),
        await client.send("turn/get", **talk.key, turnId=first["turnId"]),
    ]
    canceled = (await sent[0].result())["turn"]
    assert canceled["cancelRequestedAt"] is not None
    if canceled["phase"] == "settled":
        await client.settled((await sent[1].result())["turn"])
    else:
        assert (await sent[1].refusal())["code"] == "session.busy"
    read = (await sent[2].result())["turn"]
    assert read["cancelRequestedAt"] == canceled["cancelRequestedAt"], "reads see what was asked before them"
    assert (await client.settled(first))["outcome"] == "canceled"


@pytest.mark.rule("RT-011", "RT-040")
@pytest.mark.case("FC-43")
async def test_what_is_not_there_is_not_found_and_stops_nothing(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]]")
    other = await start(client, workspace, "[[say x]]")
    asked = await talk.pending()
    for key, turn_id, code in (
        (talk.key, "unknown", "turn.not_found"),
        (talk.key, other.turn["turnId"], "turn.not_found"),
        ({**talk.key, "agentSessionId": "unknown"}, talk.turn["turnId"], "session.not_found"),
        ({**talk.key, "workspaceId": f"{workspace}-x"}, talk.turn["turnId"], "session.not_found"),
    ):
        assert (await client.refused("turn/cancel", **key, turnId=turn_id))["code"] == code
    assert (await client.refused("turn/cancel", **talk.key))["code"] == "request.invalid"
    await talk.answer(asked)
    assert (await client.settled(talk.turn))["outcome"] == "completed"


async def test_a_token_for_reading_stops_nothing(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]]")
    asked = await talk.pending()
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
        assert refused["code"] == "auth.forbidden"
    await talk.answer(asked)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
