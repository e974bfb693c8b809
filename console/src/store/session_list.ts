// The list of sessions: pages read, commits applied, pending questions counted. Pure.

import type {
  Change,
  Interaction,
  InteractionListReply,
  Message,
  RuntimeActivity,
  Session,
  SessionListReply,
  Turn,
} from "../../../contract/greenroom";
import { interactionKey, LIMITS, type ListedSession, type SessionList, withEntry, withoutEntry } from "./state";

const EXCERPT_CHARACTERS = 80;

/** A page as it was read at `reply.commitSeq`; rows that newer commits brought stay as they are. */
export function withPage(list: SessionList, reply: SessionListReply, first: boolean): SessionList {
  const held = new Map(list.items.map((item) => [item.session.agentSessionId, item]));
  const page = reply.items
    .filter((item) => (list.removed.get(item.agentSessionId) ?? -1) <= reply.commitSeq)
    .map(({ activity, ...session }): ListedSession => {
      const known = held.get(session.agentSessionId);
      held.delete(session.agentSessionId);
      if (known && known.commitSeq > reply.commitSeq) return known;
      const excerpt = known?.excerpt ?? null;
      return { session, commitSeq: reply.commitSeq, turnId: activity.turnId, phase: activity.phase, excerpt };
    });
  const newer = list.items.filter((item) => held.has(item.session.agentSessionId) && item.commitSeq > reply.commitSeq);
  const items = first ? [...newer, ...page] : [...list.items.filter((item) => held.has(item.session.agentSessionId)), ...page];
  const full = items.length >= LIMITS.sessionsKept;
  return {
    ...list,
    phase: "ready",
    loadingMore: false,
    items: pinnedFirst(items).slice(0, LIMITS.sessionsKept),
    cursor: full ? null : reply.nextCursor,
  };
}

export function withPending(list: SessionList, reply: InteractionListReply, first: boolean): SessionList {
  const start = first ? { ...list, pending: new Map<string, ReadonlySet<string>>() } : list;
  return reply.items.reduce(withInteraction, start);
}

/** One change of a commit. */
export function withChange(list: SessionList, change: Change, commitSeq: number): SessionList {
  switch (change.type) {
    case "session":
    case "session_restored":
      return withSession(list, change.row, commitSeq);
    case "session_removed":
      return withoutSession(list, change.row.agentSessionId, commitSeq);
    case "turn":
      return withTurn(list, change.row);
    case "interaction":
      return withInteraction(list, change.row);
    case "message":
      return withFirstPrompt(list, change.row);
    default:
      return list;
  }
}

export function withActivity(list: SessionList, event: RuntimeActivity): SessionList {
  return replaced(list, event.agentSessionId, (item) => ({
    ...item,
    session: { ...item.session, runtime: { state: event.runtimeState, lastActivityAt: event.lastActivityAt } },
  }));
}

export function withExcerpt(list: SessionList, messages: readonly Message[]): SessionList {
  const prompt = messages.find((message) => message.role === "user");
  return prompt ? withFirstPrompt(list, prompt) : list;
}

export function withRoot(list: SessionList, session: Session): SessionList {
  const root = session.parent?.rootAgentSessionId;
  if (!root || root === session.agentSessionId) return list;
  return { ...list, roots: withEntry(list.roots, session.agentSessionId, root, LIMITS.pendingKept) };
}

/** How many questions of each root session and its sub-agents wait for an answer. */
export function pendingCounts(list: SessionList): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [agentSessionId, keys] of list.pending) {
    const root = list.roots.get(agentSessionId) ?? agentSessionId;
    counts.set(root, (counts.get(root) ?? 0) + keys.size);
  }
  return counts;
}

/** Whether a change takes a session out of the pinned ones: where it goes only the server knows. */
export function unpins(list: SessionList, change: Change): boolean {
  if (change.type !== "session" || change.row.pinned) return false;
  return list.items.some((item) => item.session.agentSessionId === change.row.agentSessionId && item.session.pinned);
}

export function isListed(list: SessionList, agentSessionId: string): boolean {
  return list.items.some((item) => item.session.agentSessionId === agentSessionId);
}

