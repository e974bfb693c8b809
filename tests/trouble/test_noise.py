"""What an agent writes that is no answer to anything: it costs at most its own connection, and never a neighbour."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.talk import Talk, start, text_of
from tests.trouble.agents import (
    heard,
    permission,
    raw,
    said,
    update,
)
from tests.trouble.beside import takes_prompts, undisturbed

POISON, KEPT = "half \ud99c nul \x00 last \uffff", "half \ufffd nul \x00 last \uffff"
"""A lone surrogate becomes U+FFFD at the edge, all else is legal text."""
SURROGATE_KEPT = "half \ufffd, nul \x00, last \uffff."
"""What `[[surrogate]]` says, as it is kept."""
WIDE = "\U0001f600 g\u00fcnstig \U0001d54f\u4e2d\u6587 \U0010fffd e\u0301"


async def opened(client: Client, workspace: str, target: str = "demo") -> Talk:
    """A session whose conversation is open, so that frames can name it."""
    talk = await start(client, workspace, "[[say hello]]", target=target)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    return talk


@pytest.mark.case("FC-17")
async def test_lines_before_the_handshake_are_skipped(client: Client, workspace: str) -> None:
    talk = await opened(client, workspace, target="banner")
    assert await talk.texts() == ["hello"]
    await takes_prompts(talk)


@pytest.mark.case("FC-17", "FC-20", "FC-54")
async def test_lines_that_are_no_frames_are_skipped_wherever_they_stand(
    client: Client, workspace: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await opened(client, workspace)
        noise = (
            "[[banner]]",
            raw('{"half": '),
            raw("true"),
            raw("[]"),
            "[[badutf8]]",
            raw("x" * 2_000_000),
            raw(""),
        )
        turn = await talk.say(
            "".join(f"[[say {index}.]]{line}" for index, line in enumerate(noise)) + "[[say end]]"
        )
        assert turn["outcome"] == "completed"
        assert (await talk.texts())[-1] == "0.1.2.3.4.5.6.end"
        await takes_prompts(talk)


@pytest.mark.case("FC-17", "FC-49")
@pytest.mark.parametrize("flood", [raw("x") * 1000, "[[endless 2000000]]" * 6], ids=["lines", "bytes"])
async def test_nothing_but_noise_ends_the_connection_with_a_reason(
    client: Client, workspace: str, flood: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, f"[[say before]]{flood}[[hang]]")
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.protocol")
        assert await talk.texts() == ["before"]
        await takes_prompts(talk)


@pytest.mark.case("FC-54")
async def test_answers_to_nothing_settle_nothing(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[unknown-id]][[say one]][[unknown-id]][[twice]]")
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("completed", "end_turn")
    wrong_type = raw({"id": "3", "result": {"stopReason": "refusal"}}) + raw({"id": 3.5, "result": {}})
    again = await talk.say(f"{wrong_type}[[say two]]{raw({'id': 3, 'method': 7})}")
    assert again["outcome"] == "completed"
    assert await talk.texts() == ["one", "two"]
    assert len(client.rows("turn", turnId=turn["turnId"], phase="settled")) == 1


@pytest.mark.case("FC-54")
async def test_result_and_error_in_one_answer_end_the_turn_as_failed(client: Client, workspace: str) -> None:
    talk = await opened(client, workspace)
    both = {"id": 4, "result": {"stopReason": "end_turn"}, "error": {"code": -32603, "message": "no"}}
    turn = await talk.say(f"[[say some]]{raw(both)}[[hang]]")
    assert turn["outcome"] == "failed"
    assert turn["error"]["code"] == "provider.rejected"


@pytest.mark.case("FC-13", "FC-41")
async def test_words_of_an_ended_turn_do_not_get_into_the_next_one(client: Client, workspace: str) -> None:
    talk = await opened(client, workspace)
    first = await talk.say(
        f"{said(talk, 'first', messageId='message-000000000001')}[[tool build status=running]]"
    )
    late_text = said(talk, " and late", messageId="message-000000000001")
    late_call = update(talk, "tool_call_update", toolCallId="call-2-1", status="completed")
    second = await talk.say(f"{late_text}{late_call}[[say second]]{late_text}")
    assert (first["outcome"], second["outcome"]) == ("completed", "completed")
    assert await talk.texts() == ["hello", "first", "second"]
    calls = [message for message in await talk.messages() if message["kind"] == "tool_call"]
    assert [(call["turnId"], call["status"]) for call in calls] == [(first["turnId"], "interrupted")]


@pytest.mark.case("FC-13", "FC-41")
@pytest.mark.rule("RT-003", "RT-045")
async def test_words_after_the_end_do_not_open_a_turn_again(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say first]][[late 100]][[late 150]]")
    settled = await client.settled(talk.turn)
    # The agent says them while it sleeps in the next turn; without any identity they can only be that turn's.
    again = await talk.say("[[sleep 300]][[say second]]")
    assert again["outcome"] == "completed"
    assert (await talk.texts())[0] == "first"
    read = await client.request("turn/get", **talk.key, turnId=settled["turnId"])
    assert read["turn"] == settled
    listed = await client.request("turn/list", **talk.key)
    assert len(listed["items"]) == 2


@pytest.mark.case("FC-24")
async def test_frames_of_a_conversation_nobody_knows_go_nowhere(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, "[[stray]][[say mine]]", target="logged")
        assert (await client.settled(talk.turn))["outcome"] == "completed"
        assert await talk.texts() == ["mine"]
        assert not client.rows("interaction")
        refused = [frame for frame in heard(daemon, "logged") if frame.get("id") == "stray"]
        assert [frame["error"]["code"] for frame in refused] == [-32602]
        await takes_prompts(talk)


@pytest.mark.case("FC-31")
async def test_request_nobody_knows_is_refused_at_once(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[request elicitation/create]][[say went on]]")
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert await talk.texts() == ["elicitation/create: -32601.went on"]


@pytest.mark.case("FC-31")
async def test_permission_request_that_cannot_be_shown_is_declined_and_the_user_told(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await opened(client, workspace, target="logged")
    ask = permission(talk, "no-options", [], toolCallId="call-x")
    turn = await talk.say(f"[[say asking]]{ask}[[think 1]]")
    assert turn["outcome"] == "completed"
    answers = [frame for frame in heard(daemon, "logged") if frame.get("id") == "no-options"]
    assert [answer["result"]["outcome"]["outcome"] for answer in answers] == ["cancelled"]
    assert not client.rows("interaction")
    notices = [message for message in await talk.messages() if message["kind"] == "notice"]
    assert [notice["content"][0]["code"] for notice in notices] == ["interaction.unsupported"]


@pytest.mark.case("FC-53")
async def test_what_is_understood_of_a_strange_update_is_kept(client: Client, workspace: str) -> None:
    talk = await opened(client, workspace)
    blocks = [
        {"type": "content", "content": {"type": "hologram", "data": "?"}},
        {"type": "content", "content": {"type": "text", "text": "known"}},
        {"type": "terminal", "terminalId": "terminal-nobody-knows"},
    ]
    call = update(
        talk, "tool_call_update", toolCallId="never-announced", status="completed", content=blocks, x=[1]
    )
    strange = update(talk, "weather_update", sky="blue") + update(
        talk, "agent_message_chunk", content={"type": "smell"}
    )
    turn = await talk.say(f"[[say a]]{call}{strange}[[say b]]")
    assert turn["outcome"] == "completed"
    messages = [message for message in await talk.messages() if message["turnId"] == turn["turnId"]]
    [shown] = [message for message in messages if message["kind"] == "tool_call"]
    assert shown["toolCall"]["callId"] == "never-announced"
    assert "known" in shown["toolCall"]["output"]["text"]
    assert "".join(
        text_of(m) for m in messages if m["role"] == "assistant" and m["kind"] == "text"
    ).startswith("a")
    assert (await talk.texts())[-1].endswith("b")
    await takes_prompts(talk)


@pytest.mark.case("FC-20")
async def test_frames_split_anywhere_keep_every_character(client: Client, workspace: str) -> None:
    talk = await opened(client, workspace)
    with_return = said(talk, "carriage").removesuffix("]]") + "\r]]"
    turn = await talk.say(f"[[bytes]]{said(talk, WIDE)}{with_return}{said(talk, WIDE)}")
    assert turn["outcome"] == "completed"
    assert (await talk.texts())[-1] == f"{WIDE}carriage{WIDE}"


# --- poison -------------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-19")
async def test_poison_in_texts_is_kept_sent_and_read_again(
    daemon: Daemon, connect: Connect, workspace: str
) -> None:
    async with connect() as client:
        await client.subscribe(workspace)
        talk = await start(client, workspace, "[[surrogate]]")
        assert (await client.settled(talk.turn))["outcome"] == "completed"
        title = update(talk, "session_info_update", title=POISON, escaped=True)
        call = update(
            talk,
            "tool_call",
            toolCallId="p1",
            title=POISON,
            kind="execute",
            status="completed",
            rawInput={"command": POISON, POISON: 1},
            content=[{"type": "content", "content": {"type": "text", "text": POISON}}],
            escaped=True,
        )
        option = {"optionId": "yes", "name": POISON, "kind": "allow_once"}
        ask = permission(talk, "poison", [option], toolCallId="p2", title=POISON, escaped=True)
        sent = await talk.send(f"nul \x00 last \uffff {title}{call}{ask}[[ask allow_once]]")
        pending = await client.wait(
            lambda: (
                len(rows := client.rows("interaction", turnId=sent["turnId"], status="pending")) == 2 and rows
            ),
            "both approvals",
        )
        assert pending[0]["options"][0]["label"] == KEPT
        assert pending[0]["input"]["title"] == KEPT
        for row in pending:
            await talk.answer(row, row["options"][0]["optionId"])
        assert (await client.settled(sent))["outcome"] == "completed"
        kept = await talk.messages()
        assert SURROGATE_KEPT in [text_of(message) for message in kept]
        [shown] = [
            message["toolCall"] for message in kept if (message["toolCall"] or {}).get("callId") == "p1"
        ]
        assert (shown["title"], shown["output"]["text"]) == (KEPT, KEPT)
        assert shown["input"] == {"command": KEPT, KEPT: 1}
        assert any(
            "nul \x00 last \uffff" in text_of(message) for message in kept if message["role"] == "user"
        )
        session = (await client.request("session/get", **talk.key))["session"]
        assert session["title"] == KEPT

    daemon.restart()
    async with connect() as client:
        await client.subscribe(workspace)
        again = Talk(client, talk.key, talk.created, sends=talk.sends)
        assert await again.messages() == kept
        assert (await client.request("session/get", **talk.key))["session"]["title"] == KEPT
        await takes_prompts(again)
