"""`session/rename`: the user's title stands over every other, whatever the session is doing."""

import pytest

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import Talk, start


async def named(talk: Talk) -> tuple[str | None, str]:
    session = (await talk.client.request("session/get", **talk.key))["session"]
    return session["title"], session["titleSource"]


async def rename(talk: Talk, title: str) -> tuple[str | None, str]:
    session = (await talk.client.request("session/rename", **talk.key, title=title))["session"]
    return session["title"], session["titleSource"]


@pytest.mark.rule("RT-047", "RT-049")
async def test_a_title_of_the_agent_never_takes_the_place_of_the_users(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[title Theirs]] [[ask]] [[title Theirs again]]")
    asked = await talk.pending()
    assert await named(talk) == ("Theirs", "provider")
    assert await rename(talk, "Mine") == ("Mine", "user"), "while a turn runs"
    await talk.answer(asked)
    await client.settled(talk.turn)
    assert await named(talk) == ("Mine", "user"), "after the turn that was running"
    await talk.say("[[title Late]]")
    assert await named(talk) == ("Mine", "user")
    titles = [row["title"] for row in client.rows("session", agentSessionId=talk.session_id)]
    assert titles[titles.index("Mine") :] == ["Mine"] * len(titles[titles.index("Mine") :])


async def test_an_empty_one_takes_it_away_and_the_agent_may_give_one(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, title="Mine")
    assert await rename(talk, "") == (None, "none")
    await talk.say("[[title Theirs]]")
    assert await named(talk) == ("Theirs", "provider")


async def test_it_is_seen_by_everybody_once_and_repeating_it_changes_nothing(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace)
    async with connect() as other:
        await other.subscribe(workspace)
        assert await rename(talk, "T" * 500) == ("T" * 500, "user")
        await other.row("session", title="T" * 500)
    seen = len(client.rows("session", agentSessionId=talk.session_id))
    assert await rename(talk, "T" * 500) == ("T" * 500, "user")
    await talk.say("[[say on]]")
    repeated = client.rows("session", agentSessionId=talk.session_id)[seen:]
    assert {row["title"] for row in repeated} == {"T" * 500}


async def test_of_one_connection_reads_see_it_and_of_two_the_last_stands(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace)
    sent = [await client.send("session/rename", **talk.key, title=f"title {n}") for n in range(3)]
    read = await client.send("session/get", **talk.key)
    assert (await read.result())["session"]["title"] == "title 2"
    assert [(await one.result())["session"]["title"] for one in sent] == ["title 0", "title 1", "title 2"]


@pytest.mark.rule("RT-043")
async def test_a_session_whose_agent_is_starting_is_renamed_too(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say hello]]", target="slow")
    assert await rename(talk, "Early") == ("Early", "user")
    await client.settled(talk.turn)
    assert await named(talk) == ("Early", "user")


@pytest.mark.rule("RT-050")
async def test_after_a_restart_any_title_counts_as_the_users(make_daemon: MakeDaemon) -> None:
    daemon: Daemon = make_daemon()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[title Theirs]]")
        await client.settled(talk.turn)
    daemon.stop()
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = talk.through(client)
        await talk.say("[[title Another]]")
        assert await named(talk) == ("Theirs", "provider")
        assert await rename(talk, "Mine") == ("Mine", "user")


async def test_what_cannot_be_is_refused(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace)
    for title in ("T" * 501, None, 3):
        assert (await client.refused("session/rename", **talk.key, title=title))["code"] == "request.invalid"
    nowhere = {**talk.key, "agentSessionId": "nowhere"}
    assert (await client.refused("session/rename", **nowhere, title="x"))["code"] == "session.not_found"
    async with connect(token=token_of("reader")) as reader:
        assert (await reader.refused("session/rename", **talk.key, title="x"))["code"] == "auth.forbidden"
    async with connect(token=token_of("tenant")) as tenant:
        assert (await tenant.refused("session/rename", **talk.key, title="x"))["code"] == "auth.forbidden"
    assert await named(talk) == (None, "none")
