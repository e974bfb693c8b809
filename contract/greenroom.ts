// Greenroom contract, version 1: types generated from the models in runtime/wire by `make contract`.
// What the server sends may gain members, events, change types and enum values within this version: ignore what you
// do not know and take an unknown enum value for an other. What a client sends is closed.

/** A session that is awake. One that sleeps has only what is stored. */
export interface ActorView {
  /** How often its code crashed since it woke. */
  readonly restarts: number;
  readonly quarantined: boolean;
  /** How far its connection to a provider has come. */
  readonly link: "absent" | "acquiring" | "opening" | "open" | "closing";
  /** How many connections it has asked for since it woke. */
  readonly generation: number;
  readonly turnId: TurnId | null;
  readonly turnPhase: "submitted" | "running" | "waiting" | "settling" | "settled" | null;
  readonly pendingInteractions: number;
  readonly streamingMessages: number;
  readonly mailbox: MailboxView;
  readonly timers: ReadonlyArray<TimerView>;
}

export type Answer = OptionAnswerInput | QuestionAnswerInput;

/** What is to be allowed or refused. */
export interface ApprovalInput {
  readonly callId: string;
  readonly title: string;
  readonly kind: "read" | "edit" | "delete" | "move" | "search" | "execute" | "fetch" | "think" | "delegate" | "other";
  readonly command?: string;
  readonly cwd?: string;
  readonly changes?: ReadonlyArray<FileChange>;
  readonly url?: string;
  readonly prompt?: string;
  readonly reason?: string;
}

/** What is armed at a failpoint. */
export interface ArmedFault {
  readonly action: "kill" | "exit" | "raise" | "delay" | "pause";
  readonly onPass: number | null;
  readonly probability: number;
  readonly delayMs: number;
}

/** Read a picture. */
export interface AttachmentGetParams {
  readonly workspaceId: WorkspaceId;
  readonly attachmentId: string;
  /** Only if this session shows it. */
  readonly agentSessionId?: SessionId | null;
}

/** A picture with its content. */
export interface AttachmentGetReply {
  readonly attachmentId: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Base64, with its padding. */
  readonly data: string;
  readonly commitSeq: number;
}

/** Store a picture. The same content again is the same attachment. */
export interface AttachmentPutParams {
  readonly workspaceId: WorkspaceId;
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
  readonly mediaType: string;
  /** Base64, with its padding. */
  readonly data: string;
}

/** The picture is durable. An image block of a prompt shows these three. */
export interface AttachmentPutReply {
  readonly attachmentId: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly commitSeq: number;
}

export type Change = SessionChange | TurnChange | MessageChange | InteractionChange | GoalChange | OperationChange | SessionRemovedChange | SessionRestoredChange;

/** Commits up to here were none of this subscription's. */
export interface Checkpoint {
  readonly topic: "agent.activity.updated";
  readonly type: "checkpoint";
  readonly commitSeq: number;
}

/** Who connects; for logs and health alone. */
export interface ClientInfo {
  readonly name: string;
  readonly version?: string | null;
}

export type ClientSubmitId = string;

/** What one actor wrote in one go: complete rows of one workspace. Numbers grow and have holes. */
export interface Commit {
  readonly topic: "agent.activity.updated";
  readonly type: "commit";
  readonly commitSeq: number;
  readonly changes: ReadonlyArray<Change>;
}

/** A provider connection. */
export interface ConnectionView {
  readonly provider: string;
  readonly program: string;
  readonly state: "starting" | "ready" | "draining" | "ended";
  /** How many sessions hear it. */
  readonly scopes: number;
  readonly pid: number | null;
  readonly exitStatus: string | null;
  readonly agentName: string | null;
  readonly agentVersion: string | null;
  readonly unwrittenBytes: number;
  /** All that came; the tail is its end. */
  readonly stderrBytes: number;
  readonly stderrTail: string;
  readonly diagnosticCounts: Readonly<Record<string, number>>;
  /** The newest, oldest first. */
  readonly diagnostics: ReadonlyArray<DiagnosticView>;
}

export type ContentBlock = TextBlock | ImageBlock | ResourceLinkBlock | PlanBlock | NoticeBlock;

/** Show the session among the conversations without a project. */
export interface ConversationsPlacement {
  readonly type: "conversations";
  readonly version: 1;
}

/** Look into a session, a deleted one too. Nothing is woken. */
export interface DebugSessionParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
}

/** One session's insides. */
export interface DebugSessionReply {
  readonly session: SessionKey;
  readonly inspection: SessionInspection;
  readonly commitSeq: number;
}

/** More text of a streaming message, to be appended. */
export interface DeltaBody {
  readonly type: "message_delta";
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly kind: "text" | "reasoning" | "plan" | "tool_call" | "notice" | "goal_control";
  /** `text`: the one text block of the message; `output`: `toolCall.output.text`. */
  readonly field: "text" | "output";
  /** Counts from 0 in each message, without holes. */
  readonly deltaSeq: number;
  readonly text: string;
}

/** One odd thing a provider did. */
export interface DiagnosticView {
  readonly kind: string;
  readonly detail: string;
}

/** `data` of an error reply. */
export interface ErrorData {
  readonly code: string;
  readonly retryable: boolean;
  /** What is known of the command's way to the provider; `not_dispatched` leaves nothing and frees its id. */
  readonly delivery: "not_dispatched" | "dispatching" | "accepted" | "rejected" | "unknown";
  /** Not before so many milliseconds. */
  readonly retryAfterMs?: number;
  /** What belongs to this code, such as `path` and `problem` of `request.invalid`. */
  readonly details: Readonly<Record<string, unknown>>;
}

export type Event = Commit | Checkpoint | SessionReset | Resync | MessageDelta | MessageSnapshot | StreamGap | RuntimeActivity | SideUpdated | SideGap | HostHint | HostShutdown;

/** Hear of what happens in a workspace, or in all of them. */
export interface EventsSubscribeParams {
  readonly workspaceId: WorkspaceId | "*";
  readonly topics: ReadonlyArray<"agent.activity.updated" | "agent.side.updated" | "host.updated">;
  /** Only these sessions; a root includes its descendants. */
  readonly agentSessionIds?: ReadonlyArray<SessionId> | null;
  /** Of which sessions streamed text is sent; where none is, no snapshots are either. */
  readonly deltas?: "all" | "none" | ReadonlyArray<SessionId> | null;
  /** The store `afterCommitSeq` belongs to. */
  readonly storeId?: string | null;
  /** The newest commit the client holds; what came after it is replayed. */
  readonly afterCommitSeq?: number | null;
}

/** The subscription stands; its events follow this reply. */
export interface EventsSubscribeReply {
  /** Unique on this connection. */
  readonly subscriptionId: number;
  /** The head. Replayed commits end here, live ones begin after it. */
  readonly commitSeq: number;
  /** True when what came after `afterCommitSeq` cannot be replayed: read again. */
  readonly gap: boolean;
}

/** End a subscription of this connection. */
export interface EventsUnsubscribeParams {
  readonly subscriptionId: number;
}

/** Change what a subscription follows, in place. A member that is left out stays as it is. */
export interface EventsUpdateParams {
  readonly subscriptionId: number;
  /** From now on only these sessions, a root with its descendants; `all` follows the whole workspace again. */
  readonly agentSessionIds?: "all" | ReadonlyArray<SessionId> | null;
  /** Of which sessions streamed text is sent from now on. */
  readonly deltas?: "all" | "none" | ReadonlyArray<SessionId> | null;
}

/** One failpoint. */
export interface FailpointView {
  /** `seam.effect.before` or `.after`. */
  readonly name: string;
  /** What is so, and what is not yet, when it is reached. */
  readonly standsFor: string;
  /** Whether `delay` and `pause` are possible there. */
  readonly waits: boolean;
  readonly armed: ArmedFault | null;
  /** Since the daemon started. */
  readonly passes: number;
  readonly fired: number;
  /** How many are paused there now. */
  readonly waiting: number;
}

/** Which failpoint to disarm; without a name, all. Whoever is paused there goes on. */
export interface FaultClearParams {
  readonly name?: string | null;
}

/** What is to happen at one failpoint, from its next pass on. Replaces what was armed there. */
export interface FaultInjectParams {
  readonly name: string;
  /** kill: the daemon gets SIGKILL. exit: it ends at once. raise: the error that can happen there. delay: it takes so long. pause: it waits until the failpoint is cleared or armed anew. */
  readonly action: "kill" | "exit" | "raise" | "delay" | "pause";
  /** Only the pass of this number, counted from now. */
  readonly onPass?: number | null;
  /** Above 0 and at most 1; each pass is drawn anew. Without it, each pass. */
  readonly probability?: number | null;
  /** Of a delay, and of nothing else. */
  readonly delayMs?: number | null;
}

