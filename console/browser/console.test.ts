import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { Daemon } from "./daemon";
import { openBrowser, Person } from "./person";

const READ_TOKEN = "cmVhZC1vbmx5LXRva2VuLW9mLXRoZS1jb25zb2xlLXRlc3Q";
const daemon = new Daemon();
let browser: Browser;

before(async () => {
  daemon.addToken("read", READ_TOKEN);
  [browser] = await Promise.all([openBrowser(), daemon.start()]);
});

after(async () => {
  await browser?.close();
  const log = daemon.log();
  await daemon.end();
  assert.ok(!/"level":"error"/.test(log), log);
});

test("the link's token is kept by the tab and leaves the address, its history and every request", async () => {
  const person = await Person.at(browser, daemon.link);
  await person.button("New session").first().waitFor();
  assert.equal(person.page.url(), `${daemon.ready.console}#/default`);
  assert.equal(await person.page.evaluate(() => history.length), 2); // the blank page and this one
  assert.equal(await person.page.evaluate(() => sessionStorage.getItem("greenroom.token")), daemon.token);
  assert.equal(await person.page.evaluate(() => localStorage.length + document.cookie.length), 0);
  assert.ok(!person.addresses.some((address) => address.includes(daemon.token) && !address.includes("#token=")));
  await person.page.reload();
  await person.button("New session").first().waitFor();
  await person.leave();
  assert.ok(!daemon.log().includes(daemon.token));
});

test("without a token the page asks for one, and says when it is wrong", async () => {
  const person = await Person.at(browser, daemon.ready.console);
  await person.page.getByLabel("Token or link").fill("wrong");
  await person.button("Open").click();
  await person.page.getByText("Greenroom refused the token.").waitFor();
  await person.page.getByLabel("Token or link").fill(daemon.link);
  await person.button("Open").click();
  await person.button("New session").first().waitFor();
  await person.leave();
});

test("a session is made, streams, asks, is answered, and stays after a reload", async () => {
  const person = await Person.at(browser, daemon.link);
  await person.create(
    '[[title Fix the test]] [[think 3]] [[plan look;write]] [[tool pytest kind=execute output="211 passed" command="pytest -q"]] [[edit a.py]] [[say **bold** and `code`]] [[ask allow_once,reject_once]] [[say Done with it.]]',
  );
  const question = person.page.getByRole("region", { name: "The agent asks for permission" });
  await question.waitFor();
  await person.reads("asks for permission");
  await person.page.waitForFunction(() => document.title.startsWith("(1) Fix the test"));
  await person.sessions.filter({ hasText: "Fix the test" }).getByText("to answer").waitFor({ state: "attached" });
  await question.getByRole("button", { name: /allow/i }).click();
  await person.reads("Done with it.");
  await person.isIdle();
  await question.waitFor({ state: "detached" });
  assert.equal(await person.transcript.locator("strong").first().textContent(), "bold");
  await person.transcript.getByText("pytest", { exact: true }).click();
  await person.reads("211 passed");
  await person.transcript.getByText("allowed").waitFor();
  assert.equal(await person.transcript.getByRole("list", { name: "Plan" }).getByRole("listitem").count(), 2);
  await person.page.reload();
  await person.reads("Done with it.");
  await person.leave();
});

test("a question rejected is told to the agent", async () => {
  const person = await Person.at(browser, daemon.link);
  await person.create("[[ask allow_once,reject_once]] [[say never said]]");
  await person.page.getByRole("group", { name: "Answers" }).getByRole("button", { name: /reject/i }).click();
  await person.isIdle();
  await person.transcript.getByText("rejected").first().waitFor();
  assert.equal(await person.transcript.getByText("never said", { exact: true }).count(), 0);
  await person.leave();
});

test("a turn is stopped, and the next prompt works", async () => {
  const person = await Person.at(browser, daemon.link);
  await person.create("[[stream 2]] [[hang]]");
  await person.reads(/0 x+/);
  await person.prompt.fill("written meanwhile");
  await person.prompt.press("Enter");
  assert.equal(await person.prompt.inputValue(), "written meanwhile", "nothing is sent while a turn runs");
  await person.button("Stop the agent").click();
  await person.reads("Stopped");
  await person.prompt.press("Enter");
  await person.reads("You said: “written meanwhile”.");
  await person.leave();
});

