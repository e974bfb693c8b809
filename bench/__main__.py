"""`make bench`: the daemon beside a peer and beside the agents' own pipes, on the same work in one run, and the budget.

All sides run in turn, several rounds; read ratios, and look at the load beside them. The peer is measured where it is
installed (`make bench-peers`).
"""

import argparse
import json
import os
import statistics
from collections.abc import Callable
from itertools import product

import attrs
import trio

from bench import budget, direct, flood, hosted, sandbox_agent
from bench.stamps import Figures

Round = dict[str, Figures]


def main() -> None:
    """Print one table, or JSON lines with --json."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--sessions", default="10,50", help="numbers of sessions, separated by commas")
    parser.add_argument("--clients", default="1,10", help="numbers of clients that follow them all")
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--size", type=int, default=64, help="characters a chunk")
    parser.add_argument("--delay", default="5", help="milliseconds between chunks, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--frozen", type=int, default=4, help="clients that take nothing of a flood; -1: no flood"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for delay, sessions, clients in product(
        *map(_numbers, (options.delay, options.sessions, options.clients))
    ):
        rounds = [
            _round(sessions, clients, options.chunks, options.size, delay) for _ in range(options.rounds)
        ]
        if options.json:
            for figures in (figures for one in rounds for figures in one.values()):
                print(json.dumps({**attrs.asdict(figures), "clients": clients, "delay": delay, **_load()}))
        else:
            print(f"{sessions} sessions, {clients} clients, {delay} ms; load {os.getloadavg()[0]:.1f}")
            for line in _lines(rounds, clients):
                print(f"  {line}")
    _print_budget(options.rounds, as_json=options.json)
    if options.frozen >= 0:
        _print_floods(options.frozen, as_json=options.json)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _load() -> dict[str, float]:
    return {"load": os.getloadavg()[0]}


def _round(sessions: int, clients: int, chunks: int, size: int, delay_ms: int) -> Round:
    """Each side once. The agents' own pipes have one reader; the peer is there when it is installed."""
    found = {}
    if clients == 1:
        found["direct"] = trio.run(direct.run, sessions, chunks, size, delay_ms)
    if sandbox_agent.program().is_file():
        found["peer"] = trio.run(sandbox_agent.run, sessions, chunks, size, delay_ms, clients)
    found["ours"] = trio.run(hosted.run, sessions, chunks, size, delay_ms, clients)
    return found


def _lines(rounds: list[Round], clients: int) -> list[str]:
    lines = []
    for side in rounds[0]:
        figures = [one[side] for one in rounds]
        missing = sum(one.chunks * clients - one.arrived for one in figures)
        lines.append(
            f"{figures[0].side}: p50 {_range([one.p50_ms for one in figures])} ms, "
            f"p99 {_range([one.p99_ms for one in figures])} ms, "
            f"{_range([one.arrived / one.seconds for one in figures], 0)} chunks/s, missing {missing}"
            + ("" if side == "direct" else f", CPU {_range(_cpu(figures))} s for 1,000 chunks")
        )
    if "peer" in rounds[0]:
        lines.append(
            f"ours to the peer: CPU x{_ratio(rounds, 'peer', _cpu_of)}, p50 x{_ratio(rounds, 'peer', _p50)}"
        )
    if "direct" in rounds[0]:
        added = [one["ours"].p50_ms - one["direct"].p50_ms for one in rounds]
        lines.append(f"ours to the pipes: p50 x{_ratio(rounds, 'direct', _p50)}, added {_range(added)} ms")
    return lines


def _cpu_of(figures: Figures) -> float:
    return figures.cpu_per_thousand or 0.0


def _p50(figures: Figures) -> float:
    return figures.p50_ms


def _cpu(several: list[Figures]) -> list[float]:
    return [_cpu_of(figures) for figures in several]


def _ratio(rounds: list[Round], other: str, figure: Callable[[Figures], float]) -> str:
    return _range([figure(one["ours"]) / max(figure(one[other]), 1e-9) for one in rounds], 2)


def _range(values: list[float], places: int = 3) -> str:
    return f"{statistics.median(values):.{places}f} [{min(values):.{places}f}..{max(values):.{places}f}]"


def _print_budget(rounds: int, *, as_json: bool) -> None:
    shares = [budget.measure() for _ in range(rounds)]
    best = min(shares, key=lambda share: share.total_us)
    if as_json:
        print(json.dumps({"budget_us": best.parts, "total_us": best.total_us}))
        return
    parts = ", ".join(f"{name} {microseconds:.1f}" for name, microseconds in best.parts.items())
    print(f"product code: {best.total_us:.1f} us a delta of 20 (best of {len(shares)}): {parts}")


def _print_floods(frozen: int, *, as_json: bool) -> None:
    floods = trio.run(flood.run, frozen)
    if as_json:
        for one in floods:
            print(json.dumps(attrs.asdict(one)))
        return
    alone, beside = floods
    print(
        f"200 MiB of text: {alone.seconds:.1f} s, peak {alone.peak_mib:.0f} MiB; beside {beside.frozen} frozen "
        f"clients {beside.seconds:.1f} s, peak {beside.peak_mib:.0f} MiB; "
        f"received {alone.received_mib:.0f} and {beside.received_mib:.0f} MiB"
    )


if __name__ == "__main__":
    main()