/** The failpoint as it stands now. */
export interface FaultInjectReply {
  readonly failpoint: FailpointView;
  readonly commitSeq: number;
}

/** Which page of the failpoints. */
export interface FaultListParams {
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
}

/** One page of failpoints, by their names. */
export interface FaultListReply {
  readonly items: ReadonlyArray<FailpointView>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** One file a tool call changed. */
export interface FileChange {
  readonly path: string;
  readonly kind: "add" | "update" | "delete" | "move";
  readonly diff: string | null;
}

/** What a session works towards beyond single turns. */
export interface Goal {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly objective: string;
  readonly status: string;
  readonly revision: number;
  readonly sync: string;
  readonly operationId: string | null;
}

/** The goal as it is now. */
export interface GoalChange {
  readonly row: Goal;
  readonly type: "goal";
}

/** Something that wants attention. */
export interface HealthProblem {
  readonly code: string;
  readonly since: number;
  readonly workspaceId?: WorkspaceId;
  readonly agentSessionId?: SessionId;
}

/** No params. */
export interface HealthReadParams {
}

/** How the service is. */
export interface HealthReadReply {
  readonly status: "ok" | "degraded" | "failing";
  readonly problems: ReadonlyArray<HealthProblem>;
  readonly store: StoreHealth;
  readonly live: LiveCounts;
  /** How much waits in each named queue. */
  readonly queues: Readonly<Record<string, number>>;
  readonly sweeper: SweeperHealth;
  /** Sessions that are readable and closed to commands until `session/resume`. */
  readonly quarantined: ReadonlyArray<SessionKey>;
  readonly commitSeq: number;
}

/** Something of the host changed: read it again. */
export interface HostHint {
  readonly topic: "host.updated";
  readonly type: "target" | "models" | "status" | "health";
}

/** The daemon is about to stop; commands are refused from now on. */
export interface HostShutdown {
  readonly topic: "host.updated";
  readonly type: "shutdown";
  readonly graceSeconds: number;
}

/** A picture by reference; rows never hold base64. */
export interface ImageBlock {
  readonly mediaType: string;
  readonly bytes: number;
  readonly attachmentId: string;
  readonly type: "image";
}

/** A picture by reference; rows never hold base64. */
export interface ImageBlockInput {
  readonly mediaType: string;
  readonly bytes: number;
  readonly attachmentId: string;
  readonly type: "image";
}

/** Start the session with a goal and without a turn. */
export interface InitialGoalControl {
  readonly action: "set";
  /** Taken literally, whatever it looks like. */
  readonly objective: string;
}

/** The first request of a connection. */
export interface InitializeParams {
  /** The version the client speaks: 1. */
  readonly protocolVersion: number;
  readonly clientInfo: ClientInfo;
}

/** The connection is open. */
export interface InitializeReply {
  readonly protocolVersion: number;
  /** Names the database: numbers of commits mean nothing in another one. */
  readonly storeId: string;
  readonly serverInfo: ServerInfo;
  readonly capabilities: ServerCapabilities;
  /** What the token allows. */
  readonly scope: "read" | "control" | "admin";
  readonly limits: Limits;
}

/** One request of the agent as the contract shows it. */
export interface Interaction {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly turnId: TurnId;
  readonly requestId: RequestId;
  readonly kind: "approval" | "question" | "plan";
  readonly input: InteractionInput;
  readonly createdAt: number;
  readonly options: ReadonlyArray<InteractionOption>;
  readonly status: "pending" | "answered" | "superseded";
  readonly answer: OptionAnswer | QuestionAnswer | RedactedAnswer | null;
  readonly answerDelivery: "dispatching" | "delivered" | "failed" | "unknown" | null;
  readonly resolvedAt: number | null;
}

/** The interaction as it is now. */
export interface InteractionChange {
  readonly row: Interaction;
  readonly type: "interaction";
}

export type InteractionInput = ApprovalInput | QuestionInput | PlanInput;

/** List the interactions of all sessions of the workspace, children included. */
export interface InteractionListParams {
  readonly workspaceId: WorkspaceId;
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
  readonly status?: "pending" | "answered" | "superseded" | null;
}

/** One page of interactions. */
export interface InteractionListReply {
  readonly items: ReadonlyArray<Interaction>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** One answer the agent offered; it is chosen by `option_id`. */
export interface InteractionOption {
  readonly optionId: string;
  readonly label: string;
  readonly kind: "allow_once" | "allow_session" | "allow_always" | "reject_once" | "reject_always" | "stop" | "other";
}

/** The interaction as it stands. */
export interface InteractionReply {
  readonly interaction: Interaction;
  readonly commitSeq: number;
}

/** Answer a pending interaction; the first valid answer wins. */
export interface InteractionRespondParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly turnId: TurnId;
  readonly requestId: RequestId;
  readonly answer: Answer;
}

/** A checkout that a purge leaves where it is, and why. */
export interface KeptWorktree {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly path: string;
  readonly branch: string;
  readonly because: "changes" | "commits" | "repository_missing" | "git_failed";
}

/** Which lifecycle commands may be tried on this session. */
export interface LifecycleCapabilities {
  readonly forkThroughTurn: boolean;
  readonly editRetry: boolean;
  readonly side: boolean;
  readonly guidance: boolean;
  readonly interrupt: boolean;
}

/** The bounds in force. */
export interface Limits {
  /** The largest frame taken from a client; a larger one closes the connection with 1009. */
  readonly maxFrameBytes: number;
  /** The largest event sent; `session_reset` stands in for a larger commit. */
  readonly maxServerFrameBytes: number;
  /** The longest line taken from a provider; a longer one is discarded. */
  readonly maxProviderLineBytes: number;
  /** A page ends here, whatever its `limit`. */
  readonly maxPageBytes: number;
  /** The longest text of one delta. */
  readonly maxDeltaBytes: number;
  /** The longest text of one message; the rest is cut and the message marked `truncated`. */
  readonly maxMessageBytes: number;
  /** The longest output of one tool call that is kept; head and tail of a longer one. */
  readonly maxToolOutputBytes: number;
  /** At most one row per streaming message and interval, where its content changes otherwise than by deltas. */
  readonly messageUpdateIntervalMs: number;
  /** How much streamed text a crash may lose. */
  readonly writeBehindMs: number;
  readonly maxSessions: number;
  /** Provider connections alive at once. */
  readonly maxLiveConnections: number;
  /** Provider processes being started at once. */
  readonly maxConcurrentStarts: number;
  /** How long a turn waits for a live connection before it fails with `limit.exceeded`. */
  readonly admissionWaitSeconds: number;
  /** Sessions that may wait for a live connection; one more fails at once. */
  readonly maxAdmissionWaiting: number;
  /** How long a start counts against `maxConcurrentStarts`: what takes longer is waiting and no longer work. */
  readonly startSlotSeconds: number;
  /** Failed starts of one launch within the window after which the next ones are refused for a while. */
  readonly maxStartFailures: number;
  readonly startFailuresWindowSeconds: number;
  /** How long, the first time; doubled with each further failure. */
  readonly startBackOffSeconds: number;
  readonly startBackOffMaxSeconds: number;
  /** How many sessions share one provider process, by provider. */
  readonly sessionsPerConnection: Readonly<Record<string, number>>;
  /** How long the others on a condemned connection may go on with their turns. */
  readonly connectionDrainSeconds: number;
  /** How much is discarded while the end of an overlong line is looked for, before the connection goes. */
  readonly maxProviderDiscardBytes: number;
  /** How much of the end of a provider's own record of a conversation is read. */
  readonly maxProviderRecordBytes: number;
  /** How much output that is no protocol one connection may write. */
  readonly maxProviderNoiseBytes: number;
  /** Unwritten bytes above which a provider that does not read is given up; a prompt with its attachments fits. */
  readonly maxProviderUnwrittenBytes: number;
  /** How long the output of a process that has ended is still waited for. */
  readonly providerLastReadsSeconds: number;
  /** Of each provider's stderr, kept for `debug/session`. */
  readonly providerStderrTailBytes: number;
  /** Odd things of each provider, kept for `debug/session`; the older ones are only counted. */
  readonly maxProviderDiagnostics: number;
  /** Commands waiting in one session; more are answered `overloaded`. */
  readonly sessionLaneMessages: number;
  /** Stops, answers and the like waiting in one session; more are answered `overloaded`. */
  readonly sessionLaneControls: number;
  /** Provider output waiting in one session before its connection stops reading. */
  readonly sessionLaneBytes: number;
  /** Restarts of one session's actor before it is quarantined. */
  readonly sessionRestarts: RestartLimit;
  /** Connections of any kind on the port; one more is answered with HTTP 503. */
  readonly maxClientConnections: number;
  readonly maxSubscriptionsPerConnection: number;
  /** How long a connection may take to `initialize`. */
  readonly helloTimeoutSeconds: number;
  /** An idle session gives up its provider after this time. */
  readonly idleReleaseSeconds: number;
  /** How long a provider may take to shake hands. */
  readonly initializeTimeoutSeconds: number;
  /** How long a provider's program may take to say what it is, before and without any conversation. */
  readonly examineTimeoutSeconds: number;
  /** How long an agent may take to say something of itself: `provider/status`, `models`, `skills`, `usage`. */
  readonly inquiryTimeoutSeconds: number;
  /** Agents asked about themselves at once, in processes without a session; one examination may run beside them. */
  readonly maxInquiries: number;
  /** How long a snapshot of models, skills or sign-in counts as fresh; an older one is shown while it is read again. */
  readonly catalogueFreshSeconds: number;
  /** The same for what is left of an account. */
  readonly usageFreshSeconds: number;
  /** How long a provider may take to obey a cancel before it is forced. */
  readonly cancelGraceSeconds: number;
  /** Silence after which the provider is asked how a turn stands. */
  readonly turnReconcileSeconds: number;
  /** How long a provider may take to answer guidance. */
  readonly guideTimeoutSeconds: number;
  /** Sub-agents of one session that its agent may show while its process lives; one more is stopped. */
  readonly maxSessionChildren: number;
  /** How long a turn waits for the first turn of a sub-agent that it began. */
  readonly childStartSeconds: number;
  /** Guidance of one session that waits for its provider's answer; more is answered `overloaded`. */
  readonly maxOpenGuides: number;
  /** What an agent may ask of a session's user at once; more is refused before anybody sees it. */
  readonly maxOpenInteractions: number;
  /** The text of one thing an agent asks; what could not be shown whole is refused before anybody sees it. */
  readonly maxInteractionBytes: number;
  /** How long the delivery of an answer may take. */
  readonly respondTimeoutSeconds: number;
  /** How long a live agent may take to change a setting at once, the wait for it to open included. */
  readonly settingsTimeoutSeconds: number;
  /** Sides that are open or opening. */
  readonly maxSides: number;
  /** Turns of one Side, all of which it remembers. */
  readonly maxSideTurns: number;
  readonly sideOpenTimeoutSeconds: number;
  /** How long a Side outlives the connection of its owner. */
  readonly sideOwnerGraceSeconds: number;
  /** How many ended Sides are remembered. */
  readonly maxSideTombstones: number;
  /** How long opening, closing, resuming or deleting may take. */
  readonly lifecycleTimeoutSeconds: number;
  /** How long one write to a client may take. */
  readonly clientSendDeadlineSeconds: number;
  /** What may wait for one client. */
  readonly clientQueueBytes: number;
  /** From the wish to close a client's connection to the closed socket. */
  readonly clientCloseTimeoutSeconds: number;
  readonly pingSeconds: number;
  /** Unanswered requests of one connection. */
  readonly maxInFlightRequests: number;
  /** A subscription hears of the head at least this often while other commits pass by. */
  readonly checkpointSeconds: number;
  readonly commitLogMaxAgeSeconds: number;
  readonly commitLogMaxCount: number;
  readonly commitLogMaxBytes: number;
  /** Kept free for stops and settlements on a full disk. */
  readonly storeReserveBytes: number;
  /** A write-ahead log larger than this is a problem of health: a reader that does not end keeps it from being emptied. */
  readonly maxWalBytes: number;
  /** How often the database is copied, when it has changed; 0: never. */
  readonly copyIntervalSeconds: number;
  /** Copies made at that interval; the oldest goes when there is one more. */
  readonly copiesKept: number;
  /** Resources whose closing failed and is tried again; beyond it the oldest is given up and logged. */
  readonly maxSweeperPending: number;
  readonly sweeperAttempts: number;
  /** How long a deleted session can be restored; 30 days. */
  readonly deletedRetentionSeconds: number;
  /** What deleted sessions may take up together; the longest deleted are purged first. */
  readonly deletedRetentionBytes: number;
  readonly maxAttachmentBytes: number;
  readonly maxAttachmentsPerPrompt: number;
  /** How long an attachment that no prompt shows is kept. */
  readonly attachmentUnusedSeconds: number;
  /** What attachments that no prompt shows yet may take up together. */
  readonly maxUnusedAttachmentBytes: number;
  /** Checkouts made for sessions, those of deleted sessions and those kept after a purge included. */
  readonly maxWorktrees: number;
  /** What a checkout must find free on the disk of `workRoot` before it is made. */
  readonly worktreeFreeBytes: number;
  /** How long one command of git's may take; a create with isolation may take as much longer than another. */
  readonly worktreeTimeoutSeconds: number;
  /** Commands of git's that run at once. */
  readonly maxConcurrentCheckouts: number;
  /** How long a clean stop may take. */
  readonly shutdownGraceSeconds: number;
}

/** How much is alive right now. */
export interface LiveCounts {
  /** Provider connections. */
  readonly connections: number;
  readonly sessions: number;
  readonly sides: number;
  readonly turns: number;
}

/** A lifecycle identity of this session that an operation holds. */
export interface LockView {
  readonly kind: string;
  readonly id: string;
  readonly holder: string;
  readonly heldMs: number;
  readonly waiting: ReadonlyArray<string>;
}

/** What waits in front of the session, and what was refused since it woke. */
export interface MailboxView {
  readonly messages: number;
  /** Of these, stops, answers and the like. */
  readonly control: number;
  readonly bytes: number;
  readonly bytesHighWater: number;
  /** Operations that keep their place among their client's commands. */
  readonly marks: number;
  readonly refusedCommands: number;
  /** Whether its provider's output is left unread until this has drained. */
  readonly paused: boolean;
}

/** One message as the contract shows it. `turn_id` is null only for goal audit rows and imports. */
export interface Message {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly messageId: MessageId;
  readonly sequence: number;
  readonly version: number;
  readonly role: "user" | "assistant" | "system";
  readonly kind: "text" | "reasoning" | "plan" | "tool_call" | "notice" | "goal_control";
  readonly createdAt: number;
  readonly turnId: TurnId | null;
  readonly status: "streaming" | "completed" | "failed" | "interrupted";
  readonly content: ReadonlyArray<ContentBlock>;
  readonly toolCall: ToolCall | null;
  readonly deltaSeq: number | null;
  readonly truncated: boolean;
  readonly clientSubmitId: ClientSubmitId | null;
  readonly displayPrompt: string | null;
}

/** The message as it is now. */
export interface MessageChange {
  readonly row: Message;
  readonly type: "message";
}

/** More text of a streaming message, to be appended. */
export interface MessageDelta {
  readonly type: "message_delta";
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly kind: "text" | "reasoning" | "plan" | "tool_call" | "notice" | "goal_control";
  /** `text`: the one text block of the message; `output`: `toolCall.output.text`. */
  readonly field: "text" | "output";
  /** Counts from 0 in each message, without holes. */
  readonly deltaSeq: number;
  readonly text: string;
  readonly topic: "agent.activity.updated";
}

export type MessageId = string;

/** A streaming message as it stands; only deltas from its `deltaSeq` on follow. */
export interface MessageSnapshot {
  readonly topic: "agent.activity.updated";
  readonly type: "message_snapshot";
  readonly message: Message;
}

/** What belongs to one name. Counters only grow, from 0 at each start of the daemon. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: ReadonlyArray<MetricSample>;
}

/** One figure. A histogram has several names: `_bucket` with the label `le`, `_sum` and `_count`. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** No params. */
export interface MetricsReadParams {
}

/** Figures for machines; `GET /metrics` gives the same in the text format of Prometheus. */
export interface MetricsReadReply {
  readonly families: ReadonlyArray<MetricFamily>;
  readonly commitSeq: number;
}

/** A value `reasoningEffort` may have with a model. */
export interface ModelEffort {
  readonly value: string;
  readonly description: string | null;
}

/** Something the runtime has to tell, typed by `code`. */
export interface NoticeBlock {
  readonly code: string;
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
  readonly type: "notice";
}

/** One operation of one session. */
export interface Operation {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly operationId: string;
  readonly kind: "fork" | "edit_retry" | "goal" | "plan";
  readonly state: "prepared" | "dispatching" | "provider_accepted" | "committed" | "unknown" | "failed";
  readonly error: TurnError | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The operation as it is now. */
export interface OperationChange {
  readonly row: Operation;
  readonly type: "operation";
}

/** Read one durable operation of a session. */
export interface OperationGetParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly operationId: ClientSubmitId;
}

/** The operation as it stands. */
export interface OperationReply {
  readonly operation: Operation;
  readonly commitSeq: number;
}

/** An offered option; `feedback` only together with reject_once, it goes on as guidance. */
export interface OptionAnswer {
  readonly optionId: string;
  readonly feedback?: string;
}

/** An offered option; `feedback` only together with reject_once, it goes on as guidance. */
export interface OptionAnswerInput {
  readonly optionId: string;
  readonly feedback?: string | null;
}

/** A plan as the provider last reported it. */
export interface PlanBlock {
  readonly entries: ReadonlyArray<PlanEntry>;
  readonly type: "plan";
}

/** One step of a plan. */
export interface PlanEntry {
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly priority?: string;
}

/** A plan to be accepted: `markdown` or `entries`, never both. */
export interface PlanInput {
  readonly markdown?: string;
  readonly entries?: ReadonlyArray<PlanEntry>;
}

/** The pool of all provider connections. */
export interface PoolView {
  /** By state. */
  readonly connections: Readonly<Record<string, number>>;
  readonly scopes: number;
  readonly waiting: number;
  /** Processes being started. */
  readonly startsInFlight: number;
}

/** Show the session under a project. */
export interface ProjectPlacement {
  readonly type: "project";
  readonly version: 1;
  readonly path: string;
}

export type PromptBlock = TextBlockInput | ImageBlockInput | ResourceLinkBlockInput;

/** A model an agent offers. */
export interface ProviderModel {
  /** The value of the setting `model`. */
  readonly model: string;
  readonly label: string;
  readonly description: string | null;
  /** It is what the agent takes when nobody chooses. */
  readonly isDefault: boolean;
  /** Not meant for lists to choose from. */
  readonly hidden: boolean;
  /** Null when the agent does not say; none when it takes none. */
  readonly reasoningEfforts: ReadonlyArray<ModelEffort> | null;
  readonly defaultReasoningEffort: string | null;
}

/** The models of an agent, as it last listed them. */
export interface ProviderModelsReply {
  readonly agentTargetId: TargetId;
  /** `unavailable`: the agent lists its models within a session only, and none has told yet. */
  readonly state: "complete" | "unavailable";
  readonly models: ReadonlyArray<ProviderModel>;
  /** Null for a list that is the target's own definition, or that there is none. */
  readonly readAt: number | null;
  /** It is older than `catalogueFreshSeconds`; it is being read again. */
  readonly stale: boolean;
  readonly refreshing: boolean;
  readonly problem: ProviderProblem | null;
  readonly commitSeq: number;
}

/** Which target's agent, and whether what is known of it is enough. */
export interface ProviderParams {
  readonly agentTargetId: TargetId;
  /** Ask the agent now, and wait for it; one that is being asked already is waited for. Needs an `admin` token. */
  readonly refresh?: boolean | null;
}

/** Why the agent could not be asked just now; what is shown beside it is what was known before. */
export interface ProviderProblem {
  readonly code: string;
  readonly retryable: boolean;
}

/** Something a prompt can call for by its name. */
export interface ProviderSkill {
  readonly name: string;
  readonly description: string | null;
  readonly source: "builtin" | "user" | "project" | "other";
  readonly enabled: boolean;
}

/** The skills of an agent, as it last listed them. */
export interface ProviderSkillsReply {
  readonly agentTargetId: TargetId;
  readonly state: "complete" | "unavailable";
  /** What stands before a skill's name in a prompt. */
  readonly trigger: string;
  readonly skills: ReadonlyArray<ProviderSkill>;
  readonly readAt: number | null;
  readonly stale: boolean;
  readonly refreshing: boolean;
  readonly problem: ProviderProblem | null;
  readonly commitSeq: number;
}

/** How an agent's program and sign-in stand. */
export interface ProviderStatusReply {
  readonly agentTargetId: TargetId;
  readonly program: TargetProgram;
  /** `authenticated`: a request with it succeeded lately. `configured`: there is one, of which no more is known. `required`: the agent has none, or its provider refused it. Failures that are no word on the sign-in change nothing. */
  readonly auth: "authenticated" | "configured" | "required" | "unknown";
  /** What the agent says it works with; null when it does not say. */
  readonly account: "none" | "not_needed" | "key" | "subscription" | null;
  /** When the agent last said so; null when it never did. */
  readonly readAt: number | null;
  readonly stale: boolean;
  readonly refreshing: boolean;
  readonly problem: ProviderProblem | null;
  readonly commitSeq: number;
}

/** What is left of an agent's account. */
export interface ProviderUsageReply {
  readonly agentTargetId: TargetId;
  /** Only a `complete` one has limits; `not_applicable`: this kind of account has none. */
  readonly state: "complete" | "unavailable" | "not_applicable";
  /** Why it is unavailable. */
  readonly reason: "auth_required" | "unsupported" | "parse_failed" | null;
  readonly limits: ReadonlyArray<UsageLimit>;
  readonly readAt: number | null;
  readonly stale: boolean;
  readonly refreshing: boolean;
  readonly problem: ProviderProblem | null;
  readonly commitSeq: number;
}

/** One question of a question Interaction. */
export interface Question {
  readonly id: string;
  readonly question: string;
  readonly multiSelect: boolean;
  readonly freeText: boolean;
  readonly secret: boolean;
  readonly header?: string;
  readonly options?: ReadonlyArray<QuestionOption>;
}

/** Answers by question id. */
export interface QuestionAnswer {
  readonly answersByQuestionId: Readonly<Record<string, string | ReadonlyArray<string>>>;
}

/** Answers by question id. */
export interface QuestionAnswerInput {
  readonly answersByQuestionId: Readonly<Record<string, string | ReadonlyArray<string>>>;
}

/** The questions asked together. */
export interface QuestionInput {
  readonly questions: ReadonlyArray<Question>;
}

/** One offered answer of a question. */
export interface QuestionOption {
  readonly label: string;
  readonly description?: string;
}

/** Stands for answers to secret questions, which are neither stored nor sent. */
export interface RedactedAnswer {
  readonly redacted: true;
}

export type RequestId = string;

/** A link to something outside the conversation. */
export interface ResourceLinkBlock {
  readonly uri: string;
  readonly name: string;
  readonly type: "resource_link";
}

/** A link to something outside the conversation. */
export interface ResourceLinkBlockInput {
  readonly uri: string;
  readonly name: string;
  readonly type: "resource_link";
}

/** How often something may be restarted before it is given up. */
export interface RestartLimit {
  readonly count: number;
  readonly periodSeconds: number;
}

/** This subscription fell behind the log: read everything again. What follows is newer than this number. */
export interface Resync {
  readonly topic: "agent.activity.updated";
  readonly type: "resync";
  readonly commitSeq: number;
}

/** What a session's runtime does right now; never stored. */
export interface RuntimeActivity {
  readonly topic: "agent.activity.updated";
  readonly type: "runtime_activity";
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly runtimeState: "absent" | "activating" | "live" | "hibernated" | "closing" | "quarantined";
  readonly activity: "running" | "idle";
  readonly lastActivityAt: number | null;
  readonly occurredAt: number;
}

/** What in a session has the words of a search. */
export interface SearchMatch {
  readonly kind: "title" | "message";
  /** The title, or the text around the words; plain text. */
  readonly snippet: string;
  /** Null for a title. */
  readonly messageId: MessageId | null;
  readonly turnId: TurnId | null;
}

/** What this server can do. */
export interface ServerCapabilities {
  readonly methods: ReadonlyArray<string>;
  readonly topics: ReadonlyArray<string>;
  readonly features: ReadonlyArray<string>;
  /** Names that stay for two more minor releases. */
  readonly deprecated: ReadonlyArray<string>;
}

/** Which server this is. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  /** New at every start of the daemon. */
  readonly instanceId: string;
  readonly startedAt: number;
}