test("text streams in while it is made, and the page stays at its end until the reader scrolls up", async () => {
  const person = await Person.at(browser, daemon.link);
  // Far longer than the test needs, however busy the machine is: it is stopped at its end.
  await person.create("[[stream 20000 size=60 batch=4 delay=40]]");
  await person.page.waitForFunction(() => (document.querySelector(".answer")?.textContent?.length ?? 0) > 6000);
  const fromEnd = () => person.transcript.evaluate((area) => Math.round(area.scrollHeight - area.scrollTop - area.clientHeight));
  assert.ok((await fromEnd()) < 60, "follows its end");
  await person.transcript.evaluate((area) => (area.scrollTop = 0));
  const newest = person.button("Newest");
  await newest.waitFor();
  const before = await person.transcript.evaluate((area) => area.scrollHeight);
  await person.page.waitForFunction((height) => (document.querySelector(".transcript")?.scrollHeight ?? 0) > height, before);
  assert.equal(await person.transcript.evaluate((area) => area.scrollTop), 0, "stays where the reader is");
  await newest.click();
  await person.button("Stop the agent").click();
  await person.isIdle();
  assert.ok((await fromEnd()) < 60);
  await person.leave();
});

test("nothing an agent or a person writes becomes part of the page", async () => {
  const person = await Person.at(browser, daemon.link);
  const attack = `<img src=x onerror=alert(1)><script>window.hacked=1</script><svg onload=alert(2)>`;
  await person.create(
    `[[title ${attack}]] [[say ${attack} [x](javascript:alert(3)) <a href="javascript:alert(4)">y</a>]] [[think 1]] [[tool sh kind=execute output="${attack.replaceAll('"', "")}" command="<b>x</b>"]] [[plan ${attack};b]] [[edit <b>a</b>.py]]`,
  );
  await person.isIdle();
  await person.sessions.filter({ hasText: "<img src=x" }).first().waitFor();
  for (const summary of await person.transcript.locator("summary").all()) await summary.click();
  const made = await person.page.evaluate(() => ({
    elements: document.querySelectorAll("#console img, #console script, #console svg[onload], #console a[href^='javascript']").length,
    hacked: "hacked" in window,
  }));
  assert.deepEqual(made, { elements: 0, hacked: false });
  await person.leave();
});

test("long transcripts and their beginnings come on demand", async () => {
  const person = await Person.at(browser, daemon.link);
  await person.create(`[[say the very beginning]] ${"[[tool step]] ".repeat(160)}[[say the very end]]`);
  await person.isIdle();
  await person.page.reload();
  await person.reads("the very end");
  assert.equal(await person.transcript.getByText("the very beginning", { exact: true }).count(), 0);
  await person.transcript.evaluate((area) => (area.scrollTop = 0));
  await person.transcript.getByText("the very beginning", { exact: true }).first().waitFor({ state: "attached" });
  assert.ok((await person.transcript.evaluate((area) => area.scrollTop)) > 100, "the reader stays where they were");
  await person.leave();
});

test("the list is live: what another tab does shows here, and a session can be left and found again", async () => {
  const [one, other] = await Promise.all([Person.at(browser, daemon.link), Person.at(browser, daemon.link)]);
  await one.button("New session").first().waitFor();
  await other.create("[[title Made in the other tab]] [[hang]]");
  const entry = one.sessions.filter({ hasText: "Made in the other tab" });
  await entry.getByText("working").waitFor({ state: "attached" });
  await entry.getByRole("link").click();
  await one.button("Stop the agent").click();
  await other.reads("Stopped");
  await one.page.goBack();
  await one.page.getByText("Choose a session, or start a new one.").waitFor();
  await Promise.all([one.leave(), other.leave()]);
});

test("a session is renamed and pinned, in every tab", async () => {
  const [one, other] = await Promise.all([Person.at(browser, daemon.link), Person.at(browser, daemon.link)]);
  await one.create("[[say to be renamed]]");
  await one.button("Rename").click();
  await one.page.getByLabel("Title").fill("A name of its own");
  await one.page.getByLabel("Title").press("Enter");
  await one.page.getByRole("heading", { name: "A name of its own" }).waitFor();
  await one.button("Pinned").click();
  const pinned = other.page.getByRole("navigation").locator("section").filter({ hasText: "Pinned" });
  await pinned.getByText("A name of its own").waitFor();
  await one.button("Pinned").click();
  await pinned.waitFor({ state: "detached" });
  await other.sessions.filter({ hasText: "A name of its own" }).waitFor();
  await Promise.all([one.leave(), other.leave()]);
});

