import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageDelta } from "../../contract/greenroom";
import { LIMITS } from "../src/store/state";
import { pendingInteractions, unsettledTurn } from "../src/store/transcript";
import { approval, listed, message, session, turn } from "./rows";
import { World } from "./world";

const streaming = (deltaSeq: number, text: string) =>
  message("a", "m1", 1, { status: "streaming", deltaSeq, content: [{ type: "text", text }] });

const delta = (deltaSeq: number, text: string, given: Partial<MessageDelta> = {}): MessageDelta => ({
  topic: "agent.activity.updated",
  type: "message_delta",
  workspaceId: "default",
  agentSessionId: "a",
  turnId: "t1",
  messageId: "m1",
  kind: "text",
  field: "text",
  deltaSeq,
  text,
  ...given,
});

const opened = (messages = [streaming(2, "ab")]): World =>
  new World().connect([listed("a"), listed("b")]).choose("a", { session: session("a") }, { messages, messageVersion: 1 });

test("it subscribes before it reads, and leaves the session it was in", () => {
  const world = opened();
  world.effects = [];
  world.do({ type: "session_chosen", agentSessionId: "b" });
  assert.deepEqual(world.methods(), ["events/unsubscribe", "show_address", "events/subscribe", "session/get", "session/messages"]);
  assert.deepEqual(world.asked("events/unsubscribe").params, { subscriptionId: 2 });
});

test("a subscription that comes for a session left meanwhile is ended", () => {
  const world = new World().connect([listed("a"), listed("b")]).do({ type: "session_chosen", agentSessionId: "a" });
  world.do({ type: "session_chosen", agentSessionId: "b" });
  world.answer("events/subscribe", { subscriptionId: 2, commitSeq: 10, gap: false });
  assert.deepEqual(world.asked("events/unsubscribe").params, { subscriptionId: 2 });
  assert.equal(world.open.subscriptionId, null);
});

test("deltas are appended in their order, those contained already are dropped", () => {
  const world = opened().hear(delta(1, "X"), 2).hear(delta(2, "c"), 2).hear(delta(3, "d"), 2);
  assert.deepEqual(world.texts(), ["abcd"]);
});

test("a hole in the deltas reads the message again, once, and goes on from there", () => {
  const world = opened().hear(delta(4, "e"), 2).hear(delta(5, "f"), 2);
  assert.deepEqual(world.texts(), ["ab"]);
  assert.equal(world.methods().filter((method) => method === "session/messages").length, 1);
  world.answer("session/messages", { messages: [streaming(6, "abcdef")], hasMore: false, oldestSequence: 1, messageVersion: 1, commitSeq: 10 });
  world.hear(delta(6, "g"), 2);
  assert.deepEqual(world.texts(), ["abcdefg"]);
});

test("a snapshot stands in for lost deltas, an older one for nothing", () => {
  const world = opened().hear({ topic: "agent.activity.updated", type: "stream_gap", workspaceId: "default", agentSessionId: "a", messageId: "m1" }, 2);
  world.hear({ topic: "agent.activity.updated", type: "message_snapshot", message: streaming(9, "whole") }, 2).hear(delta(9, "!"), 2);
  world.hear({ topic: "agent.activity.updated", type: "message_snapshot", message: streaming(3, "old") }, 2);
  assert.deepEqual(world.texts(), ["whole!"]);
});

test("the row that ends a message stands, whatever comes late", () => {
  const world = opened().commit(11, { type: "message", row: message("a", "m1", 1, { version: 5, content: [{ type: "text", text: "end" }] }) });
  world.hear(delta(2, "late"), 2).commit(10, { type: "message", row: streaming(3, "older") });
  assert.deepEqual(world.texts(), ["end"]);
});

test("output of a tool is appended to its own text", () => {
  const call = { callId: "c", name: "sh", title: "sh", kind: "execute" as const, status: "running" as const, input: null, output: { text: "1" } };
  const world = opened([message("a", "m1", 1, { kind: "tool_call", status: "streaming", deltaSeq: 0, content: [], toolCall: call })]);
  world.hear(delta(0, "2", { field: "output", kind: "tool_call" }), 2);
  assert.equal(world.open.messages[0]?.toolCall?.output.text, "12");
});

test("what committed while the transcript was read is not lost to the older page", () => {
  const world = new World().connect([listed("a")]).do({ type: "session_chosen", agentSessionId: "a" });
  world.commit(11, { type: "message", row: message("a", "m2", 2, { version: 8 }) });
  world.answer("events/subscribe", { subscriptionId: 2, commitSeq: 10, gap: false });
  world.read({ session: session("a") }, { messages: [message("a", "m1", 1)], messageVersion: 1 });
  assert.deepEqual(world.texts(), ["m1", "m2"]);
});

