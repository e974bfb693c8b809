// The open session: its transcript window, turns and questions, kept true by reads, commits and deltas. Pure.

import type {
  Change,
  Interaction,
  Message,
  MessageDelta,
  RuntimeActivity,
  SessionGetReply,
  SessionMessagesReply,
  Turn,
} from "../../../contract/greenroom";
import { interactionKey, LIMITS, type OpenSession, type Stamped, withEntry } from "./state";

export function opening(agentSessionId: string): OpenSession {
  return {
    agentSessionId,
    phase: "loading",
    failure: null,
    subscriptionId: null,
    session: null,
    turns: new Map(),
    turnsCursor: null,
    interactions: new Map(),
    children: new Map(),
    messages: [],
    hasOlder: false,
    hasNewer: false,
    loadingOlder: false,
    outgoing: [],
  };
}

export function withSessionRead(open: OpenSession, reply: SessionGetReply): OpenSession {
  let next: OpenSession = { ...open, session: stamped(open.session, reply.session, reply.commitSeq) };
  if (open.turnsCursor === null || open.turns.size === 0) next = { ...next, turnsCursor: reply.turnsCursor };
  for (const turn of [...reply.turns].reverse()) next = withTurn(next, turn, reply.commitSeq);
  if (reply.activeTurn) next = withTurn(next, reply.activeTurn, reply.commitSeq);
  for (const row of reply.interactions) next = withInteraction(next, row, reply.commitSeq);
  return { ...next, children: new Map(reply.children.map((child) => [child.agentSessionId, child])) };
}

/** The newest window stands in for whatever was held; what deltas and newer commits brought since is kept. */
export function withNewest(open: OpenSession, reply: SessionMessagesReply): OpenSession {
  const held = new Map(open.messages.map((message) => [message.messageId, message]));
  const window = reply.messages.map((message) => newest(held.get(message.messageId), message));
  const last = window.at(-1)?.sequence ?? -1;
  const later = open.hasNewer ? [] : open.messages.filter((message) => message.version > reply.messageVersion && message.sequence > last);
  const messages = [...window, ...later];
  const next = { ...open, phase: "ready" as const, messages, hasOlder: reply.hasMore, hasNewer: false, loadingOlder: false };
  return messages.reduce(withoutOutgoing, trimmed(next, "oldest"));
}

export function withOlder(open: OpenSession, reply: SessionMessagesReply): OpenSession {
  const oldest = open.messages[0]?.sequence ?? Number.MAX_SAFE_INTEGER;
  const older = reply.messages.filter((message) => message.sequence < oldest);
  return trimmed({ ...open, messages: [...older, ...open.messages], hasOlder: reply.hasMore, loadingOlder: false }, "newest");
}

export function withChange(open: OpenSession, change: Change, commitSeq: number): OpenSession {
  switch (change.type) {
    case "session":
    case "session_restored": {
      if (change.row.agentSessionId !== open.agentSessionId) {
        return change.row.parent?.rootAgentSessionId === open.agentSessionId
          ? { ...open, children: withEntry(open.children, change.row.agentSessionId, change.row, LIMITS.turnsKept) }
          : open;
      }
      // A row of the log holds no live observation: what was last observed stands.
      const runtime = open.session?.row.runtime ?? change.row.runtime;
      return { ...open, session: stamped(open.session, { ...change.row, runtime }, commitSeq) };
    }
    case "session_removed":
      return change.row.agentSessionId === open.agentSessionId ? { ...open, phase: "deleted" } : open;
    case "turn":
      return change.row.agentSessionId === open.agentSessionId ? withTurn(open, change.row, commitSeq) : open;
    case "interaction":
      return isOf(open, change.row.agentSessionId) ? withInteraction(open, change.row, commitSeq) : open;
    case "message":
      return change.row.agentSessionId === open.agentSessionId ? withMessage(open, change.row) : open;
    default:
      return open;
  }
}

export function withActivity(open: OpenSession, event: RuntimeActivity): OpenSession {
  if (event.agentSessionId !== open.agentSessionId || !open.session) return open;
  const runtime = { state: event.runtimeState, lastActivityAt: event.lastActivityAt };
  return { ...open, session: { ...open.session, row: { ...open.session.row, runtime } } };
}

export function withMessage(open: OpenSession, row: Message): OpenSession {
  const index = open.messages.findLastIndex((message) => message.messageId === row.messageId);
  const held = open.messages[index];
  if (held) {
    const next = newest(held, row);
    return next === held ? open : { ...open, messages: open.messages.with(index, next) };
  }
  const last = open.messages.at(-1)?.sequence ?? -1;
  const first = open.messages[0]?.sequence ?? -1;
  if (row.sequence > last) {
    if (open.hasNewer) return withoutOutgoing(open, row);
    return withoutOutgoing(trimmed({ ...open, messages: [...open.messages, row] }, "oldest"), row);
  }
  if (row.sequence < first && open.hasOlder) return open; // on a page that is read when it is asked for
  const place = open.messages.findIndex((message) => message.sequence > row.sequence);
  return withoutOutgoing({ ...open, messages: open.messages.toSpliced(place, 0, row) }, row);
}

