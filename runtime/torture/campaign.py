"""A campaign: rounds of lives until time is up, each drawn from the seed, and the report of what came of them.

Owns which faults there are and how often: a kill at a random moment, at a failpoint, faults that a life goes on with,
clean stops; what agents and clients do to each other is in their plans (`runtime.simulation.workload`). The plan is a
function of the seed; its timing is the machine's.
"""

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import orjson
import trio

from runtime.failpoints import POINTS
from runtime.simulation import operations as op
from runtime.simulation.client import ClientHabits
from runtime.simulation.edits import Edit
from runtime.simulation.options import options_of
from runtime.simulation.removals import DeleteAndRestore, MakeAndPurge
from runtime.simulation.workload import plans_of
from runtime.torture.daemon import DaemonFailed
from runtime.torture.round import LifeEnding, Plans, Round, work
from runtime.torture.tour import tour

LIVES_A_ROUND: Final = 6
_SOFT: Final = (
    "provider.write.before=raise%0.02",
    "provider.launch.after=raise%0.2",
    "provider.record.before=raise%0.2",
    "provider.close.before=raise%0.2",
    "provider.read.before=delay:20%0.1",
    "client.write.before=delay:10%0.1",
    "session.start.before=delay:50%0.5",
    "marker.settled.before=delay:30%0.5",
    "store.commit.before=delay:20%0.1",
    "store.commit.before=raise%0.03",
    "store.unit.after=raise%0.02",
    "store.pieces.before=raise%0.1",
    "write_behind.flush.before=delay:50%0.3",
)
"""Faults that a daemon lives on with, errors of the disk among them; what they cost is a turn, a wait or a session's
restart, and never a promise."""
_OWN_PROMPTS: Final = (
    "Reply with the word ready.",
    "Count from one to twenty.",
    "Say hello in one sentence.",
)


@attrs.frozen(kw_only=True)
class CampaignOptions:
    """What was asked for."""

    sessions: int
    minutes: float
    seed: int
    target: Mapping[str, Any] | None = None
    """A `[[targets]]` entry of one's own, in place of the demo agent; it gets plain prompts."""
    environment: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    """What an agent of one's own needs of the daemon's environment, such as where its login is."""

    @property
    def replay(self) -> str:
        """The command that draws the same plan again."""
        own = f" --target {self.target['id']}" if self.target is not None else ""
        return (
            f"greenroom torture --sessions {self.sessions} --minutes {self.minutes:g} --seed {self.seed}{own}"
        )


@attrs.define
class CampaignReport:
    """What came of it."""

    options: CampaignOptions
    rounds: int = 0
    lives: int = 0
    hindered: int = 0
    """Lives with faults that a daemon goes on with."""
    requests: Counter[str] = attrs.field(factory=Counter)
    """Requests by what became of them."""
    prompts_told: int = 0
    ends: Counter[str] = attrs.field(factory=Counter)
    """How lives ended, by what was killed where."""
    seconds: float = 0.0
    violations: list[dict[str, Any]] = attrs.field(factory=list)

    @property
    def goals(self) -> dict[str, str]:
        """The goals of docs/reliability.md that a campaign bears on, and what it adds to each."""
        verdict = "broken" if self.violations else "kept"
        return {
            "R2 errors of the disk, of pipes and of launches": f"{verdict} in {self.hindered} lives with such faults",
            "R5 kill -9": f"{verdict} after {self.kills} kills in {self.lives} lives",
            "R6 nothing outlives the daemon": f"{verdict} after {self.lives} ends",
            "R14 history of all requests": f"{verdict} over {self.requests.total()} requests",
        }

    @property
    def kills(self) -> int:
        """How many lives ended by SIGKILL."""
        return sum(count for how, count in self.ends.items() if how.startswith("killed"))

    def as_json(self) -> bytes:
        """The object that `--json` prints."""
        return orjson.dumps(
            {
                "verdict": "broken" if self.violations else "kept",
                "sessions": self.options.sessions,
                "seed": self.options.seed,
                "rounds": self.rounds,
                "lives": self.lives,
                "kills": self.kills,
                "hindered": self.hindered,
                "requests": dict(sorted(self.requests.items())),
                "promptsTold": self.prompts_told,
                "ends": dict(sorted(self.ends.items())),
                "goals": self.goals,
                "seconds": round(self.seconds, 1),
                "violations": self.violations,
                "replay": self.options.replay,
            }
        )

    def as_text(self) -> str:
        """The same for people."""
        asked = ", ".join(f"{count} {state}" for state, count in sorted(self.requests.items()))
        lines = [
            f"{self.rounds} rounds, {self.lives} lives of the daemon, {self.kills} ended by SIGKILL",
            f"{self.seconds:.0f} seconds",
            f"requests: {asked or 'none'}; prompts told to agents: {self.prompts_told}",
            *(f"  {count} {how}" for how, count in sorted(self.ends.items())),
            *(
                f"BROKEN in round {one['round']}: {one['promise']}: {one['detail']}"
                for one in self.violations
            ),
            *(f"{goal}: {shown}" for goal, shown in self.goals.items()),
            f"verdict: {'a promise was broken' if self.violations else 'every promise was kept'}",
            f"to draw the same plan again: {self.options.replay}",
        ]
        return "\n".join(lines) + "\n"


