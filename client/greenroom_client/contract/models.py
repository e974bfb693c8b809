"""What travels, as TypedDicts: JSON objects as they are. Generated from contract/schema.json; do not edit.

Members the server adds later are kept. A word of an enum that is not listed here is to be taken as
"other"; an event, change or content block of an unknown `type` as nothing to act on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

ClientSubmitId: TypeAlias = str
MessageId: TypeAlias = str
RequestId: TypeAlias = str
SessionId: TypeAlias = str
TargetId: TypeAlias = str
TurnId: TypeAlias = str
WorkspaceId: TypeAlias = str


class ActorView(TypedDict):
    """A session that is awake. One that sleeps has only what is stored."""

    restarts: int
    """How often its code crashed since it woke."""
    quarantined: bool
    link: Literal["absent", "acquiring", "opening", "open", "closing"] | str
    """How far its connection to a provider has come."""
    generation: int
    """How many connections it has asked for since it woke."""
    turnId: TurnId | None
    turnPhase: Literal["submitted", "running", "waiting", "settling", "settled"] | str | None
    pendingInteractions: int
    streamingMessages: int
    mailbox: MailboxView
    timers: list[TimerView]


class ApprovalInput(TypedDict):
    """What is to be allowed or refused."""

    callId: str
    title: str
    kind: (
        Literal["read", "edit", "delete", "move", "search", "execute", "fetch", "think", "delegate", "other"]
        | str
    )
    command: NotRequired[str]
    cwd: NotRequired[str]
    changes: NotRequired[list[FileChange]]
    url: NotRequired[str]
    prompt: NotRequired[str]
    reason: NotRequired[str]


class ArmedFault(TypedDict):
    """What is armed at a failpoint."""

    action: Literal["kill", "exit", "raise", "delay", "pause"] | str
    onPass: int | None
    probability: float
    delayMs: int


class AttachmentGetParams(TypedDict):
    """Read a picture."""

    workspaceId: WorkspaceId
    attachmentId: str
    agentSessionId: NotRequired[SessionId | None]
    """Only if this session shows it."""


class AttachmentGetReply(TypedDict):
    """A picture with its content."""

    attachmentId: str
    mediaType: str
    bytes: int
    data: str
    """Base64, with its padding."""
    commitSeq: int


class AttachmentPutParams(TypedDict):
    """Store a picture. The same content again is the same attachment."""

    workspaceId: WorkspaceId
    mediaType: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`."""
    data: str
    """Base64, with its padding."""


class AttachmentPutReply(TypedDict):
    """The picture is durable. An image block of a prompt shows these three."""

    attachmentId: str
    mediaType: str
    bytes: int
    commitSeq: int


class Checkpoint(TypedDict):
    """Commits up to here were none of this subscription's."""

    topic: Literal["agent.activity.updated"]
    type: Literal["checkpoint"]
    commitSeq: int


class ClientInfo(TypedDict):
    """Who connects; for logs and health alone."""

    name: str
    version: NotRequired[str | None]


class Commit(TypedDict):
    """What one actor wrote in one go: complete rows of one workspace. Numbers grow and have holes."""

    topic: Literal["agent.activity.updated"]
    type: Literal["commit"]
    commitSeq: int
    changes: list[Change]


class ConnectionView(TypedDict):
    """A provider connection."""

    provider: str
    program: str
    state: Literal["starting", "ready", "draining", "ended"] | str
    scopes: int
    """How many sessions hear it."""
    pid: int | None
    exitStatus: str | None
    agentName: str | None
    agentVersion: str | None
    unwrittenBytes: int
    stderrBytes: int
    """All that came; the tail is its end."""
    stderrTail: str
    diagnosticCounts: dict[str, int]
    diagnostics: list[DiagnosticView]
    """The newest, oldest first."""


class ConversationsPlacement(TypedDict):
    """Show the session among the conversations without a project."""

    type: Literal["conversations"]
    version: Literal[1]


class DebugSessionParams(TypedDict):
    """Look into a session, a deleted one too. Nothing is woken."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId


class DebugSessionReply(TypedDict):
    """One session's insides."""

    session: SessionKey
    inspection: SessionInspection
    commitSeq: int


class DeltaBody(TypedDict):
    """More text of a streaming message, to be appended."""

    type: Literal["message_delta"]
    workspaceId: WorkspaceId
    agentSessionId: SessionId
    turnId: TurnId
    messageId: MessageId
    kind: Literal["text", "reasoning", "plan", "tool_call", "notice", "goal_control"] | str
    field: Literal["text", "output"] | str
    """`text`: the one text block of the message; `output`: `toolCall.output.text`."""
    deltaSeq: int
    """Counts from 0 in each message, without holes."""
    text: str


class DiagnosticView(TypedDict):
    """One odd thing a provider did."""

    kind: str
    detail: str


class ErrorData(TypedDict):
    """`data` of an error reply."""

    code: str
    retryable: bool
    delivery: Literal["not_dispatched", "dispatching", "accepted", "rejected", "unknown"] | str
    """What is known of the command's way to the provider; `not_dispatched` leaves nothing and frees its id."""
    retryAfterMs: NotRequired[int]
    """Not before so many milliseconds."""
    details: dict[str, Any]
    """What belongs to this code, such as `path` and `problem` of `request.invalid`."""


class EventsSubscribeParams(TypedDict):
    """Hear of what happens in a workspace, or in all of them."""

    workspaceId: WorkspaceId | Literal["*"]
    topics: Sequence[Literal["agent.activity.updated", "agent.side.updated", "host.updated"]]
    agentSessionIds: NotRequired[Sequence[SessionId] | None]
    """Only these sessions; a root includes its descendants."""
    deltas: NotRequired[Literal["all", "none"] | Sequence[SessionId] | None]
    """Of which sessions streamed text is sent; where none is, no snapshots are either."""
    storeId: NotRequired[str | None]
    """The store `afterCommitSeq` belongs to."""
    afterCommitSeq: NotRequired[int | None]
    """The newest commit the client holds; what came after it is replayed."""


class EventsSubscribeReply(TypedDict):
    """The subscription stands; its events follow this reply."""

    subscriptionId: int
    """Unique on this connection."""
    commitSeq: int
    """The head. Replayed commits end here, live ones begin after it."""
    gap: bool
    """True when what came after `afterCommitSeq` cannot be replayed: read again."""


class EventsUnsubscribeParams(TypedDict):
    """End a subscription of this connection."""

    subscriptionId: int


class EventsUpdateParams(TypedDict):
    """Change what a subscription follows, in place. A member that is left out stays as it is."""

    subscriptionId: int
    agentSessionIds: NotRequired[Literal["all"] | Sequence[SessionId] | None]
    """From now on only these sessions, a root with its descendants; `all` follows the whole workspace again."""
    deltas: NotRequired[Literal["all", "none"] | Sequence[SessionId] | None]
    """Of which sessions streamed text is sent from now on."""


