"""Both writers group what waits, tell it in commit order in one step, and forget nobody."""

import threading
from collections.abc import Callable
from typing import Any

import apsw
import attrs
import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from store.canonical.attachment import Attachment, AttachmentNotStored, AttachmentStored
from store.canonical.change import Committed, NotCommitted, OutcomeUnknown, SessionRemoved, Unit, UnitOutcome
from store.group import GroupResult
from store.inline_writer import InlineWriter
from store.open import Store
from store.writer import QueuedWriter, ThreadedWriter
from tests.store.builders import (
    W,
    key,
    message_row,
    open_in,
    piece,
    recorder,
    session_row,
    turn_row,
    unit,
    write,
    written,
)


async def at_once() -> None:
    """The latency of a very fast disk."""
    await trio.lowlevel.checkpoint()


MAKERS: dict[str, Callable[[Store], QueuedWriter]] = {
    "threaded": lambda store: store.threaded_writer(),
    "inline": lambda store: store.inline_writer(at_once),
}


@pytest.fixture(params=MAKERS)
def make_writer(request: pytest.FixtureRequest, store: Store) -> Callable[[], QueuedWriter]:
    return lambda: MAKERS[request.param](store)


async def test_everything_waiting_goes_into_one_group(make_writer, store: Store, nursery):
    writer = make_writer()
    told: list[Any] = []
    for name in "abc":
        writer.submit(unit(name, session_row(name)), recorder(told))
    groups = count_groups(store)
    await nursery.start(writer.run)
    await writer.drain()
    assert [outcome.commit_seq for outcome in told] == [1, 2, 3]
    assert groups == [3]
    assert writer.head_commit_seq == 3


@pytest.mark.rule("ST-003")
async def test_a_group_is_told_in_commit_order_in_one_step(make_writer, nursery):
    """A task that wakes for the first outcome finds all of them told: nothing ran in between."""
    writer = make_writer()
    told: list[Any] = []
    first_told = trio.Event()

    def complete(outcome: UnitOutcome) -> None:
        told.append(outcome)
        first_told.set()

    for number in range(20):
        writer.submit(unit(f"s{number}", session_row(f"s{number}")), complete)
    await nursery.start(writer.run)
    await first_told.wait()
    assert [outcome.commit_seq for outcome in told] == list(range(1, 21))


@pytest.mark.rule("ST-003")
async def test_an_observer_that_raises_stops_nobody_and_undoes_nothing(make_writer, store: Store, nursery):
    writer = make_writer()
    told: list[Any] = []

    def careless(_outcome: UnitOutcome) -> None:
        raise KeyError("a bug in an observer")

    writer.submit(unit("a", session_row("a")), careless)
    writer.submit(unit("b", session_row("b")), recorder(told))
    with capture_logs() as logs:
        await nursery.start(writer.run)
        await writer.drain()
    assert [type(outcome) for outcome in told] == [Committed]
    assert store.reader.session(key("a")).value is not None
    assert writer.head_commit_seq == 2
    assert [entry["event"] for entry in logs] == ["store.completion_failed", "store.completion_failed_again"]


@pytest.mark.rule("ST-003")
@pytest.mark.case("FC-49")
async def test_who_could_not_be_told_is_told_that_nothing_is_known(make_writer, store: Store, nursery):
    writer = make_writer()
    told: list[Any] = []

    def half_way(outcome: Any) -> None:
        told.append(outcome)
        if len(told) == 1:
            raise KeyError("a bug in an observer")

    writer.submit(unit("a", session_row("a")), half_way)
    await nursery.start(writer.run)
    await writer.drain()
    committed, unknown = told
    assert isinstance(committed, Committed)
    assert (type(unknown), unknown.code) == (OutcomeUnknown, "internal")
    told.clear()
    writer.submit_together([unit("a", session_row("a")), unit("b", session_row("b"))], half_way)
    await writer.drain()
    assert [[type(one) for one in outcomes] for outcomes in told] == [[Committed] * 2, [OutcomeUnknown] * 2]
    told.clear()
    writer.submit_pieces([piece("a", "m", 0, "abc")], half_way)
    await writer.drain()
    assert told == [True, False]
    assert store.reader.session(key("b")).value is not None


