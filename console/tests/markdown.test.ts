import assert from "node:assert/strict";
import { test } from "node:test";
import type { ComponentChildren, VNode } from "preact";
import { isSafe, Markdown } from "../src/markdown";

/** The elements a text becomes, as `name(children)`: what a browser is told to make, without a browser. */
function drawn(node: ComponentChildren): string {
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (typeof node !== "object") return String(node);
  if (Array.isArray(node)) return node.map(drawn).join("");
  const { type, props } = node as VNode<{ children?: ComponentChildren; href?: string }>;
  if (typeof type === "function") return drawn((type as (given: object) => ComponentChildren)(props));
  const href = props.href === undefined ? "" : ` ${props.href}`;
  return `${String(type)}${href}(${drawn(props.children)})`;
}

const markdown = (text: string): string => drawn(Markdown({ text }));

test("headings, emphasis, lists and code become elements", () => {
  assert.equal(markdown("# One\n\n*two* **three** `four`"), "div(p(One)p(em(two) strong(three) code(four)))");
  assert.match(markdown("- a\n- b"), /^div\(ul\(li\(.*a.*\)li\(.*b.*\)\)\)$/);
  assert.match(markdown("```py\nx < 1\n```"), /pre\(code\(x < 1\)\)/);
});

test("html of the agent stays text, in blocks and inside lines", () => {
  for (const text of ["<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<b>x</b>"]) {
    const made = markdown(text);
    assert.ok(!/(script|img|b)\(/.test(made), made);
    assert.ok(made.includes("<"), made);
  }
});

test("only links to the web can be followed; images are not loaded", () => {
  assert.equal(markdown("[x](https://example.org/)"), "div(p(a https://example.org/(x)))");
  for (const target of ["javascript:alert(1)", "data:text/html,x", "JaVaScRiPt:alert(1)", "/v1/ws", "file:///etc/passwd"]) {
    assert.equal(isSafe(target), false, target);
    assert.ok(!markdown(`[x](${target})`).includes("a "), target);
  }
  assert.equal(markdown("![alt](https://example.org/a.png)"), "div(p(a https://example.org/a.png(alt)))");
});

test("entities are read as the characters they stand for, and make no markup", () => {
  assert.equal(markdown("&lt;b&gt; &amp;"), "div(p(<b> &))");
});

test("text nested beyond reason is shown as it is", () => {
  const text = `${">".repeat(20_000)} deep`;
  assert.ok(markdown(text).includes("deep"));
  assert.ok(markdown(`${"*a **b ".repeat(5000)}`).includes("a"));
});