async def run_campaign(options: CampaignOptions, folder: Path) -> CampaignReport:
    """Rounds until time is up, at least one; each in a folder of its own below `folder`."""
    report, began = CampaignReport(options), time.monotonic()
    until = began + options.minutes * 60
    while report.rounds == 0 or (time.monotonic() < until and not report.violations):
        report.rounds += 1
        seed = options.seed + report.rounds - 1
        one = Round(
            folder / f"round-{report.rounds}",
            random.Random(seed),  # noqa: S311 -- a plan, no secret
            targets=[] if options.target is None else [options.target],
            environment=options.environment,
        )
        try:
            await _run_round(one, options, seed, until)
        except DaemonFailed as failed:
            one.history.violated("the daemon starts and stops", str(failed))
        _add(report, one, seed)
    report.seconds = time.monotonic() - began
    return report


async def _run_round(one: Round, options: CampaignOptions, seed: int, until: float) -> None:
    plans = iter(_plans(options, seed))
    for number, ending in enumerate(_endings(one.chance), start=1):
        if number > 1 and time.monotonic() > until:
            break
        await one.live(ending, _people(one, options, number, next(plans, [])))
    await one.last_life(lambda _: None)


def _people(one: Round, options: CampaignOptions, number: int, plans: Plans) -> Any:
    """Clients of one life: one that does everything quickly, and others that go on where plans tell them."""
    habits = ClientHabits(answers=0.9)

    def serve(nursery: trio.Nursery) -> None:
        if options.target is None:
            work(one.client(f"tourist {number}"), tour(number, op.DEMO, None), answers=False)(nursery)
        for place, plan in enumerate(plans):
            work(one.client(f"client {number}.{place}", habits), [plan], answers=True)(nursery)

    return serve


def _endings(chance: random.Random) -> Iterator[LifeEnding]:
    """How the lives of a round end, by its seed."""
    names = [point.name for point in POINTS]
    for _ in range(LIVES_A_ROUND):
        seconds = 0.5 + chance.random() * 4
        match chance.choices(("failpoint", "moment", "soft", "stop"), (4, 3, 3, 1))[0]:
            case "failpoint":
                armed = f"{chance.choice(names)}=kill@{chance.randint(1, 8)}"
                yield LifeEnding("stop", 4.0, armed)
            case "moment":
                yield LifeEnding("kill", seconds)
            case "soft":
                yield LifeEnding("kill", seconds, ";".join(chance.sample(_SOFT, 3)))
            case _:
                yield LifeEnding("stop", seconds)


def _plans(options: CampaignOptions, seed: int) -> Iterator[Plans]:
    """The plans of each life; the sessions of a round are made by those of the first, and used by the others."""
    for life in range(LIVES_A_ROUND):
        drawn = attrs.evolve(
            options_of(seed * LIVES_A_ROUND + life),
            sessions=options.sessions,
            operations=options.sessions * 4,
            codex_share=0.0,
        )
        plans = plans_of(drawn, random.Random(drawn.seed))  # noqa: S311 -- a plan, no secret
        own = [[_own(operation, life, options.target) for operation in plan] for plan in plans]
        if options.target is None:
            own.append([op.SendPrompt("s0", f"huge-{life}", "[[bigline 400000]] [[say that was much]]")])
        yield own


def _own(operation: op.Operation, life: int, target: Mapping[str, Any] | None) -> op.Operation:
    """An operation under names of its own life: sessions stay, what is submitted is new."""
    mark = f"life-{life + 1}"
    changes: dict[str, Any] = {}
    if isinstance(operation, op.CreateAgain):
        return op.Pause(0.05)  # what it repeats is another life's
    if isinstance(operation, MakeAndPurge):
        return MakeAndPurge(f"{mark}-{operation.session}")
    if isinstance(operation, op.CreateSession) and target is not None:
        changes = {"target": target["id"], "settings": ()}
    if isinstance(operation, op.SendPrompt | op.Repeat | op.SendAndRead):
        changes["submit_id"] = f"{mark}-{operation.submit_id}"
    if target is not None and isinstance(operation, Edit | DeleteAndRestore):
        return op.Pause(0.05)
    if target is not None and getattr(operation, "prompt", None) is not None:
        changes["prompt"] = _OWN_PROMPTS[sum(map(ord, str(operation))) % len(_OWN_PROMPTS)]
    if not changes:
        return operation
    assert isinstance(operation, op.CreateSession | op.SendPrompt | op.Repeat | op.SendAndRead)
    return attrs.evolve(operation, **changes)


def _add(report: CampaignReport, one: Round, seed: int) -> None:
    report.lives += one.lives
    report.hindered += one.hindered
    report.ends += one.faults
    report.requests += Counter(request.state for request in one.history.requests)
    report.prompts_told += len(one.notes().prompts)
    report.violations += [
        {"round": report.rounds, "seed": seed, "promise": violation.promise, "detail": violation.detail}
        for violation in one.history.violations
    ]


def kept_files(folder: Path, report: CampaignReport) -> Sequence[str]:
    """Where the database, the log and the agents' notes of a broken round are."""
    return sorted({str(folder / f"round-{one['round']}") for one in report.violations})
