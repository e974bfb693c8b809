"""`session/search`: sessions by the words of their titles, prompts and answers."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.talk import start, text


async def search(client: Client, workspace: str, query: str, **params: object) -> list[dict[str, object]]:
    page = await client.request("session/search", workspaceId=workspace, query=query, **params)
    items: list[dict[str, object]] = page["items"]
    return items


@pytest.mark.rule("AP-027")
async def test_titles_prompts_and_answers_are_found_with_where_they_are(
    client: Client, workspace: str
) -> None:
    titled = await start(client, workspace, title="Harbour plans")
    talk = await start(client, workspace, "[[say a lighthouse by the harbour]]")
    await client.settled(talk.turn)
    items = await search(client, workspace, "harbour")
    assert [item["agentSessionId"] for item in items] == [titled.session_id, talk.session_id]
    assert items[0]["match"] == {
        "kind": "title",
        "snippet": "Harbour plans",
        "messageId": None,
        "turnId": None,
    }
    answer = (await talk.messages())[-1]
    assert items[1]["match"] == {
        "kind": "message",
        "snippet": "a lighthouse by the harbour",
        "messageId": answer["messageId"],
        "turnId": talk.turn["turnId"],
    }
    [found] = await search(client, workspace, "SAY light")
    assert found["match"]["snippet"] == "[[say a lighthouse by the harbour]]"  # type: ignore[index]
    session = (await client.request("session/get", **talk.key))["session"]
    assert {name: found[name] for name in session} == session


async def test_what_still_streams_is_found_when_it_has_ended(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say alpha]] [[ask]] [[say omega]]")
    asked = await talk.pending()
    [found] = await search(client, workspace, "omega")
    assert found["match"]["snippet"].startswith("[[say alpha]]"), "the prompt is there, and nothing else yet"  # type: ignore[index]
    assert found["match"]["turnId"] == talk.turn["turnId"]  # type: ignore[index]
    await talk.answer(asked)
    await client.settled(talk.turn)
    [found] = await search(client, workspace, "omega")
    assert found["match"]["snippet"].endswith("omega"), "the newest text that has the word"  # type: ignore[index]


async def test_pages_hold_each_session_once(client: Client, workspace: str) -> None:
    names = [(await start(client, workspace, title=f"Harbour {number}")).session_id for number in range(5)]
    seen, cursor = [], None
    while True:
        page = await client.request(
            "session/search", workspaceId=workspace, query="harbour", limit=2, cursor=cursor
        )
        seen += [item["agentSessionId"] for item in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == names[::-1]


@pytest.mark.rule("RT-108")
async def test_deleted_sessions_and_other_workspaces_are_left_out(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say harbour]]")
    await client.settled(talk.turn)
    named = {"workspaceId": workspace, "agentSessionIds": [talk.session_id]}
    assert len(await search(client, workspace, "harbour")) == 1
    assert await search(client, f"{workspace}-x", "harbour") == []
    await client.request("session/delete", **named)
    assert await search(client, workspace, "harbour") == []
    await client.request("session/restore", **named)
    assert len(await search(client, workspace, "harbour")) == 1


@pytest.mark.parametrize("query", ['"', "AND OR NOT", "a*b(", "text:x", "-", " ", "x" * 500])
async def test_whatever_is_typed_is_words(client: Client, workspace: str, query: str) -> None:
    await start(client, workspace, title="Something else")
    assert await search(client, workspace, query) == []


async def test_what_is_asked_wrongly_is_refused(client: Client, connect: Connect, workspace: str) -> None:
    for params, path in (
        ({}, "params.query"),
        ({"query": ""}, "params.query"),
        ({"query": "x" * 501}, "params.query"),
        ({"query": "x", "cursor": "nonsense"}, "params.cursor"),
        ({"query": "x", "limit": 0}, "params.limit"),
    ):
        refused = await client.refused("session/search", workspaceId=workspace, **params)
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
    async with connect(token=token_of("tenant")) as tenant:
        refused = await tenant.refused("session/search", workspaceId=workspace, query="x")
        assert refused["code"] == "auth.forbidden"
    async with connect(token=token_of("reader")) as reader:
        assert await search(reader, workspace, "nothing") == []


async def test_a_prompt_shown_otherwise_is_found_as_it_is_shown(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    reply = await client.request(
        "session/send",
        **talk.key,
        clientSubmitId="shown",
        content=text("[[say done]] surrounding context"),
        displayPrompt="short wish",
    )
    await client.settled(reply["turn"])
    [found] = await search(client, workspace, "wish")
    assert found["match"]["snippet"] == "short wish"  # type: ignore[index]
    assert await search(client, workspace, "surrounding") == []
