"""`make bench`: the daemon's CPU for 1,000 deltas, added latency as ratios to the direct pipe, and the budget.

Both sides run in turn within one run, several rounds; read ratios, and look at the load beside them.
"""

import argparse
import json
import os
import statistics

import attrs
import trio

from bench import budget, direct, flood, hosted
from bench.stamps import Figures


def main() -> None:
    """Print one table, or JSON lines with --json."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--sessions", default="10,50", help="numbers of sessions, separated by commas")
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--size", type=int, default=64, help="characters a chunk")
    parser.add_argument("--delay", type=int, default=5, help="milliseconds between chunks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frozen", type=int, default=4, help="clients that take nothing of a 200 MiB flood")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for sessions in map(int, options.sessions.split(",")):
        rounds = []
        for _ in range(options.rounds):
            pair = [
                trio.run(side.run, sessions, options.chunks, options.size, options.delay)
                for side in (direct, hosted)
            ]
            rounds.append(pair)
            if options.json:
                for figures in pair:
                    print(json.dumps({**_plain(figures), "load": os.getloadavg()[0]}))
        if not options.json:
            print(_summary(sessions, rounds))
    shares = [budget.measure() for _ in range(options.rounds)]
    best = min(shares, key=lambda share: share.total_us)
    if options.json:
        print(json.dumps({"budget_us": best.parts, "total_us": best.total_us}))
    else:
        parts = ", ".join(f"{name} {microseconds:.1f}" for name, microseconds in best.parts.items())
        print(f"product code: {best.total_us:.1f} us a delta of 20 (best of {len(shares)}): {parts}")
    floods = trio.run(flood.run, options.frozen)
    for one in floods if options.json else ():
        print(json.dumps(attrs.asdict(one)))
    if not options.json:
        alone, beside = floods
        print(
            f"200 MiB of text: {alone.seconds:.1f} s, peak {alone.peak_mib:.0f} MiB; beside {beside.frozen} frozen "
            f"clients {beside.seconds:.1f} s, peak {beside.peak_mib:.0f} MiB; "
            f"received {alone.received_mib:.0f} and {beside.received_mib:.0f} MiB"
        )


def _summary(sessions: int, rounds: list[list[Figures]]) -> str:
    directs, hosteds = zip(*rounds, strict=True)
    cpu = [figures.cpu_per_thousand for figures in hosteds]
    p50 = [ours.p50_ms / theirs.p50_ms for theirs, ours in rounds]
    added = [ours.p50_ms - theirs.p50_ms for theirs, ours in rounds]
    lost = sum(figures.chunks - figures.arrived for figures in hosteds)
    return (
        f"{sessions} sessions: daemon CPU {_range(cpu)} s for 1,000 chunks; "
        f"p50 {_range([f.p50_ms for f in hosteds])} ms against {_range([f.p50_ms for f in directs])} ms direct, "
        f"ratio {_range(p50)}, added {_range(added)} ms; "
        f"p99 {_range([f.p99_ms for f in hosteds])} ms against {_range([f.p99_ms for f in directs])} ms; "
        f"chunks not seen as deltas {lost}; load {os.getloadavg()[0]:.1f}"
    )


def _range(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} [{min(values):.3f}..{max(values):.3f}]"


def _plain(figures: Figures) -> dict[str, object]:
    return attrs.asdict(figures)


if __name__ == "__main__":
    main()
