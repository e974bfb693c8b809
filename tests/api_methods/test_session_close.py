"""`session/close` and `session/resume`: the runtime of a session ends and begins; the session stays."""

import os
import signal

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon, poll_until
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.talk import start, text


@pytest.mark.case("FC-59")
async def test_closing_ends_the_process_and_a_later_prompt_goes_on(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[say hello]]")
    await client.settled(talk.turn)
    [own] = set(daemon.providers()) - before
    closed = (await client.request("session/close", **talk.key))["session"]
    assert closed["runtime"]["state"] == "absent"
    assert closed["deletedAt"] is None
    assert own not in daemon.providers(), "when the reply is there the process is not"
    assert (await talk.say("[[recall]]"))["outcome"] == "completed"
    assert (await talk.texts())[-1] == "I remember 1: [[say hello]]"


@pytest.mark.case("FC-59")
async def test_it_is_idempotent_from_any_client(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace, "[[say hello]]")
    await client.settled(talk.turn)
    async with connect() as other:
        sent = [await one.send("session/close", **talk.key) for one in (client, other, client)]
        states = [(await one.result())["session"]["runtime"]["state"] for one in sent]
    assert states == ["absent"] * 3
    assert (await client.request("session/close", **talk.key))["session"]["runtime"]["state"] == "absent"


async def test_a_session_that_never_lived_closes_too(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    closed = (await client.request("session/close", **talk.key))["session"]
    assert closed["runtime"]["state"] == "absent"


async def test_a_running_turn_is_ended_first(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say begun]] [[ask]]")
    asked = await talk.pending()
    sent = await client.send("session/close", **talk.key)
    await sent.result()
    settled = await client.settled(talk.turn)
    assert settled["outcome"] == "canceled"
    assert settled["cancelRequestedAt"] is not None
    assert client.rows("interaction", requestId=asked["requestId"])[-1]["status"] == "superseded"
    place = next(
        place
        for place, frame in enumerate(client.received)
        if any(change["row"] == settled for change in frame.get("changes", ()))
    )
    assert place < sent.place, "the turn is over when the close is"
    assert (await talk.say("[[say again]]"))["outcome"] == "completed"


async def test_a_turn_that_does_not_obey_is_ended_within_the_bound(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ignore-cancel]] [[say begun]] [[hang]]")
    await client.event("message_delta")
    closed = (await client.request("session/close", **talk.key))["session"]
    assert closed["runtime"]["state"] == "absent"
    settled = await client.settled(talk.turn)
    assert (settled["outcome"], settled["cancelConfirmedAt"]) == ("canceled", None)


async def test_closing_while_the_agent_starts_leaves_no_process(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[say x]]", target="slow")
    await client.event("runtime_activity", runtimeState="activating")
    await client.request("session/close", **talk.key)
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    assert poll_until(lambda: set(daemon.providers()) <= before, PROVIDERS_END_SECONDS)


@pytest.mark.case("FC-59")
@pytest.mark.rule("RT-045")
async def test_a_dead_process_is_noticed_and_closing_works(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[say hello]]")
    await client.settled(talk.turn)
    [own] = set(daemon.providers()) - before
    os.kill(own, signal.SIGKILL)
    await client.event("runtime_activity", agentSessionId=talk.session_id, runtimeState="absent")
    detail = await client.request("session/get", **talk.key)
    assert detail["session"]["runtime"]["state"] == "absent"
    assert (await client.request("session/close", **talk.key))["session"]["runtime"]["state"] == "absent"
    assert (await talk.say("[[say back]]"))["outcome"] == "completed"


async def test_close_and_prompt_in_one_breath_take_effect_in_that_order(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[ask]]")
    await talk.pending()
    closing = await client.send("session/close", **talk.key)
    sending = await client.send(
        "session/send", **talk.key, clientSubmitId="next", content=text("[[say next]]")
    )
    await closing.result()
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    answer = await client.wait(lambda: sending.answer, "the reply")
    if "error" in answer:
        assert answer["error"]["data"]["code"] == "session.busy"
    else:
        assert (await client.settled(answer["result"]["turn"]))["outcome"] == "completed"


@pytest.mark.rule("RT-040")
async def test_what_is_not_there_is_not_found(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace)
    for method in ("session/close", "session/resume"):
        for change in ({"agentSessionId": "unknown"}, {"workspaceId": f"{workspace}-x"}):
            refused = await client.refused(method, **{**talk.key, **change})
            assert refused["code"] == "session.not_found"
        refused = await client.refused(method, **talk.key, force=True)
        assert refused["details"]["path"] == "params.force"
        async with connect(token=token_of("reader")) as reader:
            assert (await reader.refused(method, **talk.key))["code"] == "auth.forbidden"


async def test_grandchildren_of_the_agent_end_with_it(client: Client, workspace: str, daemon: Daemon) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[grandchild]] [[grandchild setsid stubborn]] [[say x]]")
    await client.settled(talk.turn)
    assert len(set(daemon.providers()) - before) == 3
    await client.request("session/close", **talk.key)
    assert poll_until(lambda: set(daemon.providers()) <= before, PROVIDERS_END_SECONDS)
