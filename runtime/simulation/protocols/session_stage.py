"""A Session cell with its real machine, actor, mailbox and link, small enough to walk through all its schedules.

The store is two lists and a writer, a task of its own as in the service; the agent is a list of what it was told, and
answers in tasks of their own. Nothing else is replaced.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import attrs
import trio
import trio.testing

from runtime.actors.activities import ActivityRegistry
from runtime.actors.session import SessionServices
from runtime.actors.session_cells import SessionCells
from runtime.actors.tails import TailRegistry
from runtime.lifecycle import inputs as i
from runtime.lifecycle.live_tail import TailLimits
from runtime.lifecycle.state import Policy
from runtime.providers import normalized as n
from runtime.providers.port import (
    AnswerInteraction,
    CancelTurn,
    ConnectionCommand,
    GuideTurn,
    OpenThread,
    StartTurn,
)
from runtime.refusal import Refusal
from runtime.simulation.explore import one_order
from runtime.simulation.protocols.rows import KEY, LOADS, OPTIONS, SETTINGS, a_claim, a_session
from runtime.simulation.small_ports import CountedIdentifiers, SimulatedClock
from store.canonical.change import Committed, LoadedSession, StreamPiece, Unit, UnitOutcome
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import CallId, RequestId
from store.canonical.interaction import ApprovalInput, Interaction
from store.canonical.message import Message
from store.canonical.session import Session, SessionCapabilities
from store.canonical.turn import Turn
from store.port import Read
from supervisor.cell import CellPolicy
from supervisor.mailbox import MailboxLimits

REQUEST = RequestId("r1")
_UNTIL_SECONDS_MAX: Final = 1_000
"""Of virtual time, far beyond every timer: what does not come until then does not come."""


@attrs.define(eq=False)
class Answers:
    """A caller's sink: what it was told, in the common log of the stage."""

    name: str
    stage: "Stage"
    outcome: object = None

    def deliver(self, outcome: object, commit_seq: int) -> None:
        assert self.outcome is None, "one answer only"
        self.outcome = outcome
        self.stage.note(self.name, commit_seq)

    def refuse(self, refusal: Refusal) -> None:
        assert self.outcome is None, "one answer only"
        self.outcome = refusal
        self.stage.note(self.name, refusal.code)


