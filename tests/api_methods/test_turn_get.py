"""`turn/get` and `turn/list`: one turn, and all turns of a session, newest first."""

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, start


async def test_a_turn_is_read_while_it_runs_and_after(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say x]] [[ask]]")
    await talk.pending()
    waiting = (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
    assert (waiting["phase"], waiting["outcome"], waiting["settledAt"]) == ("waiting", None, None)
    await talk.answer(await talk.pending())
    settled = await client.settled(talk.turn)
    assert (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"] == settled


@pytest.mark.rule("RT-011", "RT-039")
async def test_a_turn_belongs_to_its_session(client: Client, workspace: str) -> None:
    talk, other = await start(client, workspace, "[[say x]]"), await start(client, workspace)
    await client.settled(talk.turn)
    refused = await client.refused("turn/get", **other.key, turnId=talk.turn["turnId"])
    assert refused["code"] == "turn.not_found"
    unknown = {**talk.key, "agentSessionId": "unknown"}
    for method, params in (("turn/get", {"turnId": talk.turn["turnId"]}), ("turn/list", {})):
        assert (await client.refused(method, **unknown, **params))["code"] == "session.not_found"


async def test_the_turn_must_be_named(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    refused = await client.refused("turn/get", **talk.key)
    assert refused["details"] == {"path": "params.turnId", "problem": "is missing"}


async def many_turns(client: Client, workspace: str, count: int) -> tuple[Talk, list[Json]]:
    """A session with that many settled turns, newest first."""
    talk = await start(client, workspace)
    turns = [await talk.say(f"[[say {number}]]") for number in range(count)]
    return talk, turns[::-1]


async def test_a_list_shows_each_turn_once_newest_first(client: Client, workspace: str) -> None:
    talk, turns = await many_turns(client, workspace, 5)
    assert [turn["sequence"] for turn in turns] == [5, 4, 3, 2, 1]
    assert (await client.request("turn/list", **talk.key))["items"] == turns
    seen, cursor = [], None
    for _ in range(3):
        page = await client.request("turn/list", **talk.key, limit=2, cursor=cursor)
        seen += page["items"]
        cursor = page["nextCursor"]
    assert (seen, cursor) == (turns, None)


async def test_the_cursor_of_a_detail_goes_on_in_the_list(client: Client, workspace: str) -> None:
    talk, turns = await many_turns(client, workspace, 52)
    detail = await client.request("session/get", **talk.key)
    assert detail["turns"] == turns[:50]
    rest = await client.request("turn/list", **talk.key, cursor=detail["turnsCursor"])
    assert (rest["items"], rest["nextCursor"]) == (turns[50:], None)


async def test_a_turn_begun_while_paging_is_not_repeated(client: Client, workspace: str) -> None:
    talk, turns = await many_turns(client, workspace, 3)
    page = await client.request("turn/list", **talk.key, limit=1)
    await talk.say("[[say new]]")
    rest = await client.request("turn/list", **talk.key, cursor=page["nextCursor"])
    assert page["items"] + rest["items"] == turns


async def test_a_session_without_turns_lists_none(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    page = await client.request("turn/list", **talk.key)
    assert (page["items"], page["nextCursor"]) == ([], None)


@pytest.mark.parametrize(
    ("params", "path"),
    [({"limit": 0}, "params.limit"), ({"cursor": "x"}, "params.cursor"), ({"phase": "x"}, "params.phase")],
)
async def test_what_is_wrong_with_a_list_is_named(
    client: Client, workspace: str, params: Json, path: str
) -> None:
    talk = await start(client, workspace)
    refused = await client.refused("turn/list", **talk.key, **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
