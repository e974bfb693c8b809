"""Submitting, cancelling and ending turns, as the Session machine decides it."""

import attrs
import pytest

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import SessionState
from runtime.providers import normalized as n
from runtime.providers.port import CancelTurn, OpenThread, StartTurn
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import FORGETS, KEY, LOADS, a_claim, a_session
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from store.canonical.session import SessionCapabilities
from store.canonical.turn import Turn
from tests.lifecycle.playbook import Playbook

LOST = TurnError("provider.lost", "gone", "provider")


@pytest.mark.rule("RT-028", "RT-029")
def test_a_prompt_is_durable_and_answered_before_a_connection_is_asked_for() -> None:
    book = Playbook()
    effects = book.give(i.SendPrompt("send", i.Submission(a_claim(), i.Prompt((TextBlock("hello"),)))))
    kinds = [type(effect) for effect in effects]
    assert kinds.index(fx.PersistTurn) < kinds.index(fx.ReplyTurn) < kinds.index(fx.AcquireConnection)
    [turn] = book.answers["send"]
    assert isinstance(turn, Turn)
    assert (turn.phase, turn.delivery, turn.outcome) == ("submitted", "not_dispatched", None)
    [message] = book.messages.values()
    assert (message.role, message.content, message.client_submit_id) == ("user", (TextBlock("hello"),), "c1")
    assert book.claims["c1"].turn_id == turn.turn_id


@pytest.mark.rule("RT-034")
def test_the_dispatching_marker_is_in_a_unit_of_its_own_before_the_provider_is_told() -> None:
    book = Playbook()
    turn = book.send()
    book.give(i.ConnectionAcquired(book.generation))
    assert book.told == [OpenThread(book.state.scope, "/work", {}, None)]
    effects = book.say(n.ThreadOpened("thread", False))
    marker = next(k for k, e in enumerate(effects) if isinstance(e, fx.PersistTurn))
    told = next(k for k, e in enumerate(effects) if isinstance(e, fx.TellConnection))
    boundary = next(k for k, e in enumerate(effects) if isinstance(e, fx.NewUnit))
    assert boundary < marker < told
    assert book.turns[turn.turn_id].delivery == "dispatching"
    assert book.told[-1] == StartTurn(book.state.scope, turn.turn_id, (TextBlock("hello"),), {})


@pytest.mark.rule("RT-005")
def test_a_second_prompt_is_busy_and_starts_nothing() -> None:
    book = Playbook()
    turn_id = book.running()
    told = len(book.told)
    book.give(i.SendPrompt("again", i.Submission(a_claim("c2"), i.Prompt((TextBlock("x"),)))))
    assert book.answers["again"] == [Refusal("session.busy", details={"turnId": turn_id})]
    assert len(book.told) == told
    assert "c2" not in book.claims


@pytest.mark.rule("RT-037", "RT-032")
@pytest.mark.case("FC-23")
def test_the_same_submit_id_gives_the_same_turn_and_another_text_conflicts() -> None:
    book = Playbook()
    turn_id = book.running()
    known = attrs.evolve(a_claim(), turn_id=turn_id)
    prompt = i.Prompt((TextBlock("hello"),))
    book.give(i.SendPrompt("repeat", i.Submission(a_claim(), prompt), known, book.turns[turn_id]))
    other = i.Submission(a_claim(digest="other"), prompt)
    book.give(i.SendPrompt("conflict", other, known, book.turns[turn_id]))
    assert [answer.turn_id for answer in book.answers["repeat"]] == [turn_id]
    assert book.answers["conflict"] == [Refusal("submit.conflict")]
    assert len(book.turns) == 1


@pytest.mark.rule("RT-004")
def test_a_completed_turn_settles_with_its_session_and_takes_the_next_prompt() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.TextChunk(turn_id, "t1", "text", "hi"))
    assert book.turns[turn_id].outcome is None
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    turn = book.turns[turn_id]
    assert (turn.phase, turn.outcome, turn.stop_reason) == ("settled", "completed", "end_turn")
    assert book.state.session.active_turn_id is None
    assert [m.status for m in book.agent_messages()] == ["completed"]
    assert book.send("next", "c2", "second").sequence == 2


