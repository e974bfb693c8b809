// How the answers to questions are called.

import type { Interaction, InteractionOption } from "../../../contract/greenroom";

export const ANSWER_WORDS: Readonly<Record<string, string>> = {
  allow_once: "allowed",
  allow_session: "allowed for this session",
  allow_always: "always allowed",
  reject_once: "rejected",
  reject_always: "always rejected",
  stop: "stopped",
  superseded: "no longer asked",
};

/** The kind of the chosen option, `superseded`, or null while nobody has answered. */
export function answerKind(interaction: Interaction): InteractionOption["kind"] | "superseded" | null {
  if (interaction.status === "superseded") return "superseded";
  const { answer } = interaction;
  if (!answer || !("optionId" in answer)) return null;
  return interaction.options.find((option) => option.optionId === answer.optionId)?.kind ?? "other";
}
