"""Cuts the power at any moment of a recorded run of the product's own writer, and looks at what comes up again.

A power cut ends everything, so the images of one recorded run are those of many runs each cut elsewhere: the cost
is one run and a recovery for each image. A *mark* in the recording says what had been acknowledged by then.
"""

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import attrs

from runtime.simulation.disk import LAYER, SimulatedDisk, SimulatedFiles, simulated_layer, write_image
from runtime.simulation.disk_model import DiskModel, DiskOperation, Image
from store.canonical.change import Committed, Unit
from store.canonical.session import SessionCounters
from store.files import LocalFiles
from store.group import PiecesJob, UnitJob
from store.migrations import shipped_migrations
from store.open import DATABASE_FILE_NAME, Store, StoreOptions, open_store
from store.port import MessageQuery
from tests.store.builders import (
    claim_row,
    ignore,
    interaction_row,
    key,
    message_row,
    options,
    piece,
    session_row,
    turn_row,
    unit,
)

SESSIONS = ("a", "b", "c")


@attrs.define
class Progress:
    """What had been promised at one moment: by session the newest round told, and the newest one begun."""

    told: dict[str, int] = attrs.field(factory=dict)
    begun: dict[str, int] = attrs.field(factory=dict)
    commit_seq: int = 0
    refused: set[tuple[str, int]] = attrs.field(factory=set)
    """Rounds that were answered as certainly not stored."""
    unknown: set[tuple[str, int]] = attrs.field(factory=set)
    """Rounds whose outcome was answered as unknown."""

    def copy(self) -> "Progress":
        return Progress(
            dict(self.told), dict(self.begun), self.commit_seq, set(self.refused), set(self.unknown)
        )


@attrs.frozen
class Moment:
    """One operation of the recording, and what had been promised before it."""

    operation: DiskOperation
    progress: Progress


def simulated_options(**changes: object) -> StoreOptions:
    simulated_layer()
    return options(base_layer=LAYER, **changes)


def open_on(disk: SimulatedDisk, reserve_bytes: int = 0, **changes: object) -> Store:
    files = SimulatedFiles(disk, DATABASE_FILE_NAME, reserve_bytes)
    return open_store(files, simulated_options(**changes))


@cache
def round_of(session: str, number: int) -> Unit:
    """What a session writes in one go: a prompt with its claim, an answer, an interaction; each round complete."""
    turn = f"t{number}"
    return unit(
        session,
        session_row(session, title=f"round {number}"),
        turn_row(session, turn, number, phase="settled", outcome="completed", delivery="accepted"),
        message_row(session, f"p{number}", 2 * number - 1, 2 * number - 1, "prompt " * number, turn_id=turn),
        message_row(
            session, f"r{number}", 2 * number, 2 * number, "answer " * 90 * (number % 4), turn_id=turn
        ),
        interaction_row(session, f"q{number}", turn, status="answered", answer_delivery="delivered"),
        counters=SessionCounters(number, 2 * number),
        claims_added=(claim_row(session, f"c{number}", turn_id=turn),),
    )


def run_rounds(
    store: Store, progress: Progress, chance: random.Random, groups: int, note: Callable[[], None]
) -> None:
    """Write groups of rounds; a unit whose outcome is not `Committed` is settled by what the store then shows."""
    for _ in range(groups):
        chosen = [name for name in SESSIONS if chance.random() < 0.6] or ["a"]
        jobs: list[UnitJob | PiecesJob] = []
        for name in chosen:
            progress.begun[name] = progress.told.get(name, 0) + 1
            jobs.append(UnitJob(round_of(name, progress.begun[name]), ignore))
        if chance.random() < 0.4:
            text = "x" * chance.randint(1, 3_000)
            jobs.append(PiecesJob((piece(chosen[0], "nothing", 0, text),), ignore))
        note()
        outcomes = store.committer.commit(jobs).outcomes
        note()
        for name, outcome in zip(chosen, outcomes, strict=False):
            if isinstance(outcome, Committed):
                progress.told[name] = progress.begun[name]
                progress.commit_seq = outcome.commit_seq
            else:
                progress.told[name] = rounds_in(store, name)
        if store.committer.needs_upkeep:
            store.committer.upkeep()
        elif chance.random() < 0.1:
            store.committer.rest()