def test_a_completed_turn_that_brought_nothing_says_so() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    notices = [m.content[0].code for m in book.messages.values() if m.kind == "notice"]
    assert notices == ["turn.empty"]


@pytest.mark.rule("RT-007")
@pytest.mark.case("FC-43")
def test_a_cancel_names_one_turn_and_a_settled_one_is_returned_as_it_is() -> None:
    book = Playbook()
    first = book.running()
    book.say(n.TurnEnded(first, "completed", "end_turn"))
    second = book.send("next", "c2", "second").turn_id
    book.say(n.TurnAccepted(second))
    answer = book.cancel(first)
    assert isinstance(answer, Turn)
    assert answer.outcome == "completed"
    assert not [command for command in book.told if isinstance(command, CancelTurn)]
    assert book.state.turn is not None
    assert book.state.turn.phase == "running"
    assert book.cancel(TurnId("unknown"), "nobody") == Refusal("turn.not_found")


@pytest.mark.rule("RT-006", "RT-008")
def test_cancel_asked_confirmed_and_settled_are_three_facts() -> None:
    book = Playbook()
    turn_id = book.running()
    book.now_ms = 2_000
    asked = book.cancel(turn_id)
    assert isinstance(asked, Turn)
    assert (asked.phase, asked.outcome, asked.cancel_requested_at) == ("settling", None, 2_000)
    assert asked.cancel_confirmed_at is None
    book.now_ms = 3_000
    book.say(n.TurnEnded(turn_id, "canceled", "cancelled"))
    turn = book.turns[turn_id]
    assert (turn.outcome, turn.cancel_requested_at, turn.cancel_confirmed_at) == ("canceled", 2_000, 3_000)
    assert not book.timers.keys() & {i.Timer("cancel_grace", turn_id=turn_id)}


def test_a_turn_that_ended_by_itself_after_the_cancel_keeps_what_the_provider_says() -> None:
    book = Playbook()
    turn_id = book.running()
    book.cancel(turn_id)
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    assert book.turns[turn_id].outcome == "completed"


@pytest.mark.case("FC-44")
def test_a_cancel_before_dispatch_is_confirmed_at_once_and_gives_the_start_up() -> None:
    book = Playbook()
    turn = book.send()
    answer = book.cancel(turn.turn_id)
    assert isinstance(answer, Turn)
    assert (answer.outcome, answer.delivery) == ("canceled", "not_dispatched")
    assert answer.cancel_confirmed_at is not None
    assert any(isinstance(effect, fx.ReleaseConnection) for effect in book.effects)
    book.give(i.ConnectionAcquired(book.generation))
    assert not book.told
    book.give(i.ConnectionReleased(book.generation))
    assert book.state.idle


@pytest.mark.case("FC-12")
def test_a_provider_that_ignores_cancel_is_forced_and_nothing_of_it_counts_any_more() -> None:
    book = Playbook()
    turn_id = book.running()
    generation = book.generation
    book.cancel(turn_id)
    book.give(i.TimerFired(i.Timer("cancel_grace", turn_id=turn_id)))
    turn = book.turns[turn_id]
    assert (turn.outcome, turn.cancel_confirmed_at) == ("canceled", None)
    assert book.forced == ["cancel was not confirmed in time"]
    rows = len(book.messages)
    book.give(i.FromProvider(generation, n.TextChunk(turn_id, "late", "text", "zombie")))
    assert len(book.messages) == rows
    assert book.counts == ["late_event"]
    assert book.send("next", "c2", "second").sequence == 2


@pytest.mark.rule("RT-030", "RT-031")
def test_a_rejected_first_prompt_stays_as_history_and_its_runtime_goes() -> None:
    book = Playbook()
    turn = book.send()
    book.connect()
    error = TurnError("provider.rejected", "no", "provider")
    book.say(n.TurnRejected(turn.turn_id, error))
    row = book.turns[turn.turn_id]
    assert (row.outcome, row.delivery, row.error) == ("failed", "rejected", error)
    assert any(isinstance(effect, fx.ReleaseConnection) for effect in book.effects)
    assert [m.content for m in book.messages.values() if m.role == "user"] == [(TextBlock("hello"),)]


