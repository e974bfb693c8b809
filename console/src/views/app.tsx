// The page: the list of sessions on the left, the open one on the right; in a narrow window one at a time.

import type { JSX } from "preact";
import type { Connection, State } from "../store/state";
import type { ViewProps } from "./context";
import { NewSession } from "./new_session";
import { SessionView } from "./session_view";
import { Sidebar } from "./sidebar";
import { SignIn } from "./sign_in";
import { Icon } from "../icons";

export function App({ state, dispatch, giveToken }: ViewProps & { giveToken: (token: string) => void }): JSX.Element {
  const { phase } = state.connection;
  if (phase === "no_token" || phase === "refused") return <SignIn refused={phase === "refused"} give={giveToken} />;
  return (
    <div class={`page ${state.open ? "has-session" : ""}`}>
      <Sidebar state={state} dispatch={dispatch} />
      <main>
        <Banner connection={state.connection} state={state} />
        {state.open ? <SessionView state={state} dispatch={dispatch} open={state.open} /> : <Welcome state={state} dispatch={dispatch} />}
      </main>
      {state.creating && <NewSession state={state} dispatch={dispatch} />}
      <Problems state={state} dispatch={dispatch} />
      <p class="unseen" role="status" aria-live="polite">{state.announcement}</p>
    </div>
  );
}

function Banner({ connection, state }: { connection: Connection; state: State }): JSX.Element | null {
  const text = bannerText(connection, state);
  return text === null ? null : <div class="banner" role="status"><span class="spinner" aria-hidden="true" /> {text}</div>;
}

function bannerText(connection: Connection, state: State): string | null {
  if (state.shutdown) return "Greenroom is stopping. This page reconnects when it is back.";
  if (connection.phase !== "waiting" && connection.phase !== "connecting") return null;
  switch (connection.why) {
    case "unreachable":
      return "Greenroom is not reachable. Start it again if it was stopped; this page reconnects by itself.";
    case "shutdown":
      return "Greenroom was stopped. This page reconnects when it is back.";
    case "too_slow":
      return "This page fell too far behind and was disconnected. Reconnecting …";
    case "closed":
      return "The connection was lost. Reconnecting …";
    case null:
      return null;
  }
}

function Welcome({ state, dispatch }: ViewProps): JSX.Element {
  const isEmpty = state.list.phase === "ready" && state.list.items.length === 0;
  return (
    <section class="welcome">
      <h1>{isEmpty ? "The stage is empty" : "Greenroom"}</h1>
      <p>{isEmpty ? "Start a session: choose an agent and tell it what to do." : "Choose a session, or start a new one."}</p>
      <button type="button" class="primary" onClick={() => dispatch({ type: "creating_toggled", shown: true })} disabled={!canControl(state)}>
        <Icon name="plus" /> New session
      </button>
      {!canControl(state) && state.server && <p class="faint">Your token may read only.</p>}
    </section>
  );
}

/** Whether the token allows commands. */
export function canControl(state: State): boolean {
  return state.server !== null && state.server.scope !== "read";
}

function Problems({ state, dispatch }: ViewProps): JSX.Element {
  return (
    <div class="problems" role="alert">
      {state.problems.map((problem) => (
        <div key={problem.id} class="problem">
          <Icon name="warning" />
          <p><strong>{problem.what}</strong> {problem.next}</p>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => dispatch({ type: "problem_dismissed", id: problem.id })}>
            <Icon name="cross" />
          </button>
        </div>
      ))}
    </div>
  );
}
