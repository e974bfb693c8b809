"""What a command needs from the store beyond its machine's state, looked up in the step before the decision.

Short reads on the loop (`architecture rule 10`). Rows decided but not yet committed in the present batch come
first, so that two commands of one batch see each other.
"""

from typing import TypeVar

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import SessionState
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import ClientSubmitId, RequestId, SessionKey, TurnId
from store.canonical.interaction import Interaction
from store.canonical.message import Message
from store.canonical.turn import Turn
from store.port import StoreReader

T = TypeVar("T", bound=i.SessionInput)


@attrs.define(eq=False)
class Lookup:
    """Claims, turns and interactions of one session: those of the batch, then those of the store."""

    key: SessionKey
    reader: StoreReader
    _claims: dict[ClientSubmitId, SubmitClaim | None] = attrs.field(factory=dict, init=False)
    """None for one that the batch takes back."""
    _said: set[ClientSubmitId] = attrs.field(factory=set, init=False)
    """Submits whose user message the batch brings."""
    _turns: dict[TurnId, Turn] = attrs.field(factory=dict, init=False)
    _interactions: dict[tuple[TurnId, RequestId], Interaction] = attrs.field(factory=dict, init=False)

    def enrich(self, given: i.SessionInput, state: SessionState) -> i.SessionInput:
        """The same input with what the store knows about the things it names."""
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
                case fx.PersistMessage(Message(client_submit_id=str(submit_id))):
                    self._said.add(submit_id)
                case fx.PersistTurn(turn):
                    self._turns[turn.turn_id] = turn
                case fx.PersistInteraction(interaction):
                    self._interactions[interaction.turn_id, interaction.request_id] = interaction
                case _:
                    pass

    def forget(self) -> None:
        """The batch is committed: the store knows it all."""
        self._claims.clear()
        self._said.clear()
        self._turns.clear()
        self._interactions.clear()

    def _guide(self, given: i.RequestGuide, state: SessionState) -> i.RequestGuide:
        submit_id = given.submission.claim.client_submit_id
        claim = self._claim(submit_id)
        if claim is not None and claim.turn_id is not None:
            delivered = submit_id in self._said or self.reader.was_said(self.key, claim.turn_id, submit_id)
            turn = self._turn(claim.turn_id)
            return attrs.evolve(given, known=claim, known_turn=turn, known_delivered=delivered)
        if state.turn is None or state.turn.turn_id != given.turn_id:
            return attrs.evolve(given, known=claim, stored=self._turn(given.turn_id))
        return attrs.evolve(given, known=claim)

    def _claim(self, submit_id: ClientSubmitId) -> SubmitClaim | None:
        if submit_id in self._claims:
            return self._claims[submit_id]
        return self.reader.session_claim(self.key, submit_id).value

    def _turn(self, turn_id: TurnId) -> Turn | None:
        return self._turns.get(turn_id) or self.reader.turn(self.key, turn_id).value

    def _interaction(self, turn_id: TurnId, request_id: RequestId) -> Interaction | None:
        key = (turn_id, request_id)
        return self._interactions.get(key) or self.reader.interaction(self.key, turn_id, request_id).value