test("earlier messages come when they are wanted, with the turns they belong to", () => {
  const world = opened([message("a", "m9", 9)]);
  world.do({ type: "session_chosen", agentSessionId: "b" });
  world.effects = [];
  world.choose("a", { session: session("a"), turns: [turn("a", "t9")], turnsCursor: "older" }, { messages: [message("a", "m9", 9, { turnId: "t9" })], hasMore: true });
  world.do({ type: "older_wanted" }).do({ type: "older_wanted" });
  const { params } = world.asked("session/messages");
  assert.equal(params.beforeSequence, 9);
  assert.ok(!world.methods().includes("session/messages"));
  world.do({ type: "frame", frame: { jsonrpc: "2.0", id: world.state.nextId - 1, result: { messages: [message("a", "m8", 8)], hasMore: false, oldestSequence: 8, messageVersion: 9, commitSeq: 10 } } });
  assert.deepEqual(world.texts(), ["m8", "m9"]);
  assert.equal(world.asked("turn/list").params.cursor, "older");
});

test("the window is bounded: the oldest go, or the newest for one who reads far above, until asked back", () => {
  const many = (from: number, count: number) => Array.from({ length: count }, (_, index) => message("a", `m${from + index}`, from + index));
  const world = opened(many(2000, LIMITS.messagesKept));
  world.commit(11, { type: "message", row: message("a", "last", 9000) });
  assert.equal(world.open.messages.length, LIMITS.messagesKept);
  assert.equal(world.open.messages[0]?.sequence, 2001);
  assert.ok(world.open.hasOlder);
  world.do({ type: "older_wanted" }).answer("session/messages", { messages: many(1900, 100), hasMore: true, oldestSequence: 1900, messageVersion: 9000, commitSeq: 11 });
  assert.equal(world.open.messages.length, LIMITS.messagesKept);
  assert.ok(world.open.hasNewer);
  world.commit(12, { type: "message", row: message("a", "unseen", 9001) });
  assert.notEqual(world.open.messages.at(-1)?.messageId, "unseen");
  world.do({ type: "newest_wanted" }).answer("session/messages", { messages: many(9000, 2), hasMore: true, oldestSequence: 9000, messageVersion: 9001, commitSeq: 12 });
  assert.deepEqual([world.open.hasNewer, world.open.messages.length], [false, 2]);
});

test("a prompt is shown at once, cleared from the field, and found again in its message", () => {
  const world = opened([]).do({ type: "draft_changed", text: "hello" });
  world.do({ type: "prompt_given", text: "hello", clientSubmitId: "s1" }).do({ type: "prompt_given", text: "hello", clientSubmitId: "s2" });
  assert.deepEqual(world.open.outgoing, [{ clientSubmitId: "s1", text: "hello" }]);
  assert.equal(world.state.drafts.get("a"), undefined);
  world.answer("session/send", { turn: turn("a", "t5", { phase: "submitted", delivery: "not_dispatched" }), commitSeq: 12 });
  assert.equal(unsettledTurn(world.open)?.turnId, "t5");
  world.commit(12, { type: "message", row: message("a", "m5", 5, { role: "user", clientSubmitId: "s1" }) });
  assert.deepEqual(world.open.outgoing, []);
});

test("the words of a refused prompt return to the field, with a sentence that says why", () => {
  const world = opened([]).do({ type: "prompt_given", text: "hello", clientSubmitId: "s1" }).refuse("session/send", "session.busy");
  assert.deepEqual(world.open.outgoing, []);
  assert.equal(world.state.drafts.get("a"), "hello");
  assert.match(world.state.problems[0]?.what ?? "", /still working/);
  const { id } = world.state.problems[0]!;
  assert.deepEqual(world.do({ type: "problem_dismissed", id }).state.problems, []);
});

test("no prompt while a turn runs; stop names exactly that turn, once it settles another prompt goes", () => {
  const world = opened([]).commit(11, { type: "turn", row: turn("a", "t3") });
  world.effects = [];
  world.do({ type: "prompt_given", text: "x", clientSubmitId: "s" });
  assert.deepEqual(world.effects, []);
  world.do({ type: "stop_wanted" });
  assert.equal(world.asked("turn/cancel").params.turnId, "t3");
  world.commit(12, { type: "turn", row: turn("a", "t3", { phase: "settled", outcome: "canceled" }) });
  world.do({ type: "prompt_given", text: "x", clientSubmitId: "s" });
  world.asked("session/send");
  assert.match(world.state.announcement, /canceled/);
});

test("a question is answered with one of its options; a lost race shows the answer that stands", () => {
  const world = opened([]).commit(11, { type: "interaction", row: approval("a", "r1") });
  const [asked] = pendingInteractions(world.open);
  assert.ok(asked);
  world.do({ type: "answer_given", interaction: asked, answer: { optionId: "yes" } });
  const row = approval("a", "r1", { status: "answered", answer: { optionId: "no" } });
  assert.equal(world.state.commands.length, 1);
  world.refuse("interaction/respond", "interaction.not_pending", { interaction: row });
  assert.deepEqual(pendingInteractions(world.open), []);
});