/** One hosted conversation as the contract shows it. */
export interface Session {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly agentTargetId: TargetId;
  readonly provider: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly providerSessionId: string | null;
  readonly title: string | null;
  readonly titleSource: "none" | "provider" | "user";
  readonly settings: Readonly<Record<string, string | boolean>>;
  readonly settingsSource: Readonly<Record<string, "explicit" | "default" | "provider">>;
  readonly isolation: SessionIsolation | null;
  /** `project:` and a path, as given at creation; null: among the conversations without a project. It never changes. */
  readonly railSectionKey: string | null;
  readonly pinned: boolean;
  readonly goal: null;
  readonly activeTurnId: TurnId | null;
  readonly capabilities: SessionCapabilities | null;
  readonly lifecycleCapabilities: LifecycleCapabilities;
  readonly lineage: SessionLineage | null;
  readonly parent: SessionParent | null;
  readonly resumability: "unknown" | "resumable" | "not_resumable";
  readonly runtime: SessionRuntime;
  readonly usage: Usage | null;
  readonly historyRevision: number;
  readonly messageVersion: number;
  readonly deletedAt: number | null;
}

/** What a list tells of a session at a glance. */
export interface SessionActivity {
  /** The turn that is not settled yet. */
  readonly turnId: TurnId | null;
  readonly phase: "submitted" | "running" | "waiting" | "settling" | "settled" | null;
  /** Of this session and its descendants. */
  readonly pendingInteractions: number;
}

