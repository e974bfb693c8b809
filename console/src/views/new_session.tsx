// The dialog that starts a session on a chosen agent.

import { Component, createRef, type JSX } from "preact";
import type { Target, TargetSetting, TargetSettingValue } from "../../../contract/greenroom";
import { Icon } from "../icons";
import { submitId, type ViewProps } from "./context";

const DEFAULT = "";

export class NewSession extends Component<ViewProps, { readonly targetId: string | null }> {
  override state: { readonly targetId: string | null } = { targetId: null };
  private readonly dialog = createRef<HTMLDialogElement>();

  override componentDidMount(): void {
    this.dialog.current?.showModal();
  }

  private readonly close = (): void => this.props.dispatch({ type: "creating_toggled", shown: false });

  private readonly submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const target = this.target();
    if (!target) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => String(form.get(name) ?? "");
    this.props.dispatch({
      type: "session_wanted",
      session: {
        agentTargetId: target.agentTargetId,
        clientSubmitId: submitId(),
        cwd: text("cwd"),
        title: text("title"),
        prompt: text("prompt"),
        settings: chosenSettings(target, form),
      },
    });
  };

  private target(): Target | undefined {
    const { targets } = this.props.state;
    return targets.find((one) => one.agentTargetId === this.state.targetId) ?? targets.find(isUsable) ?? targets[0];
  }

  override render({ state }: ViewProps): JSX.Element {
    const target = this.target();
    const isSent = state.commands.some((one) => one.method === "session/create");
    return (
      <dialog class="dialog" ref={this.dialog} onClose={this.close} aria-labelledby="new-session-title">
        <form onSubmit={this.submit}>
          <header>
            <h1 id="new-session-title">New session</h1>
            <button type="button" class="quiet round" aria-label="Close" onClick={() => this.dialog.current?.close()}><Icon name="cross" /></button>
          </header>
          <label for="new-prompt">Prompt</label>
          <textarea id="new-prompt" name="prompt" rows={4} dir="auto" autofocus placeholder="What should the agent do? May be left empty." />
          <label for="new-target">Agent</label>
          <select id="new-target" value={target?.agentTargetId} onChange={(event) => this.setState({ targetId: (event.currentTarget as HTMLSelectElement).value })}>
            {state.targets.map((one) => <option key={one.agentTargetId} value={one.agentTargetId} disabled={!isUsable(one)}>{one.name}{whyNot(one)}</option>)}
          </select>
          <details>
            <summary>More</summary>
            <label for="new-cwd">Working directory</label>
            <input id="new-cwd" name="cwd" spellcheck={false} autocomplete="off" placeholder="A new directory of its own" />
            <label for="new-title">Title</label>
            <input id="new-title" name="title" dir="auto" maxLength={500} autocomplete="off" />
            {target?.settings.map((setting) => <Setting key={`${target.agentTargetId} ${setting.key}`} setting={setting} />)}
          </details>
          {!target && <p class="notice warning"><Icon name="warning" /><span>No agent is configured. Add one to the configuration, or install one and restart Greenroom.</span></p>}
          <div class="options">
            <button type="submit" class="primary" disabled={isSent || !target || !isUsable(target)}>{isSent ? "Starting …" : "Start"}</button>
          </div>
        </form>
      </dialog>
    );
  }
}

function Setting({ setting }: { setting: TargetSetting }): JSX.Element {
  const id = `setting-${setting.key}`;
  const values = valuesOf(setting);
  const chosen = setting.default === null ? "the agent's choice" : labelOf(setting);
  return (
    <>
      <label for={id}>{wordsOf(setting.key)}</label>
      {values === null ? (
        <input id={id} name={id} spellcheck={false} placeholder={chosen} />
      ) : (
        <select id={id} name={id}>
          <option value={DEFAULT}>Default: {chosen}</option>
          {values.map((value, index) => (
            <option key={index} value={String(index)}>{value.label}{value.effect === "unrestricted" && " (acts without asking)"}</option>
          ))}
        </select>
      )}
    </>
  );
}

function chosenSettings(target: Target, form: FormData): Record<string, string | boolean> {
  const chosen: Record<string, string | boolean> = {};
  for (const setting of target.settings) {
    const { key } = setting;
    const values = valuesOf(setting);
    const given = String(form.get(`setting-${key}`) ?? DEFAULT);
    if (given === DEFAULT) continue;
    const value = values === null ? given : values[Number(given)]?.value;
    if (value !== undefined) chosen[key] = value;
  }
  return chosen;
}

function isUsable(target: Target): boolean {
  return target.enabled && target.program.found;
}

function whyNot(target: Target): string {
  if (!target.enabled) return " (switched off)";
  return target.program.found ? "" : " (not installed)";
}

function labelOf(setting: TargetSetting): string {
  return valuesOf(setting)?.find((value) => value.value === setting.default)?.label ?? String(setting.default);
}

/** The values to choose from; null where any text may be given. */
function valuesOf(setting: TargetSetting): readonly TargetSettingValue[] | null {
  if (setting.values !== null || typeof setting.default !== "boolean") return setting.values;
  return [
    { value: true, label: "yes", effect: null },
    { value: false, label: "no", effect: null },
  ];
}

function wordsOf(key: string): string {
  const words = key.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
