// The few pictures of the page, drawn in the colour of the text around them.

import type { JSX } from "preact";

const PATHS = {
  plus: "M12 5v14M5 12h14",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3-1-6zM12 15v5",
  bin: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  back: "M15 5l-7 7 7 7",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  terminal: "M4 6l6 6-6 6M12 18h8",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  pencil: "M4 20l1-5L16 4l4 4L9 19l-5 1z",
  search: "M10.5 4a6.5 6.5 0 100 13 6.5 6.5 0 000-13zM20 20l-5-5",
  globe: "M12 3a9 9 0 100 18 9 9 0 000-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  thought: "M12 4a7 7 0 00-4 12.7V20h8v-3.3A7 7 0 0012 4zM9 22h6",
  people: "M9 5a3 3 0 100 6 3 3 0 000-6zM3 20c0-4 2.5-6 6-6s6 2 6 6M16 6a3 3 0 010 5M17 14c2.5.5 4 2.5 4 6",
  tool: "M14 6a4 4 0 015-3l-3 3 2 2 3-3a4 4 0 01-5 5L8 18a2 2 0 01-3-3l9-9z",
  question: "M9 9a3 3 0 115 2c-1 1-2 1.500-2 3M12 18v.01",
  shield: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6l7-3z",
  warning: "M12 4l9 16H3l9-16zM12 10v4M12 17v.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
