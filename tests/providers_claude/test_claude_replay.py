"""Recorded processes of a real Claude Code, played through the adapter: nothing is lost, mixed up or unknown."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from runtime.providers.normalized import ItemEnded, TextChunk, TurnEnded
from tests.providers_claude.claude_replay import GOLDEN, HISTORIES, Replay

RECORDINGS = sorted(HISTORIES.glob("*.jsonl"))
each_recording = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
EXPECTED_ODDITIES = {"content.no_turn"}
"""Trailing words of a turn that has just ended."""


@each_recording
def test_what_is_written_and_told_is_what_was_written_down(path: Path) -> None:
    told = "\n".join(Replay().play(path).lines) + "\n"
    assert told == (GOLDEN / f"{path.stem}.txt").read_text(encoding="utf-8")


def test_every_recording_has_its_golden_text_and_none_is_left_over() -> None:
    assert {path.stem for path in RECORDINGS} == {path.stem for path in GOLDEN.glob("*.txt")}


@each_recording
def test_nothing_in_it_is_unknown(path: Path) -> None:
    assert {each.kind for each in Replay().play(path).diagnostics} <= EXPECTED_ODDITIES


@pytest.mark.case("FC-13", "FC-24")
@each_recording
def test_the_words_of_the_conversation_are_told_as_they_finally_were(path: Path) -> None:
    records = [json.loads(line)["msg"] for line in path.read_text(encoding="utf-8").splitlines()]
    said = [
        block["text"]
        for message in records
        if message["type"] == "assistant" and message["parent_tool_use_id"] is None
        if not message.get("is_api_error_message")
        for block in message["message"]["content"]
        if block["type"] == "text"
    ]
    texts: dict[tuple[str, str], str] = defaultdict(str)
    for event in (each.event for each in Replay().play(path).events):
        if isinstance(event, TextChunk) and event.kind == "text":
            texts[event.turn_id, event.item_id] += event.text
        elif isinstance(event, ItemEnded) and event.text is not None:
            texts[event.turn_id, event.item_id] = event.text
    assert list(texts.values()) == said


@pytest.mark.case("FC-01")
@each_recording
def test_every_prompt_has_one_end(path: Path) -> None:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    prompts = [
        each["msg"]["uuid"] for each in records if each["dir"] == "out" and each["msg"]["type"] == "user"
    ]
    ended = [each.event.turn_id for each in Replay().play(path).events if isinstance(each.event, TurnEnded)]
    assert len(ended) == len(set(ended))
    guided = path.stem == "guidance"
    assert set(prompts) - set(ended) == ({prompts[1]} if guided else set())
