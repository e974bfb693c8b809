"""A root and the session of its sub-agent with everything around them: the stage of one session, and the post between two.

Owns what a family needs besides: the row of the sub-agent, so that its actor loads it, and an agent that stops exactly the
turns it is told to stop.
"""

from functools import partial
from typing import Any

import attrs
import trio.testing

from runtime.actors.session import SessionCell
from runtime.lifecycle import inputs as i
from runtime.providers import normalized as n
from runtime.providers.port import AnswerInteraction, CancelTurn, ConnectionCommand, ForChild
from runtime.simulation.explore import one_order
from runtime.simulation.protocols.rows import KEY, OPTIONS
from runtime.simulation.protocols.session_stage import REQUEST, Stage
from store.canonical.change import LoadedSession, Unit
from store.canonical.identifiers import CallId, SessionId, SessionKey, TurnId
from store.canonical.interaction import ApprovalInput
from store.canonical.session import Session, SessionCounters
from store.canonical.turn import Turn
from store.port import Read
from supervisor.mailbox import Mailbox

CHILD = SessionKey(KEY.workspace_id, SessionId("child"))
WORK = TurnId("work")


@attrs.define(eq=False, slots=False)
class FamilyStage(Stage):
    """Two sessions of one tree."""

    rows: dict[SessionKey, Session] = attrs.field(factory=dict)
    settled_in_order: list[str] = attrs.field(factory=list)
    """Whose turns settled, as committed."""
    _family: dict[SessionKey, SessionCell] = attrs.field(factory=dict)

    def post_between_sessions(self) -> Any:
        return _Post(self)

    @property
    def last_turn(self) -> Turn:
        return [turn for turn in self.turns if turn.agent_session_id == KEY.agent_session_id][-1]

    @property
    def child_turn(self) -> Turn | None:
        """The newest row of the sub-agent's turn."""
        rows = [turn for turn in self.turns if turn.agent_session_id == CHILD.agent_session_id]
        return rows[-1] if rows else None

    @property
    def all_settled(self) -> bool:
        """Whether no turn of either is open."""
        child = self.child_turn
        return self.last_turn.settled and (child is None or child.settled)

    def begins_child(self, *, asks: bool = False) -> None:
        """The agent begins a sub-agent, which works."""
        self.says(n.ChildSpawned(self.last_turn.turn_id, CHILD.agent_session_id, "thread", CallId("call")))
        self.of_child(n.TurnStartedByProvider(WORK, "work"))
        if asks:
            asked = ApprovalInput(CallId("call"), "Do it", "execute")
            self.of_child(n.InteractionRequested(WORK, REQUEST, "approval", asked, OPTIONS))

    async def start_child(self, *, asks: bool = False) -> None:
        """Bring the sub-agent to a running turn, by one schedule."""
        with one_order():
            self.begins_child(asks=asks)
            await trio.testing.wait_all_tasks_blocked()
        child = self.child_turn
        assert child is not None
        assert child.phase == ("waiting" if asks else "running")

    def of_child(self, event: n.ProviderEvent) -> None:
        """A word of the sub-agent."""
        self.says(n.OfChild(CHILD.agent_session_id, event))

    def child_cell(self, key: SessionKey) -> SessionCell:
        """The cell of a session, made when it is first told something."""
        if key == KEY:
            return self.cell
        if key not in self._family:
            self._family[key] = self.cells.make(key)
            self.nursery.start_soon(self._family[key].run, partial(self._retire, key))
        return self._family[key]

    def tell(self, command: ConnectionCommand) -> bool:
        """An agent that does at once what it is told: each task of its own would double the schedules."""
        self.told.append(command)
        self.note("told", command)
        match command:
            case CancelTurn(_, turn_id):
                self.says(n.TurnEnded(turn_id, "canceled"))
            case ForChild(_, CancelTurn(_, turn_id)):
                self.of_child(n.TurnEnded(turn_id, "canceled"))
            case ForChild(_, AnswerInteraction(_, turn_id, request_id)):
                self.of_child(n.AnswerDelivered(turn_id, request_id))
            case _:
                self.told.pop()
                return super().tell(command)
        return True

    def _retire(self, key: SessionKey) -> None:
        del self._family[key]

    def wrote(self, unit: Unit) -> None:
        for row in unit.rows:
            if isinstance(row, Session):
                self.rows[row.key] = row
            elif isinstance(row, Turn) and row.settled:
                self.settled_in_order.append(row.agent_session_id)

    def load(self, key: object) -> Read[LoadedSession | None]:
        row = self.rows.get(key) if isinstance(key, SessionKey) and key != KEY else None
        loaded = None if row is None else LoadedSession(row, SessionCounters(), None, (), ())
        return Read(loaded, 0)


@attrs.frozen
class _Post:
    stage: FamilyStage

    def tell(self, key: SessionKey, message: i.SessionInput) -> None:
        self.stage.child_cell(key).mailbox.put(message)

    def lane(self, key: SessionKey) -> Mailbox[i.SessionInput] | None:
        return self.stage.child_cell(key).mailbox
