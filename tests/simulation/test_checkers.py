"""Each check over a finished history finds what breaks its promise, and is silent about what keeps it."""

from collections.abc import Iterable
from typing import Any

import pytest

from runtime.simulation import checkers
from runtime.simulation.agent_notes import AgentNotes, ToldAnswer, ToldPrompt
from runtime.simulation.commit_record import CommitRecord
from runtime.simulation.contents import Contents
from runtime.simulation.effect_order import shows_effect_early
from runtime.simulation.history import History, Request, Violation
from runtime.simulation.subscription_watch import SubscriptionWatch
from store.canonical.identifiers import SessionId, WorkspaceId
from store.port import LoggedCommit

Json = dict[str, Any]
S = ("w", "s")
NAMES = {"workspaceId": "w", "agentSessionId": "s"}


def asked(method: str, result: Json | None = None, **params: object) -> Request:
    state = "open" if result is None else "answered"
    return Request("a client", 1, method, {**NAMES, **params}, state=state, result=result or {})


def a_turn(turn_id: str = "t", **members: object) -> Json:
    row = {"turnId": turn_id, "clientSubmitId": "c", "phase": "settled", "outcome": "completed"}
    return {**NAMES, **row, "delivery": "accepted", "cancelRequestedAt": None, **members}


def a_prompt() -> Json:
    return {**NAMES, "messageId": "m", "role": "user", "status": "completed", "clientSubmitId": "c"}


def contents(*turns: Json) -> Contents:
    return Contents(
        sessions={S: {**NAMES, "activeTurnId": None}},
        turns={(*S, row["turnId"]): row for row in turns},
        messages={(*S, "m"): a_prompt()},
    )


def promises(violations: Iterable[Violation]) -> set[str]:
    return {violation.promise for violation in violations}


def logged(commit_seq: int, body: str = "") -> LoggedCommit:
    return LoggedCommit(commit_seq, WorkspaceId("w"), SessionId("s"), SessionId("s"), body.encode())


def a_watch(base: int, last: int, seen: dict[int, str]) -> SubscriptionWatch:
    watch = SubscriptionWatch("a client", "w", None, base, base, lambda *_: None, lambda: 0.0)
    watch.seen, watch.last = seen, last
    return watch


SENT = asked("session/send", {"turn": {"turnId": "t"}}, clientSubmitId="c")
CANCELLED = asked("turn/cancel", {"turn": {}}, turnId="t")
ANSWERED = asked(
    "interaction/respond", {"interaction": {}}, turnId="t", requestId="r", answer={"optionId": "yes"}
)


@pytest.mark.parametrize(
    ("request_", "held"),
    [
        (asked("session/create", {"session": {}}), Contents()),
        (asked("session/create", {"turn": {"turnId": "t"}}), contents()),
        (SENT, contents()),
        (SENT, contents(a_turn(clientSubmitId="other"))),
        (CANCELLED, contents(a_turn(phase="running"))),
        (ANSWERED, contents(a_turn())),
    ],
)
def test_what_was_acknowledged_and_is_gone_is_found(request_: Request, held: Contents) -> None:
    history = History(requests=[request_])
    assert promises(checkers.acknowledged_is_durable(history, held)) == {"acknowledged is durable"}


def test_what_is_there_and_what_was_never_answered_is_fine() -> None:
    unanswered = asked("session/send", clientSubmitId="lost")
    held = contents(a_turn(cancelRequestedAt=3))
    held.interactions[*S, "t", "r"] = {"status": "answered", "answer": {"optionId": "yes"}}
    history = History(requests=[SENT, CANCELLED, ANSWERED, unanswered])
    assert promises(checkers.acknowledged_is_durable(history, held)) == set()


def test_a_submit_id_with_two_turns_is_found() -> None:
    other = asked("session/send", {"turn": {"turnId": "u"}}, clientSubmitId="c")
    assert promises(checkers.same_submit_same_effect(History(requests=[SENT, other])))
    assert not promises(checkers.same_submit_same_effect(History(requests=[SENT, SENT])))


def test_a_prompt_told_twice_or_without_its_mark_is_found() -> None:
    once, twice = AgentNotes([ToldPrompt("c", 1, 0.0)]), AgentNotes([ToldPrompt("c", 1, 0.0)] * 2)
    assert not promises(checkers.told_at_most_once(once))
    assert promises(checkers.told_at_most_once(twice))
    assert not promises(checkers.told_only_what_is_marked(once, contents(a_turn())))
    assert promises(checkers.told_only_what_is_marked(once, contents(a_turn(delivery="not_dispatched"))))
    assert promises(checkers.told_only_what_is_marked(once, contents()))


