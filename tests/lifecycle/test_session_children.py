"""Sub-agents as sessions of their own: where they come from, who waits for them, and how they end (RT-132..RT-136)."""

import attrs
import pytest

from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import Policy
from runtime.lifecycle.turn import Settlement
from runtime.providers import normalized as n
from runtime.providers.port import (
    AnswerInteraction,
    CancelTurn,
    DropChild,
    EndBackground,
    ForChild,
    GuideTurn,
    Scope,
)
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import KEY, OPTIONS, a_claim, a_session
from store.canonical.common import TurnError
from store.canonical.identifiers import CallId, RequestId, SessionId, TurnId
from store.canonical.interaction import ApprovalInput, OptionAnswer
from tests.lifecycle.family import Family
from tests.lifecycle.playbook import Playbook

ROOT = Scope("session", "w", "s")
CHILD = Scope("session", "w", "child")
WORK = TurnId("work")
LOST = TurnError("provider.lost", "gone", "provider")


def refusal_of(book: Playbook, reply: str) -> str:
    answer = book.answers[reply][-1]
    assert isinstance(answer, Refusal), answer
    return answer.code


def asked(family: Family, name: str = "child") -> None:
    approval = ApprovalInput("call", "Run it", "execute")
    family.of(name, n.InteractionRequested(WORK, RequestId("r1"), "approval", approval, OPTIONS))


# --- where they come from ---------------------------------------------------------------------------------------


@pytest.mark.rule("RT-132")
@pytest.mark.rule("RT-133")
def test_a_sub_agent_that_is_shown_to_begin_has_a_session_with_the_whole_tuple_and_the_call_names_it() -> (
    None
):
    family = Family()
    family.spawn()
    call = n.ToolCallReported(
        family.turn_id, CallId("call-1"), name="spawn", status="running", child_id=SessionId("child")
    )
    family.says(call)
    session = family.root.children["child"]
    assert session.parent is not None
    assert attrs.astuple(session.parent) == ("s", family.turn_id, "s", family.turn_id, "call-1")
    assert (session.provider_session_id, session.title, session.resumability) == (
        "thread-child",
        "dig",
        "not_resumable",
    )
    calls = [row.tool_call for row in family.root.messages.values() if row.tool_call is not None]
    assert [call.child_agent_session_id for call in calls] == ["child"]


@pytest.mark.rule("RT-132")
def test_what_a_sub_agent_does_stands_in_its_own_session_and_what_it_was_told_comes_first() -> None:
    family = Family()
    family.spawn(turn=None)
    family.of("child", n.TurnStartedByProvider(WORK, "work", "Dig here."))
    family.of("child", n.TextChunk(WORK, "m1", "text", "Found."))
    family.child_ends()
    rows = sorted(family.sessions["child"].messages.values(), key=lambda row: row.sequence)
    assert [(row.role, row.agent_session_id, row.status) for row in rows] == [
        ("user", "child", "completed"),
        ("assistant", "child", "completed"),
    ]
    assert family.root.agent_messages() == []
    assert family.child_turn() == "completed"


@pytest.mark.rule("RT-133")
def test_words_of_a_sub_agent_that_was_not_shown_to_begin_make_no_session() -> None:
    family = Family()
    family.of("child", n.TurnStartedByProvider(WORK, "work"))
    call = n.ToolCallReported(family.turn_id, CallId("c"), status="running", child_id=SessionId("child"))
    family.says(call)
    assert (family.root.children, family.sessions) == ({}, {})
    assert "event_of_no_child" in family.root.counts
    (row,) = family.root.agent_messages()
    assert row.tool_call is not None
    assert row.tool_call.child_agent_session_id is None


@pytest.mark.rule("RT-132")
def test_a_sub_agent_of_a_sub_agent_names_both_its_parent_and_its_root() -> None:
    family = Family()
    family.spawn()
    family.of("child", n.ChildSpawned(WORK, SessionId("below"), "thread-below", CallId("call-7")))
    parent = family.root.children["below"].parent
    assert parent is not None
    assert attrs.astuple(parent) == ("s", family.turn_id, "child", "work", "call-7")


@pytest.mark.rule("RT-133")
@pytest.mark.parametrize(
    ("parent_id", "turn_id"), [("s", "another"), ("child", "another"), ("stranger", "work")]
)
def test_a_sub_agent_of_a_turn_that_is_not_open_has_no_session_and_is_stopped(
    parent_id: str, turn_id: str
) -> None:
    family = Family()
    family.spawn()
    spawned = n.ChildSpawned(TurnId(turn_id), SessionId("new"), "thread-new")
    family.says(spawned if parent_id == "s" else n.OfChild(SessionId(parent_id), spawned))
    assert set(family.root.children) == {"child"}
    assert DropChild(ROOT, SessionId("new")) in family.root.told


