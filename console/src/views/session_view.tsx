// The open session: its head, transcript, questions and the field for the next prompt.

import type { JSX } from "preact";
import { count } from "../format";
import { Icon } from "../icons";
import { failure } from "../sentences";
import type { OpenSession } from "../store/state";
import { pendingInteractions } from "../store/transcript";
import { Composer } from "./composer";
import { addressOf, type ViewProps } from "./context";
import { Question } from "./question";
import { titleOf } from "./sidebar";
import { Transcript } from "./transcript_view";

type SessionProps = ViewProps & { readonly open: OpenSession };

export function SessionView({ state, dispatch, open }: SessionProps): JSX.Element {
  const pending = pendingInteractions(open);
  return (
    <section class="session" aria-label="Session">
      <Head state={state} dispatch={dispatch} open={open} />
      {open.phase === "failed" ? (
        <Unreadable state={state} dispatch={dispatch} open={open} />
      ) : open.phase === "deleted" ? (
        <div class="welcome">
          <h1>This session was deleted</h1>
          <p>Somebody removed it. Choose another one from the list.</p>
          <a class="button" href={addressOf(state.workspaceId, null)}>Back to the list</a>
        </div>
      ) : (
        <>
          <Transcript key={open.agentSessionId} open={open} dispatch={dispatch} />
          <footer>
            {pending.map((interaction) => (
              <Question key={`${interaction.agentSessionId}/${interaction.requestId}`} interaction={interaction} state={state} dispatch={dispatch} />
            ))}
            <Composer state={state} dispatch={dispatch} open={open} />
          </footer>
        </>
      )}
    </section>
  );
}

function Head({ state, open }: SessionProps): JSX.Element {
  const session = open.session?.row ?? null;
  const excerpt = state.list.items.find((item) => item.session.agentSessionId === open.agentSessionId)?.excerpt ?? null;
  const target = state.targets.find((one) => one.agentTargetId === session?.agentTargetId)?.name ?? session?.agentTargetId;
  const used = session?.usage;
  const share = used?.contextTokens && used.contextWindow ? Math.round((100 * used.contextTokens) / used.contextWindow) : null;
  return (
    <header class="head">
      <a class="back" href={addressOf(state.workspaceId, null)} aria-label="Back to the list"><Icon name="back" /></a>
      <div class="names">
        <h1 dir="auto">{session ? titleOf(session.title, excerpt) : open.phase === "loading" ? "Loading …" : "Session"}</h1>
        {session && (
          <p class="faint">
            <span>{target}</span>
            <span class="cwd" title={session.cwd}>{session.cwd}</span>
            {share !== null && <span title={`${count(used?.contextTokens ?? 0)} of ${count(used?.contextWindow ?? 0)} tokens`}>{share}% of context</span>}
            {used?.costUsd != null && <span>${used.costUsd.toFixed(2)}</span>}
          </p>
        )}
      </div>
    </header>
  );
}

function Unreadable({ state, dispatch, open }: SessionProps): JSX.Element {
  const code = open.failure ?? "internal";
  const { what, next } = failure({ code, message: "", origin: "runtime", retryable: false });
  return (
    <div class="welcome" role="alert">
      <h1>{what}</h1>
      <p>{next}</p>
      <p class="buttons">
        <button type="button" onClick={() => dispatch({ type: "session_chosen", agentSessionId: open.agentSessionId })}>Try again</button>
        <a class="button" href={addressOf(state.workspaceId, null)}>Back to the list</a>
      </p>
    </div>
  );
}
