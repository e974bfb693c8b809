import assert from "node:assert/strict";
import { test } from "node:test";
import { approval, listed, message, session, turn } from "./rows";
import { World } from "./world";

test("without a token nothing is tried; a refused handshake of a living daemon means a wrong token", () => {
  const world = new World().do({ type: "started", hasToken: false, agentSessionId: null });
  assert.deepEqual(world.effects, []);
  world.do({ type: "token_given" }).do({ type: "socket_closed", code: 1006, reachable: true });
  assert.equal(world.state.connection.phase, "refused");
  assert.deepEqual(world.methods(), ["connect", "forget_token"]);
});

test("an unreachable daemon is tried again, ever less often, for ever", () => {
  const world = new World().do({ type: "started", hasToken: true, agentSessionId: null });
  const waits: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    world.do({ type: "socket_closed", code: 1006, reachable: false });
    const effect = world.effects.at(-1);
    assert.equal(effect?.type, "retry_after");
    waits.push(effect?.type === "retry_after" ? effect.milliseconds : 0);
    world.do({ type: "retry_due" });
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000]);
});

test("a revoked token ends the page's access", () => {
  const world = new World().connect().do({ type: "socket_closed", code: 1008, reachable: true });
  assert.equal(world.state.connection.phase, "refused");
  assert.ok(world.methods().includes("forget_token"));
});

test("after a lost connection the page goes on where it was, and reads no transcript again", () => {
  const world = new World().connect([listed("a")]).choose("a", { session: session("a") }, { messages: [message("a", "m1", 1)] });
  world.commit(17, { type: "turn", row: turn("a", "t1") });
  world.do({ type: "socket_closed", code: 1001, reachable: false }).do({ type: "retry_due" }).do({ type: "socket_opened" });
  world.effects = world.effects.slice(-1);
  world.answer("initialize", world.state.server!);
  const { params } = world.asked("events/subscribe");
  assert.deepEqual([params.storeId, params.afterCommitSeq], ["store-1", 17]);
  world.do({ type: "frame", frame: { jsonrpc: "2.0", id: world.state.nextId - 1, result: { subscriptionId: 1, commitSeq: 19, gap: false } } });
  assert.ok(world.methods().includes("session/list"));
  assert.ok(!world.methods().includes("session/messages"), world.methods().join());
  assert.deepEqual(world.asked("events/subscribe").params.agentSessionIds, ["a"]);
  world.commit(18, { type: "message", row: message("a", "m2", 2) });
  assert.deepEqual(world.texts(), ["m1", "m2"]);
});

test("a gap, and a resync, read everything again", () => {
  const world = new World().connect([listed("a")]).choose("a", { session: session("a") }, { messages: [message("a", "m1", 1)] });
  world.do({ type: "socket_closed", code: 4001, reachable: true }).do({ type: "retry_due" });
  world.effects = [];
  world.connect([listed("a")], { gap: true, commitSeq: 900 });
  assert.equal(world.state.head?.commitSeq, 900);
  world.answer("events/subscribe", { subscriptionId: 2, commitSeq: 900, gap: false });
  world.read({ session: session("a"), commitSeq: 900 }, { messages: [message("a", "m7", 7)], messageVersion: 7 });
  assert.deepEqual(world.texts(), ["m7"]);
  world.effects = [];
  world.hear({ topic: "agent.activity.updated", type: "resync", commitSeq: 950 });
  assert.deepEqual(world.methods().filter((method) => method.startsWith("session/")), ["session/list", "session/get", "session/messages"]);
  assert.equal(world.state.head?.commitSeq, 950);
});

test("a session_reset reads that session again", () => {
  const world = new World().connect([listed("a")]).choose("a", { session: session("a") });
  world.effects = [];
  world.hear({ topic: "agent.activity.updated", type: "session_reset", commitSeq: 20, workspaceId: "default", agentSessionId: "a", messageVersion: 9 });
  assert.deepEqual(world.methods().filter((method) => method !== "target/list" && method !== "health/read"), ["session/list", "interaction/list", "session/get", "session/messages"]);
});

test("another database is read from its beginning, and nothing is sent into it", () => {
  const world = new World().connect([listed("a")]).choose("a", { session: session("a") }, { messages: [message("a", "m1", 1)] });
  world.do({ type: "prompt_given", text: "hello", clientSubmitId: "s1" });
  world.do({ type: "socket_closed", code: 1006, reachable: false }).do({ type: "retry_due" }).do({ type: "socket_opened" });
  world.effects = world.effects.slice(-1);
  world.answer("initialize", { ...world.state.server!, storeId: "store-2" });
  assert.equal(world.asked("events/subscribe").params.afterCommitSeq, undefined);
  assert.deepEqual(world.open.messages, []);
  assert.deepEqual(world.state.commands, []);
  assert.equal(world.state.problems.length, 1);
});

test("a command without an answer is sent again with the same key, reads are not", () => {
  const world = new World().connect([listed("a")]).choose("a", { session: session("a") });
  world.do({ type: "prompt_given", text: "hello", clientSubmitId: "s1" }).do({ type: "health_wanted" });
  world.do({ type: "socket_closed", code: 1006, reachable: false }).do({ type: "retry_due" });
  world.effects = [];
  world.connect([listed("a")]);
  const { params } = world.asked("session/send");
  assert.equal(params.clientSubmitId, "s1");
  assert.equal(world.methods().filter((method) => method === "health/read").length, 1);
});

test("what is given up stays given up: no command is sent without a connection", () => {
  const world = new World().connect([listed("a")]).choose("a", { session: session("a") });
  world.do({ type: "socket_closed", code: 1006, reachable: false });
  world.effects = [];
  world.do({ type: "prompt_given", text: "hello", clientSubmitId: "s1" });
  assert.deepEqual(world.effects, []);
  assert.equal(world.state.commands.length, 1);
});

test("a greeting that is refused is no wrong token: the reason is shown and it is tried again", () => {
  const world = new World().do({ type: "started", hasToken: true, agentSessionId: null }).do({ type: "socket_opened" });
  world.refuse("initialize", "protocol.unsupported", { supported: [2] });
  assert.match(world.state.problems[0]?.what ?? "", /different versions/);
  assert.ok(world.methods().includes("disconnect"));
  world.do({ type: "socket_closed", code: 1000, reachable: true });
  assert.equal(world.state.connection.phase, "waiting");
});

test("the same command twice is one, and what waits for a daemon that is away is bounded", () => {
  const world = new World().connect([listed("a")]).choose("a", { session: session("a") }).commit(11, { type: "turn", row: turn("a", "t3") });
  world.do({ type: "stop_wanted" }).do({ type: "stop_wanted" });
  assert.equal(world.state.commands.length, 1);
  world.do({ type: "socket_closed", code: 1006, reachable: false });
  for (let number = 0; number < 200; number += 1) {
    world.do({ type: "answer_given", interaction: approval("a", `r${number}`), answer: { optionId: "yes" } });
  }
  assert.ok(world.state.commands.length <= 50);
});
