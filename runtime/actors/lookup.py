"""What a command needs from the store beyond its machine's state, looked up in the step before the decision.

Short reads on the loop (`architecture rule 10`). Rows decided but not yet committed in the present batch come
first, so that two commands of one batch see each other.
"""

from typing import TypeVar

import attrs
import structlog

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import reconcile
from runtime.lifecycle.guidance import submit_id_of
from runtime.lifecycle.state import SessionState
from runtime.providers.normalized import (
    ChildSpawned,
    KeptItem,
    OfChild,
    PromptKept,
    ThreadOpened,
    TurnReconciled,
)
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import (
    ClientSubmitId,
    MessageId,
    RequestId,
    SessionId,
    SessionKey,
    TurnId,
)
from store.canonical.interaction import Interaction
from store.canonical.message import Message
from store.canonical.turn import Turn
from store.errors import RowError
from store.port import StoreReader

log = structlog.get_logger(__name__)

T = TypeVar("T", bound=i.SessionInput)

TURN_MESSAGES_MAX = 2000
"""Rows of one turn that are compared with its provider's record; a turn with more is not."""

_LOOKED_UP = (ThreadOpened, TurnReconciled, ChildSpawned, OfChild)


@attrs.define(eq=False)
class Lookup:
    """Claims, turns and interactions of one session: those of the batch, then those of the store."""

    key: SessionKey
    reader: StoreReader
    _claims: dict[ClientSubmitId, SubmitClaim | None] = attrs.field(factory=dict, init=False)
    """None for one that the batch takes back."""
    _messages: dict[MessageId, Message] = attrs.field(factory=dict, init=False)
    _turns: dict[TurnId, Turn] = attrs.field(factory=dict, init=False)
    _interactions: dict[tuple[TurnId, RequestId], Interaction] = attrs.field(factory=dict, init=False)

    def enrich(self, given: i.SessionInput, state: SessionState) -> i.SessionInput:
        """The same input with what the store knows about the things it names."""
        if type(given) is i.FromProvider:  # nearly all of them, and nearly none needs anything
            return self._of_provider(given, state) if type(given.event) in _LOOKED_UP else given
        match given:
            case i.SendPrompt():
                claim = self._claim(given.submission.claim.client_submit_id)
                turn = self._turn(claim.turn_id) if claim is not None and claim.turn_id is not None else None
                return attrs.evolve(given, known=claim, known_turn=turn)
            case i.RequestGuide():
                return self._guide(given, state)
            case i.RequestCancel() if state.turn is None or state.turn.turn_id != given.turn_id:
                return attrs.evolve(given, stored=self._turn(given.turn_id))
            case i.Respond() if (given.turn_id, given.request_id) not in state.interactions:
                return attrs.evolve(given, stored=self._interaction(given.turn_id, given.request_id))
            case _:
                return given

    def remember(self, effects: tuple[fx.Effect, ...]) -> None:
        """Note what a decision of this batch will write."""
        for effect in effects:
            match effect:
                case fx.AddClaim(claim) | fx.TellOnceClaimed(claim) if claim.scope == "session":
                    self._claims[claim.client_submit_id] = claim
                case fx.RemoveClaim(claim):
                    self._claims[claim.client_submit_id] = None
                case fx.PersistMessage(message):
                    self._messages[message.message_id] = message
                case fx.PersistTurn(turn):
                    self._turns[turn.turn_id] = turn
                case fx.PersistInteraction(interaction):
                    self._interactions[interaction.turn_id, interaction.request_id] = interaction
                case _:
                    pass

    def forget(self) -> None:
        """The batch is committed: the store knows it all."""
        self._claims.clear()
        self._messages.clear()
        self._turns.clear()
        self._interactions.clear()

    def _guide(self, given: i.RequestGuide, state: SessionState) -> i.RequestGuide:
        submit_id = given.submission.claim.client_submit_id
        claim = self._claim(submit_id)
        if claim is not None and claim.turn_id is not None:
            delivered = any(
                message.client_submit_id == submit_id for message in self._messages.values()
            ) or self.reader.was_said(self.key, claim.turn_id, submit_id)
            turn = self._turn(claim.turn_id)
            return attrs.evolve(given, known=claim, known_turn=turn, known_delivered=delivered)
        if state.turn is None or state.turn.turn_id != given.turn_id:
            return attrs.evolve(given, known=claim, stored=self._turn(given.turn_id))
        return attrs.evolve(given, known=claim)

    def _of_provider(self, given: i.FromProvider, state: SessionState) -> i.SessionInput:
        """Rows that cannot be read leave the past as it is: the session goes on without them."""
        event, active = given.event, state.turn
        try:
            match event:
                case ThreadOpened(resumed=True):
                    page = self.reader.turns(self.key, None, reconcile.LOOKED_BACK_MAX).value
                    newest = [self._turns.get(turn.turn_id, turn) for turn in page.items]
                    return i.Reopened(given.generation, event, reconcile.unsure_turns(newest))
                case TurnReconciled() if active is None or active.turn_id != event.turn_id:
                    return self._reconciled(given.generation, event) or given
                case ChildSpawned():
                    return self._child(given.generation, event, self.key.agent_session_id)
                case OfChild(parent_id, ChildSpawned() as below):
                    return self._child(given.generation, below, parent_id)
                case _:
                    return given
        except RowError as error:
            log.error("a stored row cannot be read", session=str(self.key), reason=str(error))
            return given

    def _child(self, generation: int, event: ChildSpawned, parent_id: SessionId) -> i.ChildAppeared:
        stored = self.reader.load(SessionKey(self.key.workspace_id, event.child_id)).value
        return i.ChildAppeared(generation, event, parent_id, stored.session if stored is not None else None)

    def _reconciled(self, generation: int, event: TurnReconciled) -> i.Reconciled | None:
        turn = self._turn(event.turn_id)
        if turn is None:
            return None
        stored = self.reader.messages_of_turn(self.key, event.turn_id, TURN_MESSAGES_MAX).value
        if len(stored) == TURN_MESSAGES_MAX:
            event = attrs.evolve(event, items=())  # what is missing cannot be told from what was not read
        mine = [message for message in self._messages.values() if message.turn_id == event.turn_id]
        items = tuple(item for item in event.items if not self._is_strange(item))
        return i.Reconciled(generation, attrs.evolve(event, items=items), turn, (*stored, *mine))

    def _is_strange(self, item: KeptItem) -> bool:
        """Whether it was said to the agent under a name that nobody used for guidance of this turn."""
        if not isinstance(item, PromptKept):
            return False
        submit_id = submit_id_of(item.client_id)
        claim = self._claim(submit_id) if submit_id is not None else None
        return claim is None or claim.method != "turn/guide" or claim.turn_id != item.turn_id

    def _claim(self, submit_id: ClientSubmitId) -> SubmitClaim | None:
        if submit_id in self._claims:
            return self._claims[submit_id]
        return self.reader.session_claim(self.key, submit_id).value

    def _turn(self, turn_id: TurnId) -> Turn | None:
        return self._turns.get(turn_id) or self.reader.turn(self.key, turn_id).value

    def _interaction(self, turn_id: TurnId, request_id: RequestId) -> Interaction | None:
        key = (turn_id, request_id)
        return self._interactions.get(key) or self.reader.interaction(self.key, turn_id, request_id).value