test("a row read before a newer commit does not undo it", () => {
  const world = opened([]).commit(20, { type: "turn", row: turn("a", "t1", { phase: "settled", outcome: "completed" }) });
  world.hear({ topic: "agent.activity.updated", type: "session_reset", commitSeq: 21, workspaceId: "default", agentSessionId: "a", messageVersion: 1 });
  world.read({ session: session("a"), activeTurn: turn("a", "t1"), commitSeq: 19 });
  assert.equal(unsettledTurn(world.open), null);
});

test("deleted, missing and unreadable sessions are said to be so", () => {
  const world = opened([]).commit(11, { type: "session_removed", row: session("a", { deletedAt: 5 }) });
  assert.equal(world.open.phase, "deleted");
  world.do({ type: "session_chosen", agentSessionId: "gone" });
  world.refuse("session/get", "session.not_found");
  assert.deepEqual([world.open.phase, world.open.failure], ["failed", "session.not_found"]);
});

test("a session is deleted and, as it was not purged, restored and read again", () => {
  const world = opened([message("a", "m1", 1)]).do({ type: "deletion_wanted" });
  assert.deepEqual(world.asked("session/delete").params, { workspaceId: "default", agentSessionIds: ["a"] });
  world.commit(12, { type: "session_removed", row: session("a", { deletedAt: 5 }) }).do({ type: "restoration_wanted" });
  world.asked("session/restore");
  world.effects = [];
  world.commit(13, { type: "session_restored", row: session("a") });
  world.hear({ topic: "agent.activity.updated", type: "session_reset", commitSeq: 13, workspaceId: "default", agentSessionId: "a", messageVersion: 1 });
  world.read({ session: session("a"), commitSeq: 13 }, { messages: [message("a", "m1", 1)] });
  assert.deepEqual([world.open.phase, world.texts()], ["ready", ["m1"]]);
});

test("questions that a read of the session had no room for come from the list of all", () => {
  const world = opened([]);
  world.effects = [];
  world.do({ type: "session_chosen", agentSessionId: "b" }).do({ type: "session_chosen", agentSessionId: "a" });
  world.asked("session/get");
  world.effects = world.effects.slice(-3);
  world.read({ session: session("a"), incomplete: ["interactions"] });
  world.answer("interaction/list", { items: [approval("a", "r1"), approval("b", "r2")], nextCursor: null, commitSeq: 10 });
  assert.deepEqual(pendingInteractions(world.open).map((row) => row.requestId), ["r1"]);
});

test("a session made here is opened, its dialog closed", () => {
  const world = new World().connect().do({ type: "creating_toggled", shown: true });
  world.do({ type: "session_wanted", session: { agentTargetId: "demo", clientSubmitId: "s1", cwd: " ", title: "", prompt: "go", settings: {} } });
  world.do({ type: "session_wanted", session: { agentTargetId: "demo", clientSubmitId: "s2", cwd: "", title: "", prompt: "go", settings: {} } });
  assert.equal(world.state.commands.length, 1, "a second click makes no second session");
  const { params } = world.asked("session/create");
  assert.deepEqual(params, { workspaceId: "default", agentTargetId: "demo", clientSubmitId: "s1", initialContent: [{ type: "text", text: "go" }] });
  world.do({ type: "frame", frame: { jsonrpc: "2.0", id: world.state.nextId - 1, result: { session: session("new"), turn: turn("new", "t1"), commitSeq: 11 } } });
  assert.deepEqual([world.open.agentSessionId, world.state.creating], ["new", false]);
  assert.ok(world.effects.some((effect) => effect.type === "show_address" && effect.agentSessionId === "new"));
});

test("messages of a retracted turn are taken out", () => {
  const world = opened([message("a", "m1", 1), message("a", "m2", 2, { turnId: "t2" })]);
  world.commit(11, { type: "turn", row: turn("a", "t1", { phase: "settled", retractedAt: 5 }) });
  assert.deepEqual(world.texts(), ["m2"]);
});

test("the open session is renamed and pinned; the commit says where it stands then", () => {
  const world = opened([]).do({ type: "title_given", title: " New name " }).do({ type: "pin_wanted", pinned: true });
  assert.deepEqual(world.asked("session/rename").params, { workspaceId: "default", agentSessionId: "a", title: "New name" });
  assert.equal(world.asked("session/pin").params.pinned, true);
  world.commit(12, { type: "session", row: session("b", { pinned: true }) });
  assert.deepEqual(world.state.list.items.map((item) => item.session.agentSessionId), ["b", "a"]);
});
