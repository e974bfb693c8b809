import assert from "node:assert/strict";
import { test } from "node:test";
import { pendingCounts } from "../src/store/session_list";
import { approval, listed, message, session, turn } from "./rows";
import { World } from "./world";

const ids = (world: World): string[] => world.state.list.items.map((item) => item.session.agentSessionId);

test("pinned sessions come first, and a prompt brings a session to the front of the others", () => {
  const world = new World().connect([listed("p", { pinned: true }), listed("a"), listed("b")]);
  world.commit(11, { type: "turn", row: turn("b", "t9", { phase: "submitted" }) });
  assert.deepEqual(ids(world), ["p", "b", "a"]);
  world.commit(12, { type: "turn", row: turn("p", "t9", { phase: "submitted" }) });
  assert.deepEqual(ids(world), ["p", "b", "a"]);
});

test("a session shows its turn until that turn is settled, not an older one", () => {
  const world = new World().connect([listed("a")]);
  world.commit(11, { type: "turn", row: turn("a", "t2") });
  world.commit(12, { type: "turn", row: turn("a", "t1", { phase: "settled", outcome: "completed" }) });
  assert.equal(world.state.list.items[0]?.phase, "running");
  world.commit(13, { type: "turn", row: turn("a", "t2", { phase: "settled", outcome: "completed" }) });
  assert.equal(world.state.list.items[0]?.phase, null);
});

test("a new session is listed as it is made, a removed one leaves, and an older page does not bring it back", () => {
  const world = new World().connect([listed("a")]);
  world.commit(11, { type: "session", row: session("new", { createdAt: 5000 }) });
  assert.deepEqual(ids(world), ["new", "a"]);
  world.do({ type: "started", hasToken: true, agentSessionId: null }).do({ type: "socket_closed", code: 1006, reachable: false });
  world.do({ type: "retry_due" }).do({ type: "socket_opened" });
  world.effects = world.effects.slice(-1);
  world.answer("initialize", { ...world.state.server!, storeId: "store-1" }).answer("events/subscribe", { subscriptionId: 1, commitSeq: 11, gap: false });
  world.commit(12, { type: "session_removed", row: session("new", { deletedAt: 1 }) });
  world.answer("session/list", { items: [listed("new"), listed("a")], nextCursor: null, commitSeq: 11 });
  assert.deepEqual(ids(world), ["a"]);
});

test("questions are counted with those of sub-agents, and an unknown session is asked for its root", () => {
  const world = new World().connect([listed("a")]);
  world.commit(11, { type: "interaction", row: approval("a", "r1") });
  world.commit(12, { type: "interaction", row: approval("child", "r2") });
  assert.equal(pendingCounts(world.state.list).get("a"), 1);
  const parent = { rootAgentSessionId: "a", rootTurnId: "t1", parentAgentSessionId: "a", parentTurnId: "t1", parentToolCallId: null };
  const reply = { activeTurn: null, turns: [], turnsCursor: null, interactions: [], children: [], projection: "summary" as const, commitSeq: 12 };
  assert.equal(world.methods().filter((method) => method === "session/get").length, 1);
  world.answer("session/get", { ...reply, session: session("child", { parent }) });
  assert.equal(pendingCounts(world.state.list).get("a"), 2);
  world.commit(13, { type: "interaction", row: approval("child", "r2", { status: "answered" }) });
  world.commit(14, { type: "interaction", row: approval("a", "r1", { status: "superseded" }) });
  assert.equal(pendingCounts(world.state.list).get("a") ?? 0, 0);
});

test("further pages come when they are wanted, one at a time", () => {
  const world = new World();
  world.do({ type: "started", hasToken: true, agentSessionId: null }).do({ type: "socket_opened" });
  world.answer("initialize", { ...new World().connect().state.server! }).answer("events/subscribe", { subscriptionId: 1, commitSeq: 10, gap: false });
  world.answer("session/list", { items: [listed("a")], nextCursor: "next", commitSeq: 10 });
  world.do({ type: "more_sessions_wanted" }).do({ type: "more_sessions_wanted" });
  assert.equal(world.methods().filter((method) => method === "session/list").length, 1);
  assert.equal(world.asked("session/list").params.cursor, "next");
  world.do({ type: "frame", frame: { jsonrpc: "2.0", id: world.state.nextId - 1, result: { items: [listed("b")], nextCursor: null, commitSeq: 10 } } });
  assert.deepEqual(ids(world), ["a", "b"]);
  assert.equal(world.state.list.cursor, null);
});

test("a session without a title goes by its first prompt", () => {
  const world = new World().connect([listed("a", { title: null }), listed("b")]);
  const prompt = message("a", "m1", 1, { role: "user", content: [{ type: "text", text: "  fix\n the test " }] });
  world.answer("session/messages", { messages: [prompt], hasMore: true, oldestSequence: 1, messageVersion: 9, commitSeq: 10 });
  assert.equal(world.state.list.items[0]?.excerpt, "fix the test");
  assert.ok(!world.methods().includes("session/messages"));
});

test("a restored or unpinned session is placed by the server", () => {
  const world = new World().connect([listed("a", { pinned: true })]);
  world.effects = [];
  world.commit(11, { type: "session", row: session("a", { pinned: false }) });
  world.asked("session/list");
});

test("an interaction, change or event of a later release is ignored", () => {
  const world = new World().connect([listed("a")]);
  const before = world.state;
  world.hear({ type: "something_new", topic: "agent.activity.updated" } as never);
  assert.equal(world.state, before);
  world.commit(11, { type: "something_new", row: {} } as never);
  assert.deepEqual(ids(world), ["a"]);
});
