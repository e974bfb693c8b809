"""`greenroom simulate`: runs seeds, prints one report, and how to see a failing one again (`contract §1`).

Owns arguments, output and the exit code: 0 without violations, 1 with some, 2 for arguments that make no sense. A
seed is a run of its own (`run`); nothing is carried from one to the next. With `--explore` it walks small protocols
instead (`protocols`).
"""

import argparse
import hashlib
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, TextIO

import attrs
import orjson

from runtime.simulation.protocols.protocol import Walk, walk
from runtime.simulation.protocols.registry import PROTOCOLS
from runtime.simulation.run import RunReport, run_seed

ALL: Final = "all"
EXIT_VIOLATIONS: Final = 1
SEED_MAX: Final = 2**63


@attrs.frozen
class Summary:
    """What came of all seeds together."""

    seeds: int
    lives: int
    power_cuts: int
    faults: dict[str, int]
    seconds: float
    """Of real time; the one member that is not a function of the seeds."""
    digest: str
    violations: list[dict[str, Any]]

    def as_json(self) -> bytes:
        """The object that `--json` prints."""
        return orjson.dumps(
            {
                "seeds": self.seeds,
                "lives": self.lives,
                "powerCuts": self.power_cuts,
                "faults": self.faults,
                "seconds": round(self.seconds, 3),
                "digest": self.digest,
                "violations": self.violations,
            }
        )

    def as_text(self) -> str:
        """The same for people."""
        faults = ", ".join(f"{kind} {count}" for kind, count in self.faults.items())
        return (
            f"{self.seeds} seeds, {self.lives} lives, {self.power_cuts} power cuts in {self.seconds:.1f} s: "
            f"{len(self.violations)} violations\nfaults: {faults or 'none'}\ndigest: {self.digest}\n"
        )


def simulate(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for, print, and return the exit code."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    if options.explore is not None:
        return _explore(options.explore, as_json=options.json)
    summary = run_seeds(options.seed, options.seeds, on_failure=lambda report: describe(report, sys.stderr))
    if options.json:
        sys.stdout.write(summary.as_json().decode() + "\n")
    else:
        sys.stdout.write(summary.as_text())
    return EXIT_VIOLATIONS if summary.violations else 0


def run_seeds(
    first_seed: int, seeds: int, on_failure: Callable[[RunReport], None] = lambda _: None
) -> Summary:
    """Run `seeds` seeds from the first one on."""
    began = time.monotonic()
    lives = power_cuts = 0
    faults: Counter[str] = Counter()
    digest = hashlib.sha256()
    violations: list[dict[str, Any]] = []
    for seed in range(first_seed, first_seed + seeds):
        report = run_seed(seed)
        lives += report.lives
        power_cuts += report.power_cuts
        faults += report.faults
        digest.update(report.digest.encode())
        violations += [
            {"seed": seed, "promise": violation.promise, "detail": violation.detail}
            for violation in report.violations
        ]
        if report.violations:
            on_failure(report)
    return Summary(
        seeds=seeds,
        lives=lives,
        power_cuts=power_cuts,
        faults=dict(sorted(faults.items())),
        seconds=time.monotonic() - began,
        digest=digest.hexdigest(),
        violations=violations,
    )


def describe(report: RunReport, out: TextIO) -> None:
    """Everything there is to know about a failing seed, and how to run it again."""
    seed = report.options.seed
    lines = [f"seed {seed}: {len(report.violations)} violations"]
    lines += [f"  {violation}" for violation in report.violations]
    for crash in report.crashes:
        lines += "".join(traceback.format_exception(crash)).splitlines()
    lines.append("what the seed stands for:")
    for field in attrs.fields(type(report.options)):
        lines.append(f"  {field.name} = {getattr(report.options, field.name)}")
    lines.append(f"step digest after {report.steps} steps: {report.digest}")
    lines.append("the last events:")
    lines += [f"  {event}" for event in report.events]
    lines.append(f"to run it again: greenroom simulate --seeds 1 --seed {seed}")
    out.write("\n".join(lines) + "\n")


def _explore(name: str, *, as_json: bool) -> int:
    """Walk one protocol or all of them, say of each what came of it, and return the exit code."""
    walks = [walk(protocol) for protocol in (PROTOCOLS.values() if name == ALL else [PROTOCOLS[name]])]
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(_walks_as_json(walks)) + b"\n")
    else:
        for walked in walks:
            sys.stdout.write(_walk_as_text(walked))
        sys.stdout.write(f"{sum(walked.schedules for walked in walks)} schedules\n")
    return EXIT_VIOLATIONS if any(walked.faults for walked in walks) else 0


def _walks_as_json(walks: list[Walk]) -> dict[str, Any]:
    return {
        "schedules": sum(walked.schedules for walked in walks),
        "protocols": [
            {
                "name": walked.protocol.name,
                "verdict": "broken" if walked.faults else "kept",
                "schedules": walked.schedules,
                "ends": dict(sorted(walked.ends.items())),
                "faults": walked.faults,
            }
            for walked in walks
        ],
    }


def _walk_as_text(walked: Walk) -> str:
    protocol = walked.protocol
    verdict = "BROKEN" if walked.faults else "kept"
    lines = [f"{protocol.name}: {verdict} in {walked.schedules} schedules: {protocol.shows}"]
    lines += [f"  {count:>6}  {end}" for end, count in sorted(walked.ends.items())]
    lines += [f"  {fault}" for fault in walked.faults]
    if walked.faults:
        lines.append(f"  to run it again: greenroom simulate --explore {protocol.name}")
    return "\n".join(lines) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="greenroom simulate",
        description="Run the whole service in simulated worlds, with faults, and check what it promises.",
        epilog="The same seeds on the same build give the same digest. Exit code 1: a promise was broken.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--seeds", type=_count, help="how many seeds to run")
    what.add_argument(
        "--explore",
        metavar="PROTOCOL",
        choices=[*PROTOCOLS, ALL],
        help=f"walk all schedules of a small protocol instead: {', '.join(PROTOCOLS)}, or {ALL}",
    )
    parser.add_argument("--seed", type=_seed, default=0, help="the first of them (default 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _count(text: str) -> int:
    number = _seed(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < SEED_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)