class FailpointView(TypedDict):
    """One failpoint."""

    name: str
    """`seam.effect.before` or `.after`."""
    standsFor: str
    """What is so, and what is not yet, when it is reached."""
    waits: bool
    """Whether `delay` and `pause` are possible there."""
    armed: ArmedFault | None
    passes: int
    """Since the daemon started."""
    fired: int
    waiting: int
    """How many are paused there now."""


class FaultClearParams(TypedDict):
    """Which failpoint to disarm; without a name, all. Whoever is paused there goes on."""

    name: NotRequired[str | None]


class FaultInjectParams(TypedDict):
    """What is to happen at one failpoint, from its next pass on. Replaces what was armed there."""

    name: str
    action: Literal["kill", "exit", "raise", "delay", "pause"]
    """kill: the daemon gets SIGKILL. exit: it ends at once. raise: the error that can happen there. delay: it takes so long. pause: it waits until the failpoint is cleared or armed anew."""
    onPass: NotRequired[int | None]
    """Only the pass of this number, counted from now."""
    probability: NotRequired[float | None]
    """Above 0 and at most 1; each pass is drawn anew. Without it, each pass."""
    delayMs: NotRequired[int | None]
    """Of a delay, and of nothing else."""


class FaultInjectReply(TypedDict):
    """The failpoint as it stands now."""

    failpoint: FailpointView
    commitSeq: int


class FaultListParams(TypedDict):
    """Which page of the failpoints."""

    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]


class FaultListReply(TypedDict):
    """One page of failpoints, by their names."""

    items: list[FailpointView]
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class FileChange(TypedDict):
    """One file a tool call changed."""

    path: str
    kind: Literal["add", "update", "delete", "move"] | str
    diff: str | None


class Goal(TypedDict):
    """What a session works towards beyond single turns."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    objective: str
    status: str
    revision: int
    sync: str
    operationId: str | None


class GoalChange(TypedDict):
    """The goal as it is now."""

    row: Goal
    type: Literal["goal"]


class HealthProblem(TypedDict):
    """Something that wants attention."""

    code: str
    since: int
    workspaceId: NotRequired[WorkspaceId]
    agentSessionId: NotRequired[SessionId]


class HealthReadParams(TypedDict):
    """No params."""


class HealthReadReply(TypedDict):
    """How the service is."""

    status: Literal["ok", "degraded", "failing"] | str
    problems: list[HealthProblem]
    store: StoreHealth
    live: LiveCounts
    queues: dict[str, int]
    """How much waits in each named queue."""
    sweeper: SweeperHealth
    quarantined: list[SessionKey]
    """Sessions that are readable and closed to commands until `session/resume`."""
    commitSeq: int


class HostHint(TypedDict):
    """Something of the host changed: read it again."""

    topic: Literal["host.updated"]
    type: Literal["target", "models", "status", "health"]


class HostShutdown(TypedDict):
    """The daemon is about to stop; commands are refused from now on."""

    topic: Literal["host.updated"]
    type: Literal["shutdown"]
    graceSeconds: float


class ImageBlock(TypedDict):
    """A picture by reference; rows never hold base64."""

    mediaType: str
    bytes: int
    attachmentId: str
    type: Literal["image"]


class ImageBlockInput(TypedDict):
    """A picture by reference; rows never hold base64."""

    mediaType: str
    bytes: int
    attachmentId: str
    type: Literal["image"]


class InitialGoalControl(TypedDict):
    """Start the session with a goal and without a turn."""

    action: Literal["set"]
    objective: str
    """Taken literally, whatever it looks like."""


class InitializeParams(TypedDict):
    """The first request of a connection."""

    protocolVersion: int
    """The version the client speaks: 1."""
    clientInfo: ClientInfo


class InitializeReply(TypedDict):
    """The connection is open."""

    protocolVersion: int
    storeId: str
    """Names the database: numbers of commits mean nothing in another one."""
    serverInfo: ServerInfo
    capabilities: ServerCapabilities
    scope: Literal["read", "control", "admin"] | str
    """What the token allows."""
    limits: Limits


class Interaction(TypedDict):
    """One request of the agent as the contract shows it."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    turnId: TurnId
    requestId: RequestId
    kind: Literal["approval", "question", "plan"] | str
    input: InteractionInput
    createdAt: int
    options: list[InteractionOption]
    status: Literal["pending", "answered", "superseded"] | str
    answer: OptionAnswer | QuestionAnswer | RedactedAnswer | None
    answerDelivery: Literal["dispatching", "delivered", "failed", "unknown"] | str | None
    resolvedAt: int | None


class InteractionChange(TypedDict):
    """The interaction as it is now."""

    row: Interaction
    type: Literal["interaction"]


class InteractionListParams(TypedDict):
    """List the interactions of all sessions of the workspace, children included."""

    workspaceId: WorkspaceId
    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]
    status: NotRequired[Literal["pending", "answered", "superseded"] | None]


class InteractionListReply(TypedDict):
    """One page of interactions."""

    items: list[Interaction]
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class InteractionOption(TypedDict):
    """One answer the agent offered; it is chosen by `option_id`."""

    optionId: str
    label: str
    kind: (
        Literal[
            "allow_once", "allow_session", "allow_always", "reject_once", "reject_always", "stop", "other"
        ]
        | str
    )


class InteractionReply(TypedDict):
    """The interaction as it stands."""

    interaction: Interaction
    commitSeq: int


class InteractionRespondParams(TypedDict):
    """Answer a pending interaction; the first valid answer wins."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    turnId: TurnId
    requestId: RequestId
    answer: Answer


class KeptWorktree(TypedDict):
    """A checkout that a purge leaves where it is, and why."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    path: str
    branch: str
    because: Literal["changes", "commits", "repository_missing", "git_failed"] | str


class LifecycleCapabilities(TypedDict):
    """Which lifecycle commands may be tried on this session."""

    forkThroughTurn: bool
    editRetry: bool
    side: bool
    guidance: bool
    interrupt: bool


