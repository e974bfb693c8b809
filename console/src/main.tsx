// Starts the page: one driver, one tree of elements, a new picture after each change and twice a minute for the times.

import { render } from "preact";
import { Driver } from "./driver";
import { pendingCounts } from "./store/session_list";
import type { State } from "./store/state";
import { App } from "./views/app";
import { titleOf } from "./views/sidebar";

const CLOCK_MS = 30_000;

const root = document.getElementById("console");
if (root === null) throw new Error("the page has no place for the console");

const driver: Driver = new Driver((state) => {
  render(<App state={state} dispatch={driver.dispatch} giveToken={driver.giveToken} />, root);
  document.title = pageTitle(state);
});
setInterval(() => driver.drawSoon(), CLOCK_MS);

/** What waits for an answer shows in the tab as well. */
function pageTitle(state: State): string {
  let waiting = 0;
  for (const count of pendingCounts(state.list).values()) waiting += count;
  const open = state.open && state.list.items.find((item) => item.session.agentSessionId === state.open?.agentSessionId);
  const name = open ? `${titleOf(open.session.title, open.excerpt)} · Greenroom` : "Greenroom";
  return waiting > 0 ? `(${waiting}) ${name}` : name;
}
