// What the console knows, and what can happen to it. Data alone: store.ts decides, driver.ts performs.

import type {
  ErrorFrame,
  EventFrame,
  HealthReadReply,
  InitializeReply,
  Interaction,
  InteractionRespondParams,
  Message,
  Methods,
  ReplyFrame,
  Session,
  SessionCreateParams,
  SessionPinParams,
  SessionRenameParams,
  SessionSendParams,
  SessionTreesParams,
  Target,
  Turn,
  TurnCancelParams,
} from "../../../contract/greenroom";

/** Bounds of the page: however much happens, this is all it holds. */
export const LIMITS = {
  messagesKept: 1500,
  charactersKept: 24_000_000,
  sessionsKept: 2000,
  turnsKept: 2000,
  interactionsKept: 500,
  pendingKept: 5000,
  removedKept: 1000,
  problemsKept: 4,
  draftsKept: 50,
  commandsKept: 50,
  excerptsAsked: 200,
  page: 50,
} as const;

/** A row with the commit it was read at, or that brought it. */
export interface Stamped<Row> {
  readonly row: Row;
  readonly commitSeq: number;
}

/** Why the last connection ended. */
export type LossReason = "unreachable" | "shutdown" | "too_slow" | "closed";

export type Connection =
  | { readonly phase: "no_token" }
  | { readonly phase: "refused" }
  | { readonly phase: "connecting"; readonly attempt: number; readonly why: LossReason | null; readonly isAdmitted: boolean }
  | { readonly phase: "open"; readonly attempt: 0 }
  | { readonly phase: "waiting"; readonly attempt: number; readonly why: LossReason };

export interface ListedSession {
  readonly session: Session;
  readonly commitSeq: number;
  readonly turnId: string | null;
  readonly phase: Turn["phase"] | null;
  /** The beginning of its first prompt, shown where there is no title. */
  readonly excerpt: string | null;
}

export interface SessionList {
  readonly phase: "loading" | "ready";
  readonly items: readonly ListedSession[];
  readonly cursor: string | null;
  readonly loadingMore: boolean;
  /** Keys of pending interactions by the session that asks, sub-agents included. */
  readonly pending: ReadonlyMap<string, ReadonlySet<string>>;
  /** The root of each sub-agent's session. */
  readonly roots: ReadonlyMap<string, string>;
  /** Removed at which commit: a page read before must not bring them back. */
  readonly removed: ReadonlyMap<string, number>;
}

/** A prompt that was sent and whose message has not been seen yet. */
export interface Outgoing {
  readonly clientSubmitId: string;
  readonly text: string;
}

export interface OpenSession {
  readonly agentSessionId: string;
  readonly phase: "loading" | "ready" | "deleted" | "failed";
  readonly failure: string | null;
  readonly subscriptionId: number | null;
  readonly session: Stamped<Session> | null;
  readonly turns: ReadonlyMap<string, Stamped<Turn>>;
  readonly turnsCursor: string | null;
  readonly interactions: ReadonlyMap<string, Stamped<Interaction>>;
  readonly children: ReadonlyMap<string, Session>;
  /** Ascending by `sequence`; a window of the transcript. */
  readonly messages: readonly Message[];
  readonly hasOlder: boolean;
  /** True once the newest messages were given up for older ones. */
  readonly hasNewer: boolean;
  readonly loadingOlder: boolean;
  readonly outgoing: readonly Outgoing[];
}

/** A sentence the person should see: what happened and what to do. */
export interface Problem {
  readonly id: number;
  readonly what: string;
  readonly next: string;
}

export type CommandMethod = Command["method"];

/** A command without an answer yet. It is sent again after a lost connection: each of them may be repeated. */
export type Command =
  | { readonly id: number; readonly method: "session/create"; readonly params: SessionCreateParams }
  | { readonly id: number; readonly method: "session/send"; readonly params: SessionSendParams }
  | { readonly id: number; readonly method: "session/rename"; readonly params: SessionRenameParams }
  | { readonly id: number; readonly method: "session/pin"; readonly params: SessionPinParams }
  | { readonly id: number; readonly method: "session/delete" | "session/restore"; readonly params: SessionTreesParams }
  | { readonly id: number; readonly method: "turn/cancel"; readonly params: TurnCancelParams }
  | { readonly id: number; readonly method: "interaction/respond"; readonly params: InteractionRespondParams };

