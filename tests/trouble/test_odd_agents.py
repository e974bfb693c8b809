"""Agents whose answers are not what they should be, one fault each: a typed end of the turn, never a success by guess."""

import os
import signal
from pathlib import Path

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon, poll_until
from tests.end_to_end.talk import start
from tests.process_guard.support import alive
from tests.trouble.agents import agent_of, gone
from tests.trouble.beside import takes_prompts, undisturbed

ENDS = {
    "floods before it shakes hands": ("failed", "provider.protocol", "not_dispatched"),
    "wrong version": ("failed", "provider.protocol", "not_dispatched"),
    "refuses to shake hands": ("failed", "provider.protocol", "not_dispatched"),
    "shakes hands with nothing": ("failed", "provider.protocol", "not_dispatched"),
    "opens nothing": ("failed", "provider.timeout", "not_dispatched"),
    "ends when asked to open": ("failed", "provider.lost", "not_dispatched"),
    "opens without a name": ("failed", "provider.protocol", "not_dispatched"),
    "ends without a newline": ("completed", None, "accepted"),
    "ends in the middle of a frame": ("failed", "provider.lost", "accepted"),
    "closes its output": ("failed", "provider.lost", "accepted"),
    "gives no reason": ("failed", "provider.protocol", "accepted"),
    "gives an odd reason": ("failed", "provider.protocol", "accepted"),
    "answers with nothing": ("failed", "provider.protocol", "accepted"),
    "fails without words": ("failed", "provider.protocol", "accepted"),
    "fails oddly": ("failed", "provider.rejected", "accepted"),
}
"""What an agent does, and how the turn ends: outcome, code, delivery."""


@pytest.mark.case("FC-11", "FC-17", "FC-49", "FC-50", "FC-54")
async def test_each_odd_answer_has_its_typed_end(daemon: Daemon, client: Client, workspace: str) -> None:
    async with undisturbed(client, workspace):
        talks = {
            fault: await start(
                client, workspace, "hello", target=fault.replace(" ", "-"), clientSubmitId=fault
            )
            for fault in ENDS
        }
        for fault, expected in ENDS.items():
            talk = talks[fault]
            turn = await client.settled(talk.turn)
            ended = (turn["outcome"], (turn["error"] or {}).get("code"), turn["delivery"])
            assert ended == expected, fault
            assert await talk.texts() == (["whole"] if turn["delivery"] == "accepted" else []), fault
            again = await talk.send("again")  # settled means that the next prompt is taken
            await client.request("session/close", **talk.key)
            assert (await client.settled(again))["turnId"] != turn["turnId"]
            assert gone(daemon, talk), fault


@pytest.mark.case("FC-10", "FC-03")
async def test_pipes_left_open_in_a_grandchild_do_not_hide_the_end_of_the_agent(
    daemon: Daemon, client: Client, workspace: str, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    async with undisturbed(client, workspace):
        talk = await start(
            client, workspace, f"[[say some]][[grandchild setsid stubborn file={pids}]][[die]]"
        )
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
        assert gone(daemon, talk)
        assert not alive(int(pids.read_text()))
        await takes_prompts(talk)


@pytest.mark.case("FC-09", "FC-12", "FC-59")
@pytest.mark.parametrize("end", ["cancel", "close"])
async def test_frozen_agent_is_ended_within_its_bounds(
    daemon: Daemon, client: Client, workspace: str, end: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, "[[say some]][[stream 100000 delay=10]]")
        await client.event("message_delta", agentSessionId=talk.session_id)
        pid = agent_of(daemon, talk)
        os.kill(pid, signal.SIGSTOP)
        if end == "cancel":
            await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
        else:
            await client.request("session/close", **talk.key)
        turn = await client.settled(talk.turn)
        assert turn["outcome"] == "canceled"
        assert turn["cancelConfirmedAt"] is None
        assert poll_until(lambda: not alive(pid), 10)
        await takes_prompts(talk)
