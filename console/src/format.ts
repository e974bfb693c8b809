// Numbers, times and names as people read them, and texts that cannot pretend to be something else.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const COUNT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

export function ago(time: number, now: number): string {
  const passed = now - time;
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  if (passed < 7 * DAY) return `${Math.floor(passed / DAY)} d`;
  return DATE.format(time);
}

export function moment(time: number): string {
  return MOMENT.format(time);
}

export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(count: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function count(value: number): string {
  return COUNT.format(value);
}

export function plural(value: number, one: string): string {
  return `${value} ${one}${value === 1 ? "" : "s"}`;
}

/** The last part of a path, which is what people call a folder. */
export function folder(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? path;
}

/** Control and direction characters made visible: what a person allows is what they read. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

const MOST_SHOWN = 20_000;

/** The beginning and the end of a long text, and how much is left out between. */
export function clipped(text: string): { readonly text: string; readonly hidden: number } {
  if (text.length <= MOST_SHOWN) return { text, hidden: 0 };
  const half = MOST_SHOWN / 2;
  const hidden = text.length - MOST_SHOWN;
  return { text: `${text.slice(0, half)}\n\n… ${count(hidden)} characters left out …\n\n${text.slice(-half)}`, hidden };
}
