// What the agent asks: an approval, questions or a plan, with the answers it offers.

import type { JSX } from "preact";
import type { ApprovalInput, Interaction, InteractionOption, Question as Asked, QuestionInput } from "../../../contract/greenroom";
import { clipped, visible } from "../format";
import { Icon } from "../icons";
import { Markdown } from "../markdown";
import type { State } from "../store/state";
import { canControl } from "./app";
import { addressOf, type Dispatch } from "./context";
import { Change, Plan } from "./rows";

interface QuestionProps {
  readonly interaction: Interaction;
  readonly state: State;
  readonly dispatch: Dispatch;
}

export function Question({ interaction, state, dispatch }: QuestionProps): JSX.Element {
  const isSent = state.commands.some(
    (one) => one.method === "interaction/respond" && one.params.requestId === interaction.requestId && one.params.agentSessionId === interaction.agentSessionId,
  );
  const isFixed = isSent || !canControl(state);
  const isOfChild = interaction.agentSessionId !== state.open?.agentSessionId;
  const { input } = interaction;
  return (
    <section class="question" aria-label={WORDS[interaction.kind] ?? "The agent asks"} aria-busy={isSent}>
      <p class="kicker">
        <Icon name={interaction.kind === "approval" ? "shield" : "question"} />
        {WORDS[interaction.kind] ?? "The agent asks"}
        {isOfChild && <a href={addressOf(interaction.workspaceId, interaction.agentSessionId)}>in a sub-agent</a>}
      </p>
      {"questions" in input ? (
        <Questions input={input} interaction={interaction} isFixed={isFixed} dispatch={dispatch} />
      ) : (
        <>
          <div class="asked">{"callId" in input ? <Approval input={input} /> : input.markdown !== undefined ? <Markdown text={input.markdown} /> : <Plan entries={input.entries ?? []} />}</div>
          <Options interaction={interaction} isFixed={isFixed} dispatch={dispatch} />
        </>
      )}
    </section>
  );
}

const WORDS: Readonly<Record<Interaction["kind"], string>> = {
  approval: "The agent asks for permission",
  question: "The agent has a question",
  plan: "The agent proposes a plan",
};

function Approval({ input }: { input: ApprovalInput }): JSX.Element {
  return (
    <>
      <h2 dir="auto">{visible(input.title)}</h2>
      {input.reason && <p dir="auto">{visible(input.reason)}</p>}
      {input.prompt && <p dir="auto">{visible(input.prompt)}</p>}
      {input.command && <pre class="input" tabIndex={0}>{clipped(visible(input.command)).text}</pre>}
      {input.url && <p class="path">{visible(input.url)}</p>}
      {input.cwd && <p class="faint">in <span class="path">{visible(input.cwd)}</span></p>}
      {input.changes?.map((change) => <Change key={change.path} change={change} />)}
    </>
  );
}

function Options({ interaction, isFixed, dispatch }: { interaction: Interaction; isFixed: boolean; dispatch: Dispatch }): JSX.Element {
  const answer = (optionId: string, feedback?: string): void =>
    dispatch({ type: "answer_given", interaction, answer: feedback ? { optionId, feedback } : { optionId } });
  const withFeedback = interaction.kind === "plan" ? interaction.options.find((option) => option.kind === "reject_once") : undefined;
  const first = interaction.options.find((option) => option.kind.startsWith("allow"));
  return (
    <div class="options" role="group" aria-label="Answers">
      {interaction.options.map((option) => (
        <button key={option.optionId} type="button" disabled={isFixed} class={option === first ? "primary" : isRefusal(option) ? "danger" : ""} onClick={() => answer(option.optionId)}>
          {visible(option.label)}
        </button>
      ))}
      {withFeedback && (
        <form class="feedback" onSubmit={(event) => { event.preventDefault(); answer(withFeedback.optionId, fieldOf(event, "feedback")); }}>
          <label class="unseen" for={`feedback-${interaction.requestId}`}>What should be different</label>
          <input id={`feedback-${interaction.requestId}`} name="feedback" placeholder="What should be different?" required disabled={isFixed} />
          <button type="submit" disabled={isFixed}>Ask for changes</button>
        </form>
      )}
    </div>
  );
}

function isRefusal(option: InteractionOption): boolean {
  return option.kind === "reject_once" || option.kind === "reject_always" || option.kind === "stop";
}

function Questions({ input, interaction, isFixed, dispatch }: { input: QuestionInput; interaction: Interaction; isFixed: boolean; dispatch: Dispatch }): JSX.Element {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const element = event.currentTarget as HTMLFormElement;
    const form = new FormData(element);
    const missing = input.questions.find((one) => answerOf(form, one) === "");
    const field = missing && element.elements.namedItem(`${missing.id}.text`);
    if (field instanceof HTMLInputElement) {
      // "One of these, or words of your own" is no rule a form knows by itself.
      field.setCustomValidity("Choose an answer, or write one.");
      field.reportValidity();
      field.setCustomValidity("");
      return;
    }
    const answers = input.questions.map((one): [string, string | string[]] => [one.id, answerOf(form, one)]);
    dispatch({ type: "answer_given", interaction, answer: { answersByQuestionId: Object.fromEntries(answers) } });
  };
  return (
    <form class="asked" onSubmit={submit}>
      {input.questions.map((one) => <Field key={one.id} asked={one} isFixed={isFixed} name={one.id} />)}
      <div class="options">
        <button type="submit" class="primary" disabled={isFixed}>Answer</button>
        {interaction.options.map((option) => (
          <button key={option.optionId} type="button" disabled={isFixed} class={isRefusal(option) ? "danger" : ""} onClick={() => dispatch({ type: "answer_given", interaction, answer: { optionId: option.optionId } })}>{visible(option.label)}</button>
        ))}
      </div>
    </form>
  );
}

function Field({ asked, isFixed, name }: { asked: Asked; isFixed: boolean; name: string }): JSX.Element {
  const type = asked.multiSelect ? "checkbox" : "radio";
  const hasOptions = asked.options !== undefined && asked.options.length > 0;
  const text = {
    name: `${name}.text`,
    autocomplete: "off",
    "aria-label": hasOptions ? "Another answer" : asked.question,
    placeholder: hasOptions ? "Another answer" : "",
    required: !hasOptions,
  };
  return (
    <fieldset disabled={isFixed}>
      <legend>{asked.header && <span class="faint">{asked.header}: </span>}{asked.question}</legend>
      {asked.options?.map((option) => (
        <label key={option.label} class="choice">
          <input type={type} name={name} value={option.label} required={type === "radio" && !asked.freeText} />
          <span>{option.label}{option.description && <span class="faint"> {option.description}</span>}</span>
        </label>
      ))}
      {(asked.freeText || !hasOptions) && (
        <input {...(asked.secret && { type: "password" })} {...text} />
      )}
    </fieldset>
  );
}

function answerOf(form: FormData, asked: Asked): string | string[] {
  const chosen = form.getAll(asked.id).map(String);
  const text = String(form.get(`${asked.id}.text`) ?? "").trim();
  if (asked.multiSelect) return text ? [...chosen, text] : chosen;
  return text || (chosen[0] ?? "");
}

function fieldOf(event: SubmitEvent, name: string): string {
  return String(new FormData(event.currentTarget as HTMLFormElement).get(name) ?? "").trim();
}
