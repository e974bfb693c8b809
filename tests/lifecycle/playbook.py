"""A Session machine on a table: give it inputs, look at its effects and at the rows they amount to.

Keeps what the store and the provider would have: the newest row of each entity, the commands told, the answers
given. Time and ids are counters, so that a run is the same each time.
"""

from collections.abc import Iterator, Mapping

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.session import decide
from runtime.lifecycle.settings import OfferedEfforts, nothing_offered
from runtime.lifecycle.state import Context, Policy, SessionState
from runtime.providers import normalized as n
from runtime.providers.port import ConnectionCommand, SettingDescription
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import LOADS, OPTIONS, SETTINGS, a_claim, a_session
from store.canonical.claim import SubmitClaim
from store.canonical.common import SettingValue
from store.canonical.identifiers import (
    RequestId,
    TurnId,
)
from store.canonical.interaction import ApprovalInput, Interaction, OptionAnswer
from store.canonical.message import Message, TextBlock
from store.canonical.session import Session, SessionCapabilities
from store.canonical.turn import Turn


@attrs.define
class Playbook:
    """The machine, its world, and what came of it."""

    state: SessionState = attrs.field(factory=lambda: SessionState(a_session()))
    policy: Policy = attrs.field(factory=Policy)
    target_refusal: Refusal | None = None
    known_settings: Mapping[str, SettingDescription] = attrs.field(factory=lambda: SETTINGS)
    offered_efforts: OfferedEfforts = nothing_offered
    now_ms: int = 1_000
    silent_seconds: float = 0.0
    ids: Iterator[int] = attrs.field(factory=lambda: iter(range(1, 1_000_000)))
    effects: list[fx.Effect] = attrs.field(factory=list)
    turns: dict[str, Turn] = attrs.field(factory=dict)
    turn_history: list[Turn] = attrs.field(factory=list)
    messages: dict[str, Message] = attrs.field(factory=dict)
    interactions: dict[tuple[str, str], Interaction] = attrs.field(factory=dict)
    claims: dict[str, SubmitClaim] = attrs.field(factory=dict)
    keeps_claims: bool = True
    """Whether the store takes a claim that is kept before anything else."""
    texts: dict[str, str] = attrs.field(factory=dict)
    not_kept: list[i.ClaimNotKept] = attrs.field(factory=list)
    told: list[ConnectionCommand] = attrs.field(factory=list)
    forced: list[str] = attrs.field(factory=list)
    children: dict[str, Session] = attrs.field(factory=dict)
    """The rows of sub-agents' sessions that were created."""
    told_sessions: list[fx.TellSession] = attrs.field(factory=list)
    guides_asked: int = 0
    answers: dict[object, list[object]] = attrs.field(factory=dict)
    timers: dict[i.Timer, float] = attrs.field(factory=dict)
    counts: list[str] = attrs.field(factory=list)

    def give(self, given: i.SessionInput) -> list[fx.Effect]:
        """One decision; its effects are performed on paper."""
        context = Context(
            self.now_ms,
            self._new_id,
            self.policy,
            self.target_refusal,
            self.known_settings,
            self.silent_seconds,
            self.offered_efforts,
        )
        self.state, effects = decide(self.state, given, context)
        for effect in effects:
            self._perform(effect)
        self.effects.extend(effects)
        while self.not_kept:
            self.give(self.not_kept.pop())
        return list(effects)

    def _new_id(self) -> str:
        return f"id{next(self.ids)}"

    def _perform(self, effect: fx.Effect) -> None:
        match effect:
            case fx.CreateChild(session):
                assert session.agent_session_id not in self.children
                self.children[session.agent_session_id] = session
            case fx.TellSession():
                self.told_sessions.append(effect)
            case fx.PersistTurn(turn):
                self.turns[turn.turn_id] = turn
                self.turn_history.append(turn)
            case fx.OpenMessage(message) | fx.PersistMessage(message):
                self.messages[message.message_id] = message
            case fx.PersistInteraction(row):
                self.interactions[row.turn_id, row.request_id] = row
            case fx.AddClaim(claim):
                self.claims[claim.client_submit_id] = claim
            case fx.RemoveClaim(claim):
                del self.claims[claim.client_submit_id]
            case fx.TellOnceClaimed(claim, _, command, timer, seconds) if self.keeps_claims:
                self.claims[claim.client_submit_id] = claim
                self.told.append(command)
                self.timers[timer] = seconds
            case fx.TellOnceClaimed(claim):
                self.not_kept.append(i.ClaimNotKept(claim, "store.full"))
            case fx.AppendText(message_id, text):
                self.texts[message_id] = self.texts.get(message_id, "") + text
            case fx.ReplaceText(message_id, text):
                self.texts[message_id] = text
            case fx.TellConnection(_, command):
                self.told.append(command)
            case fx.ForceConnection(_, reason):
                self.forced.append(reason)
            case fx.ReplyTurn(to, turn):
                self.answers.setdefault(to, []).append(turn)
            case fx.ReplySession(to, session, _):
                self.answers.setdefault(to, []).append(session)
            case fx.ReplyInteraction(to, row):
                self.answers.setdefault(to, []).append(row)
            case fx.Refuse(to, refusal):
                self.answers.setdefault(to, []).append(refusal)
            case fx.ArmTimer(timer, seconds):
                self.timers[timer] = seconds
            case fx.DisarmTimer(timer):
                self.timers.pop(timer, None)
            case fx.Count(what):
                self.counts.append(what)
            case _:
                pass

    # --- the usual moves ----------------------------------------------------------------------------------------

    def send(self, text: str = "hello", submit_id: str = "c1", reply: str = "send") -> Turn:
        """Send a prompt that is taken; gives the turn."""
        prompt = i.Prompt((TextBlock(text),))
        self.give(i.SendPrompt(reply, i.Submission(a_claim(submit_id), prompt)))
        answer = self.answers[reply][-1]
        assert isinstance(answer, Turn), answer
        return answer

    def connect(self, capabilities: SessionCapabilities = LOADS, *, resumed: bool = False) -> None:
        """The pool and the provider do what was asked: the conversation is open."""
        self.give(i.ConnectionAcquired(self.generation))
        self.say(n.ThreadOpened("thread", resumed, capabilities))

    def say(self, event: n.ProviderEvent) -> list[fx.Effect]:
        """An event of the present connection."""
        return self.give(i.FromProvider(self.generation, event))

    def update(self, reply: str, /, **settings: SettingValue | None) -> object:
        """A client changes settings; gives the answer, if it has one already."""
        self.give(i.UpdateSettings(reply, settings))
        return self.answers[reply][-1] if reply in self.answers else None

    def reconciled(self, event: n.TurnReconciled) -> None:
        """The provider says what it keeps of a turn; the actor looks rows of a settled one up."""
        turn, active = self.turns.get(event.turn_id), self.state.turn
        if turn is None or (active is not None and active.turn_id == event.turn_id):
            self.say(event)
            return
        rows = sorted(self.messages.values(), key=lambda row: row.sequence)
        mine = tuple(self.shown(row) for row in rows if row.turn_id == event.turn_id)
        self.give(i.Reconciled(self.generation, event, turn, mine))

    def shown(self, row: Message) -> Message:
        """A row with the text that streamed into it."""
        text = self.texts.get(row.message_id)
        return row if text is None or row.tool_call else attrs.evolve(row, content=(TextBlock(text),))

    def running(self, capabilities: SessionCapabilities = LOADS) -> TurnId:
        """A turn that the provider has accepted."""
        turn = self.send()
        self.connect(capabilities)
        self.say(n.TurnAccepted(turn.turn_id))
        return turn.turn_id

    def ask(self, turn_id: TurnId, request_id: str = "r1") -> None:
        """The provider asks for a permission."""
        approval = ApprovalInput("call", "Run it", "execute")
        self.say(n.InteractionRequested(turn_id, RequestId(request_id), "approval", approval, OPTIONS))

    def answer(self, turn_id: TurnId, option: str, reply: str, request_id: str = "r1") -> None:
        """A client answers."""
        stored = self.interactions.get((turn_id, request_id))
        key = (turn_id, RequestId(request_id))
        known = None if key in self.state.interactions else stored
        self.give(i.Respond(reply, turn_id, RequestId(request_id), OptionAnswer(option), known))

    def guide(
        self,
        turn_id: TurnId,
        submit_id: str = "g1",
        reply: str = "guide",
        digest: str = "d1",
        text: str = "rather oaks",
    ) -> list[object]:
        """A client says more in a turn; gives what it has been answered so far."""
        claim = attrs.evolve(a_claim(submit_id, digest), method="turn/guide")
        known, active = self.claims.get(submit_id), self.state.turn
        stored = None if active is not None and active.turn_id == turn_id else self.turns.get(turn_id)
        self.give(
            i.RequestGuide(
                reply,
                turn_id,
                i.Submission(claim, i.Prompt((TextBlock(text),))),
                stored=stored,
                known=known,
                known_turn=self.turns.get(known.turn_id or "") if known is not None else None,
                known_delivered=submit_id in self.said(),
            )
        )
        return self.answers.get(reply, [])

    def said(self) -> list[str]:
        """The submit ids of what a person said, in presentation order."""
        rows = sorted(self.messages.values(), key=lambda row: row.sequence)
        return [row.client_submit_id for row in rows if row.client_submit_id is not None]

    def cancel(self, turn_id: TurnId, reply: str = "cancel") -> object:
        """A client cancels; gives the answer."""
        active = self.state.turn is not None and self.state.turn.turn_id == turn_id
        self.give(i.RequestCancel(reply, turn_id, None if active else self.turns.get(turn_id)))
        return self.answers[reply][-1]

    @property
    def generation(self) -> int:
        """Of the present link."""
        return self.state.link.generation

    def agent_messages(self) -> list[Message]:
        """What the agent said, in presentation order."""
        rows = sorted(self.messages.values(), key=lambda row: row.sequence)
        return [row for row in rows if row.role == "assistant"]