class Limits(TypedDict):
    """The bounds in force."""

    maxFrameBytes: int
    """The largest frame taken from a client; a larger one closes the connection with 1009."""
    maxServerFrameBytes: int
    """The largest event sent; `session_reset` stands in for a larger commit."""
    maxProviderLineBytes: int
    """The longest line taken from a provider; a longer one is discarded."""
    maxPageBytes: int
    """A page ends here, whatever its `limit`."""
    maxDeltaBytes: int
    """The longest text of one delta."""
    maxMessageBytes: int
    """The longest text of one message; the rest is cut and the message marked `truncated`."""
    maxToolOutputBytes: int
    """The longest output of one tool call that is kept; head and tail of a longer one."""
    messageUpdateIntervalMs: int
    """At most one row per streaming message and interval, where its content changes otherwise than by deltas."""
    writeBehindMs: int
    """How much streamed text a crash may lose."""
    maxSessions: int
    maxLiveConnections: int
    """Provider connections alive at once."""
    maxConcurrentStarts: int
    """Provider processes being started at once."""
    admissionWaitSeconds: float
    """How long a turn waits for a live connection before it fails with `limit.exceeded`."""
    maxAdmissionWaiting: int
    """Sessions that may wait for a live connection; one more fails at once."""
    startSlotSeconds: float
    """How long a start counts against `maxConcurrentStarts`: what takes longer is waiting and no longer work."""
    maxStartFailures: int
    """Failed starts of one launch within the window after which the next ones are refused for a while."""
    startFailuresWindowSeconds: float
    startBackOffSeconds: float
    """How long, the first time; doubled with each further failure."""
    startBackOffMaxSeconds: float
    sessionsPerConnection: dict[str, int]
    """How many sessions share one provider process, by provider."""
    connectionDrainSeconds: float
    """How long the others on a condemned connection may go on with their turns."""
    maxProviderDiscardBytes: int
    """How much is discarded while the end of an overlong line is looked for, before the connection goes."""
    maxProviderRecordBytes: int
    """How much of the end of a provider's own record of a conversation is read."""
    maxProviderNoiseBytes: int
    """How much output that is no protocol one connection may write."""
    maxProviderUnwrittenBytes: int
    """Unwritten bytes above which a provider that does not read is given up; a prompt with its attachments fits."""
    providerLastReadsSeconds: float
    """How long the output of a process that has ended is still waited for."""
    providerStderrTailBytes: int
    """Of each provider's stderr, kept for `debug/session`."""
    maxProviderDiagnostics: int
    """Odd things of each provider, kept for `debug/session`; the older ones are only counted."""
    sessionLaneMessages: int
    """Commands waiting in one session; more are answered `overloaded`."""
    sessionLaneControls: int
    """Stops, answers and the like waiting in one session; more are answered `overloaded`."""
    sessionLaneBytes: int
    """Provider output waiting in one session before its connection stops reading."""
    sessionRestarts: RestartLimit
    """Restarts of one session's actor before it is quarantined."""
    maxClientConnections: int
    """Connections of any kind on the port; one more is answered with HTTP 503."""
    maxSubscriptionsPerConnection: int
    helloTimeoutSeconds: float
    """How long a connection may take to `initialize`."""
    idleReleaseSeconds: float
    """An idle session gives up its provider after this time."""
    initializeTimeoutSeconds: float
    """How long a provider may take to shake hands."""
    examineTimeoutSeconds: float
    """How long a provider's program may take to say what it is, before and without any conversation."""
    inquiryTimeoutSeconds: float
    """How long an agent may take to say something of itself: `provider/status`, `models`, `skills`, `usage`."""
    maxInquiries: int
    """Agents asked about themselves at once, in processes without a session; one examination may run beside them."""
    catalogueFreshSeconds: float
    """How long a snapshot of models, skills or sign-in counts as fresh; an older one is shown while it is read again."""
    usageFreshSeconds: float
    """The same for what is left of an account."""
    cancelGraceSeconds: float
    """How long a provider may take to obey a cancel before it is forced."""
    turnReconcileSeconds: float
    """Silence after which the provider is asked how a turn stands."""
    guideTimeoutSeconds: float
    """How long a provider may take to answer guidance."""
    maxSessionChildren: int
    """Sub-agents of one session that its agent may show while its process lives; one more is stopped."""
    childStartSeconds: float
    """How long a turn waits for the first turn of a sub-agent that it began."""
    maxOpenGuides: int
    """Guidance of one session that waits for its provider's answer; more is answered `overloaded`."""
    maxOpenInteractions: int
    """What an agent may ask of a session's user at once; more is refused before anybody sees it."""
    maxInteractionBytes: int
    """The text of one thing an agent asks; what could not be shown whole is refused before anybody sees it."""
    respondTimeoutSeconds: float
    """How long the delivery of an answer may take."""
    settingsTimeoutSeconds: float
    """How long a live agent may take to change a setting at once, the wait for it to open included."""
    maxSides: int
    """Sides that are open or opening."""
    maxSideTurns: int
    """Turns of one Side, all of which it remembers."""
    sideOpenTimeoutSeconds: float
    sideOwnerGraceSeconds: float
    """How long a Side outlives the connection of its owner."""
    maxSideTombstones: int
    """How many ended Sides are remembered."""
    lifecycleTimeoutSeconds: float
    """How long opening, closing, resuming or deleting may take."""
    clientSendDeadlineSeconds: float
    """How long one write to a client may take."""
    clientQueueBytes: int
    """What may wait for one client."""
    clientCloseTimeoutSeconds: float
    """From the wish to close a client's connection to the closed socket."""
    pingSeconds: float
    maxInFlightRequests: int
    """Unanswered requests of one connection."""
    checkpointSeconds: float
    """A subscription hears of the head at least this often while other commits pass by."""
    commitLogMaxAgeSeconds: float
    commitLogMaxCount: int
    commitLogMaxBytes: int
    storeReserveBytes: int
    """Kept free for stops and settlements on a full disk."""
    maxWalBytes: int
    """A write-ahead log larger than this is a problem of health: a reader that does not end keeps it from being emptied."""
    copyIntervalSeconds: float
    """How often the database is copied, when it has changed; 0: never."""
    copiesKept: int
    """Copies made at that interval; the oldest goes when there is one more."""
    maxSweeperPending: int
    """Resources whose closing failed and is tried again; beyond it the oldest is given up and logged."""
    sweeperAttempts: int
    deletedRetentionSeconds: float
    """How long a deleted session can be restored; 30 days."""
    deletedRetentionBytes: int
    """What deleted sessions may take up together; the longest deleted are purged first."""
    maxAttachmentBytes: int
    maxAttachmentsPerPrompt: int
    attachmentUnusedSeconds: float
    """How long an attachment that no prompt shows is kept."""
    maxUnusedAttachmentBytes: int
    """What attachments that no prompt shows yet may take up together."""
    maxWorktrees: int
    """Checkouts made for sessions, those of deleted sessions and those kept after a purge included."""
    worktreeFreeBytes: int
    """What a checkout must find free on the disk of `workRoot` before it is made."""
    worktreeTimeoutSeconds: float
    """How long one command of git's may take; a create with isolation may take as much longer than another."""
    maxConcurrentCheckouts: int
    """Commands of git's that run at once."""
    shutdownGraceSeconds: float
    """How long a clean stop may take."""


class LiveCounts(TypedDict):
    """How much is alive right now."""

    connections: int
    """Provider connections."""
    sessions: int
    sides: int
    turns: int


class LockView(TypedDict):
    """A lifecycle identity of this session that an operation holds."""

    kind: str
    id: str
    holder: str
    heldMs: int
    waiting: list[str]


class MailboxView(TypedDict):
    """What waits in front of the session, and what was refused since it woke."""

    messages: int
    control: int
    """Of these, stops, answers and the like."""
    bytes: int
    bytesHighWater: int
    marks: int
    """Operations that keep their place among their client's commands."""
    refusedCommands: int
    paused: bool
    """Whether its provider's output is left unread until this has drained."""


