"""kill -9 of a real daemon at every failpoint there is: nothing acknowledged is lost and nothing is told twice."""

import random
from collections.abc import Iterable
from pathlib import Path

import pytest
import trio

from runtime.failpoints import POINTS
from runtime.simulation.operations import CreateSession
from runtime.torture.round import KILLED, LifeEnding, Round, work
from runtime.torture.tour import tour
from tests.doubles.scripted_codex import TARGET, scripted_target

LIFE_SECONDS = 12.0
AT_A_FIRST_START = ("store.migration",)
AFTER_A_CRASH = ("store.renewal", "store.recovery")
SWEPT = ("sweeper.attempt",)
SEAMS = sorted({point.name.split(".")[0] for point in POINTS})


def of_seams(*seams: str) -> list[str]:
    return sorted(point.name for point in POINTS if point.name.split(".")[0] in seams)


def begins_with(name: str, effects: Iterable[str]) -> bool:
    return any(name.startswith(f"{effect}.") for effect in effects)


async def killed_at(round_: Round, name: str, number: int) -> str:
    """One life that is to end there; how it ended. Recovery is met after a kill in the middle of turns."""
    armed = f"{name}=kill"
    if begins_with(name, SWEPT):
        armed = f"provider.close.before=raise@1;{armed}"

    def serve(nursery: trio.Nursery) -> None:
        client = round_.client(f"tourist {number}")
        work(client, tour(number, "demo", TARGET), answers=False)(nursery)

    if begins_with(name, AFTER_A_CRASH):
        await crashed_in_a_turn(round_, number)
    seconds = 0.7 if begins_with(name, ("store.checkpoint", "service.stop")) else LIFE_SECONDS
    return await round_.live(LifeEnding("stop", seconds, armed), serve)


async def crashed_in_a_turn(round_: Round, number: int) -> None:
    """One life that is killed while a turn runs."""
    create = CreateSession(f"crash-{number}", f"create-crash-{number}", "[[hang]]")

    def serve(nursery: trio.Nursery) -> None:
        work(round_.client(f"crashing {number}"), [[create]], answers=False)(nursery)
        nursery.start_soon(watch)

    async def watch() -> None:
        while not any(
            request.session[1] == create.session for request in round_.history.answered("session/create")
        ):
            await trio.sleep(0.01)
        round_.enough.set()

    await round_.live(LifeEnding("kill", LIFE_SECONDS), serve)


@pytest.mark.rule("RT-029", "RT-034", "RT-037", "RT-143", "RT-144")
@pytest.mark.case("FC-06", "FC-32")
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "seams",
    [
        ("marker",),
        ("store",),
        ("session", "operation"),
        ("client", "provider", "service", "sweeper", "write_behind"),
    ],
    ids="-".join,
)
async def test_a_kill_at_every_failpoint_breaks_no_promise(tmp_path: Path, seams: tuple[str, ...]) -> None:
    limits = {"commitLogMaxCount": 20} if "store" in seams else {}
    round_ = Round(tmp_path, random.Random(7), targets=[scripted_target(tmp_path / "codex")], limits=limits)
    names = sorted(of_seams(*seams), key=lambda name: (not begins_with(name, AT_A_FIRST_START), name))
    not_reached = {}
    for number, name in enumerate(names):
        how = await killed_at(round_, name, number)
        if not how.startswith("killed"):
            not_reached[name] = how
    await round_.last_life(lambda _: None)
    for how, lives in sorted(round_.faults.items()):
        print(f"{lives} {how}")
    assert round_.history.violations == []
    assert not_reached == {}


def test_no_failpoint_is_left_out() -> None:
    tried = {
        "marker",
        "store",
        "session",
        "operation",
        "client",
        "provider",
        "service",
        "sweeper",
        "write_behind",
    }
    elsewhere = {"worktree"}  # needs a repository: test_checkout_crashes
    assert set(SEAMS) == tried | elsewhere
    assert KILLED == -9
