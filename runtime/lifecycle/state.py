"""The one pure object a Session actor holds, and the step that a decision takes on it.

A `Step` lives for one input: it gathers effects while it moves from one frozen state to the next. The actor
adopts the new state only after its effects committed; until then the old one stands.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle.inputs import Prompt, ReplyTo, Submission, Timer
from runtime.lifecycle.link import RUNTIME_STATES, Link
from runtime.lifecycle.settings import KnownSettings, OfferedEfforts, nothing_offered
from runtime.lifecycle.turn import Settlement
from runtime.providers.port import Scope
from runtime.refusal import Refusal
from store.canonical.change import LoadedSession
from store.canonical.common import Settings, SettingValue
from store.canonical.identifiers import CallId, ClientSubmitId, RequestId, SessionId, TurnId
from store.canonical.interaction import Interaction, PlanInput
from store.canonical.message import Message
from store.canonical.session import RuntimeState, Session, SessionCounters, SessionRuntime
from store.canonical.turn import Delivery, Turn

InteractionKey = tuple[TurnId, RequestId]
TimeoutAnswer = Literal["reject_once", "stop"]


@attrs.frozen
class Policy:
    """Bounds the machine keeps; seconds unless named otherwise (`contract §1` limits)."""

    cancel_grace_seconds: float = 10.0
    respond_timeout_seconds: float = 15.0
    guide_timeout_seconds: float = 15.0
    open_guides_max: int = 16
    """Guidance of one session that its provider has not answered yet; more is overloaded."""
    open_interactions_max: int = 64
    interaction_bytes_max: int = 1024 * 1024
    """The text of one Interaction in UTF-8."""
    children_max: int = 256
    """Sub-agents of one session that its agent may show while its process lives; one more is stopped."""
    child_start_seconds: float = 10.0
    """How long a turn waits for the first turn of a sub-agent that it began."""
    settings_timeout_seconds: float = 15.0
    idle_release_seconds: float = 1800.0
    turn_reconcile_seconds: float = 60.0
    message_update_interval_ms: int = 100
    max_message_bytes: int = 4 * 1024 * 1024
    max_output_bytes: int = 768 * 1024
    interaction_timeout_seconds: float = 0.0
    """For hosts without a person; 0 is never: an Interaction waits as long as its agent does (FC-46)."""
    interaction_timeout_answer: TimeoutAnswer = "stop"


@attrs.frozen
class Context:
    """What a decision may know of the world: the time, fresh ids, the bounds, and whether the target can serve."""

    now_ms: int
    new_id: Callable[[], str]
    policy: Policy = attrs.field(factory=Policy)
    target_refusal: Refusal | None = None
    known_settings: KnownSettings = attrs.field(factory=dict)
    """What the session's target declares."""
    silent_seconds: float = 0.0
    """How long nothing has been heard of the provider; told with timers alone."""
    offered_efforts: OfferedEfforts = nothing_offered
    """What the target's models are known to offer."""


@attrs.frozen
class OpenItem:
    """A message of the active turn that may still change. `message` is the row as last written, without text."""

    message: Message
    written_at_ms: int
    dirty: bool = False
    """Whether the row changed since it was written; a timer will write it (`messageUpdateIntervalMs`)."""
    output_text: str = ""
    """The whole output of a tool call as last reported, to tell growth from change."""


@attrs.frozen
class OpenGuide:
    """Guidance the provider was told and has not answered. Nobody waits for it any more once its time is over."""

    turn: Turn
    """The turn it is for, as it last was."""
    submission: Submission
    replies: tuple[ReplyTo, ...]


@attrs.frozen
class Child:
    """A sub-agent that the agent showed, with the turn of its session that has not settled, if there is one."""

    parent_id: SessionId
    """The session that began it."""
    awaited: bool = True
    """It was begun to do something, and its first turn is still to come."""
    turn_id: TurnId | None = None
    root_turn_id: TurnId | None = None
    """The turn of this session that was open when that turn began, and waits for it."""
    background: bool = False
    """Commands of it go on beside its turns."""


@attrs.frozen
class SettingsChange:
    """A change of settings that has no answer yet. `asked` is the part the provider was asked to take at once."""

    update_id: str
    reply: ReplyTo
    settings: Mapping[str, SettingValue | None]
    asked: Mapping[str, SettingValue | None] | None = None


