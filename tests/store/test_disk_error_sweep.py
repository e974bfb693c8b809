"""Every call to the disk fails once, or from then on, in every way; then the power fails, or the process is killed (R2).

One workload, complete: groups of several sessions, streamed text, upkeep and a checkpoint. Whatever fails, what was told
stays, nothing is there in part, an outcome that is called certain is certain, and the store works once the disk does.
"""

import random
from pathlib import Path
from typing import get_args

import attrs
import pytest

from runtime.simulation.disk import DiskFault, FaultKind, FaultyCall, SimulatedDisk
from runtime.simulation.disk_model import Image
from store.canonical.change import Committed, NotCommitted
from store.errors import StoreError
from store.group import PiecesJob, UnitJob
from store.open import Store
from tests.store.builders import ignore, piece
from tests.store.crash_images import (
    Progress,
    check_image,
    check_promises,
    open_on,
    round_of,
    rounds_in,
    run_rounds,
)

CALLS: tuple[FaultyCall, ...] = get_args(FaultyCall)
EVERY = 17
"""Of the complete sweep, `make test` takes each one of so many."""
CUTS = 3


@attrs.frozen
class Prepared:
    """A store with some rounds, closed: where each run begins."""

    image: Image
    progress: Progress
    calls: dict[FaultyCall, int]
    """How often the workload makes each call while nothing fails."""


def workload(disk: SimulatedDisk, progress: Progress) -> None:
    """Ends early when the store cannot be opened or read any more."""
    try:
        store = open_on(disk)
    except StoreError:
        return
    try:
        for number in range(3):
            write_group(store, progress, number)
            if store.committer.needs_upkeep:
                store.committer.upkeep()
        store.committer.rest()
        write_group(store, progress, 3)
    except StoreError:
        pass  # a read that fails is answered as such; nothing was told by it
    finally:
        store.close()


def write_group(store: Store, progress: Progress, number: int) -> None:
    names = ("a", "b", "c")[: 1 + number % 3]
    before = {name: progress.told.get(name, 0) for name in names}
    for name in names:
        progress.begun[name] = max(progress.begun.get(name, 0), before[name] + 1)
    jobs = [UnitJob(round_of(name, before[name] + 1), ignore) for name in names]
    outcomes = store.committer.commit(
        [*jobs, PiecesJob((piece("a", "nothing", 0, "x" * 900),), ignore)]
    ).outcomes
    for name, outcome in zip(names, outcomes, strict=False):
        match outcome:
            case Committed(commit_seq=commit_seq):
                progress.told[name] = before[name] + 1
                progress.commit_seq = commit_seq
            case NotCommitted():
                # Certain: no restart may bring it back, unless it was begun and unknown before.
                progress.refused.add((name, before[name] + 1))
            case _:
                progress.unknown.add((name, before[name] + 1))
    for name in names:
        if (name, before[name] + 1) in progress.unknown:
            progress.told[name] = rounds_in(store, name)  # looked at, and shown from now on


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    disk = SimulatedDisk()
    store, progress = open_on(disk), Progress()
    run_rounds(store, progress, random.Random(1), 3, lambda: None)
    store.close()
    image = {path.name: path.read_bytes() for path in disk.folder.iterdir() if not path.name.endswith("-shm")}
    disk.remove()
    return prepare(image, progress)


def prepare(image: Image, progress: Progress) -> Prepared:
    counting = SimulatedDisk(image)
    counters = [DiskFault(call, nth=10**9) for call in CALLS]
    counting.state.faults.extend(counters)
    workload(counting, progress.copy())
    counting.remove()
    return Prepared(image, progress, {fault.call: fault.seen for fault in counters})


def faults(prepared: Prepared) -> list[DiskFault]:
    kinds: dict[FaultyCall, tuple[FaultKind, ...]] = {"write": ("io_error", "full", "short")}
    return [
        DiskFault(call, nth, kind, sticky)
        for call in CALLS
        for nth in range(1, prepared.calls[call] + 1)
        for kind in kinds.get(call, ("io_error",))
        for sticky in (False, True)
    ]


def run_with(prepared: Prepared, fault: DiskFault, folder: Path) -> None:
    """One run with the fault, then cuts of the power, then a kill and a start on the disk as it is."""
    disk = SimulatedDisk(prepared.image)
    progress = prepared.progress.copy()
    disk.state.faults.append(fault)
    workload(disk, progress)
    disk.state.faults.clear()
    for cut in range(CUTS):
        check_image(folder, disk.state.model.image_after_cut(random.Random(cut)), progress)
    disk.kill()
    store = open_on(disk)
    check_promises(store, progress)
    for name, number in progress.refused - progress.unknown:
        assert progress.told.get(name, 0) >= number or rounds_in(store, name) < number, (name, number)
    run_rounds(store, progress, random.Random(5), 1, lambda: None)
    check_promises(store, progress)
    store.close()
    disk.remove()


def sweep(prepared: Prepared, chosen: list[DiskFault], folder: Path) -> int:
    """Runs all of them; how many of the faults struck."""
    struck = 0
    for fault in chosen:
        try:
            run_with(prepared, fault, folder)
        except Exception as error:
            raise AssertionError(f"{fault.call} {fault.nth} {fault.kind} sticky={fault.sticky}") from error
        struck += fault.fired > 0
    return struck


def test_the_workload_makes_every_kind_of_call(prepared: Prepared):
    assert all(prepared.calls[call] for call in ("write", "sync", "truncate", "read", "open")), prepared.calls


def test_no_failing_call_loses_what_was_told(prepared: Prepared, tmp_path: Path):
    chosen = faults(prepared)[::EVERY]
    assert sweep(prepared, chosen, tmp_path) > 0.8 * len(chosen)


@pytest.mark.parametrize("call", ["sync", "truncate", "delete", "open"])
def test_no_failing_call_of_a_first_start_is_in_the_way_of_the_next(call: FaultyCall, tmp_path: Path):
    """From the empty folder: what a start that failed left is no store that was lost, and no damage."""
    born = prepare({}, Progress())
    chosen = [fault for fault in faults(born) if fault.call == call]
    assert chosen
    assert sweep(born, chosen, tmp_path) > 0.8 * len(chosen)


@pytest.mark.thorough
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("share", range(EVERY))
def test_no_failing_call_at_all_loses_what_was_told(
    prepared: Prepared, share: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    chosen = faults(prepared)[share::EVERY]
    struck = sweep(prepared, chosen, tmp_path)
    with capsys.disabled():
        print(f"\nshare {share}: {len(chosen)} runs, {struck} faults struck, nothing lost")
