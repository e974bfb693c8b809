"""`session/resume`: makes a session live now, or says why that cannot be."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.talk import start, text_of


async def test_it_makes_a_session_live_and_no_turn(client: Client, workspace: str, daemon: Daemon) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace)
    session = (await client.request("session/resume", **talk.key))["session"]
    assert session["runtime"]["state"] == "live"
    assert session["providerSessionId"]
    assert session["capabilities"]["load"] is True
    assert len(set(daemon.providers()) - before) == 1
    assert (await client.request("turn/list", **talk.key))["items"] == []
    assert (await talk.say("[[say hello]]"))["outcome"] == "completed"
    assert len(set(daemon.providers()) - before) == 1


async def test_it_is_idempotent_from_any_client(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace)
    async with connect() as other:
        sent = [await one.send("session/resume", **talk.key) for one in (client, other, client)]
        sessions = [(await one.result())["session"] for one in sent]
    assert {session["runtime"]["state"] for session in sessions} == {"live"}
    assert len({session["providerSessionId"] for session in sessions}) == 1


async def test_it_leaves_a_running_turn_alone(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask]]")
    asked = await talk.pending()
    session = (await client.request("session/resume", **talk.key))["session"]
    assert session["activeTurnId"] == talk.turn["turnId"]
    await talk.answer(asked)
    assert (await client.settled(talk.turn))["outcome"] == "completed"


async def test_what_was_said_is_remembered_after_a_close(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say hello]]")
    await client.settled(talk.turn)
    await client.request("session/close", **talk.key)
    session = (await client.request("session/resume", **talk.key))["session"]
    assert (session["runtime"]["state"], session["resumability"]) == ("live", "resumable")
    messages = await talk.messages()
    await talk.say("[[recall]]")
    assert (await talk.texts())[-1] == "I remember 1: [[say hello]]"
    assert (await talk.messages())[: len(messages)] == messages, "what is replayed is not stored again"


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("missing", "provider.unavailable"),
        ("broken", "provider.unavailable"),
        ("sign-in", "provider.auth_required"),
    ],
)
async def test_an_agent_that_cannot_start_is_a_typed_refusal(
    client: Client, workspace: str, target: str, code: str
) -> None:
    talk = await start(client, workspace, target=target)
    refused = await client.refused("session/resume", **talk.key)
    assert (refused["code"], refused["retryable"]) == (code, True)
    detail = await client.request("session/get", **talk.key)
    assert detail["session"]["runtime"]["state"] in ("absent", "closing")
    assert detail["turns"] == []


@pytest.mark.rule("RT-042")
async def test_a_conversation_that_is_gone_is_said_and_begun_anew_only_when_asked(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say hello]]", target="forgetful")
    await client.settled(talk.turn)
    await client.request("session/close", **talk.key)
    refused = await client.refused("session/resume", **talk.key)
    assert (refused["code"], refused["retryable"]) == ("session.not_resumable", False)
    assert (await client.request("session/get", **talk.key))["session"]["resumability"] == "not_resumable"
    refused = await client.refused(
        "session/send", **talk.key, clientSubmitId="x", content=[{"type": "text", "text": "hello?"}]
    )
    assert refused["code"] == "session.not_resumable"
    assert len((await client.request("session/list", workspaceId=workspace))["items"]) == 1
    session = (await client.request("session/resume", **talk.key, mode="fresh"))["session"]
    assert session["runtime"]["state"] == "live"
    notice = (await talk.messages())[-1]
    assert (notice["kind"], notice["content"][0]["code"]) == ("notice", "session.fresh_conversation")
    await talk.say("[[recall]]")
    assert (await talk.texts())[-1].startswith("I remember 0:")
    assert text_of((await talk.messages())[0]) == "[[say hello]]", "the history stays for reading"


async def test_fresh_is_no_way_to_lose_a_conversation(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say hello]]")
    await client.settled(talk.turn)
    await client.request("session/close", **talk.key)
    await client.request("session/resume", **talk.key, mode="fresh")
    await talk.say("[[recall]]")
    assert (await talk.texts())[-1] == "I remember 1: [[say hello]]"


async def test_another_mode_is_refused(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    refused = await client.refused("session/resume", **talk.key, mode="quick")
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.mode")
