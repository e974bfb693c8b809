import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, bytes, clipped, duration, folder, plural, visible } from "../src/format";
import { failure, refusal } from "../src/sentences";

test("characters that hide or turn text around are shown by their numbers", () => {
  assert.equal(visible("rm \u202egnp.exe\u0007\u200b"), "rm \\u{202e}gnp.exe\\u{7}\\u{200b}");
  assert.equal(visible("tab\tnewline\n\u00e9 \u4e2d"), "tab\tnewline\n\u00e9 \u4e2d");
});

test("times, sizes and names read as people write them", () => {
  assert.deepEqual([0, 59_000, 60_000, 7_200_000, 172_800_000].map((passed) => ago(0, passed)), ["now", "now", "1 min", "2 h", "2 d"]);
  assert.deepEqual([900, 61_000, 3_720_000].map(duration), ["1 s", "1 min 1 s", "1 h 2 min"]);
  assert.deepEqual([12, 1500, 76_000_000_000].map(bytes), ["12 B", "1.5 KB", "76 GB"]);
  assert.deepEqual([plural(1, "turn"), plural(2, "turn")], ["1 turn", "2 turns"]);
  assert.equal(folder("/srv/work/"), "work");
});

test("a long text keeps its beginning and its end", () => {
  const { text, hidden } = clipped(`begin${"x".repeat(100_000)}end`);
  assert.ok(text.startsWith("begin") && text.endsWith("end") && text.length < 21_000);
  assert.equal(hidden, 80_008);
  assert.deepEqual(clipped("short"), { text: "short", hidden: 0 });
});

test("each refusal says what happened and what to do, an unknown one too", () => {
  const error = (code: string, details = {}) => refusal({ code, retryable: false, delivery: "not_dispatched", details });
  assert.match(error("limit.exceeded", { limit: "maxSessions" }).what, /maxSessions/);
  for (const code of ["session.busy", "of.a.later.release"]) {
    const { what, next } = error(code);
    assert.ok(/\.$/.test(what) && /\.$/.test(next), `${what} ${next}`);
  }
  assert.ok(failure(null).what);
});
