"""The provider port: one sans-IO adapter per connection, commands in, outputs out.

An adapter speaks one provider's wire. It does no I/O, reads no clock and makes no decision about a Session: the
connection (`runtime.providers.connection`) feeds it bytes and commands and performs its outputs. Behaviour is
chosen by declared capability and attested version, never by a provider's name outside its own folder (PR-002).
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import attrs

from runtime.providers.catalogue import CatalogueAbilities, ProviderFacts, Subject
from runtime.providers.hosting import HostedConversation, LaunchConversation
from runtime.providers.normalized import ProviderEvent
from runtime.providers.programs import ProgramExamination, ProgramReport
from runtime.providers.records import ReadRecord
from runtime.providers.side_facts import SideFacts
from store.canonical.common import Settings, SettingValue, TurnError
from store.canonical.identifiers import RequestId, SessionId, TurnId
from store.canonical.interaction import Answer
from store.canonical.message import ResourceLinkBlock, TextBlock


@attrs.frozen(order=True, cache_hash=True)
class Scope:
    """What a provider conversation belongs to: a Session, or a Side by its own id. An inquiry has no conversation."""

    kind: Literal["session", "side", "inquiry"]
    workspace_id: str
    agent_session_id: str

    def __str__(self) -> str:
        return f"{self.kind} {self.workspace_id}/{self.agent_session_id}"


@attrs.frozen
class ImageData:
    """A picture of a prompt. `data` is base64, put in from the attachment in the step in which a connection is told."""

    media_type: str
    data: str
    attachment_id: str = ""


PromptBlock: TypeAlias = TextBlock | ResourceLinkBlock | ImageData


# --- commands: what a scope tells its connection ------------------------------------------------------------


@attrs.frozen
class OpenThread:
    """Start a conversation, or resume `provider_session_id`. Answered by ThreadOpened or ThreadOpenFailed.

    `settings` is what was chosen for the session: the agent takes each of them, or the conversation does not open.
    """

    scope: Scope
    cwd: str
    settings: Settings
    provider_session_id: str | None = None


@attrs.frozen
class OpenSide:
    """Fork the conversation `source_session_id` into one that is never kept, for this scope (PR-009).

    Answered by SideForked or ThreadOpenFailed, once. `settings` is what the source is known to hold: the fork may do
    no more than that, and no more than the source holds now. A scope that leaves before the answer leaves no child.
    """

    scope: Scope
    source_session_id: str
    cwd: str
    settings: Settings
    instructions: str | None = None
    """Rules of the host that hold in the fork alone, beside those every Side has."""


@attrs.frozen
class StartTurn:
    """Send a prompt. Answered by TurnAccepted or TurnRejected, later by TurnEnded. One open at a time."""

    scope: Scope
    turn_id: TurnId
    content: tuple[PromptBlock, ...]
    settings: Settings | None = None
    """All that was chosen for the session: what differs from what holds is changed first, and what is no longer chosen
    is the agent's own again, where that can be said. Null leaves everything as it is."""


@attrs.frozen
class ApplySettings:
    """Change settings of the open conversation now, all of them or none; null goes back to the agent's own choice.

    Answered by SettingsApplied or SettingsRefused, once, by `update_id`.
    """

    scope: Scope
    update_id: str
    settings: Mapping[str, SettingValue | None]


@attrs.frozen
class CancelTurn:
    """Ask the provider to stop exactly this turn; open asks of it are answered `cancelled` at once (FC-04)."""

    scope: Scope
    turn_id: TurnId


@attrs.frozen
class AnswerInteraction:
    """Give the agent its answer, once. Answered by AnswerDelivered or AnswerFailed."""

    scope: Scope
    turn_id: TurnId
    request_id: RequestId
    answer: Answer


@attrs.frozen
class RefuseAsk:
    """Nobody will answer what the agent asked: refuse it once, in its own words, so that its turn goes on.

    Never answered. One that is answered, taken back or unknown stays as it is.
    """

    scope: Scope
    turn_id: TurnId
    request_id: RequestId


