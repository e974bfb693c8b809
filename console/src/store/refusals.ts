// Error replies: what each means for the page, and the sentence the person gets. Pure.

import type { ErrorData, Interaction } from "../../../contract/greenroom";
import { refusal } from "../sentences";
import { greetingRefused } from "./connection";
import { still, withProblem } from "./requests";
import { type Command, LIMITS, type Read, type State, type Step, withEntry } from "./state";
import { withInteraction } from "./transcript";

export function refused(state: State, id: number, error: ErrorData): Step {
  const command = state.commands.find((one) => one.id === id);
  if (command) {
    const next = { ...state, commands: state.commands.filter((one) => one !== command) };
    return still(withProblem(notDone(next, command, error), refusal(error)));
  }
  const read = state.reads.get(id);
  const reads = new Map(state.reads);
  reads.delete(id);
  if (!read) return still(withProblem(state, refusal(error)));
  const next = notRead({ ...state, reads }, read, error);
  return read.kind === "initialize" ? greetingRefused(next) : still(next);
}

function notDone(state: State, command: Command, error: ErrorData): State {
  const { open } = state;
  if (command.method === "session/send" && open?.agentSessionId === command.params.agentSessionId) {
    const { agentSessionId, clientSubmitId } = command.params;
    const text = open.outgoing.find((one) => one.clientSubmitId === clientSubmitId)?.text ?? "";
    const outgoing = open.outgoing.filter((one) => one.clientSubmitId !== clientSubmitId);
    // The words go back to where they were written, unless others stand there by now.
    const drafts = state.drafts.has(agentSessionId)
      ? state.drafts
      : withEntry(state.drafts, agentSessionId, text, LIMITS.draftsKept);
    return { ...state, drafts, open: { ...open, outgoing } };
  }
  const row = error.details["interaction"] as Interaction | undefined;
  if (command.method === "interaction/respond" && row && open) {
    return { ...state, open: withInteraction(open, row, state.head?.commitSeq ?? 0) };
  }
  return state;
}

function notRead(state: State, read: Read, error: ErrorData): State {
  switch (read.kind) {
    case "session":
    case "newest":
      if (state.open?.agentSessionId !== read.agentSessionId) return state;
      if (error.code === "session.deleted") return { ...state, open: { ...state.open, phase: "deleted" } };
      if (state.open.phase === "deleted") return state;
      return { ...state, open: { ...state.open, phase: "failed", failure: error.code } };
    case "older":
      return withProblem({ ...state, open: state.open && { ...state.open, loadingOlder: false } }, refusal(error));
    case "list":
      return withProblem({ ...state, list: { ...state.list, phase: "ready", loadingMore: false } }, refusal(error));
    case "follow":
      // The reads that go with it say the same.
      return error.code === "session.not_found" ? state : withProblem(state, refusal(error));
    case "excerpt":
    case "ancestor":
    case "turns":
    case "unfollow":
    case "repair":
      // Embellishments: the page is right without them.
      return state;
    default:
      return withProblem(state, refusal(error));
  }
}