def test_a_session_that_stands_under_the_name_of_a_sub_agent_is_left_alone() -> None:
    family = Family()
    family.sessions["child"] = Playbook()  # a root of somebody's own
    family.spawn(turn=None)
    assert family.root.children == {}
    assert DropChild(ROOT, SessionId("child")) in family.root.told


def test_one_sub_agent_more_than_there_may_be_is_stopped() -> None:
    family = Family()
    family.root.policy = Policy(children_max=1)
    family.spawn("one", turn="work-1")
    family.spawn("two", turn=None)
    assert set(family.root.children) == {"one"}
    assert DropChild(ROOT, SessionId("two")) in family.root.told


def test_a_side_begins_no_sub_agents() -> None:
    family = Family()
    family.root.state = attrs.evolve(family.root.state, scope_kind="side")
    family.root.say(n.ChildSpawned(family.turn_id, SessionId("child"), "thread-child"))
    assert family.root.children == {}
    assert DropChild(Scope("side", "w", "s"), SessionId("child")) in family.root.told


# --- who waits for them -----------------------------------------------------------------------------------------


@pytest.mark.rule("RT-134")
def test_a_root_turn_whose_response_ended_stays_active_until_its_sub_agents_are_done() -> None:
    family = Family()
    family.spawn("one", turn="work-1", call="c1")
    family.spawn("two", turn="work-2", call="c2")
    family.says(n.TextChunk(family.turn_id, "m1", "text", "They work."))
    family.ends()
    assert family.turn == "running"
    (row,) = family.root.agent_messages()
    assert row.status == "completed"
    family.child_ends("one", "work-1")
    assert family.turn == "running"
    family.child_ends("two", "work-2")
    assert (family.turn, family.root.turns[family.turn_id].stop_reason) == ("completed", "end_turn")


@pytest.mark.rule("RT-134")
def test_a_root_settles_after_the_row_of_its_sub_agent_and_not_with_the_agents_word_alone() -> None:
    family = Family()
    family.spawn()
    family.ends()
    family.of("child", n.TurnEnded(WORK, "completed"), deliver=False)
    assert (family.turn, family.child_turn()) == ("running", "running")
    family.deliver()
    assert (family.turn, family.child_turn()) == ("completed", "completed")


@pytest.mark.rule("RT-134")
def test_a_sub_agent_that_has_not_begun_its_first_turn_is_waited_for_and_not_for_ever() -> None:
    family = Family()
    family.spawn(turn=None)
    family.ends()
    assert family.turn == "running"
    family.give(family.root, i.TimerFired(i.Timer("child_start", child_id=SessionId("child"))))
    assert family.turn == "completed"


@pytest.mark.rule("RT-134")
def test_a_turn_of_a_sub_agent_that_its_session_does_not_take_holds_nobody_up() -> None:
    family = Family()
    family.spawn()
    family.of("child", n.TurnStartedByProvider(TurnId("second"), "second"))
    family.ends()
    family.child_ends()
    assert family.turn == "completed"


def test_a_new_prompt_is_refused_while_sub_agents_work_and_taken_afterwards() -> None:
    family = Family()
    family.spawn()
    family.ends()
    prompt = i.Submission(a_claim("c2"), i.Prompt(()))
    family.give(family.root, i.SendPrompt("early", prompt))
    assert refusal_of(family.root, "early") == "session.busy"
    family.child_ends()
    family.root.send(submit_id="c3", reply="later")


def test_an_idle_runtime_is_not_released_while_a_sub_agent_works_beside_no_turn() -> None:
    family = Family()
    family.spawn()
    family.child_ends()
    family.ends()
    family.of("child", n.TurnStartedByProvider(TurnId("by itself"), "x"))
    family.give(family.root, i.ReleaseIfIdle())
    assert family.root.state.link.phase == "open"
    family.child_ends(turn="by itself")
    family.give(family.root, i.ReleaseIfIdle())
    assert family.root.state.link.phase == "closing"


# --- more said meanwhile ----------------------------------------------------------------------------------------


@pytest.mark.rule("PR-013")
@pytest.mark.rule("RT-080")
def test_guidance_after_the_response_begins_another_one_on_the_same_turn() -> None:
    family = Family()
    family.spawn()
    family.ends()
    family.root.guide(family.turn_id)
    assert isinstance(family.root.told[-1], GuideTurn)
    family.says(n.GuideAccepted(family.turn_id, "guide:g1", continued=True))
    family.says(n.TextChunk(family.turn_id, "m2", "text", "Sure."))
    family.child_ends()
    assert family.turn == "running"  # its second response has not ended
    family.ends()
    assert family.turn == "completed"
    assert len(family.root.turns) == 1


