"""Guidance as the Session machine decides it: one exact turn, told once, and no submit id that is stuck."""

import pytest

from runtime.actors.units import segments
from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import Policy
from runtime.providers import normalized as n
from runtime.providers.port import CancelTurn, GuideTurn, StartTurn
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import GUIDED, LOADS
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from store.canonical.turn import Turn
from tests.lifecycle.playbook import Playbook

UNKNOWN = Refusal("submit.delivery_unknown", delivery="unknown")
LOST = TurnError("provider.lost", "gone", "provider")
GUIDE = "guide:g1"


def guided() -> tuple[Playbook, TurnId]:
    """A running turn whose provider was just told more."""
    book = Playbook()
    turn_id = book.running(GUIDED)
    assert book.guide(turn_id) == []
    return book, turn_id


def refused(turn_id: TurnId, code: str, origin: str = "provider") -> n.GuideRefused:
    return n.GuideRefused(turn_id, GUIDE, TurnError(code, "no", origin))


def guides(book: Playbook) -> list[str]:
    """What the provider was told, each by its name."""
    return [command.guide_id for command in book.told if isinstance(command, GuideTurn)]


# --- told once, and answered ------------------------------------------------------------------------------------


@pytest.mark.rule("RT-078", "RT-080", "PR-012")
def test_guidance_names_its_turn_and_becomes_a_message_of_it_once_the_provider_has_it() -> None:
    book, turn_id = guided()
    assert book.told[-1] == GuideTurn(book.state.scope, turn_id, GUIDE, (TextBlock("rather oaks"),))
    assert book.said() == ["c1"], "what is not delivered is no message yet"
    effects = book.say(n.GuideAccepted(turn_id, GUIDE))
    [turn] = book.answers["guide"]
    assert isinstance(turn, Turn)
    assert (turn.turn_id, turn.phase) == (turn_id, "running")
    message = max(book.messages.values(), key=lambda row: row.sequence)
    assert (message.role, message.turn_id, message.client_submit_id) == ("user", turn_id, "g1")
    assert message.content == (TextBlock("rather oaks"),)
    assert [type(effect) for effect in effects].index(fx.PersistMessage) < len(effects)
    assert not [command for command in book.told if isinstance(command, CancelTurn)]
    book.guide(turn_id, "g2", "second")
    book.say(n.GuideAccepted(turn_id, "guide:g2"))
    assert list(book.turns) == [turn_id], "guided twice, one turn"
    assert not [timer for timer in book.timers if timer.kind == "guide"]


@pytest.mark.rule("RT-034")
def test_the_claim_is_a_unit_of_its_own_before_the_provider_is_told() -> None:
    book = Playbook()
    turn_id = book.running(GUIDED)
    book.effects.clear()
    book.say(n.TextChunk(turn_id, "t1", "text", "elms"))
    book.guide(turn_id)
    book.say(n.TextChunk(turn_id, "t1", "text", " and more"))
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    [claimed] = [segment for segment in segments(book.effects) if segment.claims]
    assert not claimed.rows
    assert [effect.command for effect in claimed.after if isinstance(effect, fx.TellConnection)] == [
        book.told[-1]
    ]
    assert [type(effect) for effect in claimed.after] == [fx.TellConnection, fx.ArmTimer]
    assert claimed.tentative is not None
    assert claimed.tentative.turn_id == turn_id


@pytest.mark.rule("PR-018")
def test_what_the_agent_broke_off_for_the_guidance_ends_and_its_turn_goes_on() -> None:
    book = Playbook()
    turn_id = book.running(GUIDED)
    book.say(n.TextChunk(turn_id, "t1", "text", "elms"))
    book.guide(turn_id)
    book.say(n.GuideAccepted(turn_id, GUIDE))
    book.say(n.ItemEnded(turn_id, "t1", cut_short=True))
    book.say(n.TextChunk(turn_id, "t2", "text", "oaks"))
    rows = sorted(book.messages.values(), key=lambda row: row.sequence)
    told = [(row.role, row.status) for row in rows]
    assert told == [
        ("user", "completed"),
        ("assistant", "interrupted"),
        ("user", "completed"),
        ("assistant", "streaming"),
    ]
    assert book.state.turn is not None
    assert book.state.turn.phase == "running"


# --- refused without a call -------------------------------------------------------------------------------------


@pytest.mark.rule("RT-079")
def test_guidance_that_finds_no_turn_to_take_it_is_refused_without_a_call_and_frees_its_id() -> None:
    book = Playbook()
    first = book.running(GUIDED)
    assert book.guide(TurnId("nobody"), reply="a") == [Refusal("turn.not_found")]
    book.say(n.TurnEnded(first, "completed", "end_turn"))
    assert book.guide(first, reply="b") == [Refusal("turn.settled")]
    second = book.send("next", "c2", "second").turn_id
    assert book.guide(first, reply="c") == [Refusal("turn.settled")], "never another turn than the named one"
    assert book.guide(second, reply="d") == [Refusal("turn.mismatch")], "on its way: not named yet"
    book.say(n.TurnAccepted(second))
    book.cancel(second)
    assert book.guide(second, reply="e") == [Refusal("turn.mismatch")], "it is being stopped"
    assert guides(book) == []
    assert "g1" not in book.claims


