// What is read when: the list and what stands beside it, an open session, pages on demand. Pure.

import { isReading, requested, still, then } from "./requests";
import { type Command, LIMITS, type Read, type State, type Step } from "./state";
import { withoutTitle } from "./session_list";

const PAGE_MOST = 200;

/** Reads what the page shows besides the open session. */
export function readList(state: State): Step {
  if (isReading(state, { kind: "list", cursor: null })) return still(state);
  const { workspaceId } = state;
  const sessions = requested(state, { kind: "list", cursor: null }, "session/list", { workspaceId, limit: LIMITS.page });
  const pending = then(sessions, (next) => readPending(next, null));
  const targets = then(pending, (next) => readTargets(next, null));
  return then(targets, (next) => requested(next, { kind: "health" }, "health/read", {}));
}

export function readPending(state: State, cursor: string | null): Step {
  const params = { workspaceId: state.workspaceId, status: "pending" as const, cursor, limit: PAGE_MOST };
  return requested(state, { kind: "pending", first: cursor === null }, "interaction/list", params);
}

export function readTargets(state: State, cursor: string | null): Step {
  return requested(state, { kind: "targets", first: cursor === null }, "target/list", { cursor, limit: PAGE_MOST });
}

/** Subscribes to a session's deltas. */
export function subscribe(state: State, agentSessionId: string): Step {
  const { workspaceId } = state;
  const read: Read = { kind: "follow", agentSessionId };
  const topics = ["agent.activity.updated"] as const;
  return requested(state, read, "events/subscribe", { workspaceId, topics, agentSessionIds: [agentSessionId], deltas: "all" });
}

export function unsubscribe(state: State, subscriptionId: number | null): Step {
  if (subscriptionId === null || state.connection.phase !== "open") return still(state);
  return requested(state, { kind: "unfollow" }, "events/unsubscribe", { subscriptionId });
}

/** Subscribes to a session's deltas first, then reads it: nothing falls between. */
export function follow(state: State, agentSessionId: string): Step {
  return then(subscribe(state, agentSessionId), (next) => readSession(next, agentSessionId));
}

/** Reads a session and the newest window of its transcript. */
export function readSession(state: State, agentSessionId: string): Step {
  const key = { workspaceId: state.workspaceId, agentSessionId };
  const session = requested(state, { kind: "session", agentSessionId }, "session/get", key);
  return then(session, (next) => readNewest(next, agentSessionId));
}

export function readNewest(state: State, agentSessionId: string): Step {
  const window = { beforeSequence: Number.MAX_SAFE_INTEGER, limit: 2 * LIMITS.page };
  const params = { workspaceId: state.workspaceId, agentSessionId, ...window };
  return requested(state, { kind: "newest", agentSessionId }, "session/messages", params);
}

export function readOlder(state: State): Step {
  const { open } = state;
  const oldest = open?.messages[0];
  if (!open?.hasOlder || open.loadingOlder || !oldest || state.connection.phase !== "open") return still(state);
  const { agentSessionId } = open;
  const window = { beforeSequence: oldest.sequence, limit: 2 * LIMITS.page };
  const params = { workspaceId: state.workspaceId, agentSessionId, ...window };
  return requested({ ...state, open: { ...open, loadingOlder: true } }, { kind: "older", agentSessionId }, "session/messages", params);
}

/** Turns older than those held: the transcript shows how each of its turns ended. */
export function readTurns(state: State): Step {
  const { open } = state;
  if (!open || open.turnsCursor === null) return still(state);
  const { agentSessionId, turnsCursor } = open;
  const params = { workspaceId: state.workspaceId, agentSessionId, cursor: turnsCursor, limit: PAGE_MOST };
  return requested(state, { kind: "turns", agentSessionId }, "turn/list", params);
}

/** Reads a message whose deltas have a hole. */
export function repair(state: State, agentSessionId: string, messageId: string): Step {
  const read: Read = { kind: "repair", agentSessionId, messageId };
  if (isReading(state, read)) return still(state);
  const params = { workspaceId: state.workspaceId, agentSessionId, messageIds: [messageId] };
  return requested(state, read, "session/messages", params);
}

/** Finds out to which root a session belongs. */
export function readAncestor(state: State, agentSessionId: string): Step {
  const read: Read = { kind: "ancestor", agentSessionId };
  if (isReading(state, read)) return still(state);
  const params = { workspaceId: state.workspaceId, agentSessionId, projection: "summary" as const };
  return requested(state, read, "session/get", params);
}

/** The first prompts of those sessions that have no title. */
export function readExcerpts(state: State, agentSessionIds: readonly string[]): Step {
  let step = still(state);
  for (const agentSessionId of withoutTitle(state.list, agentSessionIds)) {
    const params = { workspaceId: state.workspaceId, agentSessionId, afterVersion: 0, limit: 1 };
    step = then(step, (next) => requested(next, { kind: "excerpt", agentSessionId }, "session/messages", params));
  }
  return step;
}

/** Sends the commands again that a lost connection left without an answer. */
export function sendAgain(state: State, commands: readonly Command[]): Step {
  return { state, effects: commands.map(({ id, method, params }) => ({ type: "request", id, method, params })) };
}
