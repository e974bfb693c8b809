"""Bounds on events: large commits are shown as a reset, the log is finite, deltas are short, silence is noticed."""

import pytest
import trio

from tests.end_to_end.client import ACTIVITY, connected
from tests.end_to_end.fixtures import UPGRADE, MakeDaemon
from tests.end_to_end.talk import start, streamed, text_of


async def test_a_commit_too_large_for_a_frame_is_a_reset_live_and_in_the_log(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxServerFrameBytes": 20_000}})
    async with connected(daemon) as client, connected(daemon) as late:
        await client.subscribe("w")
        talk = await start(client, "w", "[[stream 50 size=1000]] [[tool small output=ok]] [[say end]]")
        await client.settled(talk.turn)
        [reset] = client.events("session_reset")
        assert (reset["workspaceId"], reset["agentSessionId"]) == ("w", talk.session_id)
        messages = await talk.messages()
        [large] = [message for message in messages if len(text_of(message)) == 50_000]
        assert reset["messageVersion"] >= large["version"], "what is to be read has at most this version"
        assert client.rows("message", messageId=large["messageId"], status="completed") == []
        assert streamed(client, large["messageId"]) == text_of(large), "deltas are small and came as ever"
        await late.subscribe("w", afterCommitSeq=0)
        await late.settled(talk.turn)
        numbers = [(e["type"], e["commitSeq"]) for e in client.events() if "commitSeq" in e]
        assert [(e["type"], e["commitSeq"]) for e in late.events() if "commitSeq" in e] == numbers


async def test_a_log_that_no_longer_reaches_back_is_a_gap(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"commitLogMaxCount": 10}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say x]]")
        await client.settled(talk.turn)
        first = client.events("commit")[0]["commitSeq"]
        for number in range(8):
            last = await talk.say(f"[[say {number}]]")
        head = client.events("commit")[-1]["commitSeq"]
        health = await client.request("health/read")
        assert health["store"]["oldestCommitSeq"] > first
        for after, gap in ((first, True), (head - 1, False), (head, False)):
            reply = await client.request(
                "events/subscribe", workspaceId="w", topics=[ACTIVITY], afterCommitSeq=after
            )
            assert reply["gap"] is gap, after
        assert (await client.request("turn/get", **talk.key, turnId=last["turnId"]))["turn"] == last


@pytest.mark.rule("AP-014")
async def test_deltas_are_bounded_and_whole_characters(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxDeltaBytes": 1000}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", f"[[say {'ü🚪' * 2000}]] [[stream 1000 size=20]]")
        await client.settled(talk.turn)
        deltas = client.events("message_delta")
        assert max(len(delta["text"].encode()) for delta in deltas) <= 1000
        [said] = [message for message in await talk.messages() if message["role"] == "assistant"]
        assert streamed(client, said["messageId"]) == text_of(said)
        assert text_of(said).startswith("ü🚪" * 2000)
        assert len(deltas) < 12 + 1000, "small pieces are merged"


async def test_a_client_that_answers_no_ping_is_closed_with_4002(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"pingSeconds": 0.3}})
    async with connected(daemon) as lively:
        stream = await trio.open_tcp_stream("127.0.0.1", daemon.port)
        async with stream:
            lines = [
                "GET /v1/ws HTTP/1.1",
                f"Host: 127.0.0.1:{daemon.port}",
                f"Authorization: Bearer {daemon.token}",
                *(f"{name}: {value}" for name, value in UPGRADE.items()),
            ]
            await stream.send_all("\r\n".join([*lines, "", ""]).encode())
            received = b""
            with trio.fail_after(15):
                while b"no pong" not in received:
                    received += await stream.receive_some()
        assert b"\x89\x00" in received, "it was pinged"
        assert (4002).to_bytes(2, "big") + b"no pong" in received
        assert (await lively.request("health/read"))["status"] == "ok"
        assert lively.closed is None
