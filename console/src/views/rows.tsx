// One message of the transcript: prompts, answers, reasoning, plans, tool calls, notices.

import { Component, type ComponentChildren, type JSX } from "preact";
import type { FileChange, Interaction, Message, PlanEntry, ToolCall } from "../../../contract/greenroom";
import { bytes, clipped, moment, visible } from "../format";
import { Icon, type IconName } from "../icons";
import { Markdown } from "../markdown";
import { ANSWER_WORDS, answerKind } from "./answers";

interface RowProps {
  readonly message: Message;
  /** The question asked about this tool call, if there was one. */
  readonly interaction: Interaction | null;
}

/** Drawn again only when its row changes: a long transcript costs nothing while its last message streams. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return next.message !== this.props.message || next.interaction !== this.props.interaction;
  }

  override render({ message, interaction }: RowProps): JSX.Element | null {
    switch (message.kind) {
      case "reasoning":
        return <Reasoning message={message} />;
      case "tool_call":
        return message.toolCall && <Tool message={message} call={message.toolCall} interaction={interaction} />;
      case "plan":
      case "notice":
      case "goal_control":
        return <div class="row aside">{contents(message)}</div>;
      default:
        return message.role === "user" ? <Prompt message={message} /> : <Answer message={message} />;
    }
  }
}

function Prompt({ message }: { message: Message }): JSX.Element {
  const shown = message.displayPrompt === null ? contents(message) : message.displayPrompt;
  return (
    <article class="row prompt" aria-label="You" title={moment(message.createdAt)}>
      <div class="bubble plain" dir="auto">{shown}</div>
    </article>
  );
}

function Answer({ message }: { message: Message }): JSX.Element {
  return (
    <article class={`row answer ${message.status}`} aria-label="Agent" aria-busy={message.status === "streaming"}>
      {contents(message)}
      <Cut message={message} />
    </article>
  );
}

function Reasoning({ message }: { message: Message }): JSX.Element {
  const streams = message.status === "streaming";
  return (
    <details class="row reasoning" open={streams}>
      <summary>
        <Icon name="thought" />
        <span>{streams ? "Thinking" : "Thoughts"}</span>
        {streams && <Dots />}
      </summary>
      <div class="body">{contents(message)}</div>
    </details>
  );
}

const TOOL_ICONS: Readonly<Record<ToolCall["kind"], IconName>> = {
  read: "file",
  edit: "pencil",
  delete: "cross",
  move: "file",
  search: "search",
  execute: "terminal",
  fetch: "globe",
  think: "thought",
  delegate: "people",
  other: "tool",
};

const TOOL_STATUS: Readonly<Record<ToolCall["status"], string>> = {
  pending: "waiting to run",
  running: "running",
  waiting: "asks for permission",
  completed: "done",
  failed: "failed",
  declined: "declined",
  interrupted: "interrupted",
};

function Tool({ message, call, interaction }: { message: Message; call: ToolCall; interaction: Interaction | null }): JSX.Element {
  // Whatever its agent calls it: what a person has to answer waits for them.
  const status = interaction?.status === "pending" ? "waiting" : call.status;
  const runs = status === "running" || status === "pending";
  const exit = call.output.exitCode !== undefined && call.output.exitCode !== 0 ? ` · exit ${call.output.exitCode}` : "";
  const answer = interaction && answerKind(interaction);
  return (
    <details class={`row tool ${status}`} open={status === "running" || status === "failed"}>
      <summary>
        <Icon name={TOOL_ICONS[call.kind] ?? "tool"} />
        <span class="name" dir="auto">{call.title || call.name}</span>
        {answer && <span class="answered">{ANSWER_WORDS[answer] ?? "answered"}</span>}
        <span class="status">{runs ? <Dots /> : null}<span class={runs ? "unseen" : ""}>{TOOL_STATUS[status] ?? status}{exit}</span></span>
      </summary>
      <div class="body">
        <ToolInput input={call.input} />
        {call.output.changes?.map((change) => <Change key={change.path} change={change} />)}
        {call.output.text && <Output text={call.output.text} />}
        {!call.output.text && !call.output.changes?.length && !runs && <p class="faint">No output.</p>}
        {call.childAgentSessionId && (
          <p><a href={`#/${encodeURIComponent(message.workspaceId)}/${encodeURIComponent(call.childAgentSessionId)}`}>Open the sub-agent's session</a></p>
        )}
        <Cut message={message} />
      </div>
    </details>
  );
}

function ToolInput({ input }: { input: unknown }): JSX.Element | null {
  if (input === null || input === undefined || input === "") return null;
  const command = typeof input === "object" && "command" in input ? input.command : null;
  const words = Array.isArray(command) ? command.join(" ") : command;
  const text = typeof input === "string" ? input : typeof words === "string" ? words : JSON.stringify(input, null, 2);
  return text === "{}" ? null : <pre class="input" tabIndex={0}>{clipped(text).text}</pre>;
}

function Output({ text }: { text: string }): JSX.Element {
  return <pre class="output" tabIndex={0} dir="auto">{clipped(text).text}</pre>;
}

export function Change({ change }: { change: FileChange }): JSX.Element {
  const verb = { add: "new", update: "changed", delete: "deleted", move: "moved" }[change.kind] ?? change.kind;
  return (
    <figure class="change">
      <figcaption><span class="path">{visible(change.path)}</span> <span class="faint">{verb}</span></figcaption>
      {change.diff && (
        <pre tabIndex={0}>
          {clipped(change.diff.trimEnd()).text.split("\n").map((line, index) => (
            <span key={index} class={lineKind(line)}>{`${visible(line.replace(/\r$/, ""))}\n`}</span>
          ))}
        </pre>
      )}
    </figure>
  );
}

function lineKind(line: string): string {
  if (/^(@@|\+\+\+ |--- )/.test(line)) return "place";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
}

export function Plan({ entries }: { entries: readonly PlanEntry[] }): JSX.Element {
  const words = { pending: "to do", in_progress: "in progress", completed: "done" };
  return (
    <ul class="plan" aria-label="Plan">
      {entries.map((entry, index) => (
        <li key={index} class={entry.status}>
          <span class="mark" aria-hidden="true">{entry.status === "completed" && <Icon name="check" />}</span>
          <span dir="auto">{entry.text}</span>
          <span class="unseen">{words[entry.status] ?? ""}</span>
        </li>
      ))}
    </ul>
  );
}

function contents(message: Message): ComponentChildren {
  return message.content.map((block, index) => {
    switch (block.type) {
      case "text":
        return message.role === "user" ? block.text : <Markdown key={index} text={block.text} />;
      case "image":
        return <span key={index} class="attachment"><Icon name="file" /> {block.mediaType}, {bytes(block.bytes)}</span>;
      case "resource_link":
        return <span key={index} class="attachment"><Icon name="file" /> {block.name || block.uri}</span>;
      case "plan":
        return <Plan key={index} entries={block.entries} />;
      case "notice":
        return <p key={index} class={`notice ${block.severity}`}>{block.severity !== "info" && <Icon name="warning" />}<span>{block.text}</span></p>;
      default:
        return null;
    }
  });
}

function Cut({ message }: { message: Message }): JSX.Element | null {
  return message.truncated ? <p class="faint">Cut here: it was longer than Greenroom keeps.</p> : null;
}

export function Dots(): JSX.Element {
  return <span class="dots" aria-hidden="true"><i /><i /><i /></span>;
}
