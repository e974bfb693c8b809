"""The Side machine: turns like a Session's, told and never kept, and an end that nothing follows."""

from collections.abc import Iterable

import attrs
import pytest

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import Context, Policy
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, CancelTurn, CloseThread, ConnectionCommand, StartTurn
from runtime.side import effects as se
from runtime.side.machine import (
    GENERATION,
    CloseSide,
    Overflowed,
    SideConversation,
    SideInput,
    decide_side,
    open_side,
)
from runtime.side.rows import Side, SideClosed, SideError, SideExpired, SideFact, SideInteraction, SideTurn
from store.canonical.claim import SubmitClaim
from store.canonical.common import TurnError
from store.canonical.identifiers import (
    CallId,
    ClientSubmitId,
    RequestId,
    SessionId,
    TargetId,
    TurnId,
    WorkspaceId,
)
from store.canonical.interaction import ApprovalInput, InteractionOption, OptionAnswer
from store.canonical.message import TextBlock
from store.canonical.session import Session
from store.canonical.turn import Turn

W = WorkspaceId("w")
LOST = TurnError("provider.lost", "gone", "runtime")
OPTIONS = (InteractionOption("yes", "Allow", "allow_once"), InteractionOption("no", "Reject", "reject_once"))


@attrs.define(eq=False)
class Table:
    """A Side on a table, and everything it wanted so far."""

    turns_max: int = 8
    wanted: list[se.SideEffect] = attrs.field(factory=list)
    state: SideConversation = attrs.field(init=False)
    _ids: int = 0

    def __attrs_post_init__(self) -> None:
        side_id = SessionId("side")
        side = Side(W, side_id, SessionId("source"), side_id, "pane", "open", None, {"model": "m"}, 1)
        source = Session(W, SessionId("source"), TargetId("codex"), "codex", "/w", 0, 0)
        self.state, effects = open_side(side, source, "child", self.turns_max)
        self.wanted.extend(effects)

    def given(self, *inputs: SideInput) -> "Table":
        context = Context(now_ms=5, new_id=self._new_id, policy=Policy())
        for one in inputs:
            self.state, effects = decide_side(self.state, one, context)
            self.wanted.extend(effects)
        return self

    def send(self, submit_id: str = "s1", text: str = "hello", reply: object = "caller") -> "Table":
        claim = SubmitClaim(
            "session", W, SessionId("side"), ClientSubmitId(submit_id), "session/send", text, 1
        )
        prompt = i.Prompt((TextBlock(text),))
        return self.given(i.SendPrompt(reply, i.Submission(claim, prompt)))

    def says(self, *events: n.ProviderEvent) -> "Table":
        return self.given(*(i.FromProvider(GENERATION, event) for event in events))

    def started(self) -> "Table":
        """A turn that the provider has."""
        return self.send().says(n.TurnAccepted(self.turn.turn_id, "p1"))

    @property
    def turn(self) -> Turn:
        """The newest row of the newest turn."""
        return list(self.state.turns.values())[-1]

    @property
    def told(self) -> list[SideFact]:
        return [effect.fact for effect in self.wanted if isinstance(effect, se.Tell)]

    @property
    def commands(self) -> list[ConnectionCommand]:
        return [effect.command for effect in self.wanted if isinstance(effect, se.TellProvider)]

    def answers(self, to: object) -> list[object]:
        """What somebody was answered: rows, or the code of a refusal."""
        found: list[object] = []
        for effect in self.wanted:
            match effect:
                case fx.ReplyTurn(who, turn) if who == to:
                    found.append(turn)
                case fx.ReplyInteraction(who, interaction) if who == to:
                    found.append(interaction)
                case se.ReplySide(who, side) if who == to:
                    found.append(side)
                case fx.Refuse(who, refusal) if who == to:
                    found.append(refusal.code)
        return found

    def _new_id(self) -> str:
        self._ids += 1
        return f"id-{self._ids}"


def kinds(facts: Iterable[SideFact]) -> list[str]:
    return [fact.type for fact in facts]