@attrs.frozen
class GuideTurn:
    """Say more within exactly this running turn (RT-078). Answered by GuideAccepted or GuideRefused, once.

    `guide_id` is the caller's word for this guidance, unique inside its turn. A connection that is lost before the
    answer leaves it unknown whether the agent heard it. Where the response has ended while sub-agents still work for
    the turn, a new one begins within it, with an end of its own (PR-013).
    """

    scope: Scope
    turn_id: TurnId
    guide_id: str
    content: tuple[PromptBlock, ...]


@attrs.frozen
class ReconcileTurn:
    """Ask the provider what became of this turn: one whose end never came, or whose start may have been lost.

    Answered by TurnReconciled, once; a provider that keeps no turns answers `unknown`.
    """

    scope: Scope
    turn_id: TurnId
    provider_turn_id: str | None = None


@attrs.frozen
class EndBackground:
    """End the commands that go on though this turn is over, and no others (RT-007). Each ends by its own report."""

    scope: Scope
    turn_id: TurnId


@attrs.frozen
class ForChild:
    """What a sub-agent's session wants of its agent. `scope` is the root's, whose connection it is; the command's own
    scope is the sub-agent's. Its events come back as `OfChild`."""

    scope: Scope
    command: "ChildCommand"


@attrs.frozen
class DropChild:
    """This sub-agent has no session here: end what it does, and tell nothing of it (RT-135)."""

    scope: Scope
    child_id: SessionId


@attrs.frozen
class Inquire:
    """Ask what can be told without a conversation. Answered by Learned, once, with a fact or a failure for each."""

    scope: Scope
    subjects: frozenset[Subject]


@attrs.frozen
class CloseThread:
    """The scope leaves: end its conversation on the wire where the protocol can, forget its route."""

    scope: Scope


ChildCommand: TypeAlias = CancelTurn | AnswerInteraction | RefuseAsk
"""All that a sub-agent's session says to its agent."""

ConnectionCommand: TypeAlias = (
    OpenThread
    | OpenSide
    | StartTurn
    | ApplySettings
    | CancelTurn
    | AnswerInteraction
    | RefuseAsk
    | GuideTurn
    | ReconcileTurn
    | EndBackground
    | ForChild
    | DropChild
    | Inquire
    | CloseThread
)


# --- outputs: what an adapter wants performed ---------------------------------------------------------------


@attrs.frozen
class Write:
    """Bytes for the provider, whole and in order. `token` comes back in `written` once all are out."""

    data: bytes
    token: object = None


@attrs.frozen
class Deliver:
    """An event for one scope."""

    scope: Scope
    event: ProviderEvent


@attrs.frozen
class HandshakeDone:
    """The provider is ready for OpenThread; name and version are as it reports them."""

    agent_name: str | None = None
    agent_version: str | None = None


@attrs.frozen
class StartTimer:
    """Call `timer(token)` after so many seconds, unless StopTimer names the same token first."""

    token: object
    seconds: float


@attrs.frozen
class StopTimer:
    """Forget that timer."""

    token: object


@attrs.frozen
class Learned:
    """What the provider told of itself: asked for by `scope`, or on the way."""

    facts: ProviderFacts
    scope: Scope | None = None


@attrs.frozen
class Diagnostic:
    """Something odd on the wire, counted and kept in a bounded tail for `debug/session`; never sent to clients."""

    kind: str
    detail: str


@attrs.frozen
class GiveUp:
    """This connection cannot go on (protocol broken, handshake refused, endless line): end it with this error."""

    error: TurnError


Output: TypeAlias = (
    Write | Deliver | HandshakeDone | StartTimer | StopTimer | ReadRecord | Learned | Diagnostic | GiveUp
)
Outputs: TypeAlias = Sequence[Output]


@attrs.frozen
class AdapterLimits:
    """Bounds an adapter keeps; bytes and seconds (`contract §1` limits)."""

    max_provider_line_bytes: int = 32 * 1024 * 1024
    max_provider_discard_bytes: int = 32 * 1024 * 1024
    max_provider_noise_bytes: int = 10 * 1024 * 1024
    initialize_timeout_seconds: float = 60.0


