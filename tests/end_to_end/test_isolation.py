"""One session's trouble is its own: others go on, and what it leaves behind is ended."""

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon, poll_until
from tests.end_to_end.fixtures import MakeDaemon, agent
from tests.end_to_end.talk import start, streamed, text_of

MISCHIEF = {
    "noise": "[[banner]] [[garbage <html>]] [[badutf8]] [[stderr 3000000]]",
    "odd answers": "[[unknown-id]] [[stray]] [[twice]]",
    "half characters": "[[surrogate]]",
    "torn frames": "[[bytes]] [[say ünicode 🚪]]",
    "a huge line": "[[bigline 6000000]] [[tool next]]",
    "an unknown request": "[[request demo/none]]",
    "late words": "[[late 1]]",
}


@pytest.mark.rule("RT-142")
async def test_an_agent_that_never_answers_its_start_keeps_nobody_waiting(
    client: Client, workspace: str
) -> None:
    deaf = await start(client, workspace, "hello", target="deaf", clientSubmitId="deaf")
    await client.event("runtime_activity", agentSessionId=deaf.session_id, runtimeState="activating")
    others = [
        await start(client, workspace, "[[say first]] [[ask]]", clientSubmitId=f"other-{number}")
        for number in range(20)
    ]
    for talk in others:
        await client.event("message_delta", agentSessionId=talk.session_id)
    assert client.rows("turn", turnId=deaf.turn["turnId"], phase="settled") == []
    for talk in (deaf, *others):
        await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
        assert (await client.settled(talk.turn))["outcome"] == "canceled"
    assert await deaf.messages() != [], "its prompt is kept"


@pytest.mark.case("FC-40", "FC-54")
async def test_five_sessions_stream_on_while_others_misbehave(client: Client, workspace: str) -> None:
    steady = [
        await start(client, workspace, "[[stream 60 size=40 delay=10]]", clientSubmitId=f"s{n}")
        for n in range(5)
    ]
    odd = [
        await start(client, workspace, f"{script} [[say end]]", clientSubmitId=name)
        for name, script in MISCHIEF.items()
    ]
    killer = await start(client, workspace, "[[say begun]] [[die]]", clientSubmitId="killer")
    for talk in steady:
        assert (await client.settled(talk.turn, 30))["outcome"] == "completed"
        [message] = [m for m in await talk.messages() if m["role"] == "assistant"]
        assert len(text_of(message)) == 60 * 40
        assert streamed(client, message["messageId"]) == text_of(message)
    for name, talk in zip(MISCHIEF, odd, strict=True):
        settled = await client.settled(talk.turn, 30)
        assert settled["outcome"] == "completed", name
        assert (await talk.texts())[-1].endswith("end"), name
        assert (await talk.say("[[say next]]"))["outcome"] == "completed", name
    lost = await client.settled(killer.turn)
    assert (lost["outcome"], lost["error"]["code"]) == ("failed", "provider.lost")


async def test_what_an_agent_says_comes_out_clean(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[surrogate]]")
    await client.settled(talk.turn)
    [said] = await talk.texts()
    assert said.encode("utf-8")
    assert said.startswith("half ")


@pytest.mark.case("FC-49")
async def test_an_endless_line_costs_its_own_connection_alone(make_daemon: MakeDaemon) -> None:
    limits = {"maxProviderLineBytes": 1 << 20, "maxProviderDiscardBytes": 2 << 20}
    daemon = make_daemon({"limits": limits})
    async with connected(daemon) as client:
        await client.subscribe("w")
        bad = await start(client, "w", "[[endless 30000000]] [[say unreachable]]", clientSubmitId="bad")
        good = await start(client, "w", "[[stream 40 delay=10]]", clientSubmitId="good")
        failed = await client.settled(bad.turn, 30)
        assert failed["outcome"] == "failed"
        assert failed["error"]["code"] == "provider.protocol"
        assert (await client.settled(good.turn))["outcome"] == "completed"
        assert (await bad.say("[[say well again]]"))["outcome"] == "completed"