@pytest.mark.rule("RT-114", "RT-127")
def test_a_prompt_starts_a_turn_that_is_answered_first_and_changes_no_setting() -> None:
    table = Table().send()
    assert isinstance(table.wanted[1], fx.ReplyTurn)
    (start,) = table.commands
    assert isinstance(start, StartTurn)
    assert (start.scope.kind, start.scope.agent_session_id) == ("side", "side")
    assert start.settings is None
    table.says(n.TurnAccepted(start.turn_id, "p1"), n.TextChunk(start.turn_id, "i", "text", "Elms."))
    table.says(n.ItemEnded(start.turn_id, "i"), n.TurnEnded(start.turn_id, "completed", "end_turn"))
    assert table.turn.outcome == "completed"
    assert table.state.side.active_turn_id is None
    assert [effect.text for effect in table.wanted if isinstance(effect, fx.AppendText)] == ["Elms."]


@pytest.mark.rule("RT-005")
def test_a_second_prompt_while_a_turn_runs_is_busy() -> None:
    table = Table().started().send("s2", reply="second")
    assert table.answers("second") == ["session.busy"]
    assert len(table.commands) == 1


@pytest.mark.rule("RT-116")
def test_a_submit_is_repeated_within_this_side_alone() -> None:
    table = Table().started().send("s1", reply="again").send("s1", "other", reply="conflict")
    assert table.answers("again") == [table.turn]
    assert table.answers("conflict") == ["submit.conflict"]
    assert len(table.commands) == 1


def test_one_turn_too_many_is_refused_and_a_repeat_is_not() -> None:
    table = Table(turns_max=1).started()
    table.says(n.TurnEnded(table.turn.turn_id, "completed", "end_turn"))
    table.send("s2", reply="more").send("s1", reply="again")
    assert table.answers("more") == ["limit.exceeded"]
    assert table.answers("again") == [table.turn]


@pytest.mark.rule("RT-114")
def test_a_stop_names_one_turn_of_this_side() -> None:
    table = Table().started().given(i.RequestCancel("wrong", TurnId("elsewhere")))
    assert table.answers("wrong") == ["turn.not_found"]
    table.given(i.RequestCancel("right", table.turn.turn_id))
    assert isinstance(table.commands[-1], CancelTurn)
    table.says(n.TurnEnded(table.turn.turn_id, "canceled", "interrupted"))
    settled = table.turn
    assert settled.outcome == "canceled"
    table.given(i.RequestCancel("late", settled.turn_id))
    assert table.answers("late") == [settled]


@pytest.mark.rule("RT-115")
def test_an_approval_is_answered_once_and_remembered() -> None:
    table = Table().started()
    turn_id, request_id = table.turn.turn_id, RequestId("r1")
    asked = ApprovalInput(CallId("c1"), title="run", kind="execute")
    table.says(n.InteractionRequested(turn_id, request_id, "approval", asked, OPTIONS))
    assert [row.status for row in table.state.pending] == ["pending"]
    table.given(i.Respond("who", turn_id, RequestId("r2"), OptionAnswer("yes")))
    assert table.answers("who") == ["interaction.not_found"]
    table.given(i.Respond("one", turn_id, request_id, OptionAnswer("yes")))
    assert isinstance(table.commands[-1], AnswerInteraction)
    table.says(n.AnswerDelivered(turn_id, request_id))
    assert [getattr(row, "status", None) for row in table.answers("one")] == ["answered"]
    table.given(i.Respond("two", turn_id, request_id, OptionAnswer("no")))
    assert table.answers("two") == ["interaction.not_pending"]
    shown = [fact.interaction.status for fact in table.told if isinstance(fact, SideInteraction)]
    assert shown[0] == "pending"
    assert shown[-1] == "answered"