@attrs.frozen
class SessionState:
    """A Session with everything unfinished about it. `turn` is the unsettled turn, if there is one."""

    session: Session
    counters: SessionCounters = attrs.field(factory=SessionCounters)
    turn: Turn | None = None
    prompt: Prompt | None = None
    """The prompt of a turn that has not been dispatched yet."""
    items: Mapping[str, OpenItem] = attrs.field(factory=dict)
    """Open messages of the turn by the provider's item id; tool calls by `call:` and their call id."""
    late_calls: Mapping[tuple[TurnId, CallId], Message] = attrs.field(factory=dict)
    """Rows of tool calls that were still open when their turn ended, the newest ones: a command may go on after it."""
    asked_as: Delivery | None = None
    """The delivery of the turn when the provider was asked what became of it; null while no answer is due."""
    proposed_plan: PlanInput | None = None
    """The plan by which the turn is about to end."""
    spoke: bool = False
    """Whether the turn brought any message or tool call of the agent."""
    interactions: Mapping[InteractionKey, Interaction] = attrs.field(factory=dict)
    """Pending ones, and answered ones whose delivery is not known yet."""
    responders: Mapping[InteractionKey, tuple[ReplyTo, ...]] = attrs.field(factory=dict)
    guides: Mapping[ClientSubmitId, OpenGuide] = attrs.field(factory=dict)
    """Guidance whose fate is open, the oldest first; of a turn that has ended too, as long as its link is there."""
    children: Mapping[SessionId, Child] = attrs.field(factory=dict)
    """The sub-agents that were shown on the present link, and are shown to have sessions."""
    background: frozenset[TurnId] = frozenset()
    """Turns that are over and have commands that go on, by the agent's word."""
    response_end: Settlement | None = None
    """How the agent's response ended, while the turn stays active for what its sub-agents do."""
    continued_as: TurnId | None = None
    """The adapter's name for a response that the agent began by itself within the active turn."""
    closers: tuple[ReplyTo, ...] = ()
    """Who waits for the close to be done; not empty means that the session is closing."""
    resumers: tuple[ReplyTo, ...] = ()
    settings_lane: tuple[SettingsChange, ...] = ()
    """Changes of settings in the order they came; a prompt waits for those before it."""
    held: Settings = attrs.field(factory=dict)
    """What the conversation on the present link is known to hold: told by the provider, or asked as it opened."""
    unsure_settings: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    """Keys of changes that ran out of time and are not answered, by update id: what holds of them is not known."""
    on_hold: bool = False
    """An operation decides over the session's life: nothing is begun until it lifts its hold."""
    link: Link = attrs.field(factory=Link)
    title_locked: bool = False
    """A user's title, or any title that was stored before this runtime began (RT-047, RT-050)."""
    hibernated: bool = False
    """The runtime was released because nothing went on; the next prompt resumes it."""
    stopping: bool = False
    """The daemon is going down: nothing new is started."""
    quarantined: bool = False
    scope_kind: Literal["session", "side"] = "session"
    """A Side's conversation is decided by the same tables, and is another scope to its connection."""

    @property
    def scope(self) -> Scope:
        """This session as the provider port names it."""
        return Scope(self.scope_kind, self.session.workspace_id, self.session.agent_session_id)

    @property
    def idle(self) -> bool:
        """Nothing is going on that a release could disturb."""
        return (
            self.turn is None
            and not any(row.kind != "plan" or row.answer_delivery for row in self.interactions.values())
            and not any(guide.replies for guide in self.guides.values())
            and not self.closers
            and not self.resumers
            and not self.settings_lane
            and not self.on_hold
            and not self.background
            and not any(child.turn_id or child.background for child in self.children.values())
            and self.link.phase in ("absent", "open")
        )

    @property
    def launched(self) -> bool:
        """Whether what counts at launch alone has counted: there is a runtime, or a conversation was begun in one."""
        return self.link.phase != "absent" or self.session.provider_session_id is not None

    @property
    def waiting_replies(self) -> tuple[ReplyTo, ...]:
        """Everybody whose answer depends on this state: a crash of the actor's code must not forget them."""
        responders = (reply for replies in self.responders.values() for reply in replies)
        guides = (reply for guide in self.guides.values() for reply in guide.replies)
        changers = (change.reply for change in self.settings_lane)
        return (*self.closers, *self.resumers, *responders, *guides, *changers)