/** What the provider reported for this session; a null snapshot means not known. */
export interface SessionCapabilities {
  readonly load: boolean;
  readonly imagePrompts: boolean;
  readonly embeddedContext: boolean;
  readonly interrupt: boolean;
  readonly guidance: boolean;
  readonly plan: boolean;
  /** Its program was attested for ephemeral forks of a live conversation. */
  readonly side: boolean;
}

/** The session as it is now. */
export interface SessionChange {
  readonly row: Session;
  readonly type: "session";
}

/** End the session's runtime, a running turn first. The session stays. */
export interface SessionCloseParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
}

/** Create a session, with its first prompt or without. Nothing is started before this is durable. */
export interface SessionCreateParams {
  readonly workspaceId: WorkspaceId;
  readonly agentTargetId: TargetId;
  /** Repeating it with equal params answers with the same session and creates nothing. */
  readonly clientSubmitId: ClientSubmitId;
  /** A name of the caller's choice; without it the server makes one. */
  readonly agentSessionId?: SessionId | null;
  /** The working directory; without it the session gets one of its own. */
  readonly cwd?: string | null;
  readonly title?: string | null;
  readonly settings?: Readonly<Record<string, string | boolean>> | null;
  readonly isolation?: WorktreeIsolation | null;
  readonly railPlacement?: ConversationsPlacement | ProjectPlacement | null;
  readonly initialContent?: ReadonlyArray<PromptBlock> | null;
  readonly initialGoalControl?: InitialGoalControl | null;
}