async def test_text_written_behind_is_in_the_group_of_its_place(make_writer, store: Store, nursery):
    writer = make_writer()
    told: list[Any] = []
    streaming = message_row("s", "m", 1, 1, "", status="streaming", delta_seq=0)
    writer.submit(unit("s", session_row("s"), streaming), recorder(told))
    writer.submit_pieces([piece("s", "m", 0, "abc"), piece("s", "m", 3, "de")], recorder(told))
    groups = count_groups(store)
    await nursery.start(writer.run)
    await writer.drain()
    assert groups == [2]
    assert told[1] is True
    (message,) = store.reader.load(key("s")).value.streaming_messages
    assert (message.content[0].text, message.delta_seq) == ("abcde", 5)
    assert writer.head_commit_seq == 1


async def test_what_is_submitted_while_a_group_is_told_goes_into_the_next(make_writer, nursery):
    writer = make_writer()
    told: list[Any] = []

    def go_on(outcome: UnitOutcome) -> None:
        told.append(outcome)
        if len(told) < 4:
            writer.submit(unit("s", session_row("s")), go_on)

    writer.submit(unit("s", session_row("s")), go_on)
    await nursery.start(writer.run)
    await writer.drain()
    assert [outcome.commit_seq for outcome in told] == [1, 2, 3, 4]


async def test_a_cancelled_writer_finishes_what_is_under_way_and_refuses_what_waits(
    make_writer, store: Store
):
    writer = make_writer()
    told: dict[str, Any] = {}

    def note(name: str) -> Callable[[UnitOutcome], None]:
        return lambda outcome: told.update({name: outcome})

    async with trio.open_nursery() as nursery:
        await nursery.start(writer.run)
        original = store.committer.commit

        def one_more_and_stop() -> None:
            writer.submit(unit("b", session_row("b")), note("b"))
            nursery.cancel_scope.cancel()

        def commit(jobs: Any) -> GroupResult:
            if isinstance(writer, ThreadedWriter):
                trio.from_thread.run_sync(one_more_and_stop)
            else:
                one_more_and_stop()
            return original(jobs)

        store.committer.commit = commit  # type: ignore[method-assign]
        writer.submit(unit("a", session_row("a")), note("a"))
        await trio.sleep_forever()
    assert isinstance(told["a"], Committed)
    assert told["b"].code == "store.unavailable"
    assert store.reader.session(key("b")).value is None

    writer.submit(unit("c", session_row("c")), note("c"))
    assert told["c"].code == "store.unavailable"
    assert store.reader.session(key("c")).value is None


async def test_a_writer_started_again_goes_on_where_it_was(make_writer, store: Store):
    """An error that nobody foresaw ends the writer; its supervisor starts it again, and everybody is told."""

    class Unforeseen(Exception):
        pass

    writer = make_writer()
    told: list[Any] = []

    def end_of_the_world(outcome: UnitOutcome) -> None:
        told.append(outcome)
        raise Unforeseen

    writer.submit(unit("a", session_row("a")), end_of_the_world)
    writer.submit(unit("b", session_row("b")), recorder(told))
    with pytest.raises(Unforeseen):
        await writer.run()
    async with trio.open_nursery() as nursery:
        await nursery.start(writer.run)
        writer.submit(unit("c", session_row("c")), recorder(told))
        await writer.drain()
        nursery.cancel_scope.cancel()
    assert [outcome.commit_seq for outcome in told] == [1, 2, 3]
    assert writer.epoch == 0


