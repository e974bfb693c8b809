// The list of sessions, and how the daemon is.

import { Component, type JSX } from "preact";
import { ago, bytes, folder, moment, plural } from "../format";
import { Icon } from "../icons";
import type { HealthReadReply } from "../../../contract/greenroom";
import { pendingCounts } from "../store/session_list";
import type { ListedSession } from "../store/state";
import { canControl } from "./app";
import { addressOf, type ViewProps } from "./context";

const NEAR_END_PIXELS = 300;
const MINUTE_MS = 60_000;

export function Sidebar({ state, dispatch }: ViewProps): JSX.Element {
  const { list } = state;
  const counts = pendingCounts(list);
  const names = new Map(state.targets.map((target) => [target.agentTargetId, target.name]));
  const entry = (item: ListedSession): JSX.Element => {
    const { agentSessionId, agentTargetId } = item.session;
    return (
      <Entry
        key={agentSessionId}
        item={item}
        pending={counts.get(agentSessionId) ?? 0}
        target={names.get(agentTargetId) ?? agentTargetId}
        isOpen={state.open?.agentSessionId === agentSessionId}
        minute={Math.floor(Date.now() / MINUTE_MS)}
      />
    );
  };
  const pinned = list.items.filter((item) => item.session.pinned);
  const others = list.items.filter((item) => !item.session.pinned);
  const more = (event: Event): void => {
    const area = event.currentTarget as HTMLElement;
    if (area.scrollHeight - area.scrollTop - area.clientHeight < NEAR_END_PIXELS) dispatch({ type: "more_sessions_wanted" });
  };
  return (
    <nav class="sidebar" aria-label="Sessions">
      <header>
        <a class="brand" href={addressOf(state.workspaceId, null)}>Greenroom</a>
        <button
          type="button"
          class="round"
          aria-label="New session"
          title="New session"
          disabled={!canControl(state)}
          onClick={() => dispatch({ type: "creating_toggled", shown: true })}
        >
          <Icon name="plus" />
        </button>
      </header>
      <div class="sessions" onScroll={more}>
        {list.phase === "loading" && <Skeleton />}
        {list.phase === "ready" && list.items.length === 0 && <p class="faint empty">No sessions yet.</p>}
        {pinned.length > 0 && <Group title="Pinned">{pinned.map(entry)}</Group>}
        {others.length > 0 && <Group title={pinned.length > 0 ? "Recent" : null}>{others.map(entry)}</Group>}
        {list.cursor !== null && (
          <button type="button" class="quiet wide" disabled={list.loadingMore} onClick={() => dispatch({ type: "more_sessions_wanted" })}>
            {list.loadingMore ? "Loading …" : "Show more"}
          </button>
        )}
      </div>
      <Health state={state} dispatch={dispatch} />
    </nav>
  );
}

function Group({ title, children }: { title: string | null; children: readonly JSX.Element[] }): JSX.Element {
  return (
    <section>
      {title && <h2>{title}</h2>}
      <ul>{children}</ul>
    </section>
  );
}

interface EntryProps {
  readonly item: ListedSession;
  readonly pending: number;
  readonly target: string;
  readonly isOpen: boolean;
  /** Of the clock: what was "now" becomes "1 min". */
  readonly minute: number;
}

/** Drawn again only when it changes: a long list costs nothing while the open session streams. */
class Entry extends Component<EntryProps> {
  override shouldComponentUpdate(next: EntryProps): boolean {
    const { item, pending, target, isOpen, minute } = this.props;
    return next.item !== item || next.pending !== pending || next.target !== target || next.isOpen !== isOpen || next.minute !== minute;
  }

  override render(props: EntryProps): JSX.Element {
    return entryOf(props);
  }
}

function entryOf({ item, pending, target, isOpen }: EntryProps): JSX.Element {
  const { session } = item;
  // A folder made for this session alone says nothing a person wants to know.
  const hasOwnFolder = folder(session.cwd) === session.agentSessionId;
  const works = item.phase !== null && item.phase !== "settled" && pending === 0;
  return (
    <li>
      <a class="entry" href={addressOf(session.workspaceId, session.agentSessionId)} aria-current={isOpen ? "page" : undefined}>
        <span class="line">
          <span class={session.title ? "title" : "title untitled"} dir="auto">{titleOf(session.title, item.excerpt)}</span>
          {pending > 0 && <span class="badge" title={`${plural(pending, "question")} to answer`}>{pending}<span class="unseen"> to answer</span></span>}
          {works && <span class="pulse" title="working"><span class="unseen">working</span></span>}
          {session.runtime.state === "quarantined" && <Icon name="warning" />}
        </span>
        <span class="line faint">
          <span class="where">{hasOwnFolder ? target : `${target} · ${folder(session.cwd)}`}</span>
          <time title={moment(session.updatedAt)}>{ago(session.updatedAt, Date.now())}</time>
        </span>
      </a>
    </li>
  );
}

export function titleOf(title: string | null, excerpt: string | null): string {
  return title || excerpt || "Untitled session";
}

function Skeleton(): JSX.Element {
  return <div class="skeleton" role="status" aria-label="Loading sessions">{[1, 2, 3, 4].map((line) => <i key={line} />)}</div>;
}

const HEALTH_WORDS: Readonly<Record<HealthReadReply["status"], string>> = {
  ok: "All is well",
  degraded: "Something needs attention",
  failing: "Greenroom is failing",
};

function Health({ state, dispatch }: ViewProps): JSX.Element {
  const { health, connection, server } = state;
  const status = connection.phase === "open" ? (health?.status ?? "ok") : "offline";
  const words = connection.phase === "open" ? (health ? (HEALTH_WORDS[health.status] ?? health.status) : "Connected") : "Not connected";
  return (
    <details class="health" onToggle={(event) => (event.currentTarget as HTMLDetailsElement).open && dispatch({ type: "health_wanted" })}>
      <summary><span class={`lamp ${status}`} aria-hidden="true" />{words}</summary>
      <div class="body">
        {health?.problems.map((problem) => (
          <p key={`${problem.code} ${problem.agentSessionId}`} class="notice warning"><span>{problem.code.replaceAll("_", " ")} since {moment(problem.since)}{problem.agentSessionId && `: session ${problem.agentSessionId}`}</span></p>
        ))}
        {health && (
          <dl>
            <dt>Working</dt><dd>{plural(health.live.turns, "turn")}</dd>
            <dt>Live</dt><dd>{plural(health.live.sessions, "session")} on {plural(health.live.connections, "connection")}</dd>
            <dt>Database</dt><dd>{bytes(health.store.bytes + health.store.walBytes)}, {bytes(health.store.freeBytes)} free</dd>
          </dl>
        )}
        <dl>
          <dt>Workspace</dt><dd>{state.workspaceId}</dd>
          {server && <><dt>Version</dt><dd>{server.serverInfo.version}</dd></>}
          {server && <><dt>Token</dt><dd>{server.scope === "read" ? "may read" : server.scope === "control" ? "may read and control" : "may do everything"}</dd></>}
        </dl>
      </div>
    </details>
  );
}
