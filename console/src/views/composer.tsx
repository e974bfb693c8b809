// The field for the next prompt; while the agent works, what it does and the way to stop it.

import { Component, createRef, type JSX } from "preact";
import { Icon } from "../icons";
import type { OpenSession } from "../store/state";
import { unsettledTurn } from "../store/transcript";
import { canControl } from "./app";
import { submitId, type ViewProps } from "./context";

const HEIGHT_MOST_PIXELS = 260;

type ComposerProps = ViewProps & { readonly open: OpenSession };

export class Composer extends Component<ComposerProps> {
  private readonly field = createRef<HTMLTextAreaElement>();

  override componentDidMount(): void {
    this.fit();
    // With a mouse and a keyboard the next thing is to write; a touch screen would raise its keyboard unasked.
    if (matchMedia("(pointer: fine)").matches) this.field.current?.focus();
  }

  override componentDidUpdate(): void {
    this.fit();
  }

  private fit(): void {
    const field = this.field.current;
    if (!field) return;
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, HEIGHT_MOST_PIXELS)}px`;
  }

  private readonly send = (): void => {
    const text = this.field.current?.value ?? "";
    this.props.dispatch({ type: "prompt_given", text, clientSubmitId: submitId() });
  };

  private readonly keyed = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send();
  };

  override render({ state, dispatch, open }: ComposerProps): JSX.Element {
    const draft = state.drafts.get(open.agentSessionId) ?? "";
    const turn = unsettledTurn(open);
    const isSending = open.outgoing.length > 0;
    const isBusy = turn !== null || isSending;
    const meanwhile = turn?.phase === "waiting" ? "The agent waits for your answer." : "The agent is working. Write the next prompt meanwhile …";
    const isStopping = turn?.phase === "settling";
    if (!canControl(state)) return <p class="faint read-only">Your token may read only.</p>;
    return (
      <form class={`composer ${isBusy ? "busy" : ""}`} onSubmit={(event) => { event.preventDefault(); this.send(); }}>
        <label class="unseen" for="prompt">Prompt</label>
        <textarea
          id="prompt"
          ref={this.field}
          rows={1}
          value={draft}
          dir="auto"
          placeholder={isBusy ? meanwhile : "What should the agent do?"}
          aria-describedby="prompt-help"
          onInput={(event) => dispatch({ type: "draft_changed", text: (event.currentTarget as HTMLTextAreaElement).value })}
          onKeyDown={this.keyed}
        />
        {turn ? (
          <button type="button" class="round stop" disabled={isStopping} onClick={() => dispatch({ type: "stop_wanted" })} aria-label={isStopping ? "Stopping" : "Stop the agent"} title={isStopping ? "Stopping …" : "Stop the agent"}>
            <Icon name="stop" />
          </button>
        ) : (
          <button type="submit" class="round primary" disabled={!draft.trim() || isSending} aria-label="Send" title="Send (Enter)"><Icon name="send" /></button>
        )}
        <p id="prompt-help" class="unseen">Enter sends, Shift and Enter begins a new line.</p>
      </form>
    );
  }
}