def survives_release(state: SessionState) -> bool:
    """Whether the conversation goes on after its process ended; one that cannot be loaded is lost with it (FC-21)."""
    capabilities = state.session.capabilities
    return capabilities is None or capabilities.load or state.counters.turn_sequence == 0


def loaded_state(loaded: LoadedSession) -> SessionState:
    """The state an actor starts with."""
    return SessionState(
        session=loaded.session,
        counters=loaded.counters,
        turn=loaded.active_turn,
        items={f"stored:{m.message_id}": OpenItem(m, 0) for m in loaded.streaming_messages},
        interactions={(i.turn_id, i.request_id): i for i in loaded.pending_interactions},
        title_locked=loaded.session.title is not None,
    )


def runtime_state_of(state: SessionState) -> RuntimeState:
    """What `runtime.state` shows."""
    if state.quarantined:
        return "quarantined"
    if state.session.parent is not None:
        return "absent" if state.turn is None else "live"
    if state.link.phase == "absent" and state.hibernated:
        return "hibernated"
    return RUNTIME_STATES[state.link.phase]


def call_item_id(call_id: CallId) -> str:
    """The key of a tool call among the open items: apart from the ids of text items."""
    return f"call:{call_id}"


class Step:
    """One decision in the making."""

    def __init__(self, state: SessionState, context: Context) -> None:
        self.state = state
        self.context = context
        self.effects: list[fx.Effect] = []

    @property
    def now_ms(self) -> int:
        """The time of this decision."""
        return self.context.now_ms

    def do(self, *effects: fx.Effect) -> None:
        """Want these, in this order."""
        self.effects.extend(effects)

    def change(self, **fields: object) -> None:
        """Replace fields of the state."""
        self.state = attrs.evolve(self.state, **fields)  # type: ignore[arg-type]

    def set_session(self, session: Session) -> None:
        """Write a changed Session row."""
        session = attrs.evolve(session, updated_at=self.now_ms)
        self.change(session=session)
        self.do(fx.PersistSession(session))

    def set_turn(self, turn: Turn) -> None:
        """Write a changed row of the active turn; an unchanged one is not written."""
        if turn is self.state.turn or turn == self.state.turn:
            return
        self.change(turn=None if turn.settled else turn)
        self.do(fx.PersistTurn(turn))

    def set_link(self, link: Link) -> None:
        """Adopt a link, and show the runtime state that follows from it."""
        was = self.state.link
        self.change(link=link)
        if was.phase == "open" and link.phase != "open":
            self.do(fx.DisarmTimer(Timer("idle", generation=was.generation)))
        if RUNTIME_STATES[link.phase] != RUNTIME_STATES[was.phase]:
            self.observe_runtime()

    def told_as(self, turn_id: TurnId) -> TurnId:
        """The adapter's name for a turn: that of the response in it which the agent began by itself, if one did."""
        active, continued = self.state.turn, self.state.continued_as
        return continued if continued and active is not None and active.turn_id == turn_id else turn_id

    def observe_runtime(self) -> None:
        """Lay the present runtime state over the row, unstored, and publish it."""
        state = self.state
        runtime_state = runtime_state_of(state)
        runtime = SessionRuntime(runtime_state, self.now_ms)
        self.change(session=attrs.evolve(state.session, runtime=runtime))
        idle = state.turn is None and not state.background
        releasable = idle and runtime_state == "live" and survives_release(state)
        self.do(fx.PublishActivity(runtime_state, "idle" if idle else "running", self.now_ms, releasable))

    def next_version(self) -> int:
        """The next number of the session's change cursor (ST-009)."""
        version = self.state.session.message_version + 1
        self.change(session=attrs.evolve(self.state.session, message_version=version, updated_at=self.now_ms))
        return version

    def next_message_sequence(self) -> int:
        """The next place in presentation order (ST-008)."""
        sequence = self.state.counters.message_sequence + 1
        self.change(counters=attrs.evolve(self.state.counters, message_sequence=sequence))
        return sequence

    def next_turn_sequence(self) -> int:
        """The next turn number of this session."""
        sequence = self.state.counters.turn_sequence + 1
        self.change(counters=attrs.evolve(self.state.counters, turn_sequence=sequence))
        return sequence
