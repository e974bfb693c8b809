// The transcript, drawn and scrolled: it follows its end while the reader is there, and stays put while they read above.

import { Component, createRef, type JSX } from "preact";
import type { Interaction, Message, Turn } from "../../../contract/greenroom";
import { duration } from "../format";
import { Icon } from "../icons";
import { failure } from "../sentences";
import type { OpenSession } from "../store/state";
import { unsettledTurn } from "../store/transcript";
import type { Dispatch } from "./context";
import { Dots, Row } from "./rows";

const NEAR_PIXELS = 120;

interface TranscriptProps {
  readonly open: OpenSession;
  readonly dispatch: Dispatch;
}

export class Transcript extends Component<TranscriptProps, { readonly away: boolean }> {
  override state = { away: false };
  private readonly area = createRef<HTMLDivElement>();
  private follows = true;

  /** The field below grows and shrinks, and so does this one. */
  private readonly resized = new ResizeObserver(() => this.follows && this.toEnd());

  override componentDidMount(): void {
    this.toEnd();
    if (this.area.current) this.resized.observe(this.area.current);
  }

  override componentWillUnmount(): void {
    this.resized.disconnect();
  }

  override getSnapshotBeforeUpdate(): number {
    const area = this.area.current;
    return area ? area.scrollHeight - area.scrollTop : 0;
  }

  override componentDidUpdate(before: TranscriptProps, _: unknown, fromEnd: number): void {
    const area = this.area.current;
    if (!area) return;
    if (this.follows && !this.props.open.hasNewer) return this.toEnd();
    const grewAbove = before.open.messages[0] !== this.props.open.messages[0];
    if (grewAbove && before.open.messages.length > 0) area.scrollTop = area.scrollHeight - fromEnd;
  }

  private toEnd(): void {
    const area = this.area.current;
    if (area) area.scrollTop = area.scrollHeight;
  }

  private readonly scrolled = (): void => {
    const area = this.area.current;
    if (!area) return;
    this.follows = area.scrollHeight - area.scrollTop - area.clientHeight < NEAR_PIXELS;
    if (this.state.away === this.follows) this.setState({ away: !this.follows });
    if (area.scrollTop < NEAR_PIXELS && this.props.open.hasOlder) this.props.dispatch({ type: "older_wanted" });
  };

  private readonly newest = (): void => {
    this.follows = true;
    this.setState({ away: false });
    if (this.props.open.hasNewer) this.props.dispatch({ type: "newest_wanted" });
    this.toEnd();
  };

  override render({ open, dispatch }: TranscriptProps, { away }: { away: boolean }): JSX.Element {
    const asked = interactionsByCall(open);
    return (
      <div class="transcript-frame">
        <div class="transcript" ref={this.area} onScroll={this.scrolled} tabIndex={0} role="region" aria-label="Transcript">
          <div class="column">
            {open.hasOlder && (
              <button type="button" class="quiet wide" disabled={open.loadingOlder} onClick={() => dispatch({ type: "older_wanted" })}>
                {open.loadingOlder ? "Loading …" : "Show earlier messages"}
              </button>
            )}
            {open.phase === "loading" && <div class="skeleton" role="status" aria-label="Loading the transcript"><i /><i /><i /></div>}
            {open.phase === "ready" && open.messages.length === 0 && open.outgoing.length === 0 && !open.hasOlder && (
              <p class="faint empty">Nothing has been said yet.</p>
            )}
            {turnsOf(open.messages).map(({ turnId, messages }, index, all) => (
              <section key={`${turnId}/${messages[0]?.sequence}`} class="turn">
                {messages.map((message) => (
                  <Row key={message.messageId} message={message} interaction={asked.get(message.toolCall?.callId ?? "") ?? null} />
                ))}
                <End turn={turnId === null ? null : (open.turns.get(turnId)?.row ?? null)} isLast={index === all.length - 1} />
              </section>
            ))}
            {open.outgoing.map((one) => (
              <article key={one.clientSubmitId} class="row prompt sending" aria-label="You, being sent"><div class="bubble plain" dir="auto">{one.text}</div></article>
            ))}
            <Working open={open} />
          </div>
        </div>
        {(away || open.hasNewer) && <button type="button" class="newest" onClick={this.newest}>Newest</button>}
      </div>
    );
  }
}

function Working({ open }: { open: OpenSession }): JSX.Element | null {
  const turn = unsettledTurn(open);
  const last = open.messages.at(-1);
  if (!turn || turn.phase === "waiting" || open.hasNewer) return null;
  if (last?.status === "streaming" && last.turnId === turn.turnId && last.role !== "user") return null;
  const words = { submitted: "Starting the agent", running: "Working", settling: "Stopping" }[turn.phase as "submitted"] ?? "Working";
  return <p class="working faint" role="status">{words}<Dots /></p>;
}

function End({ turn, isLast }: { turn: Turn | null; isLast: boolean }): JSX.Element | null {
  if (!turn || turn.phase !== "settled") return null;
  switch (turn.outcome) {
    case "failed": {
      const { what, next } = failure(turn.error);
      const reason = turn.error?.code === "provider.stopped" && turn.stopReason ? ` (${turn.stopReason})` : "";
      return <p class="notice error"><Icon name="warning" /><span><strong>{what}</strong>{reason} {next}</span></p>;
    }
    case "canceled":
      return <p class="end">Stopped{turn.cancelRequestedAt === null && " by the agent"}</p>;
    case "interrupted":
      return <p class="end">{turn.delivery === "not_dispatched" ? "Interrupted before the agent got the prompt. Send it again." : "Interrupted: Greenroom was stopped in the middle."}</p>;
    default: {
      if (!isLast || turn.startedAt === null || turn.settledAt === null) return null;
      return <p class="end quiet-end">{duration(turn.settledAt - turn.startedAt)}</p>;
    }
  }
}

interface TurnMessages {
  readonly turnId: string | null;
  readonly messages: Message[];
}

function turnsOf(messages: readonly Message[]): readonly TurnMessages[] {
  const turns: TurnMessages[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last && last.turnId === message.turnId) last.messages.push(message);
    else turns.push({ turnId: message.turnId, messages: [message] });
  }
  return turns;
}

function interactionsByCall(open: OpenSession): ReadonlyMap<string, Interaction> {
  const found = new Map<string, Interaction>();
  for (const { row } of open.interactions.values()) {
    if (row.agentSessionId === open.agentSessionId && "callId" in row.input) found.set(row.input.callId, row);
  }
  return found;
}
