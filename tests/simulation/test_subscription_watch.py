"""A subscription's watch says what each event breaks, and nothing of events that keep the rules."""

from typing import Any

import pytest

from runtime.simulation.subscription_watch import SubscriptionWatch

Json = dict[str, Any]
NAMES = {"workspaceId": "w", "agentSessionId": "s"}


class Watched:
    """A watch, and the promises it found broken."""

    def __init__(self, base: int = 0, sessions: frozenset[str] | None = None) -> None:
        self.broken: list[str] = []
        self.now = 0.0
        self.watch = SubscriptionWatch(
            label="a client",
            workspace_id="w",
            sessions=sessions,
            base=base,
            head=base,
            violated=lambda promise, _: self.broken.append(promise),
            now=lambda: self.now,
        )

    def commit(self, commit_seq: int, *changes: tuple[str, Json]) -> "Watched":
        event = {
            "type": "commit",
            "commitSeq": commit_seq,
            "changes": [{"type": kind, "row": row} for kind, row in changes],
        }
        self.watch.take(event, f"body {commit_seq}")
        return self

    def event(self, kind: str, **members: object) -> "Watched":
        self.watch.take({"type": kind, **NAMES, **members}, "")
        return self

    def delta(self, delta_seq: int, text: str) -> "Watched":
        return self.event("message_delta", messageId="m", deltaSeq=delta_seq, field="text", text=text)


def message(status: str, text: str = "", delta_seq: int | None = None) -> tuple[str, Json]:
    content = [{"type": "text", "text": text}] if text else []
    row = {"messageId": "m", "turnId": "t", "status": status, "content": content, "deltaSeq": delta_seq}
    return "message", {**NAMES, **row, "toolCall": None, "version": 1}


def turn(phase: str, outcome: str | None = None) -> tuple[str, Json]:
    row = {"turnId": "t", "phase": phase, "outcome": outcome, "settledAt": None if outcome is None else 5}
    return "turn", {**NAMES, **row}


def test_a_stream_that_keeps_the_rules_breaks_nothing() -> None:
    watched = Watched().commit(3, turn("running")).commit(4, message("streaming", delta_seq=0))
    watched.delta(0, "ab").delta(1, "c").event("checkpoint", commitSeq=9)
    watched.commit(12, turn("settled", "completed"), message("completed", "abc"))
    assert watched.broken == []
    assert watched.watch.doubts == {}
    assert watched.watch.seen == {3: "body 3", 4: "body 4", 12: "body 12"}
    assert watched.watch.last == 12


@pytest.mark.parametrize("again", [3, 2])
def test_a_number_that_does_not_grow_is_noticed(again: int) -> None:
    assert Watched().commit(3).commit(again).broken == ["commitSeq strictly grows"]


def test_a_replayed_number_that_was_held_already_is_noticed() -> None:
    assert Watched(base=7).commit(7).broken == ["commitSeq strictly grows"]


@pytest.mark.parametrize("delta_seq", [0, 2])
def test_a_repeated_and_a_missing_delta_are_noticed(delta_seq: int) -> None:
    watched = Watched().commit(1, message("streaming", delta_seq=0)).delta(0, "a")
    assert watched.delta(delta_seq, "b").broken == ["deltas have no holes"]


def test_a_delta_without_its_row_is_noticed() -> None:
    assert Watched().delta(0, "a").broken == ["a message's row precedes its first delta"]


def test_after_a_gap_only_a_snapshot_makes_whole() -> None:
    watched = Watched().commit(1, message("streaming", delta_seq=0)).delta(0, "a")
    watched.event("stream_gap", messageId="m")
    watched.event("message_snapshot", message=message("streaming", "abcd", 4)[1])
    watched.delta(4, "e").commit(2, message("completed", "abcde"))
    assert watched.broken == []
    assert watched.watch.doubts == {}
    watched = Watched().commit(1, message("streaming", delta_seq=0)).event("stream_gap", messageId="m")
    assert watched.delta(1, "b").broken == ["deltas have no holes"]


def test_a_gap_may_be_told_before_the_row_and_after_the_end() -> None:
    before = Watched().event("stream_gap", messageId="m").commit(1, message("streaming", delta_seq=0))
    assert before.commit(2, message("completed", "abc")).watch.doubts == {}
    after = Watched().commit(1, message("streaming", delta_seq=0)).commit(2, message("completed", "abc"))
    assert after.watch.doubts
    after.event("stream_gap", messageId="m")
    assert after.watch.doubts == {}
    assert before.broken == after.broken == []


def test_text_that_is_not_what_its_deltas_gave_is_doubted() -> None:
    watched = Watched().commit(1, message("streaming", delta_seq=0)).delta(0, "ab")
    assert list(watched.commit(2, message("completed", "xy")).watch.doubts) == [("w", "s", "m")]


def test_a_settled_turn_with_something_open_is_noticed() -> None:
    watched = Watched().commit(1, turn("running"), message("streaming", delta_seq=0))
    assert watched.commit(2, turn("settled", "completed")).broken == ["ended rows precede the settled turn"]


def test_an_outcome_that_changes_is_noticed() -> None:
    watched = Watched().commit(1, turn("settled", "completed"))
    assert watched.commit(2, turn("settled", "failed")).broken == ["a settled outcome stands"]


def test_a_read_older_than_what_was_heard_is_noticed() -> None:
    watched = Watched().commit(1, message("streaming", delta_seq=0)).delta(0, "a").delta(1, "b")
    watched.watch.check_read(message("streaming", "ab", 2)[1])
    assert watched.broken == []
    watched.watch.check_read(message("streaming", "a", 1)[1])
    assert watched.broken == ["a read contains every delta sent before it"]


def test_it_knows_what_had_been_heard_at_any_moment() -> None:
    watched = Watched().commit(1, message("streaming", delta_seq=0))
    for moment, (delta_seq, text) in enumerate([(0, "ab"), (1, "cd"), (2, "ef")]):
        watched.now = float(moment)
        watched.delta(delta_seq, text)
    assert watched.watch.heard_until(1.5) == {("w", "s", "m"): "abcd"}
    assert watched.watch.heard_until(-1) == {("w", "s", "m"): ""}


def test_it_follows_what_was_asked_for() -> None:
    watch = Watched(sessions=frozenset({"s"})).watch
    assert watch.follows("w", "s")
    assert not watch.follows("w", "other")
    assert not watch.follows("v", "s")