@pytest.mark.rule("RT-079")
def test_the_id_of_a_refused_guidance_serves_the_next_turn() -> None:
    book = Playbook()
    first = book.running(GUIDED)
    book.say(n.TurnEnded(first, "completed", "end_turn"))
    book.guide(first, reply="late")
    second = book.send("next", "c2", "second").turn_id
    book.say(n.TurnAccepted(second))
    book.guide(second, reply="again")
    book.say(n.GuideAccepted(second, GUIDE))
    [turn] = book.answers["again"]
    assert isinstance(turn, Turn)
    assert turn.turn_id == second


def test_a_target_that_takes_no_guidance_says_so_and_is_not_asked() -> None:
    book = Playbook()
    turn_id = book.running(LOADS)
    assert book.guide(turn_id) == [Refusal("capability.unsupported")]
    assert guides(book) == []
    assert "g1" not in book.claims


def test_before_a_first_connection_nobody_knows_what_the_target_can() -> None:
    book = Playbook()
    turn = book.send()
    assert book.guide(turn.turn_id) == [Refusal("turn.mismatch")]


def test_a_session_that_stops_or_is_set_aside_takes_none() -> None:
    book, turn_id = guided()
    book.give(i.Quarantine())
    assert book.guide(turn_id, "g2", "late")[-1] == Refusal("session.quarantined")
    book, turn_id = guided()
    book.give(i.Shutdown())
    assert book.guide(turn_id, "g2", "late")[-1] == Refusal("shutdown.in_progress")


# --- repeated ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-037")
@pytest.mark.case("FC-23")
def test_the_same_guidance_again_sends_nothing_and_shares_the_answer() -> None:
    book, turn_id = guided()
    book.guide(turn_id, reply="repeat")
    assert book.guide(turn_id, reply="other", digest="d2") == [Refusal("submit.conflict")]
    book.say(n.GuideAccepted(turn_id, GUIDE))
    assert [answer.turn_id for answer in (*book.answers["guide"], *book.answers["repeat"])] == [turn_id] * 2
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    [settled] = book.guide(turn_id, reply="later")
    assert isinstance(settled, Turn)
    assert settled.outcome == "completed", "the present state of the same turn"
    assert guides(book) == [GUIDE]
    assert book.said() == ["c1", "g1"]


def test_the_submit_id_of_a_prompt_is_no_guidance() -> None:
    book = Playbook()
    turn_id = book.running(GUIDED)
    assert book.guide(turn_id, "c1", digest="of a guide") == [Refusal("submit.conflict")]
    assert guides(book) == []


# --- refused by the provider ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "origin", "code", "delivery"),
    [
        ("turn.mismatch", "provider", "turn.mismatch", "rejected"),
        ("turn.settled", "runtime", "turn.settled", "not_dispatched"),
        ("turn.mismatch", "runtime", "turn.mismatch", "not_dispatched"),
        ("provider.rate_limited", "provider", "provider.rejected", "rejected"),
    ],
)
def test_what_the_provider_refuses_is_typed_and_frees_the_id(
    said: str, origin: str, code: str, delivery: str
) -> None:
    book, turn_id = guided()
    effects = book.say(refused(turn_id, said, origin))
    assert book.answers["guide"] == [Refusal(code, delivery=delivery)]
    assert "g1" not in book.claims
    [unit] = [segment for segment in segments(effects) if segment.writes]
    assert [claim.client_submit_id for claim in unit.claims_removed] == ["g1"]
    assert unit.replies, "answered once the id is free"
    assert book.said() == ["c1"]
    assert not [timer for timer in book.timers if timer.kind == "guide"]
    book.guide(turn_id, reply="again")
    assert guides(book) == [GUIDE, GUIDE]


# --- silence and loss -------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-034")
def test_a_silent_provider_leaves_the_delivery_unknown_and_the_id_bound() -> None:
    book, turn_id = guided()
    [timer] = [timer for timer in book.timers if timer.kind == "guide"]
    assert book.timers.pop(timer) == book.policy.guide_timeout_seconds
    book.give(i.TimerFired(timer))
    assert book.answers["guide"] == [UNKNOWN]
    [again] = book.guide(turn_id, reply="again")
    assert isinstance(again, Refusal)
    assert (again.code, again.delivery) == ("submit.delivery_unknown", "unknown")
    assert again.details["turn"] == book.state.turn
    assert guides(book) == [GUIDE], "never sent again"
    book.say(n.GuideAccepted(turn_id, GUIDE))
    assert book.said() == ["c1", "g1"], "a late word still counts"
    assert book.answers["guide"] == [UNKNOWN], "and answers nobody twice"
    [delivered] = book.guide(turn_id, reply="once more")
    assert isinstance(delivered, Turn)