async def test_nothing_of_a_crashed_agent_is_left_but_its_words(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(
        client, workspace, "[[grandchild]] [[grandchild setsid stubborn]] [[say last]] [[crash]]"
    )
    failed = await client.settled(talk.turn)
    assert (failed["outcome"], failed["error"]["code"]) == ("failed", "provider.lost")
    assert await talk.texts() == ["last"]
    assert poll_until(lambda: set(daemon.providers()) <= before, PROVIDERS_END_SECONDS)


@pytest.mark.case("FC-10", "FC-11")
async def test_texts_of_errors_are_ours(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[error -32603]]")
    failed = await client.settled(talk.turn)
    assert "demo agent was asked to fail" not in str(failed)
    refused = await client.refused("session/get", **{**talk.key, "agentSessionId": "secret-looking"})
    assert "secret-looking" not in str(refused)


async def test_commands_end_within_their_deadlines(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(start=False)
    daemon.settings = {
        "targets": [agent("deaf", daemon.folder, DEMO_NO_INITIALIZE="1")],
        "limits": {"lifecycleTimeoutSeconds": 1, "initializeTimeoutSeconds": 2},
    }
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        silent = await start(client, "w", target="deaf", clientSubmitId="silent")
        refused = await client.refused("session/resume", **silent.key)
        assert (refused["code"], refused["retryable"]) == ("provider.timeout", True)
        assert refused["delivery"] == "unknown"
        prompted = await start(client, "w", "hello", target="deaf", clientSubmitId="prompted")
        failed = await client.settled(prompted.turn)
        assert (failed["outcome"], failed["delivery"]) == ("failed", "not_dispatched")
        assert failed["error"]["code"] == "provider.timeout"
        closed = await client.request("session/close", **silent.key)
        assert closed["session"]["runtime"]["state"] == "absent"
        assert poll_until(lambda: not daemon.providers(), PROVIDERS_END_SECONDS)


@pytest.mark.case("FC-59", "FC-44")
async def test_a_start_that_hangs_keeps_no_close_waiting(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, target="deaf")
    resuming = await client.send("session/resume", **talk.key)
    await client.event("runtime_activity", runtimeState="activating")
    closed = (await client.request("session/close", **talk.key))["session"]
    assert closed["runtime"]["state"] == "absent"
    assert (await resuming.refusal())["code"] == "provider.lost"
    assert poll_until(lambda: set(daemon.providers()) <= before, PROVIDERS_END_SECONDS)


async def test_a_working_directory_that_went_away_is_named_and_may_come_back(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    folder = daemon.folder / workspace
    folder.mkdir()
    talk = await start(client, workspace, cwd=str(folder))
    folder.rmdir()
    refused = await client.refused("session/resume", **talk.key)
    assert (refused["code"], refused["retryable"]) == ("session.cwd_missing", True)
    failed = await talk.say("[[say x]]")
    assert (failed["outcome"], failed["delivery"]) == ("failed", "not_dispatched")
    assert failed["error"]["code"] == "session.cwd_missing"
    folder.mkdir()
    assert (await talk.say("[[say x]]"))["outcome"] == "completed"


async def test_the_other_transport_serves_the_same(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(options=("--transport", "trio-websocket"))
    async with connected(daemon) as client, connected(daemon) as other:
        await client.subscribe("w")
        await other.subscribe("w")
        talk = await start(client, "w", "[[think 2]] [[stream 50 size=2000]] [[ask]]")
        asked = await talk.pending()
        answered: Json = await talk.through(other).answer(asked)
        assert answered["answerDelivery"] == "delivered"
        for one in (client, other):
            assert (await one.settled(talk.turn))["outcome"] == "completed"
            for message in await talk.messages():
                if message["role"] == "assistant":
                    assert streamed(one, message["messageId"]) == text_of(message)
        await client.send_text(b"\x00binary")
        await client.wait(lambda: [f for f in client.received if f.get("id", 0) is None], "an error")
        await client.request("session/close", **talk.key)


async def test_a_directory_that_cannot_be_made_costs_its_own_session_alone(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"cancelGraceSeconds": 1}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        running = await start(client, "w", "[[say x]] [[ignore-cancel]] [[hang]]", clientSubmitId="running")
        await client.event("message_delta")
        await client.request("turn/cancel", **running.key, turnId=running.turn["turnId"])
        (daemon.home / "greenroom" / "blocked").write_text("in the way")
        for number in range(10):
            refused = await client.refused(
                "session/create", workspaceId="blocked", agentTargetId="demo", clientSubmitId=f"{number}"
            )
            assert (refused["code"], refused["delivery"]) == ("session.cwd_missing", "not_dispatched")
        assert (await client.settled(running.turn))["outcome"] == "canceled", "timers of others still run"
        (daemon.home / "greenroom" / "blocked").unlink()
        await start(client, "blocked", clientSubmitId="0")