@pytest.mark.rule("PR-013")
def test_a_turn_waits_for_the_answer_to_guidance_that_may_go_on_with_it() -> None:
    family = Family()
    family.spawn()
    family.ends()
    family.root.guide(family.turn_id)
    family.child_ends()
    assert family.turn == "running"
    family.says(n.GuideRefused(family.turn_id, "guide:g1", LOST))
    assert family.turn == "completed"


def test_a_response_that_the_agent_begins_by_itself_meanwhile_belongs_to_the_same_turn() -> None:
    family = Family()
    family.spawn()
    family.ends()
    family.says(n.TurnStartedByProvider(TurnId("woken"), "woken"))
    family.says(n.TextChunk(TurnId("woken"), "w1", "text", "It found oaks."))
    family.child_ends()
    assert (family.turn, len(family.root.turns)) == ("running", 1)
    family.cancel()
    assert CancelTurn(ROOT, TurnId("woken")) in family.root.told
    family.ends("woken", "canceled")
    assert family.turn == "canceled"


# --- stopping them ----------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-135")
@pytest.mark.rule("RT-008")
def test_a_cancel_of_the_root_stops_each_open_turn_of_its_sub_agents_and_waits_for_all() -> None:
    family = Family()
    family.spawn("one", turn="work-1", call="c1")
    family.spawn("two", turn="work-2", call="c2")
    family.child_ends("two", "work-2")
    family.cancel()
    told = [command.turn_id for command in family.sessions["one"].told if isinstance(command, CancelTurn)]
    assert told == ["work-1"]
    assert family.sessions["two"].told == []
    family.ends(outcome="canceled")
    assert family.turn == "settling"
    family.child_ends("one", "work-1", "canceled")
    assert (family.turn, family.child_turn("one", "work-1")) == ("canceled", "canceled")
    assert family.child_turn("two", "work-2") == "completed"


@pytest.mark.rule("RT-135")
def test_a_sub_agent_that_begins_after_the_cancel_has_no_session_and_a_turn_of_a_known_one_is_not_taken() -> (
    None
):
    family = Family()
    family.spawn()
    family.child_ends()
    family.cancel()
    family.spawn("late", turn=None, call="c2")
    family.of("child", n.TurnStartedByProvider(TurnId("again"), "again"))
    assert set(family.root.children) == {"child"}
    assert DropChild(ROOT, SessionId("late")) in family.root.told
    assert ForChild(ROOT, CancelTurn(CHILD, TurnId("again"))) in family.root.told
    assert family.child_turn(turn="again") == ""
    family.ends(outcome="canceled")
    assert family.turn == "canceled"


@pytest.mark.rule("RT-006")
def test_a_cancel_after_the_response_is_what_became_of_the_turn() -> None:
    family = Family()
    family.spawn()
    family.ends()
    family.cancel()
    assert family.turn == "settling"
    family.child_ends(outcome="canceled")
    turn = family.root.turns[family.turn_id]
    assert (turn.outcome, turn.cancel_confirmed_at is not None) == ("canceled", True)


def test_a_sub_agent_that_does_not_stop_costs_the_whole_connection() -> None:
    family = Family()
    family.spawn()
    family.cancel()
    family.ends(outcome="canceled")
    family.give(family.sessions["child"], i.TimerFired(i.Timer("cancel_grace", turn_id=WORK)))
    family.deliver()
    assert family.root.forced != []
    assert (family.turn, family.child_turn()) == ("canceled", "canceled")


def test_a_root_that_does_not_stop_takes_its_sub_agents_with_it() -> None:
    family = Family()
    family.spawn()
    family.cancel()
    family.give(family.root, i.TimerFired(i.Timer("cancel_grace", turn_id=family.turn_id)))
    family.deliver()
    assert (family.turn, family.child_turn()) == ("canceled", "canceled")
    assert family.root.state.children == {}


@pytest.mark.parametrize(
    ("given", "outcome"),
    [(n.ConnectionLost(LOST), "failed"), (None, "interrupted")],
    ids=["the process is lost", "the daemon stops"],
)
def test_sub_agents_end_with_the_link_of_their_root(given: n.ProviderEvent | None, outcome: str) -> None:
    family = Family()
    family.spawn()
    asked(family)
    family.of("child", n.TextChunk(WORK, "m1", "text", "Fo"))
    if given is None:
        family.give(family.root, i.Shutdown())
        family.deliver()
    else:
        family.says(given)
    child = family.sessions["child"]
    assert (family.turn, family.child_turn()) == (outcome, outcome)
    assert [row.status for row in child.interactions.values()] == ["superseded"]
    assert {row.status for row in child.messages.values()} == {"interrupted"}