class Message(TypedDict):
    """One message as the contract shows it. `turn_id` is null only for goal audit rows and imports."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    messageId: MessageId
    sequence: int
    version: int
    role: Literal["user", "assistant", "system"] | str
    kind: Literal["text", "reasoning", "plan", "tool_call", "notice", "goal_control"] | str
    createdAt: int
    turnId: TurnId | None
    status: Literal["streaming", "completed", "failed", "interrupted"] | str
    content: list[ContentBlock]
    toolCall: ToolCall | None
    deltaSeq: int | None
    truncated: bool
    clientSubmitId: ClientSubmitId | None
    displayPrompt: str | None


class MessageChange(TypedDict):
    """The message as it is now."""

    row: Message
    type: Literal["message"]


class MessageDelta(TypedDict):
    """More text of a streaming message, to be appended."""

    type: Literal["message_delta"]
    workspaceId: WorkspaceId
    agentSessionId: SessionId
    turnId: TurnId
    messageId: MessageId
    kind: Literal["text", "reasoning", "plan", "tool_call", "notice", "goal_control"] | str
    field: Literal["text", "output"] | str
    """`text`: the one text block of the message; `output`: `toolCall.output.text`."""
    deltaSeq: int
    """Counts from 0 in each message, without holes."""
    text: str
    topic: Literal["agent.activity.updated"]


class MessageSnapshot(TypedDict):
    """A streaming message as it stands; only deltas from its `deltaSeq` on follow."""

    topic: Literal["agent.activity.updated"]
    type: Literal["message_snapshot"]
    message: Message


class MetricFamily(TypedDict):
    """What belongs to one name. Counters only grow, from 0 at each start of the daemon."""

    name: str
    help: str
    type: Literal["counter", "gauge", "histogram"]
    samples: list[MetricSample]


class MetricSample(TypedDict):
    """One figure. A histogram has several names: `_bucket` with the label `le`, `_sum` and `_count`."""

    name: str
    labels: dict[str, str]
    value: float


class MetricsReadParams(TypedDict):
    """No params."""


class MetricsReadReply(TypedDict):
    """Figures for machines; `GET /metrics` gives the same in the text format of Prometheus."""

    families: list[MetricFamily]
    commitSeq: int


class ModelEffort(TypedDict):
    """A value `reasoningEffort` may have with a model."""

    value: str
    description: str | None


class NoticeBlock(TypedDict):
    """Something the runtime has to tell, typed by `code`."""

    code: str
    severity: Literal["info", "warning", "error"] | str
    text: str
    type: Literal["notice"]


class Operation(TypedDict):
    """One operation of one session."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    operationId: str
    kind: Literal["fork", "edit_retry", "goal", "plan"] | str
    state: Literal["prepared", "dispatching", "provider_accepted", "committed", "unknown", "failed"] | str
    error: TurnError | None
    createdAt: int
    updatedAt: int


class OperationChange(TypedDict):
    """The operation as it is now."""

    row: Operation
    type: Literal["operation"]


class OperationGetParams(TypedDict):
    """Read one durable operation of a session."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    operationId: ClientSubmitId


class OperationReply(TypedDict):
    """The operation as it stands."""

    operation: Operation
    commitSeq: int


class OptionAnswer(TypedDict):
    """An offered option; `feedback` only together with reject_once, it goes on as guidance."""

    optionId: str
    feedback: NotRequired[str]


class OptionAnswerInput(TypedDict):
    """An offered option; `feedback` only together with reject_once, it goes on as guidance."""

    optionId: str
    feedback: NotRequired[str | None]


class PlanBlock(TypedDict):
    """A plan as the provider last reported it."""

    entries: list[PlanEntry]
    type: Literal["plan"]


class PlanEntry(TypedDict):
    """One step of a plan."""

    text: str
    status: Literal["pending", "in_progress", "completed"] | str
    priority: NotRequired[str]


class PlanInput(TypedDict):
    """A plan to be accepted: `markdown` or `entries`, never both."""

    markdown: NotRequired[str]
    entries: NotRequired[list[PlanEntry]]


class PoolView(TypedDict):
    """The pool of all provider connections."""

    connections: dict[str, int]
    """By state."""
    scopes: int
    waiting: int
    startsInFlight: int
    """Processes being started."""


class ProjectPlacement(TypedDict):
    """Show the session under a project."""

    type: Literal["project"]
    version: Literal[1]
    path: str


class ProviderModel(TypedDict):
    """A model an agent offers."""

    model: str
    """The value of the setting `model`."""
    label: str
    description: str | None
    isDefault: bool
    """It is what the agent takes when nobody chooses."""
    hidden: bool
    """Not meant for lists to choose from."""
    reasoningEfforts: list[ModelEffort] | None
    """Null when the agent does not say; none when it takes none."""
    defaultReasoningEffort: str | None


class ProviderModelsReply(TypedDict):
    """The models of an agent, as it last listed them."""

    agentTargetId: TargetId
    state: Literal["complete", "unavailable"] | str
    """`unavailable`: the agent lists its models within a session only, and none has told yet."""
    models: list[ProviderModel]
    readAt: int | None
    """Null for a list that is the target's own definition, or that there is none."""
    stale: bool
    """It is older than `catalogueFreshSeconds`; it is being read again."""
    refreshing: bool
    problem: ProviderProblem | None
    commitSeq: int


class ProviderParams(TypedDict):
    """Which target's agent, and whether what is known of it is enough."""

    agentTargetId: TargetId
    refresh: NotRequired[bool | None]
    """Ask the agent now, and wait for it; one that is being asked already is waited for. Needs an `admin` token."""


class ProviderProblem(TypedDict):
    """Why the agent could not be asked just now; what is shown beside it is what was known before."""

    code: str
    retryable: bool


class ProviderSkill(TypedDict):
    """Something a prompt can call for by its name."""

    name: str
    description: str | None
    source: Literal["builtin", "user", "project", "other"] | str
    enabled: bool


class ProviderSkillsReply(TypedDict):
    """The skills of an agent, as it last listed them."""

    agentTargetId: TargetId
    state: Literal["complete", "unavailable"] | str
    trigger: str
    """What stands before a skill's name in a prompt."""
    skills: list[ProviderSkill]
    readAt: int | None
    stale: bool
    refreshing: bool
    problem: ProviderProblem | None
    commitSeq: int


class ProviderStatusReply(TypedDict):
    """How an agent's program and sign-in stand."""

    agentTargetId: TargetId
    program: TargetProgram
    auth: Literal["authenticated", "configured", "required", "unknown"] | str
    """`authenticated`: a request with it succeeded lately. `configured`: there is one, of which no more is known. `required`: the agent has none, or its provider refused it. Failures that are no word on the sign-in change nothing."""
    account: Literal["none", "not_needed", "key", "subscription"] | str | None
    """What the agent says it works with; null when it does not say."""
    readAt: int | None
    """When the agent last said so; null when it never did."""
    stale: bool
    refreshing: bool
    problem: ProviderProblem | None
    commitSeq: int


class ProviderUsageReply(TypedDict):
    """What is left of an agent's account."""

    agentTargetId: TargetId
    state: Literal["complete", "unavailable", "not_applicable"] | str
    """Only a `complete` one has limits; `not_applicable`: this kind of account has none."""
    reason: Literal["auth_required", "unsupported", "parse_failed"] | str | None
    """Why it is unavailable."""
    limits: list[UsageLimit]
    readAt: int | None
    stale: bool
    refreshing: bool
    problem: ProviderProblem | None
    commitSeq: int


