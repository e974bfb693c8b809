"""`greenroom top`: a daemon at a glance, looked at again and again. Reads only.

Owns what is read for one look and how it is drawn. The figures are the daemon's own (docs/metrics.md); rates are
differences of its counters between two looks.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import attrs
import trio

from greenroom_client import Client, GreenroomError, Reconnect
from greenroom_client.contract.models import HealthReadReply, SessionListItem
from runtime.cli.commands import all_items, load, perform_async
from runtime.cli.daemon_access import Access, open_daemon
from runtime.cli.output import Output
from runtime.cli.session_commands import first_words
from runtime.cli.transcript import session_state
from runtime.config import Flags

WORKSPACES_MAX: Final = 50
SESSIONS_MAX: Final = 40
"""What fits on a screen: of more, only the number is shown."""
RECONNECT: Final = Reconnect(attempts_max=20)
RATES: Final = {
    "turns": "greenroom_turns_submitted_total",
    "pieces of text": "greenroom_deltas_total",
    "commits": "greenroom_commit_groups_total",
    "bytes to clients": "greenroom_client_bytes_total",
}
COLUMNS: Final = ("WORKSPACE", "SESSION", "TARGET", "STATE", "QUIET", "TITLE")
_NO_METRICS: Final = frozenset({"auth.forbidden"})


@attrs.frozen
class Look:
    """What one look found."""

    at_seconds: float
    health: HealthReadReply
    figures: dict[str, float]
    """By family, labels added up; empty where the token may not read them."""
    processes: dict[str, int]
    """Agent processes by state."""
    active: list[SessionListItem]
    titles: dict[str, str]

    def rate(self, family: str, before: "Look | None") -> float | None:
        """So many a second since the look before; None at the first, or after a restart of the daemon."""
        if before is None or family not in self.figures or family not in before.figures:
            return None
        change = self.figures[family] - before.figures[family]
        seconds = self.at_seconds - before.at_seconds
        return change / seconds if change >= 0 and seconds > 0 else None


def top_command(flags: Flags, *, interval_seconds: float, once: bool, as_json: bool) -> int:
    """Looks once, or until Ctrl-C (130)."""
    output = Output(as_json)
    return perform_async(partial(top, flags, output, interval_seconds, once=once), output)


async def top(flags: Flags, output: Output, interval_seconds: float, *, once: bool) -> int:
    """The same within a loop. Where nobody watches, each look follows the other like lines of a log."""
    async with open_daemon(load(flags), Access(may_embed=False, reconnect=RECONNECT)) as daemon:
        if once:
            _tell(await look(daemon.client), None, output)
        elif output.as_json or not output.stdout.isatty():
            before = None
            while True:
                now = await look(daemon.client)
                _tell(now, before, output)
                before = now
                await trio.sleep(interval_seconds)
        else:
            await _watch(daemon.client, output, interval_seconds)
    return 0


async def _watch(client: Client, output: Output, interval_seconds: float) -> None:
    """On a screen of its own, which is left as it was."""
    from rich.live import Live

    with Live(console=output.console(output.stdout), screen=True, auto_refresh=False) as live:
        before = None
        while True:
            now = await look(client)
            live.update(_drawn(now, before, output), refresh=True)
            before = now
            await trio.sleep(interval_seconds)


async def look(client: Client) -> Look:
    """One look. What a token may not read is left out."""
    health = await client.health_read()
    figures, processes = await _figures(client)
    active: list[SessionListItem] = []
    workspaces = await all_items(client, "workspace/list", {})
    for workspace in sorted(workspaces, key=lambda one: -one["activeTurns"])[:WORKSPACES_MAX]:
        if workspace["activeTurns"] or workspace["pendingInteractions"]:
            params = {"workspaceId": workspace["workspaceId"], "active": True}
            active += await all_items(client, "session/list", params)
    titles = await first_words(client, active[:SESSIONS_MAX])
    return Look(time.time(), health, figures, processes, active, titles)


async def _figures(client: Client) -> tuple[dict[str, float], dict[str, int]]:
    try:
        reply = await client.metrics_read()
    except GreenroomError as refused:
        if refused.code not in _NO_METRICS:
            raise
        return {}, {}
    figures: dict[str, float] = {}
    processes: dict[str, int] = {}
    for family in reply["families"]:
        for sample in family["samples"]:
            figures[sample["name"]] = figures.get(sample["name"], 0.0) + sample["value"]
            if family["name"] == "greenroom_provider_processes" and sample["value"]:
                processes[sample["labels"].get("state", "")] = int(sample["value"])
    return figures, processes


def _tell(now: Look, before: Look | None, output: Output) -> None:
    if output.as_json:
        output.document(as_document(now, before))
        return
    for line in summary_lines(now, before):
        output.text(line)
    if now.active:
        output.table(COLUMNS, session_rows(now))


def as_document(now: Look, before: Look | None) -> dict[str, Any]:
    """A look as one JSON value; rates are null at the first."""
    return {
        "at": int(now.at_seconds * 1000),
        "health": now.health,
        "figures": now.figures,
        "providerProcesses": now.processes,
        "ratesPerSecond": {name: now.rate(family, before) for name, family in RATES.items()},
        "sessions": now.active,
    }


def summary_lines(now: Look, before: Look | None) -> Iterator[str]:
    """All but the sessions."""
    health = now.health
    live, store = health["live"], health["store"]
    codes = ", ".join(dict.fromkeys(problem["code"] for problem in health["problems"]))
    yield f"health    {health['status']}" + (f": {codes}" if codes else "")
    turns = int(now.figures.get("greenroom_turns_unsettled", live["turns"]))
    awake = f"{live['sessions']} sessions awake, {turns} turns"
    yield f"running   {awake}, {sum(now.processes.values())} agent processes{_states(now.processes)}"
    if now.figures:
        memory = _size(now.figures.get("greenroom_resident_memory_bytes", 0))
        files = int(now.figures.get("greenroom_open_files", 0))
        clients = int(now.figures.get("greenroom_clients", 0))
        yield f"daemon    {memory} of memory, {files} open files, {clients} clients"
    yield f"store     {_size(store['bytes'])}, log {_size(store['walBytes'])}, commit {store['headCommitSeq']}"
    waiting = ", ".join(f"{name} {count}" for name, count in sorted(health["queues"].items()) if count)
    yield f"queues    {waiting or 'empty'}"
    rates = [(name, now.rate(family, before)) for name, family in RATES.items()]
    known = [f"{rate:,.1f} {name}" for name, rate in rates if rate is not None]
    if known:
        yield f"a second  {', '.join(known)}"
    hidden = len(now.active) - SESSIONS_MAX
    more = f", {hidden} more than shown" if hidden > 0 else ""
    yield f"at work   {len(now.active)} sessions{more}"


def session_rows(now: Look) -> list[tuple[str, ...]]:
    """The sessions in which a turn runs, as rows of `COLUMNS`."""
    rows: list[tuple[str, ...]] = []
    for session in now.active[:SESSIONS_MAX]:
        since = session["runtime"]["lastActivityAt"]
        quiet = "" if since is None else f"{max(0, int(now.at_seconds - since / 1000))} s"
        title = session["title"] or now.titles.get(session["agentSessionId"], "")
        rows.append(
            (
                session["workspaceId"],
                session["agentSessionId"],
                session["agentTargetId"],
                session_state(session),
                quiet,
                title,
            )
        )
    return rows


def _drawn(now: Look, before: Look | None, output: Output) -> Any:
    from rich.console import Group
    from rich.text import Text

    lines = [Text(line) for line in summary_lines(now, before)]
    return Group(*lines, Text(""), output.drawn_table(COLUMNS, session_rows(now)))


def _states(processes: dict[str, int]) -> str:
    return f" ({', '.join(f'{count} {state}' for state, count in processes.items())})" if processes else ""


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} GiB"