class ProviderAdapter(Protocol):
    """One connection's dialect. Every method returns what is to be performed, in order, and never raises for
    anything the provider did."""

    def begin(self) -> Outputs:
        """The process has started: open the handshake."""

    def command(self, command: ConnectionCommand) -> Outputs:
        """A scope wants something. Only called after HandshakeDone."""

    def receive(self, data: bytes) -> Outputs:
        """Bytes from the provider, split anywhere. Chunks of one read that belong together come out merged."""

    def end_of_input(self) -> Outputs:
        """The provider closed its side; what it said last still counts (a line without a newline too)."""

    def written(self, token: object) -> Outputs:
        """The Write with this token is out whole."""

    def timer(self, token: object) -> Outputs:
        """A timer of StartTimer ran out."""

    def lost(self, error: TurnError) -> Outputs:
        """The connection is gone: a ConnectionLost for every scope, nothing else after it."""


class SideConversationAdapter(Protocol):
    """The part of an adapter that forks live conversations; exec, cancel, answer and close are ordinary commands.

    A family without it answers OpenSide with ThreadOpenFailed, `capability.unsupported`.
    """

    def command(self, command: ConnectionCommand) -> Outputs:
        """OpenSide, and whatever the Side's scope wants then."""


SettingEffect: TypeAlias = Literal["read_only", "asks", "edits", "unrestricted"]


@attrs.frozen
class SettingChoice:
    """One value a setting may take. `effect` is what the agent may do under it without being asked."""

    value: str
    label: str
    effect: SettingEffect | None = None


@attrs.frozen
class PlanEnd:
    """How a plan by which a turn ended is carried out: the value that ends planning, and what the agent is then told."""

    value: SettingValue
    prompt: str


@attrs.frozen
class SettingDescription:
    """A setting that sessions of a provider family know, and when a change of it takes effect."""

    key: str
    change: Literal["launch", "next_turn", "now"]
    choices: tuple[SettingChoice, ...] | None = None
    """All values it may have; null when any text will do."""
    default: SettingValue | None = None
    """What holds for a session that did not choose; null when the provider decides."""
    is_truth: bool = False
    """Its value is true or false, no text."""
    plan_end: PlanEnd | None = None
    """Where a value of it makes turns that end with a plan (PlanProposed)."""


class ProviderDescriptor(Protocol):
    """What the registry knows of a provider family without starting anything (PR-001, PR-008)."""

    @property
    def key(self) -> str:
        """The word of `targets.provider` in the configuration."""

    @property
    def sessions_per_connection(self) -> int:
        """How many scopes may share one process by default."""

    @property
    def launch_arguments(self) -> tuple[str, ...]:
        """What is put behind a target's command, unless it is in it already."""

    @property
    def launch_environment(self) -> Mapping[str, str]:
        """Variables its programs need besides those of a target, which count more."""

    @property
    def conversation_launch(self) -> LaunchConversation | None:
        """How a process is told what it is for, where it hosts one conversation, or one fork of it, from its start; None
        where OpenThread and OpenSide alone open conversations."""

    @property
    def settings(self) -> tuple[SettingDescription, ...]:
        """The settings its sessions know, besides those that belong to the daemon."""

    @property
    def listens(self) -> bool:
        """Whether its programs can also run by themselves, and be reached over a WebSocket."""

    @property
    def side(self) -> SideFacts:
        """What its attested programs can do about ephemeral forks of a conversation they have shown to keep."""

    @property
    def side_unkept(self) -> SideFacts:
        """The same of a conversation that may be nowhere but in its live process."""

    @property
    def catalogue(self) -> CatalogueAbilities:
        """What its programs tell without a conversation."""

    @property
    def examination(self) -> ProgramExamination | None:
        """How its programs are asked what they are; None when only their handshake tells."""

    def adapter(
        self,
        limits: AdapterLimits,
        report: ProgramReport | None = None,
        conversation: HostedConversation | None = None,
    ) -> ProviderAdapter:
        """A fresh adapter for a fresh connection; `report` is what is known of the program beforehand, `conversation`
        what the process was started for."""
