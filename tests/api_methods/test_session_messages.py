"""`session/messages`: what changed, a window, or by id; of a streaming message no less than was sent of it."""

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.fixtures import Connect, MakeDaemon
from tests.end_to_end.talk import Talk, start, streamed, text_of

ALL_KINDS = (
    "[[think 2]] [[plan look;write]] [[say Hello.]] [[tool build output=done]] [[edit a.py]] [[say Bye.]]"
)


async def settled_talk(client: Client, workspace: str, prompt: str = ALL_KINDS) -> Talk:
    talk = await start(client, workspace, prompt)
    await client.settled(talk.turn)
    return talk


@pytest.mark.rule("ST-008", "ST-012")
async def test_every_kind_is_a_message_of_its_own_in_the_order_it_came(
    client: Client, workspace: str
) -> None:
    talk = await settled_talk(client, workspace)
    window = await client.request("session/messages", **talk.key, beforeSequence=1000)
    messages = window["messages"]
    assert [(message["role"], message["kind"]) for message in messages] == [
        ("user", "text"),
        ("assistant", "reasoning"),
        ("assistant", "plan"),
        ("assistant", "text"),
        ("assistant", "tool_call"),
        ("assistant", "tool_call"),
        ("assistant", "text"),
    ]
    assert [message["sequence"] for message in messages] == list(range(1, 8))
    assert {message["status"] for message in messages} == {"completed"}
    assert {message["deltaSeq"] for message in messages} == {None}
    assert {message["turnId"] for message in messages} == {talk.turn["turnId"]}
    assert window["oldestSequence"] == 1
    assert window["hasMore"] is False
    assert window["messageVersion"] == max(message["version"] for message in messages)
    _, thought, plan, hello, build, edit, _ = messages
    assert text_of(thought) == "Thought 1. Thought 2. "
    assert [(entry["text"], entry["status"]) for entry in plan["content"][0]["entries"]] == [
        ("look", "in_progress"),
        ("write", "pending"),
    ]
    assert hello["content"] == [{"type": "text", "text": "Hello."}]
    call = build["toolCall"]
    assert (call["title"], call["kind"], call["status"]) == ("build", "execute", "completed")
    assert (call["input"], call["output"]["text"]) == ({"command": "build"}, "done")
    assert [(c["path"], c["kind"]) for c in edit["toolCall"]["output"]["changes"]] == [("a.py", "update")]
    assert "+3" not in edit["toolCall"]["output"]["text"]


@pytest.mark.rule("ST-009", "ST-010")
async def test_changes_after_a_version_are_exactly_those_ascending(client: Client, workspace: str) -> None:
    talk = await settled_talk(client, workspace)
    whole = await client.request("session/messages", **talk.key, afterVersion=0)
    versions = [message["version"] for message in whole["messages"]]
    assert versions == sorted(versions)
    middle = versions[3]
    later = await client.request("session/messages", **talk.key, afterVersion=middle)
    assert later["messages"] == [m for m in whole["messages"] if m["version"] > middle]
    assert later["hasMore"] is False
    nothing = await client.request("session/messages", **talk.key, afterVersion=whole["messageVersion"])
    assert (nothing["messages"], nothing["hasMore"], nothing["oldestSequence"]) == ([], False, None)
    await talk.say("[[say more]]")
    news = await client.request("session/messages", **talk.key, afterVersion=whole["messageVersion"])
    assert [text_of(message) for message in news["messages"]] == ["[[say more]]", "more"]


@pytest.mark.rule("ST-011")
async def test_windows_lead_back_to_the_start_once(client: Client, workspace: str) -> None:
    talk = await settled_talk(client, workspace)
    seen: list[int] = []
    before = 1 << 40
    for _ in range(4):
        window = await client.request("session/messages", **talk.key, beforeSequence=before, limit=2)
        sequences = [message["sequence"] for message in window["messages"]]
        assert sequences == sorted(sequences)
        assert window["oldestSequence"] == min(sequences)
        seen, before = sequences + seen, window["oldestSequence"]
        assert window["hasMore"] is (before > 1)
    assert seen == list(range(1, 8))


async def test_changes_come_in_pages_too(client: Client, workspace: str) -> None:
    talk = await settled_talk(client, workspace)
    first = await client.request("session/messages", **talk.key, afterVersion=0, limit=3)
    assert (len(first["messages"]), first["hasMore"]) == (3, True)
    rest = await client.request(
        "session/messages", **talk.key, afterVersion=first["messages"][-1]["version"], limit=200
    )
    assert (len(rest["messages"]), rest["hasMore"]) == (4, False)


async def test_messages_by_id_leave_unknown_ones_out(client: Client, workspace: str) -> None:
    talk = await settled_talk(client, workspace)
    messages = await talk.messages()
    wanted = [messages[4]["messageId"], "unknown", messages[1]["messageId"]]
    window = await client.request("session/messages", **talk.key, messageIds=wanted)
    assert window["messages"] == [messages[1], messages[4]]


