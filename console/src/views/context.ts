// What every view gets: the state to draw and the way to tell what the person did.

import type { ConsoleEvent, State } from "../store/state";

export type Dispatch = (event: ConsoleEvent) => void;

export interface ViewProps {
  readonly state: State;
  readonly dispatch: Dispatch;
}

/** A new idempotency key: sending the same prompt twice by accident has one effect. */
export function submitId(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...random].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function addressOf(workspaceId: string, agentSessionId: string | null): string {
  const place = `#/${encodeURIComponent(workspaceId)}`;
  return agentSessionId === null ? place : `${place}/${encodeURIComponent(agentSessionId)}`;
}
