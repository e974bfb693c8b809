// What happened and what to do, in a person's words: one pair for each error code of the contract.

import type { ErrorCode, ErrorData, TurnError } from "../../contract/greenroom";

export interface Sentence {
  readonly what: string;
  readonly next: string;
}

const INNER = "Reload the page; if it happens again, the daemon's log says more.";

const SENTENCES: Readonly<Record<ErrorCode, readonly [what: string, next: string]>> = {
  "request.invalid": ["Greenroom did not understand the request.", INNER],
  "request.unknown_method": ["This Greenroom does not know the request.", "Update Greenroom, then reload the page."],
  "request.too_large": ["The text is too long.", "Shorten it, or put it into a file and name the file."],
  "auth.forbidden": ["Your token does not allow this.", "Open the page with a token of a wider scope."],
  "protocol.uninitialized": ["The connection was not ready yet.", INNER],
  "protocol.unsupported": ["This page and the daemon speak different versions.", "Reload the page."],
  "session.not_found": ["There is no such session.", "Choose another one from the list."],
  "session.exists": ["A session of this name exists already.", "Choose another name."],
  "session.busy": ["The agent is still working on the last prompt.", "Wait until it is done, or stop it, then send again."],
  "session.deleted": ["This session was deleted.", "Restore it to go on with it, or choose another one."],
  "session.not_resumable": ["The agent no longer has this conversation.", "Read it here, and go on in a new session."],
  "session.quarantined": ["This session failed too often and was set aside.", "It stays readable; go on in a new session, and look into the daemon's log."],
  "session.cwd_missing": ["The working directory is not there.", "Create it, or name another one."],
  "isolation.refused": ["A checkout of its own cannot be made there.", "Begin the session without one, or see the daemon's log."],
  "turn.not_found": ["There is no such turn.", "Reload the page."],
  "turn.mismatch": ["The agent cannot take this right now.", "Try again in a moment."],
  "turn.settled": ["The turn has ended already.", "Send a new prompt."],
  "interaction.not_found": ["There is no such question.", "Reload the page."],
  "interaction.not_pending": ["This question was answered already, or the agent no longer asks it.", "Nothing to do."],
  "interaction.unsupported_answer": ["The agent did not offer this answer.", "Choose one of the answers shown."],
  "submit.conflict": ["This was sent before with other words.", "Send it again as a new prompt."],
  "submit.delivery_unknown": ["It is not known whether the agent got this.", "Look at what it does before you send it again."],
  "target.not_found": ["This agent is no longer configured.", "Choose another agent, or add it to the configuration."],
  "target.disabled": ["This agent is switched off in the configuration.", "Choose another agent, or switch it on."],
  "provider.unavailable": ["The agent's program could not be started.", "Check that it is installed: greenroom doctor says what is missing."],
  "provider.auth_required": ["The agent wants you to sign in.", "Sign in with its own program in a terminal, then send the prompt again."],
  "provider.rejected": ["The agent refused the request.", "Change it and try again."],
  "provider.timeout": ["The agent did not answer in time.", "Look at what it does before you send it again."],
  "provider.lost": ["The agent's program ended in the middle of its work.", "Send the prompt again; it is started anew."],
  "provider.protocol": ["The agent said something that cannot be understood.", "Send the prompt again; if it stays, update the agent."],
  "provider.rate_limited": ["The model's service is busy and asks to wait.", "Send the prompt again in a while."],
  "provider.quota": ["The account's allowance is used up.", "Add credit or wait for the next period, then send the prompt again."],
  "provider.context_full": ["The conversation has grown beyond what the model can hold.", "Go on in a new session."],
  "provider.model_unavailable": ["The model is not available to this account.", "Choose another model."],
  "provider.refused": ["The model declined to answer.", "Put the prompt in other words."],
  "provider.stopped": ["The agent stopped for a reason of its own.", "Send a prompt to go on."],
  "capability.unsupported": ["This is not supported here.", "The agent, or this release, cannot do it."],
  "settings.launch_only": ["This setting counts only at the start of a session.", "Set it in a new session."],
  "settings.invalid": ["The agent does not know this setting or value.", "Choose another value."],
  "goal.conflict": ["The goal has changed meanwhile.", "Look at it again, then repeat."],
  "fork.not_eligible": ["The conversation cannot be forked here.", "Choose another turn."],
  "fork.unknown": ["It is not known whether the fork was made.", "Look at the list of sessions."],
  "history.revision_conflict": ["The conversation has changed meanwhile.", "Look at it again, then repeat."],
  "history.fenced": ["An edit of the conversation is not finished.", "Wait for it, then repeat."],
  "side.not_found": ["There is no such side conversation.", "Open a new one."],
  "side.expired": ["The side conversation has ended.", "Open a new one."],
  "side.exists": ["A side conversation of this name exists.", "Choose another name."],
  "attachment.unsupported": ["The agent cannot take this kind of attachment.", "Leave it out, or name a file instead."],
  "attachment.not_found": ["The attachment is gone.", "Attach it again."],
  "operation.not_found": ["There is no such operation.", "Reload the page."],
  "limit.exceeded": ["A limit of this Greenroom is reached.", "End or finish other sessions, then try again."],
  overloaded: ["Greenroom is busy.", "Try again in a moment."],
  "store.full": ["The disk is full, so nothing was written.", "Free some space, then try again. Stopping still works."],
  "store.unavailable": ["The disk cannot be read or written.", "Check the disk and the daemon's log."],
  "recording.conflict": ["A recording is running already.", "End it first."],
  "recording.invalid": ["The recording cannot be used.", "Choose another one."],
  "shutdown.in_progress": ["Greenroom is stopping.", "Start it again; this page reconnects by itself."],
  internal: ["Something inside Greenroom went wrong.", "It was logged. Look at the session before you try again."],
};

/** The sentences of an error reply. */
export function refusal(error: ErrorData): Sentence {
  const sentence = sentenceOf(error.code);
  if (error.code === "limit.exceeded" && typeof error.details["limit"] === "string") {
    return { what: `The limit ${error.details["limit"]} of this Greenroom is reached.`, next: sentence.next };
  }
  if (error.code === "settings.invalid" && typeof error.details["key"] === "string") {
    return { what: `The agent does not take this value of ${error.details["key"]}.`, next: sentence.next };
  }
  return sentence;
}

/** The sentences of a failed turn. */
export function failure(error: TurnError | null): Sentence {
  return error ? sentenceOf(error.code) : { what: "The turn failed.", next: "Send the prompt again." };
}

function sentenceOf(code: string): Sentence {
  const known = SENTENCES[code as ErrorCode] as readonly [string, string] | undefined;
  const [what, next] = known ?? [`Greenroom refused this (${code}).`, "Reload the page, which may know it by now."];
  return { what, next };
}