class Question(TypedDict):
    """One question of a question Interaction."""

    id: str
    question: str
    multiSelect: bool
    freeText: bool
    secret: bool
    header: NotRequired[str]
    options: NotRequired[list[QuestionOption]]


class QuestionAnswer(TypedDict):
    """Answers by question id."""

    answersByQuestionId: dict[str, str | list[str]]


class QuestionAnswerInput(TypedDict):
    """Answers by question id."""

    answersByQuestionId: Mapping[str, str | Sequence[str]]


class QuestionInput(TypedDict):
    """The questions asked together."""

    questions: list[Question]


class QuestionOption(TypedDict):
    """One offered answer of a question."""

    label: str
    description: NotRequired[str]


class RedactedAnswer(TypedDict):
    """Stands for answers to secret questions, which are neither stored nor sent."""

    redacted: Literal[True]


class ResourceLinkBlock(TypedDict):
    """A link to something outside the conversation."""

    uri: str
    name: str
    type: Literal["resource_link"]


class ResourceLinkBlockInput(TypedDict):
    """A link to something outside the conversation."""

    uri: str
    name: str
    type: Literal["resource_link"]


class RestartLimit(TypedDict):
    """How often something may be restarted before it is given up."""

    count: int
    periodSeconds: float


class Resync(TypedDict):
    """This subscription fell behind the log: read everything again. What follows is newer than this number."""

    topic: Literal["agent.activity.updated"]
    type: Literal["resync"]
    commitSeq: int


class RuntimeActivity(TypedDict):
    """What a session's runtime does right now; never stored."""

    topic: Literal["agent.activity.updated"]
    type: Literal["runtime_activity"]
    workspaceId: WorkspaceId
    agentSessionId: SessionId
    runtimeState: Literal["absent", "activating", "live", "hibernated", "closing", "quarantined"] | str
    activity: Literal["running", "idle"] | str
    lastActivityAt: int | None
    occurredAt: int


class SearchMatch(TypedDict):
    """What in a session has the words of a search."""

    kind: Literal["title", "message"] | str
    snippet: str
    """The title, or the text around the words; plain text."""
    messageId: MessageId | None
    """Null for a title."""
    turnId: TurnId | None


class ServerCapabilities(TypedDict):
    """What this server can do."""

    methods: list[str]
    topics: list[str]
    features: list[str]
    deprecated: list[str]
    """Names that stay for two more minor releases."""


class ServerInfo(TypedDict):
    """Which server this is."""

    name: str
    version: str
    instanceId: str
    """New at every start of the daemon."""
    startedAt: int


class Session(TypedDict):
    """One hosted conversation as the contract shows it."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    agentTargetId: TargetId
    provider: str
    cwd: str
    createdAt: int
    updatedAt: int
    providerSessionId: str | None
    title: str | None
    titleSource: Literal["none", "provider", "user"] | str
    settings: dict[str, str | bool]
    settingsSource: dict[str, Literal["explicit", "default", "provider"] | str]
    isolation: SessionIsolation | None
    railSectionKey: str | None
    """`project:` and a path, as given at creation; null: among the conversations without a project. It never changes."""
    pinned: bool
    goal: None
    activeTurnId: TurnId | None
    capabilities: SessionCapabilities | None
    lifecycleCapabilities: LifecycleCapabilities
    lineage: SessionLineage | None
    parent: SessionParent | None
    resumability: Literal["unknown", "resumable", "not_resumable"] | str
    runtime: SessionRuntime
    usage: Usage | None
    historyRevision: int
    messageVersion: int
    deletedAt: int | None


class SessionActivity(TypedDict):
    """What a list tells of a session at a glance."""

    turnId: TurnId | None
    """The turn that is not settled yet."""
    phase: Literal["submitted", "running", "waiting", "settling", "settled"] | str | None
    pendingInteractions: int
    """Of this session and its descendants."""


class SessionCapabilities(TypedDict):
    """What the provider reported for this session; a null snapshot means not known."""

    load: bool
    imagePrompts: bool
    embeddedContext: bool
    interrupt: bool
    guidance: bool
    plan: bool
    side: bool
    """Its program was attested for ephemeral forks of a live conversation."""


class SessionChange(TypedDict):
    """The session as it is now."""

    row: Session
    type: Literal["session"]


class SessionCloseParams(TypedDict):
    """End the session's runtime, a running turn first. The session stays."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId


class SessionCreateParams(TypedDict):
    """Create a session, with its first prompt or without. Nothing is started before this is durable."""

    workspaceId: WorkspaceId
    agentTargetId: TargetId
    clientSubmitId: ClientSubmitId
    """Repeating it with equal params answers with the same session and creates nothing."""
    agentSessionId: NotRequired[SessionId | None]
    """A name of the caller's choice; without it the server makes one."""
    cwd: NotRequired[str | None]
    """The working directory; without it the session gets one of its own."""
    title: NotRequired[str | None]
    settings: NotRequired[Mapping[str, str | bool] | None]
    isolation: NotRequired[WorktreeIsolation | None]
    railPlacement: NotRequired[ConversationsPlacement | ProjectPlacement | None]
    initialContent: NotRequired[Sequence[PromptBlock] | None]
    initialGoalControl: NotRequired[InitialGoalControl | None]


class SessionCreateReply(TypedDict):
    """The session is durable, and with it the turn of its first prompt."""

    session: Session
    turn: NotRequired[Turn]
    """Left out when no content was given."""
    commitSeq: int


class SessionGetParams(TypedDict):
    """Read a session with its newest turns."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    projection: NotRequired[Literal["full", "summary"] | None]
    """A summary has the session, its newest turn and what waits for an answer in its tree: no older turns, no children."""


class SessionGetReply(TypedDict):
    """A session with what a client needs to show it."""

    session: Session
    activeTurn: Turn | None
    turns: list[Turn]
    """The newest, newest first."""
    turnsCursor: str | None
    """Where `turn/list` goes on."""
    interactions: list[Interaction]
    """All pending ones of it and its descendants, and those of the turns returned."""
    children: list[Session]
    incomplete: list[Literal["interactions", "children"] | str]
    """What did not fit into `maxPageBytes` whole. The rest of the interactions is in `interaction/list`; turns go on at `turnsCursor`."""
    projection: Literal["full", "summary"] | str
    commitSeq: int


class SessionInspection(TypedDict):
    """One session's insides at one moment."""

    runtimeState: Literal["absent", "activating", "live", "hibernated", "closing", "quarantined"] | str
    actor: ActorView | None
    """Null when it sleeps."""
    locks: list[LockView]
    connections: list[ConnectionView]
    """What it holds; more than one only while one replaces another."""
    lastConnection: ConnectionView | None
    """The one that last failed to start or was lost, as long as it is remembered."""
    pool: PoolView


class SessionIsolation(TypedDict):
    """The checkout that was made for this session. Canonical: it is never inferred from `cwd`."""

    type: Literal["worktree"]
    path: str
    """The top of the checkout; `cwd` is this or below it."""
    branch: str
    """Made for it, and checked out when it began."""
    baseCommit: str
    """What the branch began at."""