def test_a_root_that_starts_over_tells_those_who_depended_on_it() -> None:
    family = Family()
    family.spawn()
    how = Settlement("failed", error=LOST)
    family.give(family.sessions["child"], i.RootLost(how))
    assert family.child_turn() == "failed"


# --- their questions --------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-024")
def test_a_question_of_a_sub_agent_is_its_own_and_is_answered_through_the_root() -> None:
    family = Family()
    family.spawn()
    asked(family)
    child = family.sessions["child"]
    assert (family.child_turn(), family.turn) == ("waiting", "running")
    family.give(child, i.Respond("answer", WORK, RequestId("r1"), OptionAnswer("yes")))
    (command,) = [told for told in child.told if isinstance(told, AnswerInteraction)]
    assert (command.scope, command.turn_id) == (CHILD, "work")
    family.give(family.root, i.FromChild(SessionId("child"), command))
    assert family.root.told[-1] == ForChild(ROOT, command)
    assert family.root.interactions == {}
    family.of("child", n.AnswerDelivered(WORK, RequestId("r1")))
    assert [row.answer_delivery for row in child.interactions.values()] == ["delivered"]


@pytest.mark.rule("RT-024")
def test_a_no_to_a_sub_agent_may_say_why() -> None:
    family = Family()
    family.spawn()
    asked(family)
    child = family.sessions["child"]
    answer = OptionAnswer("no", "rather oaks")
    family.give(child, i.Respond("answer", WORK, RequestId("r1"), answer))
    assert [told.answer for told in child.told if isinstance(told, AnswerInteraction)] == [answer]


def test_what_a_stranger_wants_of_the_agent_is_not_passed_on() -> None:
    family = Family()
    family.give(family.root, i.FromChild(SessionId("stranger"), CancelTurn(CHILD, WORK)))
    assert not any(isinstance(told, ForChild) for told in family.root.told)


# --- what they take ---------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-136")
def test_a_sub_agents_session_takes_no_command_but_answers() -> None:
    family = Family()
    family.spawn()
    child = family.sessions["child"]
    claim = attrs.evolve(a_claim("g"), method="turn/guide")
    said = i.Submission(claim, i.Prompt(()))
    commands = (
        i.SendPrompt("send", said),
        i.RequestCancel("cancel", WORK),
        i.RequestGuide("guide", WORK, said),
        i.ResumeSession("resume"),
        i.CloseSession("close"),
        i.RenameSession("rename", "mine"),
        i.PinSession("pin", True),
        i.UpdateSettings("settings", {"level": "high"}),
    )
    for command in commands:
        family.give(child, command)
        assert refusal_of(child, str(command.reply)) == "capability.unsupported"
    assert (family.child_turn(), child.told) == ("running", [])


@pytest.mark.rule("ST-023")
def test_a_sub_agent_that_is_held_for_a_deletion_ends_its_turn_first() -> None:
    family = Family()
    family.spawn()
    child = family.sessions["child"]
    family.give(child, i.HoldSession("hold"))
    assert "hold" not in child.answers
    family.child_ends(outcome="canceled")
    assert len(child.answers["hold"]) == 1


def test_a_sub_agent_shown_again_on_a_later_link_keeps_its_row() -> None:
    family = Family()
    family.spawn()
    family.child_ends()
    family.ends()
    family.says(n.ConnectionLost(LOST))
    again = family.root.send(submit_id="c2", reply="again")
    family.root.connect()
    family.root.say(n.TurnAccepted(again.turn_id))
    family.turn_id = again.turn_id
    family.spawn(turn="more", call="c9")  # CreateChild twice would fail in the playbook
    assert family.child_turn(turn="more") == "running"
    assert a_session().agent_session_id == KEY.agent_session_id


# --- commands that go on after a turn ---------------------------------------------------------------------------


@pytest.mark.rule("RT-006", "RT-007")
def test_a_command_that_goes_on_after_its_turn_keeps_the_runtime_and_is_stopped_by_that_turns_name() -> None:
    book = Playbook()
    turn_id = book.running()
    book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    book.say(n.BackgroundReported(frozenset({turn_id})))
    book.give(i.ReleaseIfIdle())
    assert book.state.link.phase == "open", "it would end with its process"
    told = len(book.told)
    book.give(i.RequestCancel("another", TurnId("another"), book.turns[turn_id]))
    assert len(book.told) == told
    assert book.cancel(turn_id) == book.turns[turn_id], "a settled turn is returned as it is"
    assert book.told[-1] == EndBackground(ROOT, turn_id)
    book.say(n.BackgroundReported(frozenset()))
    book.give(i.ReleaseIfIdle())
    assert book.state.link.phase == "closing"