test("a deleted session is said to be deleted in every tab, and comes back when it is restored", async () => {
  const [one, other] = await Promise.all([Person.at(browser, daemon.link), Person.at(browser, daemon.link)]);
  await one.create("[[title To be deleted]] [[say words to keep]]");
  await one.isIdle();
  await other.sessions.filter({ hasText: "To be deleted" }).getByRole("link").click();
  await other.reads("words to keep");
  await one.button("Delete").click();
  for (const person of [one, other]) {
    await person.page.getByRole("heading", { name: "This session was deleted" }).waitFor();
    await person.sessions.filter({ hasText: "To be deleted" }).waitFor({ state: "detached" });
  }
  await other.button("Restore it").click();
  for (const person of [one, other]) {
    await person.reads("words to keep");
    await person.sessions.filter({ hasText: "To be deleted" }).waitFor();
  }
  await Promise.all([one.leave(), other.leave()]);
});

test("everything can be done by keyboard", async () => {
  const person = await Person.at(browser, daemon.link);
  const { keyboard } = person.page;
  await person.button("New session").first().waitFor();
  await person.page.getByRole("navigation").getByRole("button", { name: "New session" }).focus();
  await keyboard.press("Enter");
  await person.page.getByRole("dialog").waitFor();
  await keyboard.press("Escape");
  await person.page.getByRole("dialog").waitFor({ state: "detached" });
  await keyboard.press("Enter");
  await person.page.getByRole("dialog").waitFor();
  await keyboard.type("[[ask allow_once,reject_once]] by keyboard");
  for (const key of ["Tab", "Tab", "Tab", "Enter"]) await keyboard.press(key);
  await person.page.getByRole("group", { name: "Answers" }).waitFor();
  await person.prompt.press("Shift+Tab");
  await keyboard.press("Shift+Tab");
  await keyboard.press("Enter");
  await person.isIdle();
  await person.transcript.getByText("allowed").first().waitFor();
  await person.leave();
});

test("in a narrow window the list and the session take turns", async () => {
  const person = await Person.at(browser, daemon.link, { viewport: { width: 390, height: 780 } });
  await person.create("hello from a narrow window");
  await person.reads("You said");
  assert.equal(await person.sessions.first().isVisible(), false);
  assert.ok(await person.page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "nothing sticks out");
  await person.page.getByRole("link", { name: "Back to the list" }).click();
  await person.sessions.first().waitFor();
  await person.leave();
});

test("a token that may only read shows everything and offers no command", async () => {
  const person = await Person.at(browser, `${daemon.ready.console}#token=${READ_TOKEN}`);
  await person.sessions.first().getByRole("link").click();
  await person.page.getByText("Your token may read only.").waitFor();
  assert.equal(await person.prompt.count(), 0);
  assert.ok(await person.page.getByRole("navigation").getByRole("button", { name: "New session" }).isDisabled());
  await person.leave();
});

test("what failed says so, with what to do", async () => {
  const person = await Person.at(browser, daemon.link);
  await person.create("[[crash]]");
  await person.reads("The agent's program ended in the middle of its work.");
  await person.page.goto(`${daemon.ready.console}#/default/no-such-session`);
  await person.page.getByText("There is no such session.").waitFor();
  await person.leave();
});

test("the page outlives the daemon: it says so, comes back by itself, and misses nothing", async () => {
  const person = await Person.at(browser, daemon.link);
  await person.create("[[title Before the restart]] [[say first words]] [[stream 1]] [[hang]]");
  const answers = person.transcript.getByRole("article", { name: "Agent" });
  await answers.filter({ hasText: "first words0 x" }).waitFor();
  await person.prompt.fill("a draft");
  await daemon.stop();
  await person.page.getByText(/this page reconnects/i).first().waitFor();
  await daemon.start();
  await person.page.getByText(/this page reconnects/i).first().waitFor({ state: "detached" });
  await person.reads(/Interrupted/);
  assert.equal(await person.prompt.inputValue(), "a draft");
  await person.send("after the restart");
  await person.reads("You said: “after the restart”.");
  assert.equal(await answers.filter({ hasText: "first words" }).count(), 1);
  await person.leave();
});
