"""Order on one connection: what names the same session takes effect in the order it was sent, reads included."""

import pytest

from tests.end_to_end.client import Client, Json, Refused, Sent
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.talk import DEMO, answer_params, start, text, text_of


async def outcome(sent: Sent) -> Json:
    """The result, or the data of the refusal under `refused`."""
    try:
        return await sent.result()
    except Refused as refused:
        return {"refused": refused.data}


@pytest.mark.rule("RT-028")
async def test_create_send_and_reads_in_one_breath(client: Client, workspace: str) -> None:
    key = {"workspaceId": workspace, "agentSessionId": "mine"}
    sent = [
        await client.send("session/create", **key, agentTargetId=DEMO, clientSubmitId="a"),
        await client.send("session/get", **key),
        await client.send("session/send", **key, clientSubmitId="b", content=text("[[say x]] [[ask]]")),
        await client.send("session/get", **key),
        await client.send("session/messages", **key, afterVersion=0),
        await client.send("turn/list", **key),
        await client.send("session/send", **key, clientSubmitId="c", content=text("[[say y]]")),
    ]
    replies = [await outcome(one) for one in sent]
    created, before, send, after, messages, turns, busy = replies
    assert before["session"] == created["session"]
    assert before["turns"] == []
    turn = send["turn"]
    assert after["session"]["activeTurnId"] == turn["turnId"]
    assert [row["turnId"] for row in after["turns"]] == [turn["turnId"]]
    assert text_of(messages["messages"][0]) == "[[say x]] [[ask]]"
    assert [row["turnId"] for row in turns["items"]] == [turn["turnId"]]
    assert busy["refused"]["code"] == "session.busy"
    assert [one.place for one in sent] == sorted(one.place for one in sent)
    numbers = [reply["commitSeq"] for reply in replies[:-1]]
    assert numbers == sorted(numbers)
    asked = await client.row("interaction", status="pending")
    await client.request("interaction/respond", **answer_params(asked))
    await client.settled(turn)


async def test_what_follows_a_refused_create_finds_no_session(client: Client, workspace: str) -> None:
    key = {"workspaceId": workspace, "agentSessionId": "mine"}
    sent = [
        await client.send("session/create", **key, agentTargetId="nobody", clientSubmitId="a"),
        await client.send("session/get", **key),
        await client.send("session/send", **key, clientSubmitId="b", content=text("x")),
        await client.send("session/messages", **key, afterVersion=0),
        await client.send("session/create", **key, agentTargetId=DEMO, clientSubmitId="a"),
        await client.send("session/get", **key),
    ]
    replies = [await outcome(one) for one in sent]
    assert [(reply.get("refused") or {}).get("code") for reply in replies] == [
        "target.not_found",
        "session.not_found",
        "session.not_found",
        "session.not_found",
        None,
        None,
    ]


async def test_many_prompts_and_cancels_in_one_breath(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say warm]]")
    await client.settled(talk.turn)
    for number in range(10):
        sent = [
            await client.send(
                "session/send", **talk.key, clientSubmitId=f"p{number}", content=text("[[hang]]")
            ),
            await client.send("turn/list", **talk.key, limit=1),
        ]
        turn = (await sent[0].result())["turn"]
        [newest] = (await sent[1].result())["items"]
        assert newest["turnId"] == turn["turnId"]
        cancel = await client.send("turn/cancel", **talk.key, turnId=turn["turnId"])
        read = await client.send("turn/get", **talk.key, turnId=turn["turnId"])
        assert (await cancel.result())["turn"]["cancelRequestedAt"] is not None
        assert (await read.result())["turn"]["cancelRequestedAt"] is not None
        assert (await client.settled(turn))["outcome"] == "canceled"


@pytest.mark.case("FC-59")
async def test_a_close_behind_a_prompt_ends_the_turn_of_that_prompt(client: Client, workspace: str) -> None:
    """Sent in one write, so that both are admitted before the session is asked for either."""
    for number in range(10):
        key = {"workspaceId": workspace, "agentSessionId": f"mine-{number}"}
        create = {"agentTargetId": "demo", "clientSubmitId": f"create-{number}"}
        sent = [
            await client.send("session/create", **key, **create),
            await client.send("session/send", **key, clientSubmitId="p", content=text("[[hang]]")),
            await client.send("session/close", **key),
        ]
        turn = (await sent[1].result())["turn"]
        assert (await sent[2].result())["session"]["activeTurnId"] is None
        ended = (await client.request("turn/get", **key, turnId=turn["turnId"]))["turn"]
        assert (ended["phase"], ended["outcome"]) == ("settled", "canceled")


async def test_sessions_do_not_wait_for_one_another(client: Client, workspace: str) -> None:
    slow = await start(client, workspace, target="slow", clientSubmitId="slow")
    quick = await start(client, workspace, "[[say x]]", clientSubmitId="quick")
    await client.settled(quick.turn)
    resuming = await client.send("session/resume", **slow.key)
    turn = await quick.say("[[say y]]")
    assert turn["outcome"] == "completed"
    assert resuming.answer is None
    assert (await client.request("session/get", **slow.key))["session"]["runtime"]["state"] == "activating"
    await resuming.result()


async def test_a_prompt_behind_a_resume_is_taken_while_the_agent_starts(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, target="slow")
    resuming = await client.send("session/resume", **talk.key)
    turn = await talk.send("[[say x]]")
    assert resuming.answer is None, (
        "a prompt is acknowledged when it is durable, before any provider is started"
    )
    settled = await client.settled(turn)
    assert settled["outcome"] == "completed"
    assert (await resuming.result())["session"]["agentSessionId"] == talk.session_id


async def test_the_reply_to_a_create_precedes_all_that_is_told_of_it(
    client: Client, connect: Connect, workspace: str
) -> None:
    async with connect() as watcher:
        await watcher.subscribe(workspace, deltas="none")
        for number in range(20):
            sent = await client.send(
                "session/create",
                workspaceId=workspace,
                agentTargetId=DEMO,
                clientSubmitId=f"c{number}",
                initialContent=text("[[say x]]"),
            )
            created = await sent.result()
            events = [e for e in client.events("commit") if e["commitSeq"] == created["commitSeq"]]
            place = client.received.index(events[0]) if events else len(client.received)
            assert sent.place < place
            rows = [e for e in client.received[: sent.place] if created["turn"]["turnId"] in str(e)]
            assert rows == []
            await watcher.row("turn", turnId=created["turn"]["turnId"])
        for row in watcher.rows("turn", phase="submitted", delivery="not_dispatched"):
            await watcher.settled(row)


async def test_a_read_on_another_connection_shows_what_was_acknowledged(
    client: Client, connect: Connect, workspace: str
) -> None:
    async with connect() as other:
        for number in range(20):
            talk = await start(client, workspace, clientSubmitId=f"{number}")
            reply = await other.request("session/get", **talk.key)
            assert reply["commitSeq"] >= talk.created["commitSeq"]
            assert reply["session"] == talk.created["session"]
