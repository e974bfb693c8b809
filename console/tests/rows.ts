// Rows of the contract with what the console looks at filled in. A row may gain members: the casts leave them out.

import type { Interaction, Message, Session, SessionListItem, Turn } from "../../contract/greenroom";

export const WORKSPACE = "default";

export function session(agentSessionId: string, given: Partial<Session> = {}): Session {
  return {
    workspaceId: WORKSPACE,
    agentSessionId,
    agentTargetId: "demo",
    provider: "acp",
    cwd: "/work",
    createdAt: 1000,
    updatedAt: 1000,
    providerSessionId: null,
    title: `Title of ${agentSessionId}`,
    titleSource: "user",
    settings: {},
    settingsSource: {},
    isolation: null,
    railSectionKey: null,
    pinned: false,
    goal: null,
    activeTurnId: null,
    capabilities: null,
    lifecycleCapabilities: { forkThroughTurn: false, editRetry: false, side: false, guidance: false, interrupt: true },
    lineage: null,
    parent: null,
    resumability: "unknown",
    runtime: { state: "absent", lastActivityAt: null },
    usage: null,
    historyRevision: 0,
    messageVersion: 0,
    deletedAt: null,
    ...given,
  } as Session;
}

export function listed(agentSessionId: string, given: Partial<SessionListItem> = {}): SessionListItem {
  return { ...session(agentSessionId), activity: { turnId: null, phase: null, pendingInteractions: 0 }, ...given };
}

export function turn(agentSessionId: string, turnId: string, given: Partial<Turn> = {}): Turn {
  return {
    workspaceId: WORKSPACE,
    agentSessionId,
    turnId,
    sequence: 1,
    submittedAt: 1000,
    phase: "running",
    outcome: null,
    delivery: "accepted",
    origin: "user_prompt",
    clientSubmitId: null,
    providerTurnId: null,
    cancelRequestedAt: null,
    cancelConfirmedAt: null,
    stopReason: null,
    forkable: false,
    usage: null,
    timings: { queuedMs: null, startMs: null },
    error: null,
    startedAt: 1000,
    settledAt: null,
    retractedAt: null,
    ...given,
  } as Turn;
}

export function message(agentSessionId: string, messageId: string, sequence: number, given: Partial<Message> = {}): Message {
  return {
    workspaceId: WORKSPACE,
    agentSessionId,
    messageId,
    sequence,
    version: sequence,
    role: "assistant",
    kind: "text",
    createdAt: 1000,
    turnId: "t1",
    status: "completed",
    content: [{ type: "text", text: messageId }],
    toolCall: null,
    deltaSeq: null,
    truncated: false,
    clientSubmitId: null,
    displayPrompt: null,
    ...given,
  } as Message;
}

export function approval(agentSessionId: string, requestId: string, given: Partial<Interaction> = {}): Interaction {
  return {
    workspaceId: WORKSPACE,
    agentSessionId,
    turnId: "t1",
    requestId,
    kind: "approval",
    input: { callId: "c1", title: "make", kind: "execute" },
    createdAt: 1000,
    options: [
      { optionId: "yes", label: "Allow", kind: "allow_once" },
      { optionId: "no", label: "Reject", kind: "reject_once" },
    ],
    status: "pending",
    answer: null,
    answerDelivery: null,
    resolvedAt: null,
    ...given,
  } as Interaction;
}
