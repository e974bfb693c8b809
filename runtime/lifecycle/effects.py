"""Everything a Session machine can want. The actor performs these in order, in one exhaustive match.

Persist effects between two `NewUnit` marks form one unit; what follows a persist is done after its commit, so a
message's row precedes its first delta and its deltas precede the row that ends it (`contract §5`).
"""

from typing import Literal, TypeAlias

import attrs

from runtime.lifecycle.inputs import ReplyTo, SessionInput, Timer
from runtime.providers.port import ConnectionCommand
from runtime.refusal import Refusal
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import MessageId, SessionKey
from store.canonical.interaction import Interaction
from store.canonical.message import Message
from store.canonical.operation import Operation
from store.canonical.session import RuntimeState, Session
from store.canonical.turn import Turn


@attrs.frozen
class PersistSession:
    """Write the Session row."""

    session: Session


@attrs.frozen
class CreateChild:
    """Write the row of a sub-agent's session, which does not exist yet, with what shows where it came from."""

    session: Session


@attrs.frozen
class PersistTurn:
    """Write the Turn row."""

    turn: Turn


@attrs.frozen
class PersistInteraction:
    """Write the Interaction row."""

    interaction: Interaction


@attrs.frozen
class PersistOperation:
    """Write the Operation row."""

    operation: Operation


@attrs.frozen
class OpenMessage:
    """Write the row of a message that begins to stream, and open its live tail. The row holds no text yet."""

    message: Message


@attrs.frozen
class PersistMessage:
    """Write a message whose content does not stream, or a change of one that does: the tail's text is laid in.

    A row that is no longer streaming ends its tail once it is committed.
    """

    message: Message


@attrs.frozen
class AddClaim:
    """Store a submit claim in the same unit."""

    claim: SubmitClaim


@attrs.frozen
class RemoveClaim:
    """Free a submit id again, in the same unit."""

    claim: SubmitClaim


@attrs.frozen
class TellOnceClaimed:
    """Keep a claim in a unit of its own, then hand the command to the connection and arm the timer.

    Where the store does not take the claim, neither happens and the machine is told ClaimNotKept: what runs goes on.
    """

    claim: SubmitClaim
    generation: int
    command: ConnectionCommand
    timer: Timer
    seconds: float


@attrs.frozen
class NewUnit:
    """What follows commits in a unit of its own: the marker before something that must not happen twice."""


@attrs.frozen
class ReplyTurn:
    """Answer a command with a turn."""

    to: ReplyTo
    turn: Turn


@attrs.frozen
class ReplySession:
    """Answer a command with the session, and with the turn it started."""

    to: ReplyTo
    session: Session
    turn: Turn | None = None


@attrs.frozen
class ReplyInteraction:
    """Answer a command with the interaction."""

    to: ReplyTo
    interaction: Interaction


@attrs.frozen
class Refuse:
    """Answer a command with a typed no."""

    to: ReplyTo
    refusal: Refusal


@attrs.frozen
class AppendText:
    """More text of a streaming message: numbered by the live tail, published, written behind."""

    message_id: MessageId
    text: str


@attrs.frozen
class ReplaceText:
    """The text of a streaming message changed otherwise than by growing; the next row carries it."""

    message_id: MessageId
    text: str


@attrs.frozen
class PublishActivity:
    """A typed, never stored observation of the runtime (RT-044)."""

    runtime_state: RuntimeState
    activity: Literal["running", "idle"]
    at_ms: int
    releasable: bool = False
    """Whether the runtime could be given up now without losing anything: for who needs its place, not for clients."""


@attrs.frozen
class AcquireConnection:
    """Get a connection for this generation in a child task; it reports by message."""

    generation: int
    session: Session


@attrs.frozen
class ReleaseConnection:
    """Give the connection of this generation back in a child task; it reports ConnectionReleased."""

    generation: int


@attrs.frozen
class ForceConnection:
    """The provider does not obey: end it for this scope, whatever it takes; nothing of it is heard again."""

    generation: int
    reason: str


@attrs.frozen
class TellConnection:
    """Hand a command to the connection of this generation."""

    generation: int
    command: ConnectionCommand


@attrs.frozen
class TellSession:
    """Tell another session of the same tree; it never waits for what becomes of that."""

    key: SessionKey
    message: SessionInput


@attrs.frozen
class ArmTimer:
    """Report TimerFired(timer) after so many seconds; arming again starts over."""

    timer: Timer
    seconds: float


@attrs.frozen
class DisarmTimer:
    """Forget that timer."""

    timer: Timer


@attrs.frozen
class Count:
    """Something worth counting happened: dropped late events, ignored words of the provider."""

    what: str


Effect: TypeAlias = (
    PersistSession
    | CreateChild
    | PersistTurn
    | PersistInteraction
    | PersistOperation
    | OpenMessage
    | PersistMessage
    | AddClaim
    | RemoveClaim
    | TellOnceClaimed
    | NewUnit
    | ReplyTurn
    | ReplySession
    | ReplyInteraction
    | Refuse
    | AppendText
    | ReplaceText
    | PublishActivity
    | AcquireConnection
    | ReleaseConnection
    | ForceConnection
    | TellConnection
    | TellSession
    | ArmTimer
    | DisarmTimer
    | Count
)
