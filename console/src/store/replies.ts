// Answers to requests: each goes to what it was asked for. Pure.

import type { Methods } from "../../../contract/greenroom";
import { initialized, subscribed } from "./connection";
import { follow, readExcerpts, readPending, readTargets, readTurns, unsubscribe } from "./reads";
import { still, then } from "./requests";
import { withChange, withExcerpt, withPage, withPending, withRoot } from "./session_list";
import { type Command, LIMITS, type OpenSession, type Read, type State, type Step } from "./state";
import { isOf, lacksTurns, opening, withInteraction, withMessage, withNewest, withOlder, withSessionRead, withTurn } from "./transcript";

type Result<Name extends keyof Methods> = Methods[Name]["result"];

export function replied(state: State, id: number, result: unknown): Step {
  const command = state.commands.find((one) => one.id === id);
  if (command) {
    return done({ ...state, commands: state.commands.filter((one) => one !== command) }, command, result);
  }
  const read = state.reads.get(id);
  if (!read) return still(state);
  const reads = new Map(state.reads);
  reads.delete(id);
  return answered({ ...state, reads }, read, result);
}

function done(state: State, command: Command, result: unknown): Step {
  switch (command.method) {
    case "session/create":
      return created(state, result as Result<"session/create">);
    case "session/rename":
    case "session/pin":
    case "session/delete":
    case "session/restore":
      // Its commit follows, and says where the session stands now.
      return still(state);
    case "session/send":
    case "turn/cancel": {
      const { turn, commitSeq } = result as Result<"session/send">;
      const list = withChange(state.list, { type: "turn", row: turn }, commitSeq);
      return still(inOpen({ ...state, list }, turn.agentSessionId, (open) => withTurn(open, turn, commitSeq)));
    }
    case "interaction/respond": {
      const { interaction, commitSeq } = result as Result<"interaction/respond">;
      const list = withChange(state.list, { type: "interaction", row: interaction }, commitSeq);
      const open = state.open && withInteraction(state.open, interaction, commitSeq);
      return still({ ...state, list, open });
    }
  }
}

function created(state: State, { session, turn, commitSeq }: Result<"session/create">): Step {
  let list = withChange(state.list, { type: "session", row: session }, commitSeq);
  if (turn) list = withChange(list, { type: "turn", row: turn }, commitSeq);
  const { agentSessionId } = session;
  const left = unsubscribe({ ...state, list, creating: false }, state.open?.subscriptionId ?? null);
  const opened: Step = {
    state: { ...left.state, open: opening(agentSessionId) },
    effects: [...left.effects, { type: "show_address", agentSessionId }],
  };
  return then(opened, (next) => follow(next, agentSessionId));
}

function answered(state: State, read: Read, result: unknown): Step {
  switch (read.kind) {
    case "initialize":
      return initialized(state, result as Result<"initialize">);
    case "subscribe":
      return subscribed(state, result as Result<"events/subscribe">, read.resumed);
    case "list": {
      const reply = result as Result<"session/list">;
      const next = { ...state, list: withPage(state.list, reply, read.cursor === null) };
      return readExcerpts(next, reply.items.map((item) => item.agentSessionId));
    }
    case "pending": {
      const reply = result as Result<"interaction/list">;
      const { open } = state;
      const shown = open && reply.items.filter((row) => isOf(open, row.agentSessionId)).reduce((next, row) => withInteraction(next, row, reply.commitSeq), open);
      const next = { ...state, open: shown, list: withPending(state.list, reply, read.first) };
      return reply.nextCursor && next.list.pending.size < LIMITS.pendingKept ? readPending(next, reply.nextCursor) : still(next);
    }
    case "targets": {
      const reply = result as Result<"target/list">;
      const next = { ...state, targets: read.first ? reply.items : [...state.targets, ...reply.items] };
      return reply.nextCursor ? readTargets(next, reply.nextCursor) : still(next);
    }
    case "health":
      return still({ ...state, health: result as Result<"health/read"> });
    case "excerpt": {
      const { messages } = result as Result<"session/messages">;
      return still({ ...state, list: withExcerpt(state.list, messages) });
    }
    case "ancestor":
      return still({ ...state, list: withRoot(state.list, (result as Result<"session/get">).session) });
    case "unfollow":
      return still(state);
    default:
      return ofSession(state, read, result);
  }
}

type SessionRead = Extract<Read, { kind: "follow" | "session" | "turns" | "newest" | "older" | "repair" }>;

function ofSession(state: State, read: SessionRead, result: unknown): Step {
  const { agentSessionId } = read;
  const changed = (change: (open: OpenSession) => OpenSession): State => inOpen(state, agentSessionId, change);
  switch (read.kind) {
    case "follow": {
      const { subscriptionId } = result as Result<"events/subscribe">;
      if (state.open?.agentSessionId === agentSessionId) return still(changed((open) => ({ ...open, subscriptionId })));
      // Another session was chosen meanwhile: nobody listens to this one.
      return unsubscribe(state, subscriptionId);
    }
    case "session": {
      const reply = result as Result<"session/get">;
      const list = reply.children.reduce(withRoot, state.list);
      const next = { ...changed((open) => withSessionRead(open, reply)), list };
      // More questions than a page holds: the list of all has them.
      return reply.incomplete?.includes("interactions") ? readPending(next, null) : still(next);
    }
    case "turns": {
      const { items, nextCursor, commitSeq } = result as Result<"turn/list">;
      const older = (open: OpenSession) =>
        items.reduce((next, turn) => withTurn(next, turn, commitSeq), { ...open, turnsCursor: nextCursor });
      return withTurnsOf(changed(older));
    }
    case "newest":
      return withTurnsOf(changed((open) => withNewest(open, result as Result<"session/messages">)));
    case "older":
      return withTurnsOf(changed((open) => withOlder(open, result as Result<"session/messages">)));
    case "repair": {
      const { messages } = result as Result<"session/messages">;
      return still(changed((open) => messages.reduce(withMessage, open)));
    }
  }
}

function withTurnsOf(state: State): Step {
  return state.open && lacksTurns(state.open) ? readTurns(state) : still(state);
}

function inOpen(state: State, agentSessionId: string, change: (open: OpenSession) => OpenSession): State {
  return state.open?.agentSessionId === agentSessionId ? { ...state, open: change(state.open) } : state;
}