/** The session is durable, and with it the turn of its first prompt. */
export interface SessionCreateReply {
  readonly session: Session;
  /** Left out when no content was given. */
  readonly turn?: Turn;
  readonly commitSeq: number;
}

/** Read a session with its newest turns. */
export interface SessionGetParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  /** A summary has the session, its newest turn and what waits for an answer in its tree: no older turns, no children. */
  readonly projection?: "full" | "summary" | null;
}

/** A session with what a client needs to show it. */
export interface SessionGetReply {
  readonly session: Session;
  readonly activeTurn: Turn | null;
  /** The newest, newest first. */
  readonly turns: ReadonlyArray<Turn>;
  /** Where `turn/list` goes on. */
  readonly turnsCursor: string | null;
  /** All pending ones of it and its descendants, and those of the turns returned. */
  readonly interactions: ReadonlyArray<Interaction>;
  readonly children: ReadonlyArray<Session>;
  /** What did not fit into `maxPageBytes` whole. The rest of the interactions is in `interaction/list`; turns go on at `turnsCursor`. */
  readonly incomplete: ReadonlyArray<"interactions" | "children">;
  readonly projection: "full" | "summary";
  readonly commitSeq: number;
}

export type SessionId = string;

/** One session's insides at one moment. */
export interface SessionInspection {
  readonly runtimeState: "absent" | "activating" | "live" | "hibernated" | "closing" | "quarantined";
  /** Null when it sleeps. */
  readonly actor: ActorView | null;
  readonly locks: ReadonlyArray<LockView>;
  /** What it holds; more than one only while one replaces another. */
  readonly connections: ReadonlyArray<ConnectionView>;
  /** The one that last failed to start or was lost, as long as it is remembered. */
  readonly lastConnection: ConnectionView | null;
  readonly pool: PoolView;
}

/** The checkout that was made for this session. Canonical: it is never inferred from `cwd`. */
export interface SessionIsolation {
  readonly type: "worktree";
  /** The top of the checkout; `cwd` is this or below it. */
  readonly path: string;
  /** Made for it, and checked out when it began. */
  readonly branch: string;
  /** What the branch began at. */
  readonly baseCommit: string;
}

/** The whole identity of a Session: its id is unique only inside its workspace. */
export interface SessionKey {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
}

/** Which session and turn a forked session was made from. */
export interface SessionLineage {
  readonly sourceAgentSessionId: SessionId;
  readonly sourceTurnId: TurnId;
}

/** List the deleted sessions of a workspace, the newest deletion first. */
export interface SessionListDeletedParams {
  readonly workspaceId: WorkspaceId;
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
  /** Only these. */
  readonly agentSessionIds?: ReadonlyArray<SessionId> | null;
  /** Only those whose title has these words as they stand, in any case. */
  readonly title?: string | null;
  /** Only those of this project, or of none. The project need not be there any more. */
  readonly railPlacement?: ConversationsPlacement | ProjectPlacement | null;
}

/** One page of deleted sessions. */
export interface SessionListDeletedReply {
  /** Topmost ones: what was below them is deleted with them. */
  readonly items: ReadonlyArray<Session>;
  /** The same rows, by the name they have in the answers to delete, restore and purge. */
  readonly sessions: ReadonlyArray<Session>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** A Session row with its activity. */
export interface SessionListItem {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly agentTargetId: TargetId;
  readonly provider: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly providerSessionId: string | null;
  readonly title: string | null;
  readonly titleSource: "none" | "provider" | "user";
  readonly settings: Readonly<Record<string, string | boolean>>;
  readonly settingsSource: Readonly<Record<string, "explicit" | "default" | "provider">>;
  readonly isolation: SessionIsolation | null;
  /** `project:` and a path, as given at creation; null: among the conversations without a project. It never changes. */
  readonly railSectionKey: string | null;
  readonly pinned: boolean;
  readonly goal: null;
  readonly activeTurnId: TurnId | null;
  readonly capabilities: SessionCapabilities | null;
  readonly lifecycleCapabilities: LifecycleCapabilities;
  readonly lineage: SessionLineage | null;
  readonly parent: SessionParent | null;
  readonly resumability: "unknown" | "resumable" | "not_resumable";
  readonly runtime: SessionRuntime;
  readonly usage: Usage | null;
  readonly historyRevision: number;
  readonly messageVersion: number;
  readonly deletedAt: number | null;
  readonly activity: SessionActivity;
}

/** List the root sessions of a workspace, pinned ones first. */
export interface SessionListParams {
  readonly workspaceId: WorkspaceId;
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
  /** By the start of the newest turn, or by creation; newest first. */
  readonly order?: "recent" | "created" | null;
  readonly agentTargetId?: TargetId | null;
  /** Only those with an unsettled turn, or only those without. */
  readonly active?: boolean | null;
  readonly pinned?: boolean | null;
}

/** One page of sessions. */
export interface SessionListReply {
  readonly items: ReadonlyArray<SessionListItem>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** Read messages by exactly one of: what changed after a version, a window before a sequence, ids. */
export interface SessionMessagesParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly afterVersion?: number | null;
  readonly beforeSequence?: number | null;
  readonly messageIds?: ReadonlyArray<MessageId> | null;
  /** Also the messages of turns that were retracted. */
  readonly includeRetracted?: boolean | null;
  readonly limit?: number | null;
}

/** Messages, ascending in the asked direction's order. */
export interface SessionMessagesReply {
  readonly messages: ReadonlyArray<Message>;
  /** Whether there are more in the asked direction. */
  readonly hasMore: boolean;
  /** The lowest `sequence` of the messages returned. */
  readonly oldestSequence: number | null;
  /** The session's newest version. */
  readonly messageVersion: number;
  readonly commitSeq: number;
}

/** Where a provider-native child came from. */
export interface SessionParent {
  readonly rootAgentSessionId: SessionId;
  readonly rootTurnId: TurnId;
  readonly parentAgentSessionId: SessionId;
  readonly parentTurnId: TurnId;
  readonly parentToolCallId: string | null;
}

/** Keep the session at the top of lists, or no longer. Repeating it changes nothing. */
export interface SessionPinParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly pinned: boolean;
}

/** The sessions named and all below them, as they stood. */
export interface SessionPurgeReply {
  readonly sessions: ReadonlyArray<Session>;
  /** Checkouts of theirs that stay on the disk, since they hold work that is nowhere else. */
  readonly keptWorktrees: ReadonlyArray<KeptWorktree>;
  readonly commitSeq: number;
}

/** The session was deleted. */
export interface SessionRemovedChange {
  readonly row: Session;
  readonly type: "session_removed";
}

