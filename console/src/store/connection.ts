// The connection: opened, subscribed, lost, tried again. Pure.

import type { EventsSubscribeReply, InitializeReply } from "../../../contract/greenroom";
import { readList, readSession, sendAgain, subscribe } from "./reads";
import { requested, still, then, withProblem } from "./requests";
import { EMPTY_LIST, type State, type Step } from "./state";
import { opening } from "./transcript";

const REVOKED = 1008;
const SHUTDOWN = 1001;
const TOO_SLOW = 4001;
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 15_000;

/** `reachable`: the daemon still answers plain requests. A handshake it refuses all the same had the wrong token. */
export function connectionLost(state: State, code: number, reachable: boolean): Step {
  const { connection, open } = state;
  const lost: State = {
    ...state,
    reads: new Map(),
    subscriptionId: null,
    shutdown: false,
    list: { ...state.list, loadingMore: false },
    open: open && { ...open, subscriptionId: null, loadingOlder: false },
  };
  if (connection.phase === "refused" || connection.phase === "no_token") return still(lost);
  if ((connection.phase === "connecting" && !connection.isAdmitted && reachable) || (connection.phase === "open" && code === REVOKED)) {
    const refused: State = { ...lost, connection: { phase: "refused" } };
    return { state: refused, effects: [{ type: "forget_token" }] };
  }
  const attempt = connection.phase === "open" ? 1 : connection.attempt + 1;
  const why = code === SHUTDOWN ? "shutdown" : code === TOO_SLOW ? "too_slow" : reachable ? "closed" : "unreachable";
  const milliseconds = Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_MOST_MS);
  return {
    state: { ...lost, connection: { phase: "waiting", attempt, why } },
    effects: [{ type: "retry_after", milliseconds }],
  };
}

/** The connection is open: go on where the last one ended, if it is the same database. */
export function initialized(state: State, server: InitializeReply): Step {
  let next: State = { ...state, server, connection: { phase: "open", attempt: 0 } };
  if (state.head && state.head.storeId !== server.storeId) next = inAnotherStore(next);
  const resumed = next.head !== null;
  return requested(next, { kind: "subscribe", resumed }, "events/subscribe", {
    workspaceId: next.workspaceId,
    topics: ["agent.activity.updated", "host.updated"],
    deltas: "none",
    ...(next.head && { storeId: next.head.storeId, afterCommitSeq: next.head.commitSeq }),
  });
}

/** Without a gap everything missed follows as commits; what is no commit (runtimes, health) is read again. */
export function subscribed(state: State, reply: EventsSubscribeReply, resumed: boolean): Step {
  const storeId = state.server?.storeId ?? "";
  const whole = resumed && !reply.gap;
  const head = whole ? state.head : { storeId, commitSeq: reply.commitSeq };
  const listed = readList({ ...state, head, subscriptionId: reply.subscriptionId });
  const { open, commands } = state;
  const followed = open ? then(listed, (next) => subscribe(next, open.agentSessionId)) : listed;
  const again = open && !(whole && open.phase === "ready");
  const read = again ? then(followed, (next) => readSession(next, open.agentSessionId)) : followed;
  return then(read, (next) => sendAgain(next, commands));
}

/** The greeting was refused: the person is told why, and it is tried again later, as the daemon may be another then. */
export function greetingRefused(state: State): Step {
  if (state.connection.phase !== "connecting") return still(state);
  return { state, effects: [{ type: "disconnect" }] };
}

function inAnotherStore(state: State): State {
  const open = state.open && opening(state.open.agentSessionId);
  const next: State = { ...state, head: null, list: EMPTY_LIST, open, commands: [] };
  if (state.commands.length === 0) return next;
  const what = "Greenroom came back with another database, so what was on its way was not sent again.";
  return withProblem(next, { what, next: "Look at the list of sessions, then repeat it." });
}