/** What an unanswered read is for; forgotten with its connection. */
export type Read =
  | { readonly kind: "initialize" }
  | { readonly kind: "subscribe"; readonly resumed: boolean }
  | { readonly kind: "follow"; readonly agentSessionId: string }
  | { readonly kind: "unfollow" }
  | { readonly kind: "list"; readonly cursor: string | null }
  | { readonly kind: "pending"; readonly first: boolean }
  | { readonly kind: "targets"; readonly first: boolean }
  | { readonly kind: "health" }
  | { readonly kind: "excerpt"; readonly agentSessionId: string }
  | { readonly kind: "ancestor"; readonly agentSessionId: string }
  | { readonly kind: "session"; readonly agentSessionId: string }
  | { readonly kind: "turns"; readonly agentSessionId: string }
  | { readonly kind: "newest"; readonly agentSessionId: string }
  | { readonly kind: "older"; readonly agentSessionId: string }
  | { readonly kind: "repair"; readonly agentSessionId: string; readonly messageId: string };

export interface State {
  readonly workspaceId: string;
  readonly connection: Connection;
  readonly server: InitializeReply | null;
  /** How far the page has come in which database: where a new subscription goes on. */
  readonly head: { readonly storeId: string; readonly commitSeq: number } | null;
  readonly subscriptionId: number | null;
  readonly shutdown: boolean;
  readonly targets: readonly Target[];
  readonly health: HealthReadReply | null;
  readonly list: SessionList;
  readonly open: OpenSession | null;
  readonly commands: readonly Command[];
  readonly reads: ReadonlyMap<number, Read>;
  readonly nextId: number;
  readonly problems: readonly Problem[];
  readonly drafts: ReadonlyMap<string, string>;
  readonly creating: boolean;
  /** For screen readers: what changed without the person doing anything. */
  readonly announcement: string;
}

export interface NewSession {
  readonly agentTargetId: string;
  readonly clientSubmitId: string;
  readonly cwd: string;
  readonly title: string;
  readonly prompt: string;
  readonly settings: Readonly<Record<string, string | boolean>>;
}

export type ConsoleEvent =
  // Of the driver.
  | { readonly type: "started"; readonly hasToken: boolean; readonly agentSessionId: string | null }
  | { readonly type: "token_given" }
  | { readonly type: "socket_opened" }
  | { readonly type: "socket_closed"; readonly code: number; readonly reachable: boolean }
  | { readonly type: "frame"; readonly frame: ReplyFrame | ErrorFrame | EventFrame }
  | { readonly type: "retry_due" }
  // Of the person.
  | { readonly type: "session_chosen"; readonly agentSessionId: string | null }
  | { readonly type: "more_sessions_wanted" }
  | { readonly type: "older_wanted" }
  | { readonly type: "newest_wanted" }
  | { readonly type: "draft_changed"; readonly text: string }
  | { readonly type: "prompt_given"; readonly text: string; readonly clientSubmitId: string }
  | { readonly type: "stop_wanted" }
  | { readonly type: "answer_given"; readonly interaction: Interaction; readonly answer: InteractionRespondParams["answer"] }
  | { readonly type: "session_wanted"; readonly session: NewSession }
  | { readonly type: "title_given"; readonly title: string }
  | { readonly type: "pin_wanted"; readonly pinned: boolean }
  | { readonly type: "deletion_wanted" | "restoration_wanted" }
  | { readonly type: "creating_toggled"; readonly shown: boolean }
  | { readonly type: "health_wanted" }
  | { readonly type: "problem_dismissed"; readonly id: number };

export type Effect =
  | { readonly type: "connect" }
  | { readonly type: "disconnect" }
  | { readonly type: "request"; readonly id: number; readonly method: keyof Methods; readonly params: object }
  | { readonly type: "retry_after"; readonly milliseconds: number }
  | { readonly type: "show_address"; readonly agentSessionId: string | null }
  | { readonly type: "forget_token" };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const EMPTY_LIST: SessionList = {
  phase: "loading",
  items: [],
  cursor: null,
  loadingMore: false,
  pending: new Map(),
  roots: new Map(),
  removed: new Map(),
};

export function initialState(workspaceId: string): State {
  return {
    workspaceId,
    connection: { phase: "no_token" },
    server: null,
    head: null,
    subscriptionId: null,
    shutdown: false,
    targets: [],
    health: null,
    list: EMPTY_LIST,
    open: null,
    commands: [],
    reads: new Map(),
    nextId: 1,
    problems: [],
    drafts: new Map(),
    creating: false,
    announcement: "",
  };
}

export function interactionKey(row: { agentSessionId: string; turnId: string; requestId: string }): string {
  return `${row.agentSessionId}/${row.turnId}/${row.requestId}`;
}

/** `map` with one more entry, without its oldest ones beyond `most`. */
export function withEntry<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  key: Key,
  value: Value,
  most: number,
): ReadonlyMap<Key, Value> {
  const grown = new Map(map);
  grown.set(key, value);
  for (const oldest of grown.keys()) {
    if (grown.size <= most) break;
    grown.delete(oldest);
  }
  return grown;
}

export function withoutEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  if (!map.has(key)) return map;
  const smaller = new Map(map);
  smaller.delete(key);
  return smaller;
}
