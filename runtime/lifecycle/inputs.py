"""What a Session machine can be told: commands of clients and operations, and facts.

Commands carry a `reply` sink of their caller, opaque here. What a command needs from the store beyond the
machine's own state is looked up by the actor before the decision and travels in the command (`known`, `stored`).
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import attrs

from runtime.lifecycle.turn import Settlement
from runtime.providers.normalized import (
    ChildSpawned,
    ProviderEvent,
    ThreadOpened,
    TurnReconciled,
    merge_events,
)
from runtime.providers.port import ChildCommand
from store.canonical.claim import SubmitClaim
from store.canonical.common import SettingValue, TurnError
from store.canonical.identifiers import ClientSubmitId, MessageId, RequestId, SessionId, TurnId
from store.canonical.interaction import Answer, Interaction
from store.canonical.message import ContentBlock, Message
from store.canonical.session import Session
from store.canonical.turn import Turn

ReplyTo = object
"""Where an outcome goes: the machine hands it back untouched in a Reply or Refuse effect."""


@attrs.frozen
class Prompt:
    """What a user says: content blocks as rows show them, and the text to display instead, if given."""

    content: tuple[ContentBlock, ...]
    display_prompt: str | None = None


@attrs.frozen
class Submission:
    """A prompt with its claim: the claim is stored with the turn it starts (RT-029, RT-035)."""

    claim: SubmitClaim
    prompt: Prompt


# --- commands -----------------------------------------------------------------------------------------------


@attrs.frozen
class CreateSession:
    """Make this Session exist. The operation has checked submit id, session id and limits under its locks."""

    reply: ReplyTo
    session: Session
    workspace_claim: SubmitClaim
    session_claim: SubmitClaim
    """The same id counts as used inside the new session (`contract §4`, Idempotency)."""
    prompt: Prompt | None


@attrs.frozen
class SendPrompt:
    """Start a turn. `known` is the claim already stored under this submit id, if any."""

    reply: ReplyTo
    submission: Submission
    known: SubmitClaim | None = None
    known_turn: Turn | None = None


@attrs.frozen
class RequestCancel:
    """Stop exactly this turn. `stored` is the row when it is not the active one (RT-007)."""

    reply: ReplyTo
    turn_id: TurnId
    stored: Turn | None = None


@attrs.frozen
class RequestGuide:
    """Say more within exactly this turn. `stored` is its row when it is not the active one (RT-078).

    `known` is the claim already stored under this submit id, `known_turn` the turn it was for, and `known_delivered`
    says that what was said then is part of it.
    """

    reply: ReplyTo
    turn_id: TurnId
    submission: Submission
    stored: Turn | None = None
    known: SubmitClaim | None = None
    known_turn: Turn | None = None
    known_delivered: bool = False


@attrs.frozen
class Respond:
    """Answer exactly this Interaction. `stored` is the row when it is no longer in the machine's hands."""

    reply: ReplyTo
    turn_id: TurnId
    request_id: RequestId
    answer: Answer
    stored: Interaction | None = None


@attrs.frozen
class ResumeSession:
    """Make the Session live now. `fresh` starts an empty provider conversation when the old one is gone."""

    reply: ReplyTo
    fresh: bool = False


@attrs.frozen
class CloseSession:
    """End a running turn, then the runtime. No delete."""

    reply: ReplyTo


@attrs.frozen
class RenameSession:
    """Give the Session a title of the user's; an empty one takes it away."""

    reply: ReplyTo
    title: str


@attrs.frozen
class PinSession:
    """Keep the Session at the top of lists, or no longer."""

    reply: ReplyTo
    pinned: bool


@attrs.frozen
class UpdateSettings:
    """Merge these into the Session's settings; null unsets."""

    reply: ReplyTo
    settings: Mapping[str, SettingValue | None]


@attrs.frozen
class HoldSession:
    """A deletion is on its way: end a running turn and the runtime, then answer; start nothing until `HoldLifted`."""

    reply: ReplyTo


@attrs.frozen
class ReleaseIfIdle:
    """The pool needs room, or the session has been idle long enough; refused when anything is going on."""


@attrs.frozen
class Shutdown:
    """The daemon stops: a running turn is interrupted, the runtime released."""


@attrs.frozen
class Quarantine:
    """The actor crashed too often: interrupt the provider, release the route, accept nothing but a resume."""


# --- facts --------------------------------------------------------------------------------------------------


@attrs.frozen
class FromProvider:
    """An event of the connection of that generation."""

    generation: int
    event: ProviderEvent


@attrs.frozen
class Reopened:
    """An event of the connection: the old conversation is here again. `unsure` are the turns that ended without the
    provider's word, the oldest first."""

    generation: int
    event: ThreadOpened
    unsure: tuple[Turn, ...]