/** More text. `null` when deltas before it are missing here: the message has to be read again. */
export function withDelta(open: OpenSession, delta: MessageDelta): OpenSession | null {
  const index = open.messages.findLastIndex((message) => message.messageId === delta.messageId);
  const held = open.messages[index];
  // Outside the window nothing is shown, so nothing is missing.
  if (!held) return open.hasNewer || open.hasOlder || open.phase !== "ready" ? open : null;
  if (held.deltaSeq === null || delta.deltaSeq < held.deltaSeq) return open;
  if (delta.deltaSeq > held.deltaSeq) return null;
  return { ...open, messages: open.messages.with(index, { ...appended(held, delta), deltaSeq: held.deltaSeq + 1 }) };
}

export function withTurn(open: OpenSession, turn: Turn, commitSeq: number): OpenSession {
  const next = stamped(open.turns.get(turn.turnId) ?? null, turn, commitSeq);
  let changed = { ...open, turns: withEntry(open.turns, turn.turnId, next, LIMITS.turnsKept) };
  if (turn.retractedAt !== null) {
    changed = { ...changed, messages: open.messages.filter((message) => message.turnId !== turn.turnId) };
  }
  return changed;
}

export function withInteraction(open: OpenSession, row: Interaction, commitSeq: number): OpenSession {
  const key = interactionKey(row);
  const next = stamped(open.interactions.get(key) ?? null, row, commitSeq);
  return { ...open, interactions: withEntry(open.interactions, key, next, LIMITS.interactionsKept) };
}

/** The turn that is not settled. */
export function unsettledTurn(open: OpenSession): Turn | null {
  let found: Turn | null = null;
  for (const { row } of open.turns.values()) {
    if (row.phase !== "settled" && (found === null || row.sequence > found.sequence)) found = row;
  }
  return found;
}

export function pendingInteractions(open: OpenSession): readonly Interaction[] {
  return [...open.interactions.values()]
    .map(({ row }) => row)
    .filter((row) => row.status === "pending")
    .sort((one, other) => one.createdAt - other.createdAt);
}

/** Whether a turn of the window is not known yet, while older turns can be read. */
export function lacksTurns(open: OpenSession): boolean {
  return open.turnsCursor !== null && open.messages.some((message) => message.turnId !== null && !open.turns.has(message.turnId));
}

export function isOf(open: OpenSession, agentSessionId: string): boolean {
  return agentSessionId === open.agentSessionId || open.children.has(agentSessionId);
}

function stamped<Row>(held: Stamped<Row> | null, row: Row, commitSeq: number): Stamped<Row> {
  return held && held.commitSeq > commitSeq ? held : { row, commitSeq };
}

/** `version` is the session's change cursor; of one version, the row that contains more deltas. */
function newest(held: Message | undefined, row: Message): Message {
  if (!held || row.version > held.version) return row;
  if (row.version < held.version) return held;
  return contained(row) > contained(held) ? row : held;
}

function contained(message: Message): number {
  return message.deltaSeq ?? Number.POSITIVE_INFINITY;
}

function appended(message: Message, delta: MessageDelta): Message {
  if (delta.field === "output") {
    if (!message.toolCall) return message;
    const output = { ...message.toolCall.output, text: message.toolCall.output.text + delta.text };
    return { ...message, toolCall: { ...message.toolCall, output } };
  }
  const index = message.content.findIndex((block) => block.type === "text");
  const block = message.content[index];
  if (block?.type !== "text") return { ...message, content: [...message.content, { type: "text", text: delta.text }] };
  return { ...message, content: message.content.with(index, { ...block, text: block.text + delta.text }) };
}

function withoutOutgoing(open: OpenSession, row: Message): OpenSession {
  if (row.role !== "user" || row.clientSubmitId === null || open.outgoing.length === 0) return open;
  return { ...open, outgoing: open.outgoing.filter((one) => one.clientSubmitId !== row.clientSubmitId) };
}

/** Within the bounds, given up at the end that nobody looks at. */
function trimmed(open: OpenSession, end: "oldest" | "newest"): OpenSession {
  let characters = 0;
  let kept = 0;
  const ordered = end === "oldest" ? open.messages.toReversed() : open.messages;
  for (const message of ordered) {
    characters += size(message);
    if (kept >= LIMITS.messagesKept || (characters > LIMITS.charactersKept && kept > 0)) break;
    kept += 1;
  }
  if (kept === open.messages.length) return open;
  return end === "oldest"
    ? { ...open, messages: open.messages.slice(-kept), hasOlder: true }
    : { ...open, messages: open.messages.slice(0, kept), hasNewer: true };
}

function size(message: Message): number {
  let characters = message.toolCall ? message.toolCall.output.text.length : 0;
  for (const block of message.content) if (block.type === "text") characters += block.text.length;
  return characters;
}