async def test_white_space_is_kept_and_text_is_whole(client: Client, workspace: str) -> None:
    content = [
        {"type": "text", "text": "  [[say Grüße 🚪]]\n"},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
    ]
    talk = await start(client, workspace)
    reply = await client.request(
        "session/send", **talk.key, clientSubmitId="one", content=content, displayPrompt=" shown "
    )
    await client.settled(reply["turn"])
    prompt, answer = await talk.messages()
    assert prompt["content"] == content
    assert prompt["displayPrompt"] == " shown "
    assert text_of(answer) == "Grüße 🚪"


@pytest.mark.rule("AP-009")
async def test_a_read_of_a_streaming_message_holds_every_delta_sent_before_the_reply(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, "[[stream 60 size=200 delay=5]]")
    await client.event("message_delta")
    async with connect() as reader:
        for _ in range(10):
            sent = await reader.send("session/messages", **talk.key, afterVersion=0)
            own = await client.send("session/messages", **talk.key, afterVersion=0)
            await own.result()
            before = [e for e in client.received[: own.place] if e.get("type") == "message_delta"]
            [read] = [m for m in own.answer["result"]["messages"] if m["role"] == "assistant"]  # type: ignore[index]
            if read["status"] == "streaming":
                assert read["deltaSeq"] >= len(before)
            assert text_of(read).startswith("".join(delta["text"] for delta in before))
            [other] = [m for m in (await sent.result())["messages"] if m["role"] == "assistant"]
            assert text_of(other) in text_of(read)
    await client.settled(talk.turn)
    ended = (await talk.messages())[1]
    assert text_of(ended) == streamed(client, ended["messageId"])
    assert len(text_of(ended)) == 60 * 200


@pytest.mark.rule("ST-014", "ST-017")
async def test_a_text_is_cut_once_and_what_comes_after_it_is_whole(client: Client, workspace: str) -> None:
    talk = await start(
        client, workspace, "[[bigline 5000000]] [[say lost]] [[tool big output=ok]] [[say end]]"
    )
    await client.settled(talk.turn, 30)
    cut, _, end = (await talk.messages())[1:]
    assert cut["truncated"] is True
    kept, marker, rest = text_of(cut).partition("\n[truncated]")
    assert (set(kept), len(kept), bool(marker), rest) == ({"b"}, 4 * 1024 * 1024, True, "")
    assert streamed(client, cut["messageId"]) == text_of(cut)
    assert (text_of(end), end["truncated"]) == ("end", False)


@pytest.mark.rule("ST-014", "ST-015", "ST-016", "ST-017")
@pytest.mark.parametrize("offset", range(4))
async def test_text_and_output_are_cut_at_a_whole_character(make_daemon: MakeDaemon, offset: int) -> None:
    text_bytes, output_bytes = 4096, 1000
    limits = {"maxMessageBytes": text_bytes, "maxToolOutputBytes": output_bytes}
    smiles = "x" * offset + "🙂" * 900
    async with connected(make_daemon({"limits": limits})) as client:
        await client.subscribe("w")
        talk = await start(client, "w", f"[[say hello]]{smiles}")
        await client.settled(talk.turn)
        await talk.say(f"[[say hello]]{smiles}")
        await talk.say(f'[[recall]] [[tool big output="{smiles[:300]}"]]')
        said, call = (await talk.messages())[-2:]
        for row, limit in ((said, text_bytes), (call, output_bytes)):
            kept, marker, rest = text_of(row).partition("\n[truncated]")
            assert (row["truncated"], bool(marker), rest) == (True, True, "")
            assert limit - 4 < len(kept.encode()) <= limit, "no more than the limit, and no character less"
            assert kept.endswith("🙂")
            assert streamed(client, row["messageId"]) == text_of(row)


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({}, "params"),
        ({"afterVersion": 1, "beforeSequence": 1}, "params"),
        ({"afterVersion": 0, "messageIds": ["a"]}, "params"),
        ({"afterVersion": -1}, "params.afterVersion"),
        ({"afterVersion": 1.5}, "params.afterVersion"),
        ({"afterVersion": 2**53}, "params.afterVersion"),
        ({"messageIds": []}, "params.messageIds"),
        ({"messageIds": [""]}, "params.messageIds[0]"),
        ({"afterVersion": 0, "limit": 0}, "params.limit"),
        ({"afterVersion": 0, "cursor": "x"}, "params.cursor"),
    ],
)
async def test_what_is_wrong_with_it_is_named(
    client: Client, workspace: str, params: Json, path: str
) -> None:
    talk = await start(client, workspace)
    refused = await client.refused("session/messages", **talk.key, **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)


async def test_an_unknown_session_is_not_found(client: Client, workspace: str) -> None:
    refused = await client.refused(
        "session/messages", workspaceId=workspace, agentSessionId="unknown", afterVersion=0
    )
    assert refused["code"] == "session.not_found"
