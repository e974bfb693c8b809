"""`make bench-scale`: many sessions on one machine: a burst, memory and idling, a start with very many, a long history.

Each part has a daemon of its own. Memory is proportional (PSS) of the daemon, its spawner and its reapers, without the
agents; figures depend on the machine, so the load stands beside them.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import trio

from bench.hosted import RawClient, connect, cpu_seconds, daemon
from bench.memory import proportional_mb

LIMITS = "[limits]\nmaxLiveConnections = {live}\nmaxClientConnections = 64\nidleReleaseSeconds = {idle}\npingSeconds = 600\n"
SETTLED = b'"phase":"settled"'
FIRST_TEXT = b'"type":"message_delta"'
GUARD = b"process_guard"
LEFT_LIVE = 50
"""Of very many sessions: how many have had a turn and keep their agent."""


class Scale:
    """One client of one daemon, with the few calls these measures take."""

    def __init__(self, client: RawClient, pid: int) -> None:
        self.client = client
        self.pid = pid
        self._unread = b""

    async def create(self, name: str, text: str | None = None) -> int:
        """Send a create; its reply is waited for by `count`."""
        params: dict[str, object] = {
            "workspaceId": "bench",
            "agentTargetId": "demo",
            "agentSessionId": name,
            "clientSubmitId": name,
        }
        if text is not None:
            params["initialContent"] = [{"type": "text", "text": text}]
        return await self.client.call("session/create", params)

    async def send(self, name: str, submit_id: str) -> int:
        """Send a tiny prompt."""
        return await self.client.call(
            "session/send",
            {
                "workspaceId": "bench",
                "agentSessionId": name,
                "clientSubmitId": submit_id,
                "content": [{"type": "text", "text": "[[say hi]]"}],
            },
        )

    async def call(self, method: str, params: dict[str, object]) -> float:
        """Milliseconds from a request to its reply."""
        began = trio.current_time()
        number = await self.client.call(method, params)
        await self.until(b'"id":%d,' % number)
        return (trio.current_time() - began) * 1000

    async def until(self, mark: bytes, times: int = 1, limit_seconds: float = 300) -> None:
        """Read until `mark` came so often; what came after it is looked at by the next call."""
        with trio.fail_after(limit_seconds):
            for _ in range(times):
                while (place := self._unread.find(mark)) < 0:
                    self._unread = self._unread[max(0, len(self._unread) - len(mark)) :]
                    self._unread += await self.client.receive()
                self._unread = self._unread[place + len(mark) :]


def main() -> None:
    """Print a line a part, or all of them as one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="make bench-scale", description=__doc__)
    parser.add_argument("--parts", default="burst,idle,hosted,history")
    parser.add_argument("--burst", type=int, default=200, help="sessions created at once, each with a prompt")
    parser.add_argument("--idle", type=int, default=300, help="idle sessions with an agent each")
    parser.add_argument(
        "--hosted", type=int, default=10_000, help="sessions in all, nearly all without an agent"
    )
    parser.add_argument("--turns", type=int, default=5_000, help="turns of one session, two messages each")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, object] = {}
    for part in options.parts.split(","):
        measure = {"burst": burst, "idle": idle, "hosted": hosted_many, "history": history}[part]
        size = {
            "burst": options.burst,
            "idle": options.idle,
            "hosted": options.hosted,
            "history": options.turns,
        }
        found[part] = measure(size[part])
        if not options.json:
            print(f"{part}: {json.dumps(found[part])}, load {os.getloadavg()[0]:.1f}", flush=True)
    if options.json:
        print(json.dumps({**found, "load": os.getloadavg()[0]}))


def burst(sessions: int) -> dict[str, float]:
    """Creates at once: milliseconds until each was acknowledged, and until each had its first text."""
    with daemon(LIMITS.format(live=sessions + 8, idle=1800)) as (ready, process):
        return trio.run(_burst, ready, process.pid, sessions)


async def _burst(ready: dict[str, object], pid: int, sessions: int) -> dict[str, float]:
    client = await connect(ready)
    scale = Scale(client, pid)
    began = trio.current_time()
    numbers = {await scale.create(f"b{index}", "[[say hi]]"): index for index in range(sessions)}
    acknowledged: list[float] = []
    first: list[float] = []
    kept = b""
    while len(first) < sessions:
        data = kept + await client.receive()
        now_ms = (trio.current_time() - began) * 1000
        cut = data.rfind(b"}}") + 2
        data, kept = data[:cut], data[cut:]
        for frame in data.split(b'{"jsonrpc"'):
            if FIRST_TEXT in frame:
                first.append(now_ms)
            elif frame.startswith(b':"2.0","id":') and int(frame[12:].split(b",")[0]) in numbers:
                acknowledged.append(now_ms)
    return {
        "sessions": sessions,
        **_quantiles("ackMs", acknowledged),
        **_quantiles("firstTextMs", first),
        "cpuSeconds": cpu_seconds(pid),
    }