async def test_an_error_within_a_group_makes_its_outcome_unknown(make_writer, store: Store):
    writer = make_writer()
    told: list[Any] = []
    original = store.committer.commit

    def break_down(_jobs: Any) -> GroupResult:
        store.committer.commit = original  # type: ignore[method-assign]
        raise MemoryError

    store.committer.commit = break_down  # type: ignore[method-assign]
    writer.submit(unit("a", session_row("a")), recorder(told))
    with pytest.raises(MemoryError):
        await writer.run()
    assert [type(outcome) for outcome in told] == [OutcomeUnknown]
    assert writer.epoch == 1


@pytest.mark.case("FC-48")
async def test_other_blocking_work_does_not_hold_the_writer_up(store: Store, nursery):
    writer = store.threaded_writer()
    await nursery.start(writer.run)
    told: list[Any] = []
    limiter = trio.to_thread.current_default_thread_limiter()
    hogs = [object() for _ in range(int(limiter.total_tokens))]
    for hog in hogs:
        limiter.acquire_on_behalf_of_nowait(hog)
    try:
        writer.submit(unit("s", session_row("s")), recorder(told))
        await writer.drain()
    finally:
        for hog in hogs:
            limiter.release_on_behalf_of(hog)
    assert [type(outcome) for outcome in told] == [Committed]


async def test_an_idle_writer_empties_the_write_ahead_log(store: Store, nursery, autojump_clock):
    writer = store.inline_writer(at_once)
    await nursery.start(writer.run)
    writer.submit(unit("s", session_row("s")), lambda _: None)
    await writer.drain()
    assert writer.health().wal_bytes > 0
    await trio.sleep(10)
    assert writer.health().wal_bytes == 0
    assert writer.health().state == "ok"


async def test_a_group_that_never_ends_shows_in_health(store: Store, nursery, autojump_clock):
    async def hang() -> None:
        await trio.sleep_forever()

    writer = store.inline_writer(hang)
    await nursery.start(writer.run)
    writer.submit(unit("s", session_row("s")), lambda _: None)
    await trio.sleep(60)
    assert writer.health().state == "failing"
    nursery.cancel_scope.cancel()


async def test_cancelled_before_it_wrote_a_writer_says_so(store: Store, autojump_clock):
    async def hang() -> None:
        await trio.sleep_forever()

    writer: InlineWriter = store.inline_writer(hang)
    told: list[Any] = []
    with trio.move_on_after(1):
        writer.submit(unit("s", session_row("s")), recorder(told))
        await writer.run()
    assert [type(outcome) for outcome in told] == [NotCommitted]
    assert writer.epoch == 0


async def test_a_reader_in_a_transaction_never_blocks_a_writer(store: Store, nursery):
    written(store, unit("s", session_row("s")))
    outsider = apsw.Connection(
        store.committer.connection.filename, flags=apsw.SQLITE_OPEN_READONLY, vfs="cksmvfs"
    )
    outsider.execute("BEGIN; SELECT count(*) FROM sessions").fetchall()
    assert isinstance(write(store, unit("t", session_row("t"))).outcomes[0], Committed)
    store.committer.rest()  # the checkpoint must not wait for it either
    assert outsider.execute("SELECT count(*) FROM sessions").get == 1
    outsider.execute("COMMIT")
    outsider.close()
    store.committer.rest()
    assert store.committer.health(0).wal_bytes == 0


async def test_units_together_are_told_at_once_and_the_head_is_the_last_of_them(make_writer, nursery):
    writer = make_writer()
    told: list[Any] = []
    writer.submit(unit("a", session_row("a")), recorder(told))
    writer.submit_together([unit("b", session_row("b")), unit("c", session_row("c"))], recorder(told))
    bad = unit("d", turn_row("d"))
    writer.submit_together([unit("e", session_row("e")), bad], recorder(told))
    await nursery.start(writer.run)
    await writer.drain()
    first, together, refused = told
    assert isinstance(first, Committed)
    assert [outcome.commit_seq for outcome in together] == [2, 3]
    assert [outcome.code for outcome in refused] == ["internal", "internal"]
    assert writer.head_commit_seq == 3
    assert writer.figures.refused == {"internal": 1}


