// Events of the subscriptions: committed facts, optimistic deltas, hints. Unknown types are ignored. Pure.

import type { Change, Commit, Event } from "../../../contract/greenroom";
import { readAncestor, readList, readSession, readTargets, repair } from "./reads";
import { requested, still, then } from "./requests";
import * as list from "./session_list";
import { type OpenSession, type State, type Step } from "./state";
import * as transcript from "./transcript";

export function happened(state: State, event: { readonly subscriptionId: number } & Event): Step {
  const isWhole = event.subscriptionId === state.subscriptionId;
  switch (event.type) {
    case "commit":
      return committed(isWhole ? reached(state, event.commitSeq) : state, event);
    case "checkpoint":
      return still(isWhole ? reached(state, event.commitSeq) : state);
    case "session_reset": {
      const next = isWhole ? reached(state, event.commitSeq) : state;
      const listed = isWhole ? readList(next) : still(next);
      const isOpen = state.open?.agentSessionId === event.agentSessionId;
      return isOpen ? then(listed, (after) => readSession(after, event.agentSessionId)) : listed;
    }
    case "resync": {
      const listed = isWhole ? readList(reached(state, event.commitSeq)) : still(state);
      const { open } = state;
      return open ? then(listed, (next) => readSession(next, open.agentSessionId)) : listed;
    }
    case "message_delta": {
      if (state.open?.agentSessionId !== event.agentSessionId) return still(state);
      const open = transcript.withDelta(state.open, event);
      return open ? still({ ...state, open }) : repair(state, event.agentSessionId, event.messageId);
    }
    case "message_snapshot":
      if (state.open?.agentSessionId !== event.message.agentSessionId) return still(state);
      return still({ ...state, open: transcript.withMessage(state.open, event.message) });
    case "runtime_activity":
      return still({
        ...state,
        list: list.withActivity(state.list, event),
        open: state.open && transcript.withActivity(state.open, event),
      });
    case "shutdown":
      return still({ ...state, shutdown: true, announcement: "Greenroom is stopping." });
    case "health":
      return requested(state, { kind: "health" }, "health/read", {});
    case "target":
      return readTargets(state, null);
    default:
      // `stream_gap` is followed by a snapshot; everything else is not of this page.
      return still(state);
  }
}

function committed(state: State, { changes, commitSeq }: Commit): Step {
  let next = state;
  let isReordered = false;
  for (const change of changes) {
    const { open } = next;
    isReordered ||= change.type === "session_restored" || list.unpins(next.list, change);
    next = {
      ...next,
      list: list.withChange(next.list, change, commitSeq),
      open: open && transcript.withChange(open, change, commitSeq),
      announcement: announcementOf(open, change) ?? next.announcement,
    };
  }
  // Where a session stands among the others only the server knows.
  const read = isReordered ? readList(next) : still(next);
  return changes.reduce((step, change) => then(step, (current) => withAncestor(current, change)), read);
}

/** A question of a session that is not known here: its root shows it. */
function withAncestor(state: State, change: Change): Step {
  if (change.type !== "interaction" || change.row.status !== "pending") return still(state);
  const { agentSessionId } = change.row;
  const isKnown = list.isListed(state.list, agentSessionId) || state.list.roots.has(agentSessionId);
  return isKnown ? still(state) : readAncestor(state, agentSessionId);
}

function announcementOf(before: OpenSession | null, change: Change): string | null {
  if (!before || change.type === "operation" || change.type === "goal") return null;
  if (change.row.agentSessionId !== before.agentSessionId) return null;
  if (change.type === "interaction" && change.row.status === "pending") return "The agent asks for an answer.";
  if (change.type === "turn" && change.row.phase === "settled") {
    const { outcome } = change.row;
    return outcome === "completed" ? "The agent is done." : `The turn has ended: ${outcome}.`;
  }
  return change.type === "session_removed" ? "This session was deleted." : null;
}

function reached(state: State, commitSeq: number): State {
  if (!state.head || commitSeq <= state.head.commitSeq) return state;
  return { ...state, head: { ...state.head, commitSeq } };
}
