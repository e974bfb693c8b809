"""Recorded connections with a real app-server, played through the adapter: nothing is lost, mixed up or unknown."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from runtime.providers.normalized import ItemEnded, TextChunk, TurnEnded
from tests.providers_codex.codex_replay import GOLDEN, HISTORIES, Replay

RECORDINGS = sorted(HISTORIES.glob("*.jsonl"))
OUTCOMES = {"completed": "completed", "interrupted": "canceled", "failed": "failed"}
each_recording = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)


def frames(path: Path) -> list[dict]:
    """The notifications of a recording."""
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [record["msg"] for record in records if record["dir"] == "in" and "method" in record["msg"]]


@each_recording
def test_what_the_adapter_makes_of_it_is_what_was_written_down(path: Path) -> None:
    told = "\n".join(Replay().play(path).lines) + "\n"
    assert told == (GOLDEN / f"{path.stem}.txt").read_text(encoding="utf-8")


def test_every_recording_has_its_golden_text_and_no_text_is_left_over() -> None:
    assert {path.stem for path in RECORDINGS} == {path.stem for path in GOLDEN.glob("*.txt")}


@pytest.mark.rule("PR-010")
@pytest.mark.parametrize(
    ("rare", "usual"),
    [("rare_turn_before_answer", "basic_turn"), ("rare_notice_before_answer", "side_fork_live")],
)
def test_an_order_that_comes_seldom_is_told_as_the_usual_one(rare: str, usual: str) -> None:
    told, expected = (Replay().play(HISTORIES / f"{name}.jsonl") for name in (rare, usual))
    assert told.events == expected.events
    assert told.frames == expected.frames


@pytest.mark.case("FC-13", "FC-24")
@each_recording
def test_the_answers_of_every_turn_are_told_as_they_finally_were(path: Path) -> None:
    replay = Replay().play(path)
    recorded: dict[str, list[str]] = defaultdict(list)
    for frame in frames(path):
        item = (frame.get("params") or {}).get("item") or {}
        if frame["method"] == "item/completed" and item.get("type") == "agentMessage":
            recorded[frame["params"]["turnId"]].append(item["text"])
    for provider_turn_id, (scope, turn_id) in replay.turns.items():
        texts: dict[str, str] = defaultdict(str)
        ended: list[str] = []
        for event in (each.event for each in replay.events if each.scope == scope):
            if getattr(event, "turn_id", None) != turn_id:
                continue
            if isinstance(event, TextChunk) and event.kind == "text":
                texts[event.item_id] += event.text
            elif isinstance(event, ItemEnded) and not event.cut_short and event.item_id in texts:
                ended.append(texts[event.item_id] if event.text is None else event.text)
        assert ended == recorded[provider_turn_id], provider_turn_id


@pytest.mark.case("FC-01", "FC-11")
@each_recording
def test_turns_end_as_codex_said_and_not_before(path: Path) -> None:
    replay = Replay().play(path)
    said = {
        frame["params"]["turn"]["id"]: frame["params"]["turn"]["status"]
        for frame in frames(path)
        if frame["method"] == "turn/completed"
    }
    ends = {each.event.turn_id: each.event for each in replay.events if isinstance(each.event, TurnEnded)}
    for provider_turn_id, (_, turn_id) in replay.turns.items():
        if provider_turn_id not in said or turn_id not in ends:
            assert turn_id not in ends or provider_turn_id in said
            continue
        assert ends[turn_id].stop_reason == said[provider_turn_id]
        assert ends[turn_id].outcome == OUTCOMES[said[provider_turn_id]]


@pytest.mark.case("FC-31")
@pytest.mark.rule("PR-014")
@each_recording
def test_every_request_of_codex_gets_exactly_one_reply(path: Path) -> None:
    replay = Replay().play(path)
    assert sorted(replay.answered) == sorted(replay.asked)


@each_recording
def test_nothing_a_real_app_server_says_is_unknown_or_noise(path: Path) -> None:
    kinds = {diagnostic.kind for diagnostic in Replay().play(path).diagnostics}
    assert not {kind for kind in kinds if "unknown" in kind or "malformed" in kind or "noise" in kind}


@pytest.mark.rule("PR-024")
@pytest.mark.parametrize("name", ["errors", "stream_cut_retry"])
def test_a_failed_turn_is_told_in_our_words(name: str) -> None:
    replay = Replay().play(HISTORIES / f"{name}.jsonl")
    ends = [each.event for each in replay.events if isinstance(each.event, TurnEnded)]
    errors = [end.error for end in ends if end.error is not None]
    assert errors
    for error in errors:
        assert "http" not in error.message
        assert error.origin == "provider"