/** Give the session a title of the user's; no title of a provider takes its place. */
export interface SessionRenameParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  /** Empty takes the title away: the provider may give one again. */
  readonly title: string;
}

/** The session as it stands. */
export interface SessionReply {
  readonly session: Session;
  readonly commitSeq: number;
}

/** Stands in for a commit that is too large to send, a fork or an import: read the session again. */
export interface SessionReset {
  readonly topic: "agent.activity.updated";
  readonly type: "session_reset";
  readonly commitSeq: number;
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly messageVersion: number;
}

/** The session is back; a `session_reset` follows. */
export interface SessionRestoredChange {
  readonly row: Session;
  readonly type: "session_restored";
}

/** Make the session live now. */
export interface SessionResumeParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  /** `fresh` starts an empty conversation where the provider lost the old one. */
  readonly mode?: "fresh" | null;
}

/** A live observation of the session's runtime; never stored, never the reason of a commit. */
export interface SessionRuntime {
  readonly state: "absent" | "activating" | "live" | "hibernated" | "closing" | "quarantined";
  readonly lastActivityAt: number | null;
}

/** A Session row with what was found in it. */
export interface SessionSearchItem {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly agentTargetId: TargetId;
  readonly provider: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly providerSessionId: string | null;
  readonly title: string | null;
  readonly titleSource: "none" | "provider" | "user";
  readonly settings: Readonly<Record<string, string | boolean>>;
  readonly settingsSource: Readonly<Record<string, "explicit" | "default" | "provider">>;
  readonly isolation: SessionIsolation | null;
  /** `project:` and a path, as given at creation; null: among the conversations without a project. It never changes. */
  readonly railSectionKey: string | null;
  readonly pinned: boolean;
  readonly goal: null;
  readonly activeTurnId: TurnId | null;
  readonly capabilities: SessionCapabilities | null;
  readonly lifecycleCapabilities: LifecycleCapabilities;
  readonly lineage: SessionLineage | null;
  readonly parent: SessionParent | null;
  readonly resumability: "unknown" | "resumable" | "not_resumable";
  readonly runtime: SessionRuntime;
  readonly usage: Usage | null;
  readonly historyRevision: number;
  readonly messageVersion: number;
  readonly deletedAt: number | null;
  readonly match: SearchMatch;
}

/** Find the sessions of a workspace that hold all of these words; deleted ones are left out. */
export interface SessionSearchParams {
  readonly workspaceId: WorkspaceId;
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
  /** Words as a person types them; one of three letters or more finds what begins with it. There is no syntax. */
  readonly query: string;
}

/** One page of sessions found: first those whose title has the words, then by the newest text that has them. */
export interface SessionSearchReply {
  /** Each session once. A page may be short or empty and still have a next one. */
  readonly items: ReadonlyArray<SessionSearchItem>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** Start a turn with a prompt. */
export interface SessionSendParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly clientSubmitId: ClientSubmitId;
  readonly content: ReadonlyArray<PromptBlock>;
  /** What clients show in place of the content. */
  readonly displayPrompt?: string | null;
}

/** Whole trees, named by their roots: all are treated or none. */
export interface SessionTreesParams {
  readonly workspaceId: WorkspaceId;
  /** Naming one twice is naming it once. */
  readonly agentSessionIds: ReadonlyArray<SessionId>;
}

/** Change settings of a session; those not named stay as they are. */
export interface SessionUpdateSettingsParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  /** Null unsets: what holds then is up to the target and its agent. */
  readonly settings: Readonly<Record<string, string | boolean | null>>;
}

/** The sessions named and all below them, as they stand. */
export interface SessionsReply {
  readonly sessions: ReadonlyArray<Session>;
  readonly commitSeq: number;
}

/** An ephemeral branch of a live conversation; never stored. Its rows carry the Side's id as their session. */
export interface Side {
  readonly workspaceId: WorkspaceId;
  /** The same as `sideAgentSessionId`. */
  readonly agentSessionId: SessionId;
  readonly sourceAgentSessionId: SessionId;
  readonly sideAgentSessionId: SessionId;
  /** The place in a client that shows this Side. */
  readonly surfaceId: string;
  readonly state: "opening" | "open" | "closing" | "closed" | "expired";
  readonly activeTurnId: TurnId | null;
  /** Captured when the Side was opened; read-only. */
  readonly settings: Readonly<Record<string, string | boolean>>;
  readonly openedAt: number;
}

/** Stop exactly this turn of a Side. A settled one is returned as it is. */
export interface SideCancelParams {
  readonly workspaceId: WorkspaceId;
  readonly sideAgentSessionId: SessionId;
  readonly turnId: TurnId;
}

/** Whether a Side of this session can be opened, as far as is known without starting anything. */
export interface SideCapabilitiesParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
}

/** Whether `side/open` may be tried. */
export interface SideCapabilitiesReply {
  readonly supported: boolean;
  /** What was attested; the first five decide, each of them. */
  readonly facts: SideFacts;
  /** Why not. */
  readonly reason: "provider" | "program" | "conversation" | "child" | null;
  readonly commitSeq: number;
}

/** End a Side; its source goes on. */
export interface SideCloseParams {
  readonly workspaceId: WorkspaceId;
  readonly sideAgentSessionId: SessionId;
}

/** The Side was closed. Nothing of it follows. */
export interface SideClosed {
  readonly type: "closed";
  readonly reason: "closed" | "surface_disposed" | "owner_lost" | "source_deleted" | "shutdown";
}

/** Something of the Side failed; the Side goes on. */
export interface SideError {
  readonly type: "error";
  readonly code: string;
  readonly turnId?: TurnId;
}

/** The Side ended by itself. Nothing of it follows. */
export interface SideExpired {
  readonly type: "expired";
  readonly reason: "provider_lost" | "overflow";
}

/** What a provider family shows about ephemeral forks; none of it is assumed. */
export interface SideFacts {
  readonly nativeFork: boolean;
  /** It forks a conversation in the middle of a turn, without disturbing it. */
  readonly activeTurnSnapshot: boolean;
  /** The fork is in no list, in no file, and gone with its process. */
  readonly ephemeral: boolean;
  /** The fork shows none of the turns that its model remembers. */
  readonly hiddenHistory: boolean;
  /** Something can be put between what is inherited and what is new that the model sees. */
  readonly boundary: boolean;
  readonly tools: boolean;
  readonly multiTurn: boolean;
}

/** This client was too slow: nothing more of this Side is sent to it. */
export interface SideGap {
  readonly topic: "agent.side.updated";
  readonly type: "side_gap";
  readonly workspaceId: WorkspaceId;
  readonly sourceAgentSessionId: SessionId;
  readonly sideAgentSessionId: SessionId;
}

/** Read a Side. */
export interface SideGetParams {
  readonly workspaceId: WorkspaceId;
  readonly sideAgentSessionId: SessionId;
}

/** A Side with what a client needs to follow it. */
export interface SideGetReply {
  readonly side: Side;
  readonly activeTurn: Turn | null;
  /** Those that wait for an answer. */
  readonly interactions: ReadonlyArray<Interaction>;
  /** Of the last thing told of it. */
  readonly sequence: number;
  readonly commitSeq: number;
}

/** An interaction of the Side as it is now. */
export interface SideInteraction {
  readonly type: "interaction";
  readonly interaction: Interaction;
}

/** List the Sides of a workspace that are open, the oldest first. */
export interface SideListParams {
  readonly workspaceId: WorkspaceId;
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
  /** Only those forked from this session. */
  readonly agentSessionId?: SessionId | null;
}

/** One page of open Sides. */
export interface SideListReply {
  readonly items: ReadonlyArray<Side>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** A message of the Side as it is now. */
export interface SideMessage {
  readonly type: "message";
  readonly message: Message;
}

/** Fork the conversation of a session, in the middle of a turn too, into one that is never stored. */
export interface SideOpenParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  /** A name of the caller's choice, that no session and no other Side has. */
  readonly sideAgentSessionId: SessionId;
  /** The place in the client that shows it; it ends with that place. */
  readonly surfaceId: string;
  /** What its agent is to keep to, beside the rules every Side has. */
  readonly instructions?: string | null;
}

/** The Side is open; `sequence` counts from here. */
export interface SideOpened {
  readonly type: "opened";
  readonly side: Side;
}

export type SidePayload = SideOpened | SideTurn | SideMessage | DeltaBody | SideInteraction | SideError | SideClosed | SideExpired;

/** The Side as it stands. */
export interface SideReply {
  readonly side: Side;
  readonly commitSeq: number;
}

/** Answer a pending interaction of a Side. */
export interface SideRespondParams {
  readonly workspaceId: WorkspaceId;
  readonly sideAgentSessionId: SessionId;
  readonly turnId: TurnId;
  readonly requestId: RequestId;
  readonly answer: Answer;
}