def test_a_refusal_that_comes_after_the_time_frees_the_id() -> None:
    book, turn_id = guided()
    book.give(i.TimerFired(i.Timer("guide", turn_id=turn_id, submit_id="g1")))
    book.say(refused(turn_id, "turn.mismatch"))
    assert "g1" not in book.claims
    assert book.answers["guide"] == [UNKNOWN]


@pytest.mark.rule("RT-003")
def test_an_acceptance_after_the_end_adds_the_message_to_its_turn_and_leaves_the_outcome() -> None:
    book, first = guided()
    book.say(n.TurnEnded(first, "completed", "end_turn"))
    second = book.send("next", "c2", "second").turn_id
    book.say(n.TurnAccepted(second))
    book.say(n.GuideAccepted(first, GUIDE))
    message = max(book.messages.values(), key=lambda row: row.sequence)
    assert (message.turn_id, message.client_submit_id) == (first, "g1")
    [turn] = book.answers["guide"]
    assert isinstance(turn, Turn)
    assert (turn.turn_id, turn.outcome) == (first, "completed")
    assert book.turns[first].outcome == "completed"


@pytest.mark.case("FC-10")
@pytest.mark.parametrize("how", ["lost", "close", "shutdown", "quarantine", "forced"])
def test_whatever_takes_the_link_away_answers_who_waits(how: str) -> None:
    book, turn_id = guided()
    match how:
        case "lost":
            book.say(n.ConnectionLost(LOST))
        case "close":
            book.give(i.CloseSession("close"))
            book.say(n.TurnEnded(turn_id, "canceled", "cancelled"))
        case "shutdown":
            book.give(i.Shutdown())
        case "quarantine":
            book.give(i.Quarantine())
        case "forced":
            book.cancel(turn_id)
            book.give(i.TimerFired(i.Timer("cancel_grace", turn_id=turn_id)))
    assert book.answers["guide"] == [UNKNOWN]
    assert not book.state.guides
    assert not [timer for timer in book.timers if timer.kind == "guide"]
    assert "g1" in book.claims, "bound: whether it was heard is unknown"
    if book.state.link.phase == "closing":
        book.give(i.ConnectionReleased(book.generation))
    assert book.guide(turn_id, reply="again")[-1].code == "submit.delivery_unknown"
    if how not in ("shutdown", "quarantine"):
        assert book.send("next", "c2", "second")
        assert sum(isinstance(command, StartTurn) for command in book.told) == 1


def test_a_turn_that_is_stopped_while_guidance_is_open_hears_of_both() -> None:
    book, turn_id = guided()
    book.cancel(turn_id)
    book.say(refused(turn_id, "turn.mismatch", "runtime"))
    assert book.answers["guide"] == [Refusal("turn.mismatch")]
    book.say(n.TurnEnded(turn_id, "canceled", "cancelled"))
    assert book.turns[turn_id].outcome == "canceled"
    assert not book.state.guides


# --- bounds -----------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-34")
def test_an_id_the_store_cannot_keep_is_refused_and_the_turn_goes_on() -> None:
    book = Playbook(keeps_claims=False)
    turn_id = book.running(GUIDED)
    assert book.guide(turn_id) == [Refusal("store.full")]
    assert guides(book) == []
    assert not book.state.guides
    assert book.state.turn is not None
    book.keeps_claims = True
    book.guide(turn_id, reply="again")
    assert guides(book) == [GUIDE]


def test_only_so_much_guidance_is_open_and_what_nobody_waits_for_makes_room() -> None:
    book = Playbook(policy=Policy(open_guides_max=2))
    turn_id = book.running(GUIDED)
    book.guide(turn_id, "g1", "first")
    book.guide(turn_id, "g2", "second")
    [refusal] = book.guide(turn_id, "g3", "third")
    assert isinstance(refusal, Refusal)
    assert (refusal.code, "g3" in book.claims) == ("overloaded", False)
    book.give(i.TimerFired(i.Timer("guide", turn_id=turn_id, submit_id="g1")))
    assert book.guide(turn_id, "g3", "fourth") == []
    assert list(book.state.guides) == ["g2", "g3"]


def test_a_session_whose_guidance_is_open_is_not_idle() -> None:
    book, turn_id = guided()
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    book.give(i.ReleaseIfIdle())
    assert book.state.link.phase == "open"
    book.give(i.TimerFired(i.Timer("guide", turn_id=turn_id, submit_id="g1")))
    book.give(i.ReleaseIfIdle())
    assert book.state.link.phase == "closing"