class SessionKey(TypedDict):
    """The whole identity of a Session: its id is unique only inside its workspace."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId


class SessionLineage(TypedDict):
    """Which session and turn a forked session was made from."""

    sourceAgentSessionId: SessionId
    sourceTurnId: TurnId


class SessionListDeletedParams(TypedDict):
    """List the deleted sessions of a workspace, the newest deletion first."""

    workspaceId: WorkspaceId
    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]
    agentSessionIds: NotRequired[Sequence[SessionId] | None]
    """Only these."""
    title: NotRequired[str | None]
    """Only those whose title has these words as they stand, in any case."""
    railPlacement: NotRequired[ConversationsPlacement | ProjectPlacement | None]
    """Only those of this project, or of none. The project need not be there any more."""


class SessionListDeletedReply(TypedDict):
    """One page of deleted sessions."""

    items: list[Session]
    """Topmost ones: what was below them is deleted with them."""
    sessions: list[Session]
    """The same rows, by the name they have in the answers to delete, restore and purge."""
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class SessionListItem(TypedDict):
    """A Session row with its activity."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    agentTargetId: TargetId
    provider: str
    cwd: str
    createdAt: int
    updatedAt: int
    providerSessionId: str | None
    title: str | None
    titleSource: Literal["none", "provider", "user"] | str
    settings: dict[str, str | bool]
    settingsSource: dict[str, Literal["explicit", "default", "provider"] | str]
    isolation: SessionIsolation | None
    railSectionKey: str | None
    """`project:` and a path, as given at creation; null: among the conversations without a project. It never changes."""
    pinned: bool
    goal: None
    activeTurnId: TurnId | None
    capabilities: SessionCapabilities | None
    lifecycleCapabilities: LifecycleCapabilities
    lineage: SessionLineage | None
    parent: SessionParent | None
    resumability: Literal["unknown", "resumable", "not_resumable"] | str
    runtime: SessionRuntime
    usage: Usage | None
    historyRevision: int
    messageVersion: int
    deletedAt: int | None
    activity: SessionActivity


class SessionListParams(TypedDict):
    """List the root sessions of a workspace, pinned ones first."""

    workspaceId: WorkspaceId
    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]
    order: NotRequired[Literal["recent", "created"] | None]
    """By the start of the newest turn, or by creation; newest first."""
    agentTargetId: NotRequired[TargetId | None]
    active: NotRequired[bool | None]
    """Only those with an unsettled turn, or only those without."""
    pinned: NotRequired[bool | None]


class SessionListReply(TypedDict):
    """One page of sessions."""

    items: list[SessionListItem]
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class SessionMessagesParams(TypedDict):
    """Read messages by exactly one of: what changed after a version, a window before a sequence, ids."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    afterVersion: NotRequired[int | None]
    beforeSequence: NotRequired[int | None]
    messageIds: NotRequired[Sequence[MessageId] | None]
    includeRetracted: NotRequired[bool | None]
    """Also the messages of turns that were retracted."""
    limit: NotRequired[int | None]


class SessionMessagesReply(TypedDict):
    """Messages, ascending in the asked direction's order."""

    messages: list[Message]
    hasMore: bool
    """Whether there are more in the asked direction."""
    oldestSequence: int | None
    """The lowest `sequence` of the messages returned."""
    messageVersion: int
    """The session's newest version."""
    commitSeq: int


class SessionParent(TypedDict):
    """Where a provider-native child came from."""

    rootAgentSessionId: SessionId
    rootTurnId: TurnId
    parentAgentSessionId: SessionId
    parentTurnId: TurnId
    parentToolCallId: str | None


class SessionPinParams(TypedDict):
    """Keep the session at the top of lists, or no longer. Repeating it changes nothing."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    pinned: bool


class SessionPurgeReply(TypedDict):
    """The sessions named and all below them, as they stood."""

    sessions: list[Session]
    keptWorktrees: list[KeptWorktree]
    """Checkouts of theirs that stay on the disk, since they hold work that is nowhere else."""
    commitSeq: int


class SessionRemovedChange(TypedDict):
    """The session was deleted."""

    row: Session
    type: Literal["session_removed"]


class SessionRenameParams(TypedDict):
    """Give the session a title of the user's; no title of a provider takes its place."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    title: str
    """Empty takes the title away: the provider may give one again."""


class SessionReply(TypedDict):
    """The session as it stands."""

    session: Session
    commitSeq: int


class SessionReset(TypedDict):
    """Stands in for a commit that is too large to send, a fork or an import: read the session again."""

    topic: Literal["agent.activity.updated"]
    type: Literal["session_reset"]
    commitSeq: int
    workspaceId: WorkspaceId
    agentSessionId: SessionId
    messageVersion: int


class SessionRestoredChange(TypedDict):
    """The session is back; a `session_reset` follows."""

    row: Session
    type: Literal["session_restored"]


class SessionResumeParams(TypedDict):
    """Make the session live now."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    mode: NotRequired[Literal["fresh"] | None]
    """`fresh` starts an empty conversation where the provider lost the old one."""


class SessionRuntime(TypedDict):
    """A live observation of the session's runtime; never stored, never the reason of a commit."""

    state: Literal["absent", "activating", "live", "hibernated", "closing", "quarantined"] | str
    lastActivityAt: int | None


class SessionSearchItem(TypedDict):
    """A Session row with what was found in it."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    agentTargetId: TargetId
    provider: str
    cwd: str
    createdAt: int
    updatedAt: int
    providerSessionId: str | None
    title: str | None
    titleSource: Literal["none", "provider", "user"] | str
    settings: dict[str, str | bool]
    settingsSource: dict[str, Literal["explicit", "default", "provider"] | str]
    isolation: SessionIsolation | None
    railSectionKey: str | None
    """`project:` and a path, as given at creation; null: among the conversations without a project. It never changes."""
    pinned: bool
    goal: None
    activeTurnId: TurnId | None
    capabilities: SessionCapabilities | None
    lifecycleCapabilities: LifecycleCapabilities
    lineage: SessionLineage | None
    parent: SessionParent | None
    resumability: Literal["unknown", "resumable", "not_resumable"] | str
    runtime: SessionRuntime
    usage: Usage | None
    historyRevision: int
    messageVersion: int
    deletedAt: int | None
    match: SearchMatch


class SessionSearchParams(TypedDict):
    """Find the sessions of a workspace that hold all of these words; deleted ones are left out."""

    workspaceId: WorkspaceId
    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]
    query: str
    """Words as a person types them; one of three letters or more finds what begins with it. There is no syntax."""


class SessionSearchReply(TypedDict):
    """One page of sessions found: first those whose title has the words, then by the newest text that has them."""

    items: list[SessionSearchItem]
    """Each session once. A page may be short or empty and still have a next one."""
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class SessionSendParams(TypedDict):
    """Start a turn with a prompt."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    clientSubmitId: ClientSubmitId
    content: Sequence[PromptBlock]
    displayPrompt: NotRequired[str | None]
    """What clients show in place of the content."""


