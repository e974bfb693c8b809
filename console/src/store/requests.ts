// Requests on their way: numbering them, remembering what each is for. Pure.

import type { Methods } from "../../../contract/greenroom";
import type { Command, CommandMethod, Problem, Read, State, Step } from "./state";
import { LIMITS } from "./state";
import type { Sentence } from "../sentences";

export function still(state: State): Step {
  return { state, effects: [] };
}

export function then(step: Step, next: (state: State) => Step): Step {
  const following = next(step.state);
  return { state: following.state, effects: [...step.effects, ...following.effects] };
}

/** A read, and what its answer is for. */
export function requested<Name extends keyof Methods>(
  state: State,
  read: Read,
  method: Name,
  params: Methods[Name]["params"],
): Step {
  const id = state.nextId;
  const reads = new Map(state.reads).set(id, read);
  return { state: { ...state, nextId: id + 1, reads }, effects: [{ type: "request", id, method, params }] };
}

/** A command: kept until it is answered, so that it survives a lost connection. */
export function commanded<Name extends CommandMethod>(state: State, method: Name, params: Methods[Name]["params"]): Step {
  // The very same is on its way already, or much too much is: a daemon that is away must not make the page grow.
  const key = JSON.stringify([method, params]);
  const isRepeated = state.commands.some((one) => JSON.stringify([one.method, one.params]) === key);
  if (isRepeated || state.commands.length >= LIMITS.commandsKept) return still(state);
  const id = state.nextId;
  const command = { id, method, params } as Command;
  const next = { ...state, nextId: id + 1, commands: [...state.commands, command] };
  return { state: next, effects: state.connection.phase === "open" ? [{ type: "request", id, method, params }] : [] };
}

export function isReading(state: State, wanted: Read): boolean {
  const key = JSON.stringify(wanted);
  return [...state.reads.values()].some((read) => JSON.stringify(read) === key);
}

export function withProblem(state: State, { what, next }: Sentence): State {
  const problem: Problem = { id: state.nextId, what, next };
  const others = state.problems.filter((one) => one.what !== what);
  return { ...state, nextId: state.nextId + 1, problems: [...others, problem].slice(-LIMITS.problemsKept) };
}
