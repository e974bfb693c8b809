"""Recorded conversations with five real agents, played through the adapter: nothing is lost, mixed up or unknown."""

from pathlib import Path

import pytest

from runtime.providers.normalized import TurnEnded, TurnRejected
from tests.providers.acp_replay import HISTORIES, Replay

RECORDINGS = sorted(HISTORIES.glob("*.jsonl"))
OUTCOMES = {"end_turn": "completed", "cancelled": "canceled"}


@pytest.mark.rule("PR-007")
@pytest.mark.case("FC-13", "FC-24", "FC-26")
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_recorded_conversation_is_told_exactly(path: Path) -> None:
    replay = Replay().play(path)
    assert replay.turns or not replay.opened
    for turn in replay.turns:
        assert turn.told_texts == turn.texts, turn.turn_id
        assert turn.told_call_ids == turn.call_ids, turn.turn_id
        assert turn.told_asks == turn.asks, turn.turn_id


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_nothing_a_real_agent_says_is_unknown_or_noise(path: Path) -> None:
    kinds = {diagnostic.kind for diagnostic in Replay().play(path).diagnostics}
    assert not {kind for kind in kinds if "unknown" in kind or "malformed" in kind or "noise" in kind}


@pytest.mark.case("FC-11")
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_recorded_turns_end_as_the_agent_said(path: Path) -> None:
    for turn in Replay().play(path).turns:
        if turn.answer is None:
            assert turn.end is None  # the agent was killed, or never answered
        elif "error" in turn.answer:
            assert isinstance(turn.end, TurnRejected) or turn.end.outcome in ("failed", "canceled")
        else:
            assert isinstance(turn.end, TurnEnded)
            assert turn.end.stop_reason == turn.answer["result"]["stopReason"]
            assert turn.end.outcome == OUTCOMES[turn.end.stop_reason]


@pytest.mark.case("FC-31")
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_recorded_request_of_the_agent_gets_one_answer_of_ours(path: Path) -> None:
    replay = Replay().play(path)
    assert len(replay.witness.answered) == len(set(replay.witness.answered))


def test_there_is_a_recording_of_every_attested_agent() -> None:
    agents = {path.stem.rsplit("-1-", 1)[0] for path in RECORDINGS if "-1-main" in path.stem}
    assert agents == {"claude-agent-acp", "codex-acp", "gemini", "opencode", "qwen"}