@pytest.mark.rule("RT-119")
def test_closing_ends_the_turn_first_then_the_fork_and_answers_last() -> None:
    table = Table().started().given(CloseSide("closer", "closed"))
    assert table.state.side.state == "closing"
    assert isinstance(table.commands[-1], CancelTurn)
    assert table.answers("closer") == []
    table.send("s2", reply="late")
    assert table.answers("late") == ["side.expired"]
    table.says(n.TurnEnded(table.turn.turn_id, "canceled", "interrupted"))
    assert isinstance(table.commands[-1], CloseThread)
    assert any(isinstance(effect, se.GiveBack) for effect in table.wanted)
    assert table.answers("closer") == []
    table.given(i.ConnectionReleased(GENERATION))
    assert [getattr(side, "state", None) for side in table.answers("closer")] == ["closed"]
    assert table.told[-1] == SideClosed(reason="closed")
    assert table.wanted[-1] == se.End()


def test_the_first_reason_for_closing_stands_and_everybody_is_answered() -> None:
    table = Table().given(CloseSide("one", "closed"), CloseSide("two", "source_deleted"))
    table.given(i.ConnectionReleased(GENERATION))
    assert table.told[-1] == SideClosed(reason="closed")
    assert len(table.answers("one")) == len(table.answers("two")) == 1
    assert sum(isinstance(effect, se.GiveBack) for effect in table.wanted) == 1


@pytest.mark.rule("RT-118")
@pytest.mark.case("FC-37")
@pytest.mark.parametrize("last", [n.ConnectionLost(LOST), n.ThreadOpenFailed(LOST)])
def test_a_lost_conversation_expires_the_side_with_its_turn(last: n.ProviderEvent) -> None:
    table = Table().started().says(last)
    assert table.turn.outcome == "failed"
    assert [fact for fact in table.told if isinstance(fact, SideError)][-1].code == "provider.lost"
    assert kinds(table.told)[-1] == "expired"
    assert table.told[-1] == SideExpired(reason="provider_lost")
    assert table.wanted[-1] == se.End()
    table.send("s2", reply="after")
    assert table.answers("after") == ["side.expired"]
    assert not [c for c in table.commands if not isinstance(c, StartTurn)]


def test_what_cannot_be_kept_waiting_expires_the_side() -> None:
    table = Table().started().given(Overflowed())
    assert table.told[-1] == SideExpired(reason="overflow")
    assert table.turn.outcome == "failed"


def test_a_rejected_first_prompt_leaves_the_side_open() -> None:
    table = Table().send()
    table.says(n.TurnRejected(table.turn.turn_id, TurnError("provider.rejected", "no", "provider")))
    assert table.turn.outcome == "failed"
    assert table.state.side.state == "open"
    table.send("s2", reply="next")
    assert isinstance(table.answers("next")[0], Turn)


def test_a_provider_that_does_not_obey_is_left_and_not_forced() -> None:
    """Forcing would condemn the process that its source lives in."""
    table = Table().started()
    turn_id = table.turn.turn_id
    table.given(i.RequestCancel("stop", turn_id))
    table.given(i.TimerFired(i.Timer("cancel_grace", turn_id=turn_id)))
    assert table.turn.outcome == "canceled"
    assert table.told[-1] == SideExpired(reason="provider_lost")
    assert any(isinstance(effect, se.GiveBack) for effect in table.wanted)


@pytest.mark.case("FC-37")
def test_an_idle_side_has_no_timer_that_could_end_it() -> None:
    table = Table().started()
    table.says(n.TurnEnded(table.turn.turn_id, "completed", "end_turn"))
    assert "idle" not in {effect.timer.kind for effect in table.wanted if isinstance(effect, fx.ArmTimer)}


@pytest.mark.rule("RT-106")
def test_nothing_a_side_can_want_keeps_anything() -> None:
    words = {one.__name__ for one in se.SideEffect.__args__}  # type: ignore[attr-defined]
    assert not [word for word in words if "Persist" in word or "Claim" in word or "Unit" in word]
    table = Table().started()
    assert all(type(effect).__name__ in words for effect in table.wanted)
    assert [fact for fact in table.told if isinstance(fact, SideTurn)]
