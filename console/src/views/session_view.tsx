// The open session: its head, transcript, questions and the field for the next prompt.

import { Component, createRef, type JSX } from "preact";
import type { Session } from "../../../contract/greenroom";
import { count } from "../format";
import { Icon } from "../icons";
import { failure } from "../sentences";
import type { OpenSession, State } from "../store/state";
import { pendingInteractions } from "../store/transcript";
import { canControl } from "./app";
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
      <Head key={open.agentSessionId} state={state} dispatch={dispatch} open={open} />
      {open.phase === "failed" ? (
        <Unreadable state={state} dispatch={dispatch} open={open} />
      ) : open.phase === "deleted" ? (
        <div class="welcome">
          <h1>This session was deleted</h1>
          <p>It is kept until somebody purges it.</p>
          <p class="buttons">
            {canCall(state, "session/restore") && <button type="button" class="primary" onClick={() => dispatch({ type: "restoration_wanted" })}>Restore it</button>}
            <a class="button" href={addressOf(state.workspaceId, null)}>Back to the list</a>
          </p>
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

class Head extends Component<SessionProps, { readonly isRenaming: boolean }> {
  override state: { readonly isRenaming: boolean } = { isRenaming: false };
  private readonly field = createRef<HTMLInputElement>();

  override componentDidUpdate(_: SessionProps, before: { readonly isRenaming: boolean }): void {
    if (this.state.isRenaming && !before.isRenaming) this.field.current?.select();
  }

  private readonly rename = (event: SubmitEvent): void => {
    event.preventDefault();
    this.props.dispatch({ type: "title_given", title: this.field.current?.value ?? "" });
    this.setState({ isRenaming: false });
  };

  override render({ state, dispatch, open }: SessionProps, { isRenaming }: { isRenaming: boolean }): JSX.Element {
    const session = open.session?.row ?? null;
    const excerpt = state.list.items.find((item) => item.session.agentSessionId === open.agentSessionId)?.excerpt ?? null;
    const can = (method: string): boolean =>
      session !== null && session.parent === null && open.phase === "ready" && canCall(state, method);
    return (
      <header class="head">
        <a class="back" href={addressOf(state.workspaceId, null)} aria-label="Back to the list"><Icon name="back" /></a>
        <div class="names">
          {isRenaming ? (
            <form class="field-row" onSubmit={this.rename} onKeyDown={(event) => event.key === "Escape" && this.setState({ isRenaming: false })}>
              <input ref={this.field} aria-label="Title" defaultValue={session?.title ?? ""} maxLength={500} dir="auto" />
              <button type="submit">Rename</button>
            </form>
          ) : (
            <h1 dir="auto">{session ? titleOf(session.title, excerpt) : open.phase === "loading" ? "Loading …" : "Session"}</h1>
          )}
          {session && !isRenaming && <About session={session} state={state} />}
        </div>
        {can("session/rename") && !isRenaming && (
          <button type="button" class="quiet round" aria-label="Rename" title="Rename" onClick={() => this.setState({ isRenaming: true })}><Icon name="pencil" /></button>
        )}
        {can("session/pin") && (
          <button
            type="button"
            class={session?.pinned ? "quiet round pinned" : "quiet round"}
            aria-pressed={session?.pinned === true}
            aria-label="Pinned"
            title={session?.pinned ? "Unpin" : "Pin to the top of the list"}
            onClick={() => dispatch({ type: "pin_wanted", pinned: session?.pinned !== true })}
          >
            <Icon name="pin" />
          </button>
        )}
        {can("session/delete") && can("session/restore") && (
          <button type="button" class="quiet round" aria-label="Delete" title="Delete (it can be restored)" onClick={() => dispatch({ type: "deletion_wanted" })}><Icon name="bin" /></button>
        )}
      </header>
    );
  }
}

/** Whether the token allows commands, and the server serves this one. */
function canCall(state: State, method: string): boolean {
  return canControl(state) && state.server?.capabilities.methods.includes(method) === true;
}

function About({ session, state }: { session: Session; state: State }): JSX.Element {
  const target = state.targets.find((one) => one.agentTargetId === session.agentTargetId)?.name ?? session.agentTargetId;
  const { usage } = session;
  const share = usage?.contextTokens && usage.contextWindow ? Math.round((100 * usage.contextTokens) / usage.contextWindow) : null;
  return (
    <p class="faint">
      <span>{target}</span>
      <span class="cwd" title={session.cwd}>{session.cwd}</span>
      {share !== null && <span title={`${count(usage?.contextTokens ?? 0)} of ${count(usage?.contextWindow ?? 0)} tokens`}>{share}% of context</span>}
      {usage?.costUsd != null && <span>${usage.costUsd.toFixed(2)}</span>}
    </p>
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
