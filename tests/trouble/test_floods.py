"""Agents that write too much at once: what may pass passes, the rest costs its own connection and no memory."""

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.talk import start
from tests.trouble.agents import memory_bytes, reset_peak
from tests.trouble.beside import takes_prompts, undisturbed

MEBIBYTE = 1024 * 1024


@pytest.mark.case("FC-08")
async def test_long_lines_pass_and_the_next_frame_works(
    client: Client, workspace: str, connect: Connect
) -> None:
    async with connect() as other, undisturbed(client, workspace):
        await other.subscribe(f"{workspace}-long")
        talk = await start(other, f"{workspace}-long", "[[bigline 3000000]][[tool after]]")
        assert (await other.settled(talk.turn))["outcome"] == "completed"
        assert await talk.texts() == ["b" * 3_000_000]

        # The frame passes; a message is cut where the limits say.
        longer = await talk.say("[[bigline 30000000]][[tool after]]")
        assert longer["outcome"] == "completed"
        text = (await talk.texts())[-1]
        assert text == "b" * (4 * MEBIBYTE) + "\n[truncated]"
        [cut] = [m for m in await talk.messages() if m["turnId"] == longer["turnId"] and m["truncated"]]
        assert cut["status"] == "completed"
        assert [m["toolCall"]["name"] for m in await talk.messages() if m["toolCall"]] == ["after", "after"]
        await takes_prompts(talk)


@pytest.mark.case("FC-08", "FC-49")
async def test_endless_line_costs_its_connection_and_no_memory(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace)
        before = memory_bytes(daemon.pid, "VmRSS")
        reset_peak(daemon.pid)
        turn = await talk.say("[[say before]][[endless 600000000]][[say after]]")
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.protocol")
        assert str(64 * MEBIBYTE) in turn["error"]["message"]
        assert str(32 * MEBIBYTE) in turn["error"]["message"]
        assert memory_bytes(daemon.pid, "VmHWM") - before < 100 * MEBIBYTE
        assert (await talk.texts())[-1] == "before"
        await takes_prompts(talk)


@pytest.mark.case("FC-18")
async def test_flood_on_stderr_holds_up_nothing(daemon: Daemon, client: Client, workspace: str) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace)
        before = memory_bytes(daemon.pid, "VmRSS")
        log_before = daemon.log_file.stat().st_size
        reset_peak(daemon.pid)
        turn = await client.settled(await talk.send("[[stderr 200000000]][[say done]]"), seconds=60)
        assert turn["outcome"] == "completed"
        assert (await talk.texts())[-1] == "done"
        assert memory_bytes(daemon.pid, "VmHWM") - before < 32 * MEBIBYTE
        assert daemon.log_file.stat().st_size - log_before < MEBIBYTE
        await takes_prompts(talk)


@pytest.mark.case("FC-29")
async def test_hundred_thousand_small_updates_make_few_rows_and_the_exact_text(
    client: Client, workspace: str, connect: Connect
) -> None:
    count = 100_000
    async with connect() as other, undisturbed(client, workspace):
        await other.subscribe(f"{workspace}-many")
        talk = await start(other, f"{workspace}-many", f"[[stream {count} size=1 batch=1000]]")
        turn = await other.settled(talk.turn, seconds=60)
        assert turn["outcome"] == "completed"
        assert await talk.texts() == ["".join(f"{index} " for index in range(count))]
        rows = other.rows("message", agentSessionId=talk.session_id, role="assistant")
        assert [row["status"] for row in rows] == ["streaming", "completed"]
        assert len(other.events("commit")) < 20
        end = other.received.index(next(e for e in other.events("commit") if _has(e, turn)))
        assert not [f for f in other.received[end:] if f.get("type") == "message_delta"]


def _has(event: Json, turn: Json) -> bool:
    return any(change["row"] == turn for change in event["changes"])
