"""Whatever moment the power fails at: what was told is there, nothing is there in part (promise 1)."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.simulation.disk import DiskFault, SimulatedDisk
from runtime.simulation.disk_model import DiskModel, Synced
from store.canonical.change import OutcomeUnknown
from store.errors import StoreError
from store.group import UnitJob
from store.migrations import shipped_migrations
from tests.store.builders import ignore
from tests.store.crash_images import (
    Moment,
    Progress,
    check_image,
    check_promises,
    cut_images,
    open_on,
    record_rounds,
    round_of,
    rounds_in,
    run_rounds,
)

IMAGES = 300


SHARES = 20
IMAGES_A_SHARE = 2_500


@pytest.fixture(scope="module")
def moments() -> list[Moment]:
    return record_rounds(groups=30, seed=1)


@pytest.mark.rule("ST-002", "ST-005")
def test_no_cut_loses_what_was_told_or_keeps_a_part(moments: list[Moment], tmp_path: Path):
    assert check_images(moments, tmp_path, seed=5, wanted=IMAGES) >= IMAGES


def check_images(moments: list[Moment], folder: Path, *, seed: int, wanted: int) -> int:
    checked = 0
    for image, progress, number in cut_images(moments, seed, wanted):
        try:
            check_image(folder, image, progress)
        except (AssertionError, StoreError) as error:
            place = f"cut {seed} after operation {number}: {moments[number].operation!r:.200}"
            raise AssertionError(place) from error
        checked += 1
    return checked


@pytest.mark.parametrize("version", range(1, len(shipped_migrations())))
def test_no_cut_of_a_migration_loses_what_the_older_program_was_told(version: int, tmp_path: Path):
    """From each older schema: the copy before, every step, and the first rounds after."""
    moments = record_rounds(groups=3, seed=version, from_version=version)
    assert check_images(moments, tmp_path, seed=7, wanted=60) >= 60


@pytest.mark.thorough
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("share", range(SHARES))
def test_fifty_thousand_cuts_lose_nothing(share: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """R1 in shares: several images of each moment, from the empty folder and from each older schema in turn."""
    moments = record_rounds(groups=20, seed=share, from_version=share % len(shipped_migrations()))
    started = time.monotonic()
    checked, seed = 0, 0
    while checked < IMAGES_A_SHARE:
        seed += 1
        wanted = min(len(moments), IMAGES_A_SHARE - checked)
        checked += check_images(moments, tmp_path, seed=1_000 * share + seed, wanted=wanted)
    with capsys.disabled():
        rate = checked / (time.monotonic() - started)
        print(
            f"\nshare {share}: {checked} images of {len(moments)} moments, {rate:.0f} a second, nothing lost"
        )


def test_a_disk_that_lies_about_synchronisation_is_caught(moments: list[Moment], tmp_path: Path):
    """The harness checks itself: without the synchronisations, acknowledged rounds must get lost."""
    lying = [moment for moment in moments if not isinstance(moment.operation, Synced)]
    lost = 0
    for image, progress, _ in cut_images(lying, seed=5, wanted=60):
        try:
            check_image(tmp_path, image, progress)
        except Exception:
            lost += 1
    assert lost > 10


@pytest.fixture
def told(disk: SimulatedDisk) -> Progress:
    """A few rounds on a disk that is still sound."""
    store = open_on(disk)
    progress = Progress()
    run_rounds(store, progress, random.Random(2), 4, lambda: None)
    store.close()
    return progress


def outcomes_with_fault(disk: SimulatedDisk, progress: Progress, fault: DiskFault):
    """One group that meets the fault; the store stays open."""
    store = open_on(disk)
    disk.state.faults.append(fault)
    progress.begun["a"] = progress.told.get("a", 0) + 1
    (outcome,) = store.committer.commit([UnitJob(round_of("a", progress.begun["a"]), ignore)]).outcomes
    disk.state.faults.clear()
    return store, outcome


def test_a_failed_synchronisation_leaves_the_outcome_unknown_and_the_store_goes_on(
    disk: SimulatedDisk, told: Progress
):
    before = rounds_in_closed(disk, "a")
    store, outcome = outcomes_with_fault(disk, told, DiskFault("sync", name_ends="-wal"))
    assert isinstance(outcome, OutcomeUnknown)
    assert rounds_in(store, "a") == before, "what was never synchronised is shown to nobody"
    assert store.committer.health(0).state == "degraded"
    run_rounds(store, told, random.Random(3), 5, lambda: None)
    assert store.committer.health(0).state == "ok"
    check_promises(store, told)
    store.close()


def rounds_in_closed(disk: SimulatedDisk, name: str) -> int:
    store = open_on(disk)
    rounds = rounds_in(store, name)
    store.close()
    return rounds


def faults() -> Iterator[DiskFault]:
    for nth in (1, 2, 3):
        yield DiskFault("sync", nth, name_ends="-wal")
        yield DiskFault("write", nth, name_ends="-wal")
        yield DiskFault("write", nth, "short", name_ends="-wal")
        yield DiskFault("write", nth, "full", name_ends="-wal")
    yield DiskFault("sync", 1, name_ends=".db")
    yield DiskFault("write", 1, name_ends=".db")
    yield DiskFault("read", 1, name_ends=".db")


@pytest.mark.parametrize("way_on", ["stays alive", "is killed and starts again"])
@pytest.mark.parametrize("fault", list(faults()), ids=lambda fault: f"{fault.kind}-{fault.call}-{fault.nth}")
def test_no_cut_after_a_disk_error_loses_what_was_told(
    disk: SimulatedDisk, fault: DiskFault, way_on: str, tmp_path: Path
):
    """The pages of a failed synchronisation are dropped, as kernels do; then the power fails at any later moment.

    Staying alive on the same connection is sound, and a restart is, because the log is renewed before it is read.
    """
    chance = random.Random(11)
    store, progress = open_on(disk), Progress()
    run_rounds(store, progress, chance, 3, lambda: None)
    model = disk.state.model
    disk.state.faults.append(fault)
    run_rounds(store, progress, chance, 3, lambda: None)
    store.committer.rest()
    disk.state.faults.clear()
    if way_on != "stays alive":
        disk.kill()
        dead, store = store, open_on(disk)
        for name in progress.begun:
            progress.told[name] = rounds_in(store, name)
        dead.close()
    assert disk.state.model is model
    for number in range(5):
        run_rounds(store, progress, chance, 1, lambda: None)
        check_image(tmp_path, model.image_after_cut(random.Random(number)), progress)
    check_promises(store, progress)
    store.close()


def test_without_renewing_the_log_a_restart_after_a_failed_synchronisation_loses_commits(
    disk: SimulatedDisk, tmp_path: Path, monkeypatch
):
    """Why the renewal is a fixed step of every start: left out, this very schedule must lose something."""
    monkeypatch.setattr("runtime.simulation.disk.SimulatedFiles.renew_wal", lambda _: False)
    violations = 0
    for seed in range(6):
        machine = SimulatedDisk()
        chance = random.Random(seed)
        store, progress = open_on(machine), Progress()
        run_rounds(store, progress, chance, 2, lambda: None)
        machine.state.faults.append(DiskFault("sync", name_ends="-wal"))
        run_rounds(store, progress, chance, 1, lambda: None)
        machine.kill()
        dead, store = store, open_on(machine)
        for name in progress.begun:
            progress.told[name] = rounds_in(store, name)
        dead.close()
        run_rounds(store, progress, chance, 1, lambda: None)
        for cut in range(4):
            image = machine.state.model.image_after_cut(random.Random(cut))
            try:
                check_image(tmp_path, image, progress)
            except Exception:
                violations += 1
        store.close()
        machine.remove()
    assert violations > 0


def test_the_same_seed_cuts_alike():
    moments = record_rounds(groups=3, seed=4)
    model = DiskModel()
    for moment in moments[: len(moments) // 2]:
        model.apply(moment.operation)
    assert model.image_after_cut(random.Random(9)) == model.image_after_cut(random.Random(9))
