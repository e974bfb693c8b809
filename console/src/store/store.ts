// The whole of the console's behaviour: (state, event) -> (state, effects). Pure; driver.ts performs the effects.
//
// Facts are events of the contract: a read contains every commit up to its `commitSeq`, a commit brings complete rows,
// and what is optimistic (deltas) is made whole by a read. See docs/console.md.

import { connectionLost } from "./connection";
import { happened } from "./happenings";
import { follow, readNewest, readOlder, unsubscribe } from "./reads";
import { refused } from "./refusals";
import { replied } from "./replies";
import { commanded, requested, still, then } from "./requests";
import { opening, unsettledTurn } from "./transcript";
import { type ConsoleEvent, initialState, LIMITS, type LossReason, type State, type Step, withEntry, withoutEntry } from "./state";

export { initialState };

export function update(state: State, event: ConsoleEvent): Step {
  switch (event.type) {
    case "started": {
      const open = event.agentSessionId === null ? null : opening(event.agentSessionId);
      return event.hasToken ? connecting({ ...state, open }, 1, null) : still({ ...state, open });
    }
    case "token_given":
      return connecting(state, 1, null);
    case "retry_due":
      return state.connection.phase === "waiting" ? connecting(state, state.connection.attempt, state.connection.why) : still(state);
    case "socket_opened": {
      const { connection } = state;
      const admitted = connection.phase === "connecting" ? { ...state, connection: { ...connection, isAdmitted: true } } : state;
      return requested(admitted, { kind: "initialize" }, "initialize", { protocolVersion: 1, clientInfo: { name: "console" } });
    }
    case "socket_closed":
      return connectionLost(state, event.code, event.reachable);
    case "frame":
      return framed(state, event.frame);
    default:
      return chosen(state, event);
  }
}

type PersonEvent = Exclude<
  ConsoleEvent,
  { type: "started" | "token_given" | "retry_due" | "socket_opened" | "socket_closed" | "frame" }
>;

function chosen(state: State, event: PersonEvent): Step {
  switch (event.type) {
    case "session_chosen":
      return sessionChosen(state, event.agentSessionId);
    case "more_sessions_wanted": {
      const { list } = state;
      if (list.cursor === null || list.loadingMore || state.connection.phase !== "open") return still(state);
      const loading = { ...state, list: { ...list, loadingMore: true } };
      const params = { workspaceId: state.workspaceId, cursor: list.cursor, limit: LIMITS.page };
      return requested(loading, { kind: "list", cursor: list.cursor }, "session/list", params);
    }
    case "older_wanted":
      return readOlder(state);
    case "newest_wanted":
      return state.open ? readNewest(state, state.open.agentSessionId) : still(state);
    case "draft_changed":
      return still(withDraft(state, event.text));
    case "prompt_given":
      return promptGiven(state, event.text, event.clientSubmitId);
    case "stop_wanted": {
      const turn = state.open ? unsettledTurn(state.open) : null;
      if (!turn || turn.phase === "settling") return still(state);
      const { workspaceId, agentSessionId, turnId } = turn;
      return commanded(state, "turn/cancel", { workspaceId, agentSessionId, turnId });
    }
    case "answer_given": {
      const { workspaceId, agentSessionId, turnId, requestId } = event.interaction;
      return commanded(state, "interaction/respond", { workspaceId, agentSessionId, turnId, requestId, answer: event.answer });
    }
    case "session_wanted": {
      // A second click before the first was answered asks for nothing more.
      if (state.commands.some((command) => command.method === "session/create")) return still(state);
      const { agentTargetId, clientSubmitId, cwd, title, prompt, settings } = event.session;
      return commanded(state, "session/create", {
        workspaceId: state.workspaceId,
        agentTargetId,
        clientSubmitId,
        ...(cwd.trim() && { cwd: cwd.trim() }),
        ...(title.trim() && { title: title.trim() }),
        ...(Object.keys(settings).length > 0 && { settings }),
        ...(prompt.trim() && { initialContent: [{ type: "text", text: prompt }] }),
      });
    }
    case "title_given":
      return ofOpen(state, (key) => commanded(state, "session/rename", { ...key, title: event.title.trim() }));
    case "pin_wanted":
      return ofOpen(state, (key) => commanded(state, "session/pin", { ...key, pinned: event.pinned }));
    case "deletion_wanted":
    case "restoration_wanted": {
      const method = event.type === "deletion_wanted" ? "session/delete" : "session/restore";
      return ofOpen(state, ({ workspaceId, agentSessionId }) => commanded(state, method, { workspaceId, agentSessionIds: [agentSessionId] }));
    }
    case "creating_toggled":
      return still({ ...state, creating: event.shown });
    case "health_wanted":
      return state.connection.phase === "open" ? requested(state, { kind: "health" }, "health/read", {}) : still(state);
    case "problem_dismissed":
      return still({ ...state, problems: state.problems.filter((problem) => problem.id !== event.id) });
  }
}

function framed(state: State, frame: Extract<ConsoleEvent, { type: "frame" }>["frame"]): Step {
  if ("method" in frame) return happened(state, frame.params);
  if ("result" in frame) return replied(state, Number(frame.id), frame.result);
  return refused(state, Number(frame.id), frame.error.data);
}

function connecting(state: State, attempt: number, why: LossReason | null): Step {
  return { state: { ...state, connection: { phase: "connecting", attempt, why, isAdmitted: false } }, effects: [{ type: "connect" }] };
}

function sessionChosen(state: State, agentSessionId: string | null): Step {
  if (agentSessionId === (state.open?.agentSessionId ?? null) && state.open?.phase !== "failed") return still(state);
  const left = unsubscribe(state, state.open?.subscriptionId ?? null);
  const open = agentSessionId === null ? null : opening(agentSessionId);
  const shown: Step = {
    state: { ...left.state, open, creating: false },
    effects: [...left.effects, { type: "show_address", agentSessionId }],
  };
  if (agentSessionId === null || state.connection.phase !== "open") return shown;
  return then(shown, (next) => follow(next, agentSessionId));
}

function promptGiven(state: State, text: string, clientSubmitId: string): Step {
  const { open } = state;
  if (!open || !text.trim() || unsettledTurn(open) || open.outgoing.length > 0) return still(state);
  const outgoing = [...open.outgoing, { clientSubmitId, text }];
  const cleared = withDraft({ ...state, open: { ...open, outgoing } }, "");
  const { agentSessionId } = open;
  return commanded(cleared, "session/send", {
    workspaceId: state.workspaceId,
    agentSessionId,
    clientSubmitId,
    content: [{ type: "text", text }],
  });
}

function ofOpen(state: State, command: (key: { workspaceId: string; agentSessionId: string }) => Step): Step {
  return state.open ? command({ workspaceId: state.workspaceId, agentSessionId: state.open.agentSessionId }) : still(state);
}

function withDraft(state: State, text: string): State {
  if (!state.open) return state;
  const { agentSessionId } = state.open;
  const drafts = text
    ? withEntry(state.drafts, agentSessionId, text, LIMITS.draftsKept)
    : withoutEntry(state.drafts, agentSessionId);
  return { ...state, drafts };
}