/** Sessions without a title whose first prompt is worth a look. */
export function withoutTitle(list: SessionList, agentSessionIds: readonly string[]): readonly string[] {
  const asked = new Set(agentSessionIds);
  return list.items
    .slice(0, LIMITS.excerptsAsked)
    .filter((item) => asked.has(item.session.agentSessionId) && !item.session.title && item.excerpt === null)
    .map((item) => item.session.agentSessionId);
}

function withSession(list: SessionList, session: Session, commitSeq: number): SessionList {
  if (session.parent && session.parent.rootAgentSessionId !== session.agentSessionId) return withRoot(list, session);
  const held = list.items.find((item) => item.session.agentSessionId === session.agentSessionId);
  if (held) {
    if (held.commitSeq >= commitSeq) return list;
    // A row of the log holds no live observation: what was last observed stands.
    const next = { ...held, session: { ...session, runtime: held.session.runtime }, commitSeq };
    const moved = held.session.pinned !== session.pinned;
    const rest = list.items.filter((item) => item !== held);
    return { ...list, items: moved ? pinnedFirst([next, ...rest]) : list.items.map((item) => (item === held ? next : item)) };
  }
  // Of a session on a page that was not read yet nothing is known but this row: it is listed when it is a new one.
  const newest = Math.max(0, ...list.items.map((item) => item.session.createdAt));
  if (list.phase === "loading" || (list.cursor !== null && session.createdAt < newest)) return list;
  const item: ListedSession = { session, commitSeq, turnId: session.activeTurnId, phase: null, excerpt: null };
  return { ...list, items: pinnedFirst([item, ...list.items]).slice(0, LIMITS.sessionsKept) };
}

function withoutSession(list: SessionList, agentSessionId: string, commitSeq: number): SessionList {
  return {
    ...list,
    items: list.items.filter((item) => item.session.agentSessionId !== agentSessionId),
    pending: withoutEntry(list.pending, agentSessionId),
    removed: withEntry(list.removed, agentSessionId, commitSeq, LIMITS.removedKept),
  };
}

function withTurn(list: SessionList, turn: Turn): SessionList {
  if (turn.phase === "settled") {
    return replaced(list, turn.agentSessionId, (item) => (item.turnId === turn.turnId ? { ...item, turnId: null, phase: null } : item));
  }
  const held = list.items.find((item) => item.session.agentSessionId === turn.agentSessionId);
  if (!held) return list;
  const next = { ...held, turnId: turn.turnId, phase: turn.phase };
  const begins = held.turnId !== turn.turnId || held.phase === null;
  if (!begins || held.session.pinned) return replaced(list, turn.agentSessionId, () => next);
  return { ...list, items: pinnedFirst([next, ...list.items.filter((item) => item !== held)]) };
}

function withInteraction(list: SessionList, row: Interaction): SessionList {
  const held = list.pending.get(row.agentSessionId) ?? new Set<string>();
  const key = interactionKey(row);
  if ((row.status === "pending") === held.has(key)) return list;
  const next = new Set(held);
  if (row.status === "pending") next.add(key);
  else next.delete(key);
  const pending =
    next.size > 0
      ? withEntry(list.pending, row.agentSessionId, next, LIMITS.pendingKept)
      : withoutEntry(list.pending, row.agentSessionId);
  return { ...list, pending };
}

function withFirstPrompt(list: SessionList, message: Message): SessionList {
  if (message.role !== "user") return list;
  return replaced(list, message.agentSessionId, (item) =>
    item.excerpt === null && !item.session.title ? { ...item, excerpt: excerptOf(message) } : item,
  );
}

function excerptOf(message: Message): string {
  const blocks = message.content.map((block) => (block.type === "text" ? block.text : ""));
  const text = (message.displayPrompt ?? blocks.join(" ")).slice(0, 10 * EXCERPT_CHARACTERS).replace(/\s+/g, " ").trim();
  return text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS).trimEnd()}…` : text;
}

function replaced(list: SessionList, agentSessionId: string, change: (item: ListedSession) => ListedSession): SessionList {
  const index = list.items.findIndex((item) => item.session.agentSessionId === agentSessionId);
  const held = list.items[index];
  if (!held) return list;
  const next = change(held);
  if (next === held) return list;
  const items = [...list.items];
  items[index] = next;
  return { ...list, items };
}

function pinnedFirst(items: readonly ListedSession[]): readonly ListedSession[] {
  return [...items.filter((item) => item.session.pinned), ...items.filter((item) => !item.session.pinned)];
}