@attrs.define(eq=False, slots=False)
class Stage:
    """One session and everything around it."""

    nursery: trio.Nursery
    log: list[tuple[str, object]] = attrs.field(factory=list)
    """Answers and commits, in the order in which clients hear of them."""
    told: list[ConnectionCommand] = attrs.field(factory=list)
    turns: list[Turn] = attrs.field(factory=list)
    """Every row of the turn, as committed."""
    interactions: list[Interaction] = attrs.field(factory=list)
    sessions: list[Session] = attrs.field(factory=list)
    """Every row of the session, as committed."""
    forced: list[str] = attrs.field(factory=list)
    guided: Callable[[GuideTurn], n.ProviderEvent | None] = lambda told: n.GuideAccepted(
        told.turn_id, told.guide_id
    )
    """What the agent answers guidance with; null is silence."""
    capabilities: SessionCapabilities = LOADS
    claims: dict[str, SubmitClaim] = attrs.field(factory=dict)
    said: list[str] = attrs.field(factory=list)
    """The submit ids of user messages, as committed."""
    head_commit_seq: int = 0
    epoch: int = 0
    _queue: deque[tuple[Unit, Callable[[UnitOutcome], None]]] = attrs.field(factory=deque)
    _wake: trio.Event = attrs.field(factory=trio.Event)
    _reached: trio.Event = attrs.field(factory=trio.Event)
    _condition: Callable[[], bool] = lambda: False
    _sink: Any = None

    def __attrs_post_init__(self) -> None:
        this: Any = self  # of each of these ports it has what the programs come by
        services = SessionServices(
            writer=this,
            reader=this,
            hub=this,
            activities=ActivityRegistry(),
            tails=TailRegistry(TailLimits()),
            clock=SimulatedClock(),
            identifiers=CountedIdentifiers(),
            policy=Policy(),
            target_refusal=lambda _: None,
            target_settings=lambda _: SETTINGS,
            offered_efforts=lambda _, model: None,
            count=lambda _: None,
            post=self.post_between_sessions(),
        )
        self.cells = SessionCells(services, this, self.spawn, MailboxLimits(), CellPolicy())
        self.cell = self.cells.make(KEY)
        self.nursery.start_soon(self.write)
        self.nursery.start_soon(self.cell.run)

    def post_between_sessions(self) -> Any:
        """Nothing goes from session to session where there is one."""
        return None

    def spawn(self, function: Callable[..., Awaitable[None]], *arguments: object) -> None:
        self.nursery.start_soon(function, *arguments)

    def answers(self, name: str) -> Answers:
        return Answers(name, self)

    @property
    def last_turn(self) -> Turn:
        return self.turns[-1]

    async def start_turn(self, *, asks: bool = False) -> None:
        """Bring the session to a running turn, by one schedule."""
        caller, prompt = self.answers("create"), i.Prompt(())
        with one_order():
            self.offer(i.CreateSession(caller, a_session(), a_claim(scope="workspace"), a_claim(), prompt))
            await self.until(lambda: any(isinstance(command, StartTurn) for command in self.told))
            self.says(n.TurnAccepted(self.last_turn.turn_id))
            if asks:
                asked = ApprovalInput(CallId("call"), "Do it", "execute")
                self.says(n.InteractionRequested(self.last_turn.turn_id, REQUEST, "approval", asked, OPTIONS))
            await self.until(lambda: self.last_turn.phase == ("waiting" if asks else "running"))
            await trio.testing.wait_all_tasks_blocked()

    async def stay_for_a_while(self) -> None:
        """Long enough for every timer of a turn."""
        with one_order():
            await trio.sleep(60)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wakes once: a task that looked after every step would double the schedules with each."""
        self._condition, self._reached = condition, trio.Event()
        self._look()
        with trio.fail_after(_UNTIL_SECONDS_MAX):
            await self._reached.wait()

    def note(self, what: str, detail: object) -> None:
        self.log.append((what, detail))
        self._look()

    def _look(self) -> None:
        if self._condition():
            self._reached.set()

    def offer(self, command: i.SessionInput, *, control: bool = False) -> None:
        self.cell.mailbox.offer(command, control=control)

    def says(self, event: n.ProviderEvent) -> None:
        """A word of the agent."""
        self._sink.put(event)

    # --- the agent ----------------------------------------------------------------------------------------

    async def acquire(self, session: Session, scope: object, sink: object) -> "Stage":
        self._sink = sink
        return self

    def tell(self, command: ConnectionCommand) -> bool:
        self.told.append(command)
        self.note("told", command)
        match command:
            case OpenThread():
                self.says(n.ThreadOpened("t", resumed=False, capabilities=self.capabilities))
            case CancelTurn(_, turn_id):
                self.nursery.start_soon(self._ends, n.TurnEnded(turn_id, "canceled"))
            case GuideTurn():
                answer = self.guided(command)
                if answer is not None:
                    self.says(answer)
            case AnswerInteraction(_, turn_id, request_id):
                self.nursery.start_soon(self._ends, n.AnswerDelivered(turn_id, request_id))
            case _:
                pass
        return True

    async def _ends(self, event: n.ProviderEvent) -> None:
        self.says(event)

    def release(self) -> None: ...

    def force(self, reason: str) -> None:
        self.forced.append(reason)

    async def wait_gone(self) -> None: ...

    # --- the store ----------------------------------------------------------------------------------------

    def submit(self, unit: Unit, complete: Callable[[UnitOutcome], None]) -> None:
        self._queue.append((unit, complete))
        self._wake.set()

    def submit_pieces(self, pieces: list[StreamPiece], complete: Callable[[bool], None]) -> None:
        complete(True)

    async def write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while self._queue:
                unit, complete = self._queue.popleft()
                self.head_commit_seq += 1
                self.wrote(unit)
                self.turns += [row for row in unit.rows if isinstance(row, Turn)]
                self.sessions += [row for row in unit.rows if isinstance(row, Session)]
                self.interactions += [row for row in unit.rows if isinstance(row, Interaction)]
                messages = (row for row in unit.rows if isinstance(row, Message))
                self.said += [row.client_submit_id for row in messages if row.client_submit_id]
                for claim in unit.claims_removed:
                    del self.claims[claim.client_submit_id]
                self.claims |= {claim.client_submit_id: claim for claim in unit.claims_added}
                complete(Committed(unit, self.head_commit_seq, b""))

    def wrote(self, unit: Unit) -> None:
        """A unit is durable."""

    def load(self, key: object) -> Read[LoadedSession | None]:
        return Read(None, 0)

    def session_claim(self, _: object, submit_id: str) -> Read[SubmitClaim | None]:
        return Read(self.claims.get(submit_id), 0)

    def was_said(self, _: object, __: object, submit_id: str) -> bool:
        return submit_id in self.said

    def interaction(self, *_: object) -> Read[Interaction | None]:
        return Read(self.interactions[-1], 0)

    def turn(self, *_: object) -> Read[Turn]:
        return Read(self.last_turn, 0)

    # --- the hub ------------------------------------------------------------------------------------------

    def publish_commit(self, committed: Committed) -> None:
        cancels = any(isinstance(row, Turn) and row.cancel_requested_at for row in committed.unit.rows)
        self.note("event that shows the cancel" if cancels else "event", committed.commit_seq)

    def publish_deltas(self, *_: object) -> None: ...

    def publish_activity(self, *_: object) -> None: ...
