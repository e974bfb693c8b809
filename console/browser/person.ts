// A person at a browser: a page that is watched for errors, and the few things one does on it.

import assert from "node:assert/strict";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { required } from "./daemon";

// As root there is no sandbox; the others keep the browser from looking for its makers' servers.
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const PATIENCE_MS = 60_000;

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: required("GREENROOM_BROWSER"), args: ARGUMENTS });
}

export class Person {
  /** What went wrong in the page, a broken security policy included. */
  readonly errors: string[] = [];
  readonly addresses: string[] = [];

  private constructor(readonly page: Page) {
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => this.errors.push(String(error)));
    page.on("console", (message) => {
      // A server that is away is no fault of the page.
      if (message.type() === "error" && !/ERR_CONNECTION|WebSocket|401/.test(message.text())) this.errors.push(message.text());
    });
    page.on("request", (request) => this.addresses.push(request.url()));
    page.on("dialog", (dialog) => {
      this.errors.push(`the page opened a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async at(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Person> {
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
    const person = new Person(await context.newPage());
    await person.page.goto(address);
    return person;
  }

  get prompt(): Locator {
    return this.page.locator("#prompt");
  }

  get transcript(): Locator {
    return this.page.getByRole("region", { name: "Transcript" });
  }

  get sessions(): Locator {
    return this.page.getByRole("navigation", { name: "Sessions" }).getByRole("listitem");
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name });
  }

  async create(prompt: string): Promise<void> {
    await this.page.getByRole("navigation").getByRole("button", { name: "New session" }).click();
    await this.page.getByRole("dialog").getByLabel("Prompt").fill(prompt);
    await this.button("Start").click();
    await this.prompt.waitFor();
  }

  async send(prompt: string): Promise<void> {
    await this.prompt.fill(prompt);
    await this.prompt.press("Enter");
  }

  /** Waits until the transcript shows this text. */
  async reads(text: string | RegExp): Promise<void> {
    await this.transcript.getByText(text).first().waitFor();
  }

  /** Waits until the agent has nothing to do. */
  async isIdle(): Promise<void> {
    await this.button("Send").waitFor();
  }

  async leave(): Promise<void> {
    const { origin } = new URL(this.page.url());
    assert.deepEqual(this.errors, []);
    assert.deepEqual(this.addresses.filter((address) => new URL(address).origin !== origin && !address.startsWith("data:")), []);
    await this.page.context().close();
  }
}
