"""Whatever moment the power fails at: trees are deleted, restored and purged whole, and a purge is taken up again."""

import random
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from runtime.simulation.disk import SimulatedDisk, write_image
from runtime.simulation.disk_model import DiskModel, DiskOperation, Image
from store.canonical.attachment import Attachment
from store.canonical.change import Committed, SessionRemoved, SessionReread, SessionRestored, Unit
from store.canonical.message import ImageBlock
from store.canonical.session import Session
from store.files import LocalFiles
from store.group import AttachmentJob, UnitsJob
from store.open import DATABASE_FILE_NAME, Store, open_store
from tests.store.builders import (
    W,
    child_of,
    claim_row,
    ignore,
    key,
    message_row,
    session_row,
    turn_row,
    unit,
    written,
)
from tests.store.crash_images import open_on, simulated_options

IMAGES = 150
TREES = ("a", "b", "c")
MESSAGES = 120

Shape = tuple[tuple[str, bool], ...]
"""The names of a tree that are there, each with whether it is deleted."""


@attrs.define
class Run:
    """A recording, and at each of its operations what the database may hold: the state told, or the one begun."""

    operations: list[DiskOperation] = attrs.field(factory=list)
    allowed: list[frozenset[tuple[Shape, ...]]] = attrs.field(factory=list)


def fill(store: Store, root: str) -> None:
    """A root with a child, words to search for, claims and a picture."""
    picture = Attachment(W, f"picture-{root}", "image/png", 1, root.encode())
    store.committer.commit([AttachmentJob(picture, 1_000, ignore)])
    settled = turn_row(root, phase="settled", outcome="completed")
    texts = [message_row(root, f"m{n}", n, n, f"harbour {n}", turn_id="t1") for n in range(1, MESSAGES)]
    shown = message_row(
        root,
        "p",
        MESSAGES,
        MESSAGES,
        turn_id="t1",
        content=(ImageBlock("image/png", 1, f"picture-{root}"),),
    )
    claims = (claim_row(root, f"create-{root}", scope="workspace"), claim_row(root, "send"))
    written(store, unit(root, session_row(root, title=root), settled, *texts, shown, claims_added=claims))
    written(store, unit(f"{root}-child", child_of(f"{root}-child", root, root)))


def shapes(store: Store) -> tuple[Shape, ...]:
    return tuple(
        tuple(
            (session.agent_session_id, session.deleted_at is not None)
            for session in store.reader.tree(key(root)).value
        )
        for root in TREES
    )


def units_of(store: Store, root: str, what: str) -> list[Unit]:
    units: list[Unit] = []
    for session in store.reader.tree(key(root)).value:
        match what:
            case "delete":
                units.append(alone(session, SessionRemoved(attrs.evolve(session, deleted_at=9))))
            case "restore":
                back = attrs.evolve(session, deleted_at=None)
                units += [alone(session, SessionRestored(back)), alone(session, SessionReread(back))]
            case _:
                units.append(attrs.evolve(alone(session), purges=True))
    return units


def alone(session: Session, *rows: SessionRemoved | SessionRestored | SessionReread) -> Unit:
    return Unit(session.key, session.root_agent_session_id, rows, session_state=None)


@pytest.fixture(scope="module")
def run() -> Run:
    """One run on a sound disk, from the empty folder on."""
    disk, recorded = SimulatedDisk(), Run()
    disk.state.recording = recorded.operations

    def note(*allowed: tuple[Shape, ...]) -> None:
        missing = len(recorded.operations) - len(recorded.allowed)
        recorded.allowed.extend([frozenset(allowed)] * missing)

    store = open_on(disk)
    for root in TREES:
        fill(store, root)
    note()
    chance = random.Random(3)
    for what, root in [(what, root) for what in ("delete", "restore", "delete", "purge") for root in TREES]:
        before = shapes(store)
        [outcomes] = store.committer.commit([UnitsJob(tuple(units_of(store, root, what)), ignore)]).outcomes
        assert isinstance(outcomes, tuple)
        assert all(isinstance(outcome, Committed) for outcome in outcomes)
        note(before, shapes(store))
        if store.committer.is_cleaning and chance.random() < 0.7:
            store.committer.upkeep()
            note(shapes(store))
        if chance.random() < 0.3:
            store.committer.rest()
            note(shapes(store))
    store.close()
    note(((), (), ()))
    disk.remove()
    return recorded


def cuts(run: Run, seed: int) -> Iterator[tuple[Image, frozenset[tuple[Shape, ...]]]]:
    """About `IMAGES` images of those moments at which it is known what may be there."""
    model = DiskModel()
    every = max(1, len(run.operations) // IMAGES)
    for number, operation in enumerate(run.operations):
        model.apply(operation)
        if number % every == 0 and run.allowed[number]:
            yield model.image_after_cut(random.Random((seed << 24) ^ number)), run.allowed[number]


@pytest.mark.rule("ST-002", "ST-023", "ST-025")
def test_no_cut_leaves_a_part_of_a_deletion_a_restore_or_a_purge(run: Run, tmp_path: Path) -> None:
    checked = 0
    for image, allowed in cuts(run, seed=11):
        for old in tmp_path.iterdir():
            old.unlink()
        write_image(tmp_path, image)
        store = open_store(LocalFiles(tmp_path / DATABASE_FILE_NAME, 0), simulated_options())
        assert store.recover().quarantined == ()
        assert shapes(store) in allowed
        check_what_is_left(store)
        store.close()
        checked += 1
    assert checked > IMAGES // 3


def check_what_is_left(store: Store) -> None:
    """What lives is found and whole, what is deleted is not found, and what was purged goes to its last row."""
    while store.committer.is_cleaning:
        store.committer.upkeep()
    trees = [root for root, shape in zip(TREES, shapes(store), strict=True) if shape]
    living = {root for root in trees if store.reader.session(key(root)).value.deleted_at is None}
    found = store.reader.search(W, "harbour", None, 50).value
    assert {hit.session.agent_session_id for hit in found.items} == living
    counts = {
        table: store.committer.connection.execute(f"SELECT count(*) FROM {table}").get
        for table in ("sessions", "messages", "attachment_uses", "submit_claims")
    }
    assert counts == {
        "sessions": 2 * len(trees),
        "messages": MESSAGES * len(trees),
        "attachment_uses": len(trees),
        "submit_claims": 2 * len(trees),
    }