@pytest.mark.rule("RT-030", "RT-036")
def test_a_prompt_that_was_accepted_stays_delivered_whatever_the_provider_says_of_it_later() -> None:
    book = Playbook()
    turn_id = book.running()
    error = TurnError("provider.rejected", "no", "provider")
    book.say(n.TurnRejected(turn_id, error))
    row = book.turns[turn_id]
    assert (row.outcome, row.delivery, row.error) == ("failed", "accepted", error)


@pytest.mark.case("FC-10", "FC-11")
def test_a_process_lost_in_a_turn_fails_it_and_keeps_the_text() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.TextChunk(turn_id, "t1", "text", "half"))
    book.say(n.ConnectionLost(LOST))
    turn = book.turns[turn_id]
    assert (turn.outcome, turn.error, turn.delivery) == ("failed", LOST, "accepted")
    [message] = book.agent_messages()
    assert (message.status, book.texts[message.message_id]) == ("interrupted", "half")
    assert book.state.link.phase == "absent"
    assert book.send("next", "c2", "second").sequence == 2


@pytest.mark.rule("RT-034")
def test_a_process_lost_while_dispatching_leaves_the_delivery_unknown() -> None:
    book = Playbook()
    turn = book.send()
    book.connect()
    book.say(n.ConnectionLost(LOST))
    assert book.turns[turn.turn_id].delivery == "unknown"


@pytest.mark.case("FC-50")
def test_a_connection_that_cannot_be_had_fails_the_turn_without_dispatch() -> None:
    book = Playbook()
    turn = book.send()
    error = TurnError("provider.unavailable", "no program", "runtime")
    book.give(i.ConnectionUnavailable(book.generation, error))
    row = book.turns[turn.turn_id]
    assert (row.outcome, row.delivery, row.error) == ("failed", "not_dispatched", error)


@pytest.mark.case("FC-07")
@pytest.mark.rule("RT-042")
def test_a_conversation_that_is_gone_is_a_typed_state_until_a_fresh_resume() -> None:
    session = a_session(provider_session_id="old", resumability="resumable")
    book = Playbook(SessionState(session))
    turn = book.send()
    book.give(i.ConnectionAcquired(book.generation))
    book.say(n.ThreadOpenFailed(LOST, not_resumable=True))
    error = book.turns[turn.turn_id].error
    assert error is not None
    assert error.code == "session.not_resumable"
    assert book.state.session.resumability == "not_resumable"
    book.give(i.ConnectionReleased(book.generation))
    book.give(i.SendPrompt("again", i.Submission(a_claim("c2"), i.Prompt((TextBlock("x"),)))))
    assert book.answers["again"] == [Refusal("session.not_resumable")]
    notices = [row for row in book.messages.values() if row.kind == "notice"]
    assert [(row.turn_id, row.content[0].code) for row in notices] == [
        (turn.turn_id, "session.not_resumable")
    ]
    assert sum(isinstance(command, OpenThread) for command in book.told) == 1, "tried once"
    book.give(i.ResumeSession("fresh", fresh=True))
    book.connect()
    assert book.told[-1] == OpenThread(book.state.scope, "/work", {}, None)
    assert len(book.answers["fresh"]) == 1
    assert book.send("next", "c3", "third")


@pytest.mark.case("FC-07")
@pytest.mark.rule("RT-042")
def test_a_fresh_resume_need_not_wait_for_the_failed_one_to_give_its_connection_back() -> None:
    book = Playbook(SessionState(a_session(provider_session_id="old", resumability="resumable")))
    book.give(i.ResumeSession("resume"))
    book.give(i.ConnectionAcquired(book.generation))
    book.say(n.ThreadOpenFailed(LOST, not_resumable=True))
    assert [answer.code for answer in book.answers["resume"]] == ["session.not_resumable"]
    assert book.state.link.phase == "closing"
    book.give(i.ResumeSession("again"))
    assert book.answers["again"] == [Refusal("session.not_resumable")]
    book.give(i.ResumeSession("fresh", fresh=True))
    book.give(i.ConnectionReleased(book.generation))
    book.connect()
    assert book.told[-1] == OpenThread(book.state.scope, "/work", {}, None)
    [session] = book.answers["fresh"]
    assert session.provider_session_id == "thread"