/** Start a turn of a Side; text alone. */
export interface SideSendParams {
  readonly workspaceId: WorkspaceId;
  readonly sideAgentSessionId: SessionId;
  /** Repeating it answers with the same turn as long as the Side lives; it binds nothing outside of it. */
  readonly clientSubmitId: ClientSubmitId;
  readonly content: ReadonlyArray<PromptBlock>;
}

/** A turn of the Side as it is now. */
export interface SideTurn {
  readonly type: "turn";
  readonly turn: Turn;
}

/** Something happened in a Side. Nothing of a Side appears anywhere else. */
export interface SideUpdated {
  readonly topic: "agent.side.updated";
  readonly type: "side";
  readonly workspaceId: WorkspaceId;
  readonly sourceAgentSessionId: SessionId;
  readonly sideAgentSessionId: SessionId;
  /** Counts from 1 in each Side, without holes. */
  readonly sequence: number;
  readonly payload: SidePayload;
}

/** What `health/read` says of the store; sizes in bytes. */
export interface StoreHealth {
  readonly state: "ok" | "degraded" | "failing";
  readonly bytes: number;
  readonly walBytes: number;
  readonly freeBytes: number;
  readonly headCommitSeq: number;
  readonly oldestCommitSeq: number;
}

/** This client was too slow and lost deltas of this message; a snapshot follows. */
export interface StreamGap {
  readonly topic: "agent.activity.updated";
  readonly type: "stream_gap";
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly messageId: MessageId;
}

/** Take over the Sides of this place: from now on they end with this connection. */
export interface SurfaceAttachParams {
  readonly workspaceId: WorkspaceId;
  readonly surfaceId: string;
}

/** The Sides this connection owns now. */
export interface SurfaceAttachReply {
  readonly sides: ReadonlyArray<Side>;
  readonly commitSeq: number;
}

/** Close the Sides of this place that this connection owns. */
export interface SurfaceDisposeParams {
  readonly workspaceId: WorkspaceId;
  readonly surfaceId: string;
}

/** The Sides that were closed, as they ended. */
export interface SurfaceDisposeReply {
  readonly closed: ReadonlyArray<Side>;
  readonly commitSeq: number;
}

/** Resources whose closing failed and is tried again. */
export interface SweeperHealth {
  readonly pending: number;
}

/** One agent that can be talked to, as `target/list` shows it. */
export interface Target {
  readonly agentTargetId: TargetId;
  readonly provider: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly program: TargetProgram;
  /** How its sign-in stands, as far as is known without asking: see `provider/status`. */
  readonly auth: "authenticated" | "configured" | "required" | "unknown";
  /** Null when not known yet. */
  readonly capabilities: SessionCapabilities | null;
  readonly settings: ReadonlyArray<TargetSetting>;
}

export type TargetId = string;

/** Which page of the targets. */
export interface TargetListParams {
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
}

/** One page of targets. */
export interface TargetListReply {
  readonly items: ReadonlyArray<Target>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** The program that is started for a target. */
export interface TargetProgram {
  readonly found: boolean;
  readonly version: string | null;
}

/** One setting of a target's sessions. */
export interface TargetSetting {
  readonly key: string;
  /** Null when any value may be given. */
  readonly values: ReadonlyArray<TargetSettingValue> | null;
  /** Null when the provider chooses. */
  readonly default: string | boolean | null;
  /** When a change takes effect; a `launch` setting cannot change once the session has been started. */
  readonly change: "launch" | "next_turn" | "now";
}

/** One value a setting may take. */
export interface TargetSettingValue {
  readonly value: string | boolean;
  readonly label: string;
  /** What the agent may do under it without being asked; null when the value has no bearing on that. */
  readonly effect: "read_only" | "asks" | "edits" | "unrestricted" | null;
}

/** Plain text, kept with its white space. */
export interface TextBlock {
  readonly text: string;
  readonly type: "text";
}

/** Plain text, kept with its white space. */
export interface TextBlockInput {
  readonly text: string;
  readonly type: "text";
}

/** One running timer. */
export interface TimerView {
  readonly kind: string;
  readonly turnId: TurnId | null;
  /** In so many milliseconds. */
  readonly dueMs: number;
}

/** One call of a tool by the agent. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly title: string;
  readonly kind: "read" | "edit" | "delete" | "move" | "search" | "execute" | "fetch" | "think" | "delegate" | "other";
  readonly status: "pending" | "running" | "waiting" | "completed" | "failed" | "declined" | "interrupted";
  readonly input: unknown;
  readonly output: ToolOutput;
  readonly childAgentSessionId?: SessionId;
}

/** What a tool call brought back; `text` is the appendable part that travels as deltas. */
export interface ToolOutput {
  readonly text: string;
  readonly exitCode?: number;
  readonly changes?: ReadonlyArray<FileChange>;
}

/** One turn as the contract shows it. `cancel_confirmed_at` null on a canceled turn means it was forced. */
export interface Turn {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly turnId: TurnId;
  readonly sequence: number;
  readonly submittedAt: number;
  readonly phase: "submitted" | "running" | "waiting" | "settling" | "settled";
  readonly outcome: "completed" | "failed" | "canceled" | "interrupted" | null;
  readonly delivery: "not_dispatched" | "dispatching" | "accepted" | "rejected" | "unknown";
  readonly origin: "user_prompt" | "provider" | "goal" | "edit_retry";
  readonly clientSubmitId: ClientSubmitId | null;
  readonly providerTurnId: string | null;
  readonly cancelRequestedAt: number | null;
  readonly cancelConfirmedAt: number | null;
  readonly stopReason: string | null;
  readonly forkable: boolean;
  readonly usage: Usage | null;
  readonly timings: TurnTimings;
  readonly error: TurnError | null;
  readonly startedAt: number | null;
  readonly settledAt: number | null;
  readonly retractedAt: number | null;
}

/** Stop exactly this turn. A settled one is returned as it is. */
export interface TurnCancelParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly turnId: TurnId;
}

/** The turn as it is now. */
export interface TurnChange {
  readonly row: Turn;
  readonly type: "turn";
}

/** Why a turn failed: a stable code of the contract and a message of ours, never a provider's text. */
export interface TurnError {
  readonly code: string;
  readonly message: string;
  readonly origin: "provider" | "runtime";
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly httpStatus?: number;
}

/** Read one turn. */
export interface TurnGetParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly turnId: TurnId;
}

/** Say more within exactly this turn, without ending it. */
export interface TurnGuideParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  readonly turnId: TurnId;
  readonly clientSubmitId: ClientSubmitId;
  readonly content: ReadonlyArray<PromptBlock>;
}

export type TurnId = string;

/** List the turns of a session, newest first. */
export interface TurnListParams {
  readonly workspaceId: WorkspaceId;
  readonly agentSessionId: SessionId;
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
}