def idle(sessions: int) -> dict[str, float]:
    """Sessions that have had a turn and keep their agent: memory, descriptors and the processor time of a minute."""
    with daemon(LIMITS.format(live=sessions + 8, idle=3600)) as (ready, process):
        return trio.run(_idle, ready, process.pid, sessions)


async def _idle(ready: dict[str, object], pid: int, sessions: int) -> dict[str, float]:
    scale = Scale(await connect(ready), pid)
    empty = sum(proportional_mb(one) for one in _own_processes(pid))
    for index in range(sessions):
        await scale.create(f"i{index}", "[[say hi]]")
    await scale.until(SETTLED, sessions)
    await trio.sleep(5)
    before = cpu_seconds(pid)
    await trio.sleep(20)
    return {
        "sessions": sessions,
        "emptyMb": round(empty, 1),
        "daemonMb": round(proportional_mb(pid), 1),
        "withGuardMb": round(sum(proportional_mb(one) for one in _own_processes(pid)), 1),
        "openFiles": len(os.listdir(f"/proc/{pid}/fd")),
        "idleCpuPercent": round((cpu_seconds(pid) - before) / 20 * 100, 2),
    }


def hosted_many(sessions: int) -> dict[str, float]:
    """Very many sessions, all but a few without a runtime: memory, a page of the list, and the start after a stop."""
    configuration = LIMITS.format(live=LEFT_LIVE + 8, idle=3600)
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as name:
        folder = Path(name)
        with daemon(configuration, folder) as (ready, process):
            figures = trio.run(_hosted, ready, process.pid, sessions)
        began = time.perf_counter()
        with daemon(configuration, folder) as (ready, process):
            figures["readySeconds"] = round(time.perf_counter() - began, 2)
            figures.update(trio.run(_listed, ready, process.pid))
    return figures


async def _hosted(ready: dict[str, object], pid: int, sessions: int) -> dict[str, float]:
    scale = Scale(await connect(ready), pid)
    numbers = range(0, sessions, 100)
    for first in numbers:
        last = min(sessions, first + 100)
        for index in range(first, last):
            number = await scale.create(f"h{index}", "[[say hi]]" if index < LEFT_LIVE else None)
        await scale.until(b'"id":%d,' % number)
    return {"sessions": sessions, "daemonMb": round(proportional_mb(pid), 1)}


async def _listed(ready: dict[str, object], pid: int) -> dict[str, float]:
    scale = Scale(await connect(ready), pid)
    pages = [await scale.call("session/list", {"workspaceId": "bench", "limit": 50}) for _ in range(20)]
    return {
        "listPageMs": round(statistics.median(pages), 2),
        "daemonMbAgain": round(proportional_mb(pid), 1),
    }


def history(turns: int) -> dict[str, float]:
    """Tiny turns of one session back to back: the milliseconds of a submit after ten, and in the end."""
    with daemon(LIMITS.format(live=8, idle=1800)) as (ready, process):
        return trio.run(_history, ready, process.pid, turns)


async def _history(ready: dict[str, object], pid: int, turns: int) -> dict[str, float]:
    scale = Scale(await connect(ready), pid)
    await scale.create("long", "[[say hi]]")
    await scale.until(SETTLED)
    took: list[float] = []
    for number in range(turns):
        began = trio.current_time()
        request = await scale.send("long", f"t{number}")
        await scale.until(b'"id":%d,' % request)
        took.append((trio.current_time() - began) * 1000)
        await scale.until(SETTLED)
    early, late = statistics.median(took[5:55]), statistics.median(took[-50:])
    return {
        "turns": turns,
        "ackEarlyMs": round(early, 2),
        "ackLateMs": round(late, 2),
        "ratio": round(late / early, 2),
    }


def _quantiles(name: str, values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        f"{name}P50": round(ordered[len(ordered) // 2], 1),
        f"{name}P99": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 1),
    }


def _own_processes(pid: int) -> Iterator[int]:
    """The daemon and the processes of its guard."""
    yield pid
    for folder in Path("/proc").iterdir():
        try:
            if (
                folder.name.isdigit()
                and GUARD in (folder / "cmdline").read_bytes()
                and _descends(folder, pid)
            ):
                yield int(folder.name)
        except OSError:
            continue  # ended meanwhile


def _descends(folder: Path, pid: int) -> bool:
    parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return parent == pid or (parent > 1 and _descends(Path(f"/proc/{parent}"), pid))


if __name__ == "__main__":
    main()