@pytest.mark.case("FC-58")
def test_a_conversation_never_shown_to_be_kept_is_begun_anew_with_a_notice() -> None:
    book = Playbook(SessionState(a_session(provider_session_id="unsaved")))
    turn = book.send()
    book.give(i.ConnectionAcquired(book.generation))
    book.say(n.ThreadOpenFailed(LOST, not_resumable=True))
    assert book.told[-1] == OpenThread(book.state.scope, "/work", {}, None)
    book.say(n.ThreadOpened("new", False))
    assert book.turns[turn.turn_id].delivery == "dispatching"
    assert [m.content[0].code for m in book.messages.values() if m.kind == "notice"] == [
        "session.fresh_conversation"
    ]


GONE = TurnError("session.not_resumable", "the agent no longer has this conversation", "provider")


@pytest.mark.case("FC-07")
@pytest.mark.rule("RT-042")
def test_a_conversation_that_a_program_does_not_find_as_it_starts_is_gone_and_tried_once() -> None:
    session = a_session(provider_session_id="old", resumability="resumable")
    book = Playbook(SessionState(session))
    turn = book.send()
    generation = book.generation
    book.give(i.ConnectionUnavailable(generation, GONE))
    assert book.turns[turn.turn_id].error == GONE
    assert book.state.session.resumability == "not_resumable"
    assert (book.state.link.phase, book.generation) == ("absent", generation)
    assert [m.content[0].code for m in book.messages.values() if m.kind == "notice"] == [
        "session.not_resumable"
    ]
    book.give(i.ResumeSession("fresh", fresh=True))
    book.connect()
    assert book.told[-1] == OpenThread(book.state.scope, "/work", {}, None)


@pytest.mark.case("FC-58")
def test_a_program_that_never_kept_the_conversation_is_started_again_for_another() -> None:
    book = Playbook(SessionState(a_session(provider_session_id="unsaved")))
    turn = book.send()
    generation = book.generation
    book.give(i.ConnectionUnavailable(generation, GONE))
    assert book.generation == generation + 1, "another start"
    assert book.state.session.provider_session_id is None
    book.give(i.ConnectionUnavailable(book.generation, GONE))
    assert book.turns[turn.turn_id].outcome == "failed", "but not a third"


def test_an_agent_that_cannot_load_is_never_hibernated_and_is_gone_with_its_process() -> None:
    book = Playbook()
    turn_id = book.running(FORGETS)
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    book.give(i.ReleaseIfIdle())
    assert book.state.link.phase == "open"
    book.say(n.ConnectionLost(LOST))
    assert book.state.session.resumability == "not_resumable"


@pytest.mark.parametrize(("capabilities", "releasable"), [(LOADS, True), (FORGETS, False)])
def test_a_settled_session_says_whether_its_runtime_could_be_given_up(
    capabilities: SessionCapabilities, releasable: bool
) -> None:
    book = Playbook()
    turn_id = book.running(capabilities)
    assert not any(e.releasable for e in book.effects if isinstance(e, fx.PublishActivity))
    effects = book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    [observed] = [effect for effect in effects if isinstance(effect, fx.PublishActivity)]
    assert (observed.runtime_state, observed.activity) == ("live", "idle")
    assert observed.releasable is releasable
    book.give(i.ReleaseIfIdle())
    assert (book.state.link.phase == "closing") is releasable


