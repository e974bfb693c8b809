"""A turn followed through what happens on the way: a killed daemon, a log that does not reach back, a late start."""

from typing import Any

import anyio
import anyio.to_thread
import pytest

import greenroom_client
from greenroom_client import TextPiece, connect, connect_to_daemon, new_submit_id, prompt
from tests.client.client_rows import interaction, message, tool, turn
from tests.client.loops import on_both_loops
from tests.client.odd_daemon import SOON, Json, Line, odd_daemon
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon

TURN = {"workspace_id": "w", "agent_session_id": "s", "turn_id": "t"}


def changes(*listed: tuple[str, Any]) -> list[Json]:
    return [{"type": kind, "row": row} for kind, row in listed]


async def answer_reads(line: Line, *, phase: str, messages: list[Json], commit_seq: int) -> None:
    """Answer what is read when a turn is looked at: the session, the turn, its messages."""
    asked = [interaction("pending")] if phase == "waiting" else []
    await line.reply(
        await line.expect("session/get"), {"interactions": asked, "turns": [], "commitSeq": commit_seq}
    )
    row = turn(phase, outcome="completed" if phase == "settled" else None)
    await line.reply(await line.expect("turn/get"), {"turn": row, "commitSeq": commit_seq})
    page = {"messages": messages, "hasMore": False, "oldestSequence": 1, "messageVersion": 1}
    await line.reply(await line.expect("session/messages"), {**page, "commitSeq": commit_seq})


@pytest.mark.case("FC-14", "FC-05")
@on_both_loops
async def test_what_was_missed_is_read_again_and_nothing_is_told_twice():
    async def dies(line: Line) -> None:
        await line.welcome()
        await line.subscribed(0)
        await line.reply(await line.expect("turn/get"), {"turn": turn("submitted"), "commitSeq": 0})
        await line.commit(1, changes=changes(("turn", turn("running")), ("message", message(text="Hel"))))

    async def forgot_the_log(line: Line) -> None:
        await line.welcome("another store")
        await line.subscribed(7, gap=True)
        rows = [message(text="Hello, wor", deltas=2), tool("c", "running")]
        await answer_reads(line, phase="waiting", messages=rows, commit_seq=7)
        delta = {"kind": "text", "field": "text", "deltaSeq": 2, "text": "ld"}
        await line.event(
            "message_delta", **delta, workspaceId="w", agentSessionId="s", turnId="t", messageId="m"
        )
        ended = message(text="Hello, world", deltas=None)
        await line.commit(
            8,
            changes=changes(
                ("interaction", interaction("answered")),
                ("message", ended),
                ("message", tool("c", "completed")),
            ),
        )
        await line.commit(9, changes=changes(("turn", turn("settled", outcome="completed"))))
        await line.wait_for_end()

    async with (
        odd_daemon(dies, forgot_the_log) as daemon,
        connect(daemon.url, token="t", options=SOON) as client,
    ):
        async with greenroom_client.stream_turn(client, **TURN) as stream:
            pieces = [piece async for piece in stream]
        assert stream.turn["outcome"] == "completed"
    text = "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
    assert text == "Hello, world"
    kinds = [type(piece).__name__ for piece in pieces if not isinstance(piece, TextPiece)]
    assert kinds == ["ToolPiece", "Asked", "NoLongerAsked", "ToolPiece"]


@on_both_loops
async def test_whoever_comes_late_gets_the_turn_from_its_beginning(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        created = await client.session_create(
            workspace_id=workspace,
            agent_target_id="demo",
            client_submit_id=new_submit_id(),
            initial_content=prompt("[[think 3]] [[tool look output=found]] [[say the end]]"),
        )
        key = {
            "workspace_id": workspace,
            "agent_session_id": created["session"]["agentSessionId"],
            "turn_id": created["turn"]["turnId"],
        }
        heard = []
        for _ in range(2):
            async with greenroom_client.stream_turn(client, **key) as stream:
                pieces = [piece async for piece in stream]
            assert stream.turn["outcome"] == "completed"
            heard.append("".join(piece.text for piece in pieces if isinstance(piece, TextPiece)))
            assert "ToolPiece" in {type(piece).__name__ for piece in pieces}
        assert heard[0] == heard[1]
        assert heard[0].endswith("the end")


@pytest.mark.case("FC-06", "FC-14")
@on_both_loops
async def test_a_turn_whose_daemon_is_killed_ends_interrupted_with_its_text(make_daemon: MakeDaemon):
    daemon = make_daemon()
    async with connect_to_daemon(daemon.data_dir) as client:
        created = await client.session_create(
            workspace_id="w", agent_target_id="demo", client_submit_id=new_submit_id()
        )
        session_id = created["session"]["agentSessionId"]
        text = ""
        async with greenroom_client.send_and_stream(
            client, workspace_id="w", agent_session_id=session_id, content="[[say heard before]] [[hang]]"
        ) as stream:
            async for piece in stream:
                if isinstance(piece, TextPiece):
                    text += piece.text
                    if text == "heard before":
                        await anyio.to_thread.run_sync(daemon.kill)
                        await anyio.to_thread.run_sync(daemon.start)
        assert stream.turn["outcome"] == "interrupted"
        assert text == "heard before"
        # The next prompt of the same session works.
        async with greenroom_client.send_and_stream(
            client, workspace_id="w", agent_session_id=session_id, content="[[say again]]"
        ) as stream:
            async for _ in stream:
                pass
        assert stream.turn["outcome"] == "completed"


@on_both_loops
async def test_a_followed_session_is_up_to_date_with_each_event(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        created = await client.session_create(
            workspace_id=workspace,
            agent_target_id="demo",
            client_submit_id=new_submit_id(),
            initial_content=prompt("[[stream 20]] [[ask allow_once]] [[say done]]"),
        )
        session_id = created["session"]["agentSessionId"]
        async with greenroom_client.follow_session(
            client, workspace_id=workspace, agent_session_id=session_id
        ) as followed:
            view, answered = followed.view, set()
            while view.active_turn is not None:
                for asked in view.pending_interactions:
                    if asked["requestId"] not in answered:
                        answered.add(asked["requestId"])
                        await greenroom_client.answer_option(client, asked, asked["options"][0]["optionId"])
                await anext(followed)
        assert len(answered) == 1
        assert [greenroom_client.text_of(row) for row in view.messages][-1].endswith("done")