/** One page of turns, newest first. */
export interface TurnListReply {
  readonly items: ReadonlyArray<Turn>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** The turn as it stands. */
export interface TurnReply {
  readonly turn: Turn;
  readonly commitSeq: number;
}

/** Where the time before the first sign of the provider went, in milliseconds. */
export interface TurnTimings {
  readonly queuedMs: number | null;
  readonly startMs: number | null;
}

/** Cumulative token figures; each is null when the provider did not report it. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly cachedInputTokens: number | null;
  readonly outputTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly totalTokens: number | null;
  readonly contextTokens: number | null;
  readonly contextWindow: number | null;
  readonly costUsd: number | null;
}

/** One bound on an account's use. */
export interface UsageLimit {
  readonly name: string;
  readonly usedPercent: number;
  readonly windowMinutes: number | null;
  readonly resetsAt: number | null;
}

/** Done. */
export interface VoidReply {
  readonly commitSeq: number;
}

/** A label that sessions stand under, as `workspace/list` shows it; one without sessions is not known. */
export interface Workspace {
  readonly workspaceId: WorkspaceId;
  /** Root sessions, as `session/list` shows them. */
  readonly sessions: number;
  /** Unsettled turns, those of children included. */
  readonly activeTurns: number;
  /** Those of children included. */
  readonly pendingInteractions: number;
}

export type WorkspaceId = string;

/** Which page of the workspaces. */
export interface WorkspaceListParams {
  /** `nextCursor` of the page before; without it, the first page. */
  readonly cursor?: string | null;
  readonly limit?: number | null;
}

/** One page of workspaces, by their ids. */
export interface WorkspaceListReply {
  readonly items: ReadonlyArray<Workspace>;
  /** Null at the end. */
  readonly nextCursor: string | null;
  readonly commitSeq: number;
}

/** Give the session a checkout of its own. */
export interface WorktreeIsolation {
  readonly type: "worktree";
}

/** A request of a client. */
export interface RequestFrame {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The result of a request; which class it is depends on the method. */
export interface ReplyFrame {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly result: Readonly<Record<string, unknown>>;
}

/** The refusal of a request. `id` is null where it cannot be told. */
export interface ErrorFrame {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string; readonly data: ErrorData; };
}

export interface EventFrame {
  readonly jsonrpc: "2.0";
  readonly method: "event";
  readonly params: ({ readonly subscriptionId: number; }) & (Event);
}

/** The methods served: what each takes and answers with. */
export interface Methods {
  /** Open the connection; the first request. */
  readonly "initialize": { params: InitializeParams; result: InitializeReply };
  /** Create a session, with its first prompt or without. */
  readonly "session/create": { params: SessionCreateParams; result: SessionCreateReply };
  /** Read a session, its newest turns and its pending interactions. */
  readonly "session/get": { params: SessionGetParams; result: SessionGetReply };
  /** List the root sessions of a workspace. */
  readonly "session/list": { params: SessionListParams; result: SessionListReply };
  /** Read messages of a session: what changed, a window, or by id. */
  readonly "session/messages": { params: SessionMessagesParams; result: SessionMessagesReply };
  /** Start a turn with a prompt. */
  readonly "session/send": { params: SessionSendParams; result: TurnReply };
  /** End the session's runtime; a running turn first. */
  readonly "session/close": { params: SessionCloseParams; result: SessionReply };
  /** Make the session live now. */
  readonly "session/resume": { params: SessionResumeParams; result: SessionReply };
  /** Give a session a title of the user's, or take it away. */
  readonly "session/rename": { params: SessionRenameParams; result: SessionReply };
  /** Keep a session at the top of lists, or no longer. */
  readonly "session/pin": { params: SessionPinParams; result: SessionReply };
  /** Change settings of a session. */
  readonly "session/updateSettings": { params: SessionUpdateSettingsParams; result: SessionReply };
  /** Delete sessions with all below them; what runs in them is ended first. */
  readonly "session/delete": { params: SessionTreesParams; result: SessionsReply };
  /** Bring deleted sessions back, as they were. */
  readonly "session/restore": { params: SessionTreesParams; result: SessionsReply };
  /** Take deleted sessions away for good. */
  readonly "session/purge": { params: SessionTreesParams; result: SessionPurgeReply };
  /** Find sessions by words of their titles, prompts and answers. */
  readonly "session/search": { params: SessionSearchParams; result: SessionSearchReply };
  /** List the deleted sessions of a workspace. */
  readonly "session/listDeleted": { params: SessionListDeletedParams; result: SessionListDeletedReply };
  /** Read one turn. */
  readonly "turn/get": { params: TurnGetParams; result: TurnReply };
  /** List the turns of a session, newest first. */
  readonly "turn/list": { params: TurnListParams; result: TurnListReply };
  /** Say more within exactly this turn. */
  readonly "turn/guide": { params: TurnGuideParams; result: TurnReply };
  /** Stop exactly this turn. */
  readonly "turn/cancel": { params: TurnCancelParams; result: TurnReply };
  /** Read one durable operation. */
  readonly "operation/get": { params: OperationGetParams; result: OperationReply };
  /** Answer a pending interaction. */
  readonly "interaction/respond": { params: InteractionRespondParams; result: InteractionReply };
  /** List the interactions of a workspace. */
  readonly "interaction/list": { params: InteractionListParams; result: InteractionListReply };
  /** Say whether a Side of this session can be opened. */
  readonly "side/capabilities": { params: SideCapabilitiesParams; result: SideCapabilitiesReply };
  /** Fork a live conversation into one that is never stored. */
  readonly "side/open": { params: SideOpenParams; result: SideReply };
  /** Start a turn of a Side. */
  readonly "side/send": { params: SideSendParams; result: TurnReply };
  /** Stop exactly this turn of a Side. */
  readonly "side/cancel": { params: SideCancelParams; result: TurnReply };
  /** Answer a pending interaction of a Side. */
  readonly "side/respond": { params: SideRespondParams; result: InteractionReply };
  /** End a Side; its source goes on. */
  readonly "side/close": { params: SideCloseParams; result: SideReply };
  /** Read a Side. */
  readonly "side/get": { params: SideGetParams; result: SideGetReply };
  /** List the open Sides of a workspace. */
  readonly "side/list": { params: SideListParams; result: SideListReply };
  /** Close the Sides shown in a place of this client. */
  readonly "surface/dispose": { params: SurfaceDisposeParams; result: SurfaceDisposeReply };
  /** Take over the Sides shown in a place. */
  readonly "surface/attach": { params: SurfaceAttachParams; result: SurfaceAttachReply };
  /** Store a picture that prompts can show. */
  readonly "attachment/put": { params: AttachmentPutParams; result: AttachmentPutReply };
  /** Read a picture. */
  readonly "attachment/get": { params: AttachmentGetParams; result: AttachmentGetReply };
  /** Hear of what happens. */
  readonly "events/subscribe": { params: EventsSubscribeParams; result: EventsSubscribeReply };
  /** Change what a subscription follows, without a gap. */
  readonly "events/update": { params: EventsUpdateParams; result: VoidReply };
  /** End a subscription. */
  readonly "events/unsubscribe": { params: EventsUnsubscribeParams; result: VoidReply };
  /** Read how the service is. */
  readonly "health/read": { params: HealthReadParams; result: HealthReadReply };
  /** Read the figures of the service. */
  readonly "metrics/read": { params: MetricsReadParams; result: MetricsReadReply };
  /** Look into one session. */
  readonly "debug/session": { params: DebugSessionParams; result: DebugSessionReply };
  /** Put a fault at a failpoint, for tests. */
  readonly "fault/inject": { params: FaultInjectParams; result: FaultInjectReply };
  /** List the failpoints, armed or not, and how often each was passed. */
  readonly "fault/list": { params: FaultListParams; result: FaultListReply };
  /** Disarm one failpoint or all; whoever is paused there goes on. */
  readonly "fault/clear": { params: FaultClearParams; result: VoidReply };
  /** List the agents that can be talked to. */
  readonly "target/list": { params: TargetListParams; result: TargetListReply };
  /** Read how an agent's program and sign-in stand. */
  readonly "provider/status": { params: ProviderParams; result: ProviderStatusReply };
  /** Read the models an agent offers. */
  readonly "provider/models": { params: ProviderParams; result: ProviderModelsReply };
  /** Read the skills an agent's prompts can call for. */
  readonly "provider/skills": { params: ProviderParams; result: ProviderSkillsReply };
  /** Read what is left of an agent's account. */
  readonly "provider/usage": { params: ProviderParams; result: ProviderUsageReply };
  /** List the workspaces that hold sessions. */
  readonly "workspace/list": { params: WorkspaceListParams; result: WorkspaceListReply };
}

/** `data.code` of an error reply, and `error.code` of a failed turn; a newer server may give others. */
export type ErrorCode =
  | "request.invalid"
  | "request.unknown_method"
  | "request.too_large"
  | "auth.forbidden"
  | "protocol.uninitialized"
  | "protocol.unsupported"
  | "session.not_found"
  | "session.exists"
  | "session.busy"
  | "session.deleted"
  | "session.not_resumable"
  | "session.quarantined"
  | "session.cwd_missing"
  | "isolation.refused"
  | "turn.not_found"
  | "turn.mismatch"
  | "turn.settled"
  | "interaction.not_found"
  | "interaction.not_pending"
  | "interaction.unsupported_answer"
  | "submit.conflict"
  | "submit.delivery_unknown"
  | "target.not_found"
  | "target.disabled"
  | "provider.unavailable"
  | "provider.auth_required"
  | "provider.rejected"
  | "provider.timeout"
  | "provider.lost"
  | "provider.protocol"
  | "provider.rate_limited"
  | "provider.quota"
  | "provider.context_full"
  | "provider.model_unavailable"
  | "provider.refused"
  | "provider.stopped"
  | "capability.unsupported"
  | "settings.launch_only"
  | "settings.invalid"
  | "goal.conflict"
  | "fork.not_eligible"
  | "fork.unknown"
  | "history.revision_conflict"
  | "history.fenced"
  | "side.not_found"
  | "side.expired"
  | "side.exists"
  | "attachment.unsupported"
  | "attachment.not_found"
  | "operation.not_found"
  | "limit.exceeded"
  | "overloaded"
  | "store.full"
  | "store.unavailable"
  | "recording.conflict"
  | "recording.invalid"
  | "shutdown.in_progress"
  | "internal";