def test_two_answers_are_found() -> None:
    notes = AgentNotes(answers=[ToldAnswer(1, "r", "yes"), ToldAnswer(1, "r", None)])
    assert promises(checkers.answered_once(History(), notes)) == {"an agent is answered once"}
    other = asked("interaction/respond", {}, turnId="t", requestId="r", answer={"optionId": "no"})
    other.state = "answered"
    history = History(requests=[ANSWERED, other])
    assert promises(checkers.answered_once(history, AgentNotes())) == {"the first answer wins"}


@pytest.mark.parametrize(
    "row", [a_turn(phase="running", outcome=None), a_turn(delivery="dispatching"), a_turn(phase="waiting")]
)
def test_an_open_turn_is_found(row: Json) -> None:
    assert promises(checkers.nothing_is_open(contents(row), "now")) == {"nothing is open now"}
    assert not promises(checkers.nothing_is_open(contents(a_turn()), "now"))


def test_a_commit_that_vanished_or_changed_after_it_was_shown_is_found() -> None:
    log = CommitRecord({4: logged(4, "four"), 5: logged(5, "five")})
    assert not promises(checkers.published_is_durable([a_watch(3, 5, {4: "four", 5: "five"})], log))
    assert promises(checkers.published_is_durable([a_watch(3, 5, {5: "another"})], log))
    assert promises(checkers.published_is_durable([a_watch(3, 6, {6: "six"})], log))
    log.uncertain_up_to = 6  # a short log may have had it and forgotten it
    assert not promises(checkers.published_is_durable([a_watch(3, 6, {6: "six"})], log))


def test_a_hole_in_what_was_sent_is_found() -> None:
    log = CommitRecord({number: logged(number) for number in (3, 4, 6)})
    assert not promises(checkers.nothing_is_missed([a_watch(3, 6, {4: "", 6: ""})], log))
    assert promises(checkers.nothing_is_missed([a_watch(3, 6, {6: ""})], log)) == {"no commit is missed"}
    assert promises(checkers.nothing_is_missed([a_watch(4, 6, {4: "", 6: ""})], log)) == {
        "only what was asked for is sent"
    }


def test_rows_and_log_that_differ_are_found() -> None:
    row = '{"workspaceId":"w","agentSessionId":"s","turnId":"t","phase":"%s"}'
    body = '"type":"commit","changes":[{"type":"turn","row":' + row + "}]}}"
    held = Contents(turns={(*S, "t"): {**NAMES, "turnId": "t", "phase": "settled"}})
    assert not promises(checkers.rows_agree_with_log(held, CommitRecord({1: logged(1, body % "settled")})))
    assert promises(checkers.rows_agree_with_log(held, CommitRecord({1: logged(1, body % "running")})))
    assert promises(checkers.rows_agree_with_log(held, CommitRecord()))


def test_streamed_text_that_is_shorter_than_what_was_heard_is_found() -> None:
    row = {"toolCall": None, "content": [{"type": "text", "text": "abcd"}]}
    held = Contents(messages={(*S, "m"): row})
    assert not promises(checkers.streamed_text_survives({(*S, "m"): "abc"}, held))
    assert promises(checkers.streamed_text_survives({(*S, "m"): "abcde"}, held))
    assert promises(checkers.streamed_text_survives({(*S, "gone"): ""}, held))


def test_an_effect_shown_before_its_reply_is_found_unless_somebody_else_asked_for_it() -> None:
    request = asked("turn/cancel", turnId="t")
    event = {"commitSeq": 9, "changes": [{"type": "turn", "row": a_turn(cancelRequestedAt=1)}]}
    history = History(requests=[request])
    assert shows_effect_early(request, event, history)
    other = {"commitSeq": 9, "changes": [{"type": "turn", "row": a_turn("u", cancelRequestedAt=1)}]}
    assert shows_effect_early(request, other, history) is None
    history.requests.append(asked("turn/cancel", turnId="t"))
    assert shows_effect_early(request, event, history) is None
    assert shows_effect_early(request, event, History(requests=[request], answers_by_itself=True)) is None
