// Performs what the store decides: the WebSocket, the token, the address bar, timers. It decides nothing itself.

import type { ErrorFrame, EventFrame, ReplyFrame } from "../../contract/greenroom";
import type { ConsoleEvent, Effect, State } from "./store/state";
import { initialState, update } from "./store/store";
import { addressOf } from "./views/context";

const TOKEN_KEY = "greenroom.token";
const WORKSPACE = "default";
const HIDDEN_DRAW_MS = 250;

interface Address {
  readonly token: string | null;
  readonly workspaceId: string;
  readonly agentSessionId: string | null;
}

/** `#token=TOKEN` or `#/WORKSPACE/SESSION`. */
export function parseAddress(fragment: string): Address {
  const text = fragment.replace(/^#/, "");
  const token = /^token=([A-Za-z0-9_-]+)$/.exec(text)?.[1] ?? null;
  const [workspaceId, agentSessionId] = text.startsWith("/") ? text.slice(1).split("/").map(decoded) : [];
  return { token, workspaceId: workspaceId || WORKSPACE, agentSessionId: agentSessionId || null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no address of ours: it will name no session
  }
}

export class Driver {
  state: State;
  private socket: WebSocket | null = null;
  private isDrawing = false;

  constructor(private readonly draw: (state: State) => void) {
    const address = parseAddress(location.hash);
    if (address.token) this.rememberToken(address.token);
    this.state = initialState(address.workspaceId);
    if (address.token) this.showAddress(null, true);
    document.addEventListener("visibilitychange", () => {
      // Back in front of somebody's eyes: no reason to wait any longer.
      if (!document.hidden) this.dispatch({ type: "retry_due" });
    });
    window.addEventListener("hashchange", () => this.addressChanged());
    this.dispatch({ type: "started", hasToken: this.token() !== null, agentSessionId: address.agentSessionId });
  }

  readonly dispatch = (event: ConsoleEvent): void => {
    const { state, effects } = update(this.state, event);
    this.state = state;
    for (const effect of effects) this.perform(effect);
    this.drawSoon();
  };

  readonly giveToken = (token: string): void => {
    this.rememberToken(token);
    this.dispatch({ type: "token_given" });
  };

  /** Draws once for all that happened since the last picture. */
  drawSoon(): void {
    if (this.isDrawing) return;
    this.isDrawing = true;
    const draw = (): void => {
      this.isDrawing = false;
      this.draw(this.state);
    };
    if (document.hidden) setTimeout(draw, HIDDEN_DRAW_MS);
    else requestAnimationFrame(draw);
  }

  private perform(effect: Effect): void {
    switch (effect.type) {
      case "connect":
        return this.connect();
      case "disconnect":
        return this.socket?.close(1000);
      case "request": {
        const { id, method, params } = effect;
        // What a dying socket does not take is sent again, or read again, on the next one.
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        return;
      }
      case "retry_after":
        setTimeout(() => this.dispatch({ type: "retry_due" }), effect.milliseconds);
        return;
      case "show_address":
        return this.showAddress(effect.agentSessionId, false);
      case "forget_token":
        return sessionStorage.removeItem(TOKEN_KEY);
    }
  }

  private connect(): void {
    const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/ws`;
    const socket = new WebSocket(url, ["greenroom.v1", `greenroom.v1.bearer.${this.token() ?? ""}`]);
    this.socket = socket;
    socket.onopen = () => this.dispatch({ type: "socket_opened" });
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      this.dispatch({ type: "frame", frame: JSON.parse(data) as ReplyFrame | ErrorFrame | EventFrame });
    };
    socket.onclose = ({ code }) => {
      this.socket = null;
      void isReachable().then((reachable) => this.dispatch({ type: "socket_closed", code, reachable }));
    };
  }

  private addressChanged(): void {
    const { token, workspaceId, agentSessionId } = parseAddress(location.hash);
    if (token) {
      this.rememberToken(token);
      this.showAddress(null, true);
      return location.reload();
    }
    if (workspaceId !== this.state.workspaceId) return location.reload();
    this.dispatch({ type: "session_chosen", agentSessionId });
  }

  private showAddress(agentSessionId: string | null, instead: boolean): void {
    const address = addressOf(this.state.workspaceId, agentSessionId);
    if (location.hash === address) return;
    if (instead) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  }

  private rememberToken(token: string): void {
    sessionStorage.setItem(TOKEN_KEY, token);
  }

  private token(): string | null {
    return sessionStorage.getItem(TOKEN_KEY);
  }
}

/** Whether the daemon answers at all: a page is not told why its handshake was refused. */
async function isReachable(): Promise<boolean> {
  try {
    return (await fetch("/healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
