"""A session that is set aside: it answers, it is named, it keeps nobody waiting, and it can come back."""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
import trio
import trio.testing

from runtime.actors.activities import ActivityRegistry
from runtime.actors.session import SessionActor, SessionServices
from runtime.actors.session_cells import SessionCells
from runtime.actors.tails import TailRegistry
from runtime.lifecycle import inputs as i
from runtime.lifecycle.live_tail import TailLimits
from runtime.lifecycle.state import Policy
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import a_claim
from store.canonical.change import NotCommitted, Unit, UnitOutcome
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from store.open import Store
from store.port import StoreWriter
from supervisor import Directory
from supervisor.cell import CellPolicy
from supervisor.mailbox import MailboxLimits
from tests.store.builders import key, open_in, session_row, turn_row, unit, written

KEY = key("a")


@attrs.define(eq=False)
class Sink:
    """Keeps the outcome of one command."""

    outcomes: list[object] = attrs.field(factory=list)

    def deliver(self, outcome: object, commit_seq: int) -> None:
        self.outcomes.append(outcome)

    def refuse(self, refusal: Refusal) -> None:
        self.outcomes.append(refusal.code)


class Stand:
    """Whatever else an actor has; nothing of it is asked here."""

    def publish_activity(self, *_: object) -> None:
        pass

    def now_ms(self) -> int:
        return 1

    def new_id(self) -> str:
        return "id"


def stage(store: Store) -> tuple[SessionActor, ActivityRegistry]:
    cells, services = cells_on(store, store.threaded_writer())
    return SessionActor(cells.make(KEY), services), services.activities


def cells_on(store: Store, writer: StoreWriter) -> tuple[SessionCells, SessionServices]:
    services = SessionServices(
        writer=writer,
        reader=store.reader,
        hub=Stand(),  # type: ignore[arg-type]
        activities=ActivityRegistry(),
        tails=TailRegistry(TailLimits()),
        clock=Stand(),
        identifiers=Stand(),
        policy=Policy(),
        target_refusal=lambda _: None,
        target_settings=lambda target_id: {},
        offered_efforts=lambda _, model: None,
        count=lambda _: None,
        post=Stand(),  # type: ignore[arg-type]
    )
    limits = MailboxLimits(messages_max=10, bytes_max=10_000)
    return SessionCells(services, Stand(), lambda *_: None, limits, CellPolicy()), services  # type: ignore[arg-type]


@attrs.define(eq=False)
class Refusing:
    """A writer that takes nothing, each time with the same word."""

    code: str
    head_commit_seq: int = 0

    def submit(self, refused: Unit, complete: Callable[[UnitOutcome], None]) -> None:
        complete(NotCommitted(refused, self.code, "refused"))


def spoil(store: Store, statement: str) -> None:
    store.committer.connection.execute(statement)


async def ask(actor: SessionActor, turn: str = "t1") -> list[object]:
    sink = Sink()
    actor.receive(i.RequestCancel(sink, TurnId(turn)))
    await actor.flush()
    return sink.outcomes


@pytest.fixture
def store(tmp_path: Path) -> Store:
    one = open_in(tmp_path)
    written(
        one, unit("a", session_row("a"), turn_row("a", phase="settled", outcome="completed", settled_at=5))
    )
    return one


@pytest.mark.case("FC-40", "FC-49")
async def test_session_that_cannot_be_loaded_is_set_aside_at_once_and_comes_back_when_mended(
    store: Store,
) -> None:
    spoil(store, "UPDATE sessions SET settings = 'no json'")
    actor, activities = stage(store)
    await actor.start()
    assert await ask(actor) == ["session.quarantined"]
    assert activities.quarantined() == (KEY,)
    assert actor.may_passivate(), "a command is not waited for"

    spoil(store, "UPDATE sessions SET settings = '{}'")
    again = SessionActor(actor._cell, actor._services)
    await again.start()
    assert activities.quarantined() == ()
    [reply] = await ask(again)
    assert reply != "session.quarantined"
    store.close()


async def test_session_in_quarantine_stays_until_the_daemon_stops(store: Store) -> None:
    actor, activities = stage(store)
    quarantined = SessionActor(actor._cell, actor._services, quarantined=True)
    await quarantined.start()
    assert activities.quarantined() == (KEY,)
    assert not quarantined.may_passivate()
    quarantined.receive(i.Shutdown())
    await quarantined.flush()
    assert quarantined.may_passivate(), "a clean stop would wait for it"
    store.close()


@pytest.mark.case("FC-40")
async def test_row_that_cannot_be_read_costs_the_command_that_named_it(store: Store) -> None:
    written(store, unit("a", turn_row("a", "t2", 2, phase="settled", outcome="completed", settled_at=6)))
    spoil(store, "UPDATE turns SET timings = '[' WHERE turn_id = 't1'")
    actor, activities = stage(store)
    await actor.start()
    assert await ask(actor, "t1") == ["session.quarantined"]
    [reply] = await ask(actor, "t2")
    assert reply != "session.quarantined"
    assert activities.quarantined() == ()
    store.close()


@pytest.mark.case("FC-34", "FC-49")
@pytest.mark.parametrize(
    ("code", "outcomes"),
    [("store.full", ["store.full"] * 6), ("internal", [*["internal"] * 4, *["session.quarantined"] * 2])],
)
async def test_full_disk_never_sets_a_session_aside_as_a_fault_does(
    store: Store, code: str, outcomes: list[str], autojump_clock: object
) -> None:
    cells, _ = cells_on(store, Refusing(code))  # type: ignore[arg-type]
    told: list[object] = []
    async with Directory(cells.make) as directory:
        for number in range(6):
            sink = Sink()
            prompt = i.Prompt((TextBlock("hello"),), None)
            directory.reference(KEY).put(i.SendPrompt(sink, i.Submission(a_claim(f"c{number}"), prompt)))
            await trio.testing.wait_all_tasks_blocked()
            told += sink.outcomes
    assert told == outcomes
    store.close()