@attrs.frozen
class Reconciled:
    """An event of the connection: what is kept of a turn that settled here, whose rows are `turn` and `messages`."""

    generation: int
    event: TurnReconciled
    turn: Turn
    messages: tuple[Message, ...]


@attrs.frozen
class ChildAppeared:
    """An event of the connection: the agent, or a sub-agent of it, began a sub-agent.

    `parent_id` is the session that began it, this one or one below it. `stored` is the row under the sub-agent's id, if
    there is one already.
    """

    generation: int
    event: ChildSpawned
    parent_id: SessionId
    stored: Session | None = None


@attrs.frozen
class FromRoot:
    """An event of this sub-agent, passed on by the root of its tree, which hears the connection."""

    root_id: SessionId
    event: ProviderEvent


@attrs.frozen
class StopWithRoot:
    """The root's turn is being cancelled, and with it exactly this turn of a sub-agent (RT-135)."""

    turn_id: TurnId


@attrs.frozen
class RootLost:
    """The root hears its agent no more, so nothing of this sub-agent either: what runs has ended like this."""

    how: Settlement


@attrs.frozen
class FromChild:
    """A session below this one has something for its agent."""

    child_id: SessionId
    command: ChildCommand


@attrs.frozen
class ChildSettled:
    """A turn of a session below this one has ended, or never began there. `forced` says that its agent did not obey."""

    child_id: SessionId
    turn_id: TurnId
    forced: bool = False


@attrs.frozen
class ClaimNotKept:
    """The store did not take a claim that was to be kept before anything else: nothing of it has happened."""

    claim: SubmitClaim
    code: str


@attrs.frozen
class ConnectionAcquired:
    """The pool gave a ready connection."""

    generation: int


@attrs.frozen
class ConnectionUnavailable:
    """The pool could not give one."""

    generation: int
    error: TurnError


@attrs.frozen
class ConnectionReleased:
    """The reference is given back, and with the last one the process has ended."""

    generation: int


ReloadCause: TypeAlias = Literal["internal", "store.full", "store.unavailable"]


@attrs.frozen
class Reloaded:
    """The actor starts with what the store holds; an unsettled turn here means that it could not go on: its code
    crashed, or the store did not take what happened (`cause`)."""

    cause: ReloadCause = "internal"


@attrs.frozen
class HoldLifted:
    """The operation that held this Session has ended. `session` is its row where that was changed: deleted, or back."""

    session: Session | None = None


@attrs.frozen
class SessionPurged:
    """Nothing of this Session is stored any more."""


@attrs.frozen
class Timer:
    """Names a timer; the ids in it make a late firing recognisable."""

    kind: Literal[
        "cancel_grace",
        "respond",
        "message_update",
        "idle",
        "interaction",
        "guide",
        "settings",
        "reconcile",
        "child_start",
    ]
    turn_id: TurnId | None = None
    request_id: RequestId | None = None
    submit_id: ClientSubmitId | None = None
    message_id: MessageId | None = None
    update_id: str | None = None
    child_id: SessionId | None = None
    generation: int = 0


@attrs.frozen
class TimerFired:
    """That timer ran out."""

    timer: Timer


Command: TypeAlias = (
    CreateSession
    | SendPrompt
    | RequestCancel
    | RequestGuide
    | Respond
    | ResumeSession
    | CloseSession
    | RenameSession
    | PinSession
    | UpdateSettings
    | HoldSession
)
TreeFact: TypeAlias = ChildAppeared | FromRoot | StopWithRoot | RootLost | FromChild | ChildSettled
"""What passes between the sessions of one tree, and what the agent shows of it."""

Fact: TypeAlias = (
    FromProvider
    | Reopened
    | Reconciled
    | TreeFact
    | ClaimNotKept
    | ConnectionAcquired
    | ConnectionUnavailable
    | ConnectionReleased
    | Reloaded
    | HoldLifted
    | SessionPurged
    | TimerFired
    | ReleaseIfIdle
    | Shutdown
    | Quarantine
)
SessionInput: TypeAlias = Command | Fact


def merge_inputs(earlier: SessionInput, later: SessionInput) -> SessionInput | None:
    """The mailbox's merge hook: adjacent chunks of one message become one (`architecture rule 8`)."""
    if (
        type(earlier) is FromProvider
        and type(later) is FromProvider
        and earlier.generation == later.generation
    ):
        merged = merge_events(earlier.event, later.event)
        if merged is not None:
            return FromProvider(earlier.generation, merged)
    elif type(earlier) is FromRoot and type(later) is FromRoot:
        merged = merge_events(earlier.event, later.event)
        if merged is not None:
            return FromRoot(earlier.root_id, merged)
    return None