async def test_pictures_that_wait_are_bounded_and_go_in_their_place(make_writer, store: Store, nursery):
    writer = make_writer()
    told: list[Any] = []
    for name in ("one", "two", "three"):
        picture = Attachment(W, name, "image/png", 1, name.encode() * 20)
        writer.submit_attachment(picture, 130, recorder(told))
    assert told == [AttachmentNotStored("overloaded")], "said at once, without waiting for the disk"
    await nursery.start(writer.run)
    await writer.drain()
    assert told[1:] == [AttachmentStored("one"), AttachmentStored("two")]
    for _ in range(2):
        writer.submit_expiry(99)
        await writer.drain()
    assert store.reader.attachment(W, "one").value is None


async def test_an_idle_writer_takes_all_away_that_was_purged(store: Store, nursery, autojump_clock):
    rows = [message_row("a", f"m{n}", n, n) for n in range(1, 2_000)]
    written(store, unit("a", session_row("a"), *rows))
    writer = store.inline_writer(at_once)
    told: list[Any] = []
    [row] = store.reader.tree(key("a")).value
    removal = SessionRemoved(attrs.evolve(row, deleted_at=5))
    removed = Unit(row.key, row.agent_session_id, (removal,), session_state=None)
    writer.submit_together([removed], recorder(told))
    writer.submit_together([attrs.evolve(removed, rows=(), purges=True)], recorder(told))
    await nursery.start(writer.run)
    await writer.drain()
    assert [isinstance(outcome, Committed) for (outcome,) in told] == [True, True]
    while store.committer.is_cleaning:
        await trio.testing.wait_all_tasks_blocked()
    assert store.committer.connection.execute("SELECT count(*) FROM messages").get == 0
    assert writer.health().state == "ok"


def count_groups(store: Store) -> list[int]:
    """How many jobs each group had, filled as they are written."""
    sizes: list[int] = []
    original = store.committer.commit

    def counted(jobs: Any) -> GroupResult:
        sizes.append(len(jobs))
        return original(jobs)

    store.committer.commit = counted  # type: ignore[method-assign]
    return sizes


async def test_a_commit_that_outlasts_its_grace_is_abandoned_as_unknown(tmp_path, monkeypatch):
    """The disk hangs while the service is cancelled: the process can end, and nobody is told a wrong thing."""
    monkeypatch.setattr("store.writer.COMMIT_GRACE_SECONDS", 0.0)
    store = open_in(tmp_path)
    writer = store.threaded_writer()
    told: list[Any] = []
    disk_hangs, thread_is_done = threading.Event(), trio.Event()
    loop = trio.lowlevel.current_trio_token()
    original = store.committer.commit

    def hang(jobs: Any) -> GroupResult:
        trio.from_thread.run_sync(nursery.cancel_scope.cancel)
        disk_hangs.wait(timeout=60)
        try:
            return original(jobs)
        finally:
            loop.run_sync_soon(thread_is_done.set)

    store.committer.commit = hang  # type: ignore[method-assign]
    async with trio.open_nursery() as nursery:
        await nursery.start(writer.run)
        writer.submit(unit("s", session_row("s")), recorder(told))
        await trio.sleep_forever()
    assert [type(outcome) for outcome in told] == [OutcomeUnknown]
    assert (writer.epoch, writer.abandoned) == (1, True)
    store.close()  # leaves the connection to the thread that still uses it

    disk_hangs.set()
    await thread_is_done.wait()
    while writer.abandoned:
        await trio.lowlevel.checkpoint()
    store.committer.close()
    again = open_in(tmp_path)
    assert again.reader.session(key("s")).value is not None, "unknown, and in fact durable"
    again.close()
