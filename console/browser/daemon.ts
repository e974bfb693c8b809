// A real daemon with the demo agent, as a child process with a home of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const STOP_MS = 20_000;

interface Ready {
  readonly console: string;
  readonly tokenFile: string;
}

export class Daemon {
  private readonly folder = mkdtempSync(join(tmpdir(), "greenroom-console-"));
  private process: ChildProcess | null = null;
  private listen = "127.0.0.1:0";
  ready: Ready = { console: "", tokenFile: "" };

  get token(): string {
    return readFileSync(this.ready.tokenFile, "utf8").trim();
  }

  get link(): string {
    return `${this.ready.console}#token=${this.token}`;
  }

  /** A further token, of this scope; give it before the start. */
  addToken(scope: "read" | "control", token: string): void {
    const file = join(this.folder, `${scope}.token`);
    writeFileSync(file, token, { mode: 0o600 });
    writeFileSync(join(this.folder, "config.toml"), `[[tokens]]\nname = "${scope}"\ntokenFile = "${file}"\nscope = "${scope}"\n`, { flag: "a" });
  }

  /** Starts it, again on the port it had. */
  async start(): Promise<void> {
    writeFileSync(join(this.folder, "config.toml"), "", { flag: "a" });
    const log = openSync(join(this.folder, "daemon.log"), "a");
    const words = ["-m", "runtime.cli", "serve", "--data-dir", join(this.folder, "data"), "--listen", this.listen, "--config", join(this.folder, "config.toml")];
    this.process = spawn(required("GREENROOM_PYTHON"), words, {
      cwd: required("GREENROOM_ROOT"),
      env: { HOME: this.folder, PATH: "/usr/bin:/bin" },
      stdio: ["ignore", "pipe", log],
    });
    const [line] = (await once(this.process.stdout!, "data")) as [Buffer];
    this.ready = JSON.parse(line.toString()) as Ready;
    this.listen = new URL(this.ready.console).host;
  }

  async stop(): Promise<void> {
    const running = this.process;
    if (!running || running.exitCode !== null) return;
    const ended = once(running, "exit", { signal: AbortSignal.timeout(STOP_MS) });
    running.kill("SIGTERM");
    await ended;
    this.process = null;
  }

  log(): string {
    return readFileSync(join(this.folder, "daemon.log"), "utf8");
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run \`make test-console\``);
  return value;
}