class SessionTreesParams(TypedDict):
    """Whole trees, named by their roots: all are treated or none."""

    workspaceId: WorkspaceId
    agentSessionIds: Sequence[SessionId]
    """Naming one twice is naming it once."""


class SessionUpdateSettingsParams(TypedDict):
    """Change settings of a session; those not named stay as they are."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    settings: Mapping[str, str | bool | None]
    """Null unsets: what holds then is up to the target and its agent."""


class SessionsReply(TypedDict):
    """The sessions named and all below them, as they stand."""

    sessions: list[Session]
    commitSeq: int


class Side(TypedDict):
    """An ephemeral branch of a live conversation; never stored. Its rows carry the Side's id as their session."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    """The same as `sideAgentSessionId`."""
    sourceAgentSessionId: SessionId
    sideAgentSessionId: SessionId
    surfaceId: str
    """The place in a client that shows this Side."""
    state: Literal["opening", "open", "closing", "closed", "expired"] | str
    activeTurnId: TurnId | None
    settings: dict[str, str | bool]
    """Captured when the Side was opened; read-only."""
    openedAt: int


class SideCancelParams(TypedDict):
    """Stop exactly this turn of a Side. A settled one is returned as it is."""

    workspaceId: WorkspaceId
    sideAgentSessionId: SessionId
    turnId: TurnId


class SideCapabilitiesParams(TypedDict):
    """Whether a Side of this session can be opened, as far as is known without starting anything."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId


class SideCapabilitiesReply(TypedDict):
    """Whether `side/open` may be tried."""

    supported: bool
    facts: SideFacts
    """What was attested; the first five decide, each of them."""
    reason: Literal["provider", "program", "conversation", "child"] | str | None
    """Why not."""
    commitSeq: int


class SideCloseParams(TypedDict):
    """End a Side; its source goes on."""

    workspaceId: WorkspaceId
    sideAgentSessionId: SessionId


class SideClosed(TypedDict):
    """The Side was closed. Nothing of it follows."""

    type: Literal["closed"]
    reason: Literal["closed", "surface_disposed", "owner_lost", "source_deleted", "shutdown"] | str


class SideError(TypedDict):
    """Something of the Side failed; the Side goes on."""

    type: Literal["error"]
    code: str
    turnId: NotRequired[TurnId]


class SideExpired(TypedDict):
    """The Side ended by itself. Nothing of it follows."""

    type: Literal["expired"]
    reason: Literal["provider_lost", "overflow"] | str


class SideFacts(TypedDict):
    """What a provider family shows about ephemeral forks; none of it is assumed."""

    nativeFork: bool
    activeTurnSnapshot: bool
    """It forks a conversation in the middle of a turn, without disturbing it."""
    ephemeral: bool
    """The fork is in no list, in no file, and gone with its process."""
    hiddenHistory: bool
    """The fork shows none of the turns that its model remembers."""
    boundary: bool
    """Something can be put between what is inherited and what is new that the model sees."""
    tools: bool
    multiTurn: bool


class SideGap(TypedDict):
    """This client was too slow: nothing more of this Side is sent to it."""

    topic: Literal["agent.side.updated"]
    type: Literal["side_gap"]
    workspaceId: WorkspaceId
    sourceAgentSessionId: SessionId
    sideAgentSessionId: SessionId


class SideGetParams(TypedDict):
    """Read a Side."""

    workspaceId: WorkspaceId
    sideAgentSessionId: SessionId


class SideGetReply(TypedDict):
    """A Side with what a client needs to follow it."""

    side: Side
    activeTurn: Turn | None
    interactions: list[Interaction]
    """Those that wait for an answer."""
    sequence: int
    """Of the last thing told of it."""
    commitSeq: int


class SideInteraction(TypedDict):
    """An interaction of the Side as it is now."""

    type: Literal["interaction"]
    interaction: Interaction


class SideListParams(TypedDict):
    """List the Sides of a workspace that are open, the oldest first."""

    workspaceId: WorkspaceId
    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]
    agentSessionId: NotRequired[SessionId | None]
    """Only those forked from this session."""


class SideListReply(TypedDict):
    """One page of open Sides."""

    items: list[Side]
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class SideMessage(TypedDict):
    """A message of the Side as it is now."""

    type: Literal["message"]
    message: Message


class SideOpenParams(TypedDict):
    """Fork the conversation of a session, in the middle of a turn too, into one that is never stored."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    sideAgentSessionId: SessionId
    """A name of the caller's choice, that no session and no other Side has."""
    surfaceId: str
    """The place in the client that shows it; it ends with that place."""
    instructions: NotRequired[str | None]
    """What its agent is to keep to, beside the rules every Side has."""


class SideOpened(TypedDict):
    """The Side is open; `sequence` counts from here."""

    type: Literal["opened"]
    side: Side


class SideReply(TypedDict):
    """The Side as it stands."""

    side: Side
    commitSeq: int


class SideRespondParams(TypedDict):
    """Answer a pending interaction of a Side."""

    workspaceId: WorkspaceId
    sideAgentSessionId: SessionId
    turnId: TurnId
    requestId: RequestId
    answer: Answer


class SideSendParams(TypedDict):
    """Start a turn of a Side; text alone."""

    workspaceId: WorkspaceId
    sideAgentSessionId: SessionId
    clientSubmitId: ClientSubmitId
    """Repeating it answers with the same turn as long as the Side lives; it binds nothing outside of it."""
    content: Sequence[PromptBlock]


class SideTurn(TypedDict):
    """A turn of the Side as it is now."""

    type: Literal["turn"]
    turn: Turn


class SideUpdated(TypedDict):
    """Something happened in a Side. Nothing of a Side appears anywhere else."""

    topic: Literal["agent.side.updated"]
    type: Literal["side"]
    workspaceId: WorkspaceId
    sourceAgentSessionId: SessionId
    sideAgentSessionId: SessionId
    sequence: int
    """Counts from 1 in each Side, without holes."""
    payload: SidePayload


class StoreHealth(TypedDict):
    """What `health/read` says of the store; sizes in bytes."""

    state: Literal["ok", "degraded", "failing"] | str
    bytes: int
    walBytes: int
    freeBytes: int
    headCommitSeq: int
    oldestCommitSeq: int


class StreamGap(TypedDict):
    """This client was too slow and lost deltas of this message; a snapshot follows."""

    topic: Literal["agent.activity.updated"]
    type: Literal["stream_gap"]
    workspaceId: WorkspaceId
    agentSessionId: SessionId
    messageId: MessageId


class SurfaceAttachParams(TypedDict):
    """Take over the Sides of this place: from now on they end with this connection."""

    workspaceId: WorkspaceId
    surfaceId: str


class SurfaceAttachReply(TypedDict):
    """The Sides this connection owns now."""

    sides: list[Side]
    commitSeq: int


class SurfaceDisposeParams(TypedDict):
    """Close the Sides of this place that this connection owns."""

    workspaceId: WorkspaceId
    surfaceId: str


class SurfaceDisposeReply(TypedDict):
    """The Sides that were closed, as they ended."""

    closed: list[Side]
    commitSeq: int


class SweeperHealth(TypedDict):
    """Resources whose closing failed and is tried again."""

    pending: int