def record_rounds(groups: int, seed: int, *, from_version: int = 0) -> list[Moment]:
    """One run on a sound disk, from the empty folder on; or from a store of an older schema that has some rounds."""
    disk = SimulatedDisk()
    recording: list[DiskOperation] = []
    disk.state.recording = recording
    moments: list[Moment] = []
    progress = Progress()

    def note() -> None:
        before = progress.copy()
        moments.extend(Moment(operation, before) for operation in recording[len(moments) :])

    chance = random.Random(seed)
    if from_version:
        older = open_on(disk, migrations=shipped_migrations()[:from_version])
        run_rounds(older, progress, chance, 4, note)
        older.close()
        note()
    store = open_on(disk)
    note()
    run_rounds(store, progress, chance, groups, note)
    store.close()
    note()
    disk.remove()
    return moments


def cut_images(moments: list[Moment], seed: int, wanted: int) -> Iterator[tuple[Image, Progress, int]]:
    """About `wanted` images, spread evenly over the recording."""
    model = DiskModel()
    every = max(1, len(moments) // wanted)
    for number, moment in enumerate(moments):
        model.apply(moment.operation)
        if number % every == 0:
            chance = random.Random((seed << 24) ^ number)
            yield model.image_after_cut(chance), moment.progress, number


def check_image(folder: Path, image: Image, progress: Progress) -> None:
    """Open the image as the next start does and hold the store to its promises."""
    for old in folder.iterdir():
        old.unlink()
    write_image(folder, image)
    store = open_store(LocalFiles(folder / DATABASE_FILE_NAME, 0), simulated_options())
    try:
        assert store.recover().quarantined == ()
        check_promises(store, progress)
    finally:
        store.close()


def check_promises(store: Store, progress: Progress) -> None:
    """Every round told is there, no round is there in part, the log agrees with the rows."""
    for name in SESSIONS:
        rounds = rounds_in(store, name)
        assert progress.told.get(name, 0) <= rounds <= progress.begun.get(name, 0), name
        if rounds:
            check_rounds(store, name, rounds)
    head = store.reader.session(key("a")).commit_seq
    assert head >= progress.commit_seq
    logged = store.reader.log_after(0, head, 10**9)
    assert logged is not None
    assert len(logged) == sum(rounds_in(store, name) for name in SESSIONS)
    assert len({entry.commit_seq for entry in logged}) == len(logged)


def rounds_in(store: Store, name: str) -> int:
    session = store.reader.session(key(name)).value
    return 0 if session is None or session.title is None else int(session.title.removeprefix("round "))


def check_rounds(store: Store, name: str, rounds: int) -> None:
    loaded = store.reader.load(key(name)).value
    assert loaded is not None
    assert loaded.counters == SessionCounters(rounds, 2 * rounds)
    assert loaded.session.message_version == 2 * rounds
    detail = store.reader.detail(key(name), 200).value
    assert detail is not None
    assert [turn.sequence for turn in detail.turns] == list(range(rounds, 0, -1))
    assert len(detail.interactions) == rounds
    window = store.reader.messages(key(name), MessageQuery(after_version=0, limit=500)).value
    assert window is not None
    wanted = [row for number in range(1, rounds + 1) for row in round_of(name, number).rows[2:4]]
    assert list(window.messages) == wanted
    for number in range(1, rounds + 1):
        assert store.reader.session_claim(key(name), f"c{number}").value is not None
    assert store.reader.session_claim(key(name), f"c{rounds + 1}").value is None
