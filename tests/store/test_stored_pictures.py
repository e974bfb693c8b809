"""Attachments in the store: once by content, tied to who shows them in the unit that shows them, gone when unused."""

from pathlib import Path

import attrs
import pytest

from store.canonical.attachment import Attachment, AttachmentNotStored, AttachmentOutcome, AttachmentStored
from store.canonical.change import NotCommitted, SessionRemoved, Unit
from store.canonical.identifiers import SessionId, WorkspaceId
from store.canonical.message import ImageBlock
from store.group import AttachmentJob, ExpiryJob, UnitsJob
from store.open import Store
from tests.store.builders import W, ignore, key, message_row, open_in, session_row, unit, write, written


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = open_in(tmp_path)
    written(opened, unit("a", session_row("a")), unit("b", session_row("b")))
    return opened


def picture(name: str, data: bytes = b"data", created_at: int = 1_000, workspace: str = "w") -> Attachment:
    return Attachment(WorkspaceId(workspace), name, "image/png", created_at, data)


def put(store: Store, attachment: Attachment, unused_bytes_max: int = 1_000) -> AttachmentOutcome:
    [outcome] = store.committer.commit([AttachmentJob(attachment, unused_bytes_max, ignore)]).outcomes
    assert isinstance(outcome, AttachmentStored | AttachmentNotStored)
    return outcome


def expire(store: Store, put_before: int) -> None:
    store.committer.commit([ExpiryJob(put_before, ignore)])


def shows(session: str, name: str, number: int = 1) -> Unit:
    block = ImageBlock("image/png", 4, name)
    return unit(session, message_row(session, f"m{number}", number, number, content=(block,)))


def kept(store: Store, *names: str) -> list[bool]:
    return [store.reader.attachment(W, name).value is not None for name in names]


def purge(store: Store, session: str) -> None:
    [row] = store.reader.tree(key(session)).value
    removal = SessionRemoved(attrs.evolve(row, deleted_at=5_000))
    removed = Unit(row.key, row.agent_session_id, (removal,), session_state=None)
    for one in (removed, attrs.evolve(removed, rows=(), purges=True)):
        store.committer.commit([UnitsJob((one,), ignore)])
    while store.committer.is_cleaning:
        store.committer.upkeep()


def test_equal_content_has_one_id_in_its_workspace_and_its_time_begins_anew(store: Store) -> None:
    assert put(store, picture("one")) == AttachmentStored("one")
    assert put(store, picture("two", created_at=9_000)) == AttachmentStored("one")
    assert put(store, picture("three", b"other")) == AttachmentStored("three")
    assert put(store, picture("four", workspace="x")) == AttachmentStored("four")
    expire(store, 9_000)
    assert kept(store, "one", "two", "three") == [True, False, False]


def test_a_unit_that_shows_what_is_not_there_leaves_nothing(store: Store) -> None:
    put(store, picture("elsewhere", workspace="x"))
    for name in ("unknown", "elsewhere"):
        [outcome] = write(store, shows("a", name)).outcomes
        assert isinstance(outcome, NotCommitted)
        assert outcome.code == "attachment.not_found"
    assert store.reader.session(key("a")).value == session_row("a")


@pytest.mark.rule("RT-137")
def test_what_is_shown_stays_and_is_found_through_who_shows_it_alone(store: Store) -> None:
    put(store, picture("one"))
    written(store, shows("a", "one"))
    expire(store, 99_000)
    assert kept(store, "one") == [True]
    assert store.reader.attachment(W, "one", SessionId("a")).value == picture("one")
    assert store.reader.attachment(W, "one", SessionId("b")).value is None
    assert store.reader.attachment(WorkspaceId("x"), "one").value is None


@pytest.mark.rule("ST-029")
def test_it_goes_with_the_last_session_that_shows_it(store: Store) -> None:
    put(store, picture("one"))
    written(store, shows("a", "one"), shows("b", "one"))
    purge(store, "a")
    expire(store, 99_000)
    assert kept(store, "one") == [True]
    purge(store, "b")
    expire(store, 99_000)
    assert kept(store, "one") == [False]


@pytest.mark.rule("ST-030")
def test_the_budget_of_deleted_sessions_counts_their_pictures(store: Store) -> None:
    put(store, picture("one", bytes(5_000)), 10_000)
    written(store, shows("a", "one"))
    [row] = store.reader.tree(key("a")).value
    removal = SessionRemoved(attrs.evolve(row, deleted_at=5_000))
    store.committer.commit(
        [UnitsJob((Unit(row.key, row.agent_session_id, (removal,), session_state=None),), ignore)]
    )
    [due] = store.reader.due_deletions(9_000, 0, 10)
    assert due.bytes > 5_000


def test_unused_ones_have_a_bound_together_that_used_ones_leave_free(store: Store) -> None:
    assert put(store, picture("one", bytes(600))) == AttachmentStored("one")
    assert put(store, picture("two", bytes(500))) == AttachmentNotStored("limit.exceeded")
    assert kept(store, "two") == [False]
    written(store, shows("a", "one"))
    assert put(store, picture("two", bytes(500))) == AttachmentStored("two")


def test_dropping_goes_in_small_steps(store: Store) -> None:
    names = [f"p{number}" for number in range(20)]
    for name in names:
        put(store, picture(name, name.encode()))
    expire(store, 99_000)
    assert 0 < sum(kept(store, *names)) < 20
    for _ in range(3):
        expire(store, 99_000)
    assert sum(kept(store, *names)) == 0