class Target(TypedDict):
    """One agent that can be talked to, as `target/list` shows it."""

    agentTargetId: TargetId
    provider: str
    name: str
    enabled: bool
    program: TargetProgram
    auth: Literal["authenticated", "configured", "required", "unknown"] | str
    """How its sign-in stands, as far as is known without asking: see `provider/status`."""
    capabilities: SessionCapabilities | None
    """Null when not known yet."""
    settings: list[TargetSetting]


class TargetListParams(TypedDict):
    """Which page of the targets."""

    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]


class TargetListReply(TypedDict):
    """One page of targets."""

    items: list[Target]
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class TargetProgram(TypedDict):
    """The program that is started for a target."""

    found: bool
    version: str | None


class TargetSetting(TypedDict):
    """One setting of a target's sessions."""

    key: str
    values: list[TargetSettingValue] | None
    """Null when any value may be given."""
    default: str | bool | None
    """Null when the provider chooses."""
    change: Literal["launch", "next_turn", "now"] | str
    """When a change takes effect; a `launch` setting cannot change once the session has been started."""


class TargetSettingValue(TypedDict):
    """One value a setting may take."""

    value: str | bool
    label: str
    effect: Literal["read_only", "asks", "edits", "unrestricted"] | str | None
    """What the agent may do under it without being asked; null when the value has no bearing on that."""


class TextBlock(TypedDict):
    """Plain text, kept with its white space."""

    text: str
    type: Literal["text"]


class TextBlockInput(TypedDict):
    """Plain text, kept with its white space."""

    text: str
    type: Literal["text"]


class TimerView(TypedDict):
    """One running timer."""

    kind: str
    turnId: TurnId | None
    dueMs: int
    """In so many milliseconds."""


class ToolCall(TypedDict):
    """One call of a tool by the agent."""

    callId: str
    name: str
    title: str
    kind: (
        Literal["read", "edit", "delete", "move", "search", "execute", "fetch", "think", "delegate", "other"]
        | str
    )
    status: Literal["pending", "running", "waiting", "completed", "failed", "declined", "interrupted"] | str
    input: Any
    output: ToolOutput
    childAgentSessionId: NotRequired[SessionId]


class ToolOutput(TypedDict):
    """What a tool call brought back; `text` is the appendable part that travels as deltas."""

    text: str
    exitCode: NotRequired[int]
    changes: NotRequired[list[FileChange]]


class Turn(TypedDict):
    """One turn as the contract shows it. `cancel_confirmed_at` null on a canceled turn means it was forced."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    turnId: TurnId
    sequence: int
    submittedAt: int
    phase: Literal["submitted", "running", "waiting", "settling", "settled"] | str
    outcome: Literal["completed", "failed", "canceled", "interrupted"] | str | None
    delivery: Literal["not_dispatched", "dispatching", "accepted", "rejected", "unknown"] | str
    origin: Literal["user_prompt", "provider", "goal", "edit_retry"] | str
    clientSubmitId: ClientSubmitId | None
    providerTurnId: str | None
    cancelRequestedAt: int | None
    cancelConfirmedAt: int | None
    stopReason: str | None
    forkable: bool
    usage: Usage | None
    timings: TurnTimings
    error: TurnError | None
    startedAt: int | None
    settledAt: int | None
    retractedAt: int | None


class TurnCancelParams(TypedDict):
    """Stop exactly this turn. A settled one is returned as it is."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    turnId: TurnId


class TurnChange(TypedDict):
    """The turn as it is now."""

    row: Turn
    type: Literal["turn"]


class TurnError(TypedDict):
    """Why a turn failed: a stable code of the contract and a message of ours, never a provider's text."""

    code: str
    message: str
    origin: Literal["provider", "runtime"] | str
    retryable: bool
    retryAfterMs: NotRequired[int]
    httpStatus: NotRequired[int]


class TurnGetParams(TypedDict):
    """Read one turn."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    turnId: TurnId


class TurnGuideParams(TypedDict):
    """Say more within exactly this turn, without ending it."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    turnId: TurnId
    clientSubmitId: ClientSubmitId
    content: Sequence[PromptBlock]


class TurnListParams(TypedDict):
    """List the turns of a session, newest first."""

    workspaceId: WorkspaceId
    agentSessionId: SessionId
    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]


class TurnListReply(TypedDict):
    """One page of turns, newest first."""

    items: list[Turn]
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class TurnReply(TypedDict):
    """The turn as it stands."""

    turn: Turn
    commitSeq: int


class TurnTimings(TypedDict):
    """Where the time before the first sign of the provider went, in milliseconds."""

    queuedMs: int | None
    startMs: int | None


class Usage(TypedDict):
    """Cumulative token figures; each is null when the provider did not report it."""

    inputTokens: int | None
    cachedInputTokens: int | None
    outputTokens: int | None
    reasoningTokens: int | None
    totalTokens: int | None
    contextTokens: int | None
    contextWindow: int | None
    costUsd: float | None


class UsageLimit(TypedDict):
    """One bound on an account's use."""

    name: str
    usedPercent: float
    windowMinutes: int | None
    resetsAt: int | None


class VoidReply(TypedDict):
    """Done."""

    commitSeq: int


class Workspace(TypedDict):
    """A label that sessions stand under, as `workspace/list` shows it; one without sessions is not known."""

    workspaceId: WorkspaceId
    sessions: int
    """Root sessions, as `session/list` shows them."""
    activeTurns: int
    """Unsettled turns, those of children included."""
    pendingInteractions: int
    """Those of children included."""


class WorkspaceListParams(TypedDict):
    """Which page of the workspaces."""

    cursor: NotRequired[str | None]
    """`nextCursor` of the page before; without it, the first page."""
    limit: NotRequired[int | None]


class WorkspaceListReply(TypedDict):
    """One page of workspaces, by their ids."""

    items: list[Workspace]
    nextCursor: str | None
    """Null at the end."""
    commitSeq: int


class WorktreeIsolation(TypedDict):
    """Give the session a checkout of its own."""

    type: Literal["worktree"]


Answer: TypeAlias = OptionAnswerInput | QuestionAnswerInput
Change: TypeAlias = (
    SessionChange
    | TurnChange
    | MessageChange
    | InteractionChange
    | GoalChange
    | OperationChange
    | SessionRemovedChange
    | SessionRestoredChange
)
ContentBlock: TypeAlias = TextBlock | ImageBlock | ResourceLinkBlock | PlanBlock | NoticeBlock
Event: TypeAlias = (
    Commit
    | Checkpoint
    | SessionReset
    | Resync
    | MessageDelta
    | MessageSnapshot
    | StreamGap
    | RuntimeActivity
    | SideUpdated
    | SideGap
    | HostHint
    | HostShutdown
)
InteractionInput: TypeAlias = ApprovalInput | QuestionInput | PlanInput
PromptBlock: TypeAlias = TextBlockInput | ImageBlockInput | ResourceLinkBlockInput
SidePayload: TypeAlias = (
    SideOpened | SideTurn | SideMessage | DeltaBody | SideInteraction | SideError | SideClosed | SideExpired
)
