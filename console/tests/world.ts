// A console without a browser: its store, what it asked, and a daemon's side that answers.

import assert from "node:assert/strict";
import type { Event, InitializeReply, Limits, Methods } from "../../contract/greenroom";
import type { ConsoleEvent, Effect, OpenSession, State } from "../src/store/state";
import { initialState, update } from "../src/store/store";
import { WORKSPACE } from "./rows";

type Asked<Name extends keyof Methods> = { readonly id: number; readonly method: Name; readonly params: Methods[Name]["params"] };

export class World {
  state: State = initialState(WORKSPACE);
  /** Everything asked for that was not looked at yet. */
  effects: Effect[] = [];

  do(event: ConsoleEvent): this {
    const step = update(this.state, event);
    this.state = step.state;
    this.effects.push(...step.effects);
    return this;
  }

  get open(): OpenSession {
    assert.ok(this.state.open);
    return this.state.open;
  }

  /** The oldest request of a method that was not answered yet. */
  asked<Name extends keyof Methods>(method: Name): Asked<Name> {
    const index = this.effects.findIndex((effect) => effect.type === "request" && effect.method === method);
    assert.ok(index >= 0, `${method} was not asked for, but ${this.methods().join(", ")}`);
    const [found] = this.effects.splice(index, 1);
    return found as unknown as Asked<Name>;
  }

  methods(): string[] {
    return this.effects.map((effect) => (effect.type === "request" ? effect.method : effect.type));
  }

  /** The members a test cares about: a result may gain others. */
  answer<Name extends keyof Methods>(method: Name, result: Partial<Methods[Name]["result"]>): this {
    const { id } = this.asked(method);
    return this.do({ type: "frame", frame: { jsonrpc: "2.0", id, result: result as never } });
  }

  refuse(method: keyof Methods, code: string, details: Record<string, unknown> = {}): this {
    const { id } = this.asked(method);
    const data = { code, retryable: false, delivery: "not_dispatched" as const, details };
    return this.do({ type: "frame", frame: { jsonrpc: "2.0", id, error: { code: -32000, message: code, data } } });
  }

  hear(event: Event, subscriptionId = 1): this {
    return this.do({ type: "frame", frame: { jsonrpc: "2.0", method: "event", params: { subscriptionId, ...event } } });
  }

  commit(commitSeq: number, ...changes: Extract<Event, { type: "commit" }>["changes"]): this {
    return this.hear({ topic: "agent.activity.updated", type: "commit", commitSeq, changes });
  }

  /** From the first page to an open connection, with this list of sessions. */
  connect(items: Methods["session/list"]["result"]["items"] = [], given: { storeId?: string; commitSeq?: number; gap?: boolean } = {}): this {
    if (this.state.connection.phase === "no_token") this.do({ type: "started", hasToken: true, agentSessionId: this.state.open?.agentSessionId ?? null });
    const { storeId = "store-1", commitSeq = 10, gap = false } = given;
    this.do({ type: "socket_opened" }).answer("initialize", server(storeId));
    this.answer("events/subscribe", { subscriptionId: 1, commitSeq, gap });
    return this.answer("session/list", { items, nextCursor: null, commitSeq });
  }

  /** Opens a session and answers its reads. */
  choose(agentSessionId: string, get: Partial<Methods["session/get"]["result"]>, messages: Partial<Methods["session/messages"]["result"]> = {}): this {
    this.do({ type: "session_chosen", agentSessionId }).answer("events/subscribe", { subscriptionId: 2, commitSeq: 10, gap: false });
    return this.read(get, messages);
  }

  read(get: Partial<Methods["session/get"]["result"]>, messages: Partial<Methods["session/messages"]["result"]> = {}): this {
    const empty = { activeTurn: null, turns: [], turnsCursor: null, interactions: [], children: [], projection: "full" as const, commitSeq: 10 };
    this.answer("session/get", { ...empty, ...get });
    const none = { messages: [], hasMore: false, oldestSequence: null, messageVersion: 0, commitSeq: 10 };
    return this.answer("session/messages", { ...none, ...messages });
  }

  texts(): string[] {
    return this.open.messages.map((one) => one.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  }
}

function server(storeId: string): InitializeReply {
  return {
    protocolVersion: 1,
    storeId,
    serverInfo: { name: "greenroom", version: "0", instanceId: "i", startedAt: 0 },
    capabilities: { methods: [], topics: [], features: [], deprecated: [] },
    scope: "admin",
    limits: {} as Limits,
  };
}