@pytest.mark.rule("RT-146")
@pytest.mark.case("FC-21")
def test_an_idle_session_hibernates_and_a_running_one_never_does() -> None:
    book = Playbook()
    turn_id = book.running()
    book.give(i.ReleaseIfIdle())
    assert book.state.link.phase == "open"
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    idle = i.Timer("idle", generation=book.generation)
    assert book.timers[idle] == book.policy.idle_release_seconds
    book.give(i.TimerFired(idle))
    assert book.state.link.phase == "closing"
    next_turn = book.send("meets a closing runtime", "c2", "second")
    book.give(i.ConnectionReleased(book.generation))
    assert book.state.link.phase == "acquiring"
    book.connect(resumed=True)
    assert book.turns[next_turn.turn_id].delivery == "dispatching"


@pytest.mark.case("FC-59")
def test_close_ends_the_turn_first_and_is_answered_when_the_runtime_is_gone() -> None:
    book = Playbook()
    turn_id = book.running()
    book.give(i.CloseSession("close"))
    assert "close" not in book.answers
    book.say(n.TurnEnded(turn_id, "canceled", "cancelled"))
    assert book.turns[turn_id].outcome == "canceled"
    assert "close" not in book.answers
    book.give(i.ConnectionReleased(book.generation))
    assert len(book.answers["close"]) == 1
    book.give(i.CloseSession("again"))
    assert len(book.answers["again"]) == 1


@pytest.mark.rule("RT-144")
@pytest.mark.case("FC-59")
def test_a_close_gives_up_a_start_that_a_resume_waits_for() -> None:
    book = Playbook()
    book.give(i.ResumeSession("resume"))
    assert book.state.link.phase == "acquiring"
    book.give(i.CloseSession("close"))
    assert [answer.code for answer in book.answers["resume"]] == ["provider.lost"]
    assert book.state.link.phase == "closing"
    assert "close" not in book.answers
    book.give(i.ConnectionReleased(book.generation))
    assert len(book.answers["close"]) == 1
    assert book.state.link.phase == "absent"
    assert book.send()


def test_shutdown_interrupts_the_turn_and_refuses_new_prompts() -> None:
    book = Playbook()
    turn_id = book.running()
    book.give(i.Shutdown())
    assert book.turns[turn_id].outcome == "interrupted"
    assert isinstance(book.told[-1], CancelTurn)
    book.give(i.SendPrompt("late", i.Submission(a_claim("c2"), i.Prompt((TextBlock("x"),)))))
    assert book.answers["late"] == [Refusal("shutdown.in_progress")]


def test_a_quarantined_session_takes_no_prompt_until_it_is_resumed() -> None:
    book = Playbook()
    turn_id = book.running()
    book.give(i.Quarantine())
    assert book.turns[turn_id].outcome == "failed"
    assert book.forced
    book.give(i.SendPrompt("no", i.Submission(a_claim("c2"), i.Prompt((TextBlock("x"),)))))
    assert book.answers["no"] == [Refusal("session.quarantined")]
    book.give(i.ResumeSession("resume"))
    book.connect(resumed=True)
    assert book.answers["resume"]
    assert book.send("next", "c3", "third")


@pytest.mark.rule("RT-047", "RT-050")
def test_a_users_title_is_never_overwritten_by_the_provider() -> None:
    named = Playbook(SessionState(a_session(title="Mine", title_source="user"), title_locked=True))
    named.running()
    named.say(n.TitleReported("Theirs"))
    assert named.state.session.title == "Mine"
    unnamed = Playbook()
    unnamed.running()
    unnamed.say(n.TitleReported("Theirs"))
    assert (unnamed.state.session.title, unnamed.state.session.title_source) == ("Theirs", "provider")


def test_creating_stores_both_claims_and_answers_with_session_and_turn() -> None:
    book = Playbook()
    book.give(
        i.CreateSession(
            "create", a_session(), a_claim(scope="workspace"), a_claim(), i.Prompt((TextBlock("first"),))
        )
    )
    claims = [effect.claim for effect in book.effects if isinstance(effect, fx.AddClaim)]
    assert {claim.scope for claim in claims} == {"workspace", "session"}
    assert len({claim.turn_id for claim in claims}) == 1
    [reply] = [effect for effect in book.effects if isinstance(effect, fx.ReplySession)]
    assert reply.session.key == KEY
    assert reply.turn is not None
    assert reply.session.active_turn_id == reply.turn.turn_id
