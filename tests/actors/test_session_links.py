"""A session's hold on its connection: a session waits for each report, so each comes, whatever fails."""

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest
import structlog
import trio

from runtime.actors.links import SessionLink
from runtime.actors.session_cells import input_size
from runtime.lifecycle import inputs as i
from runtime.lifecycle.inputs import SessionInput, merge_inputs
from runtime.providers.port import Scope
from runtime.providers.tenancy import AcquireFailed
from runtime.simulation.protocols.rows import a_session
from store.canonical.common import TurnError
from supervisor import Mailbox, MailboxLimits

SCOPE = Scope("session", "w", "s")
GONE = TurnError("provider.unavailable", "no such program", "runtime")


@pytest.fixture(autouse=True)
def captured_logs() -> Any:
    with structlog.testing.capture_logs() as logs:
        yield logs


@attrs.define(eq=False)
class Reference:
    """A reference whose giving back may fail."""

    fails: bool = False
    released: int = 0

    def release(self) -> None:
        self.released += 1
        if self.fails:
            raise RuntimeError("a bug")

    async def wait_gone(self) -> None:
        await trio.lowlevel.checkpoint()


@attrs.define(eq=False)
class Source:
    """Gives what it was made with, or raises it; not before it may, and then in spite of a cancel."""

    outcome: object
    may: trio.Event = attrs.field(factory=trio.Event)

    async def acquire(self, *_: object) -> object:
        with trio.CancelScope(shield=True):
            await self.may.wait()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def make_mailbox() -> Mailbox[SessionInput]:
    return Mailbox(MailboxLimits(), size=input_size, merge=merge_inputs)


async def reports(
    outcome: object, act: Callable[[SessionLink, Mailbox[SessionInput]], None] | None = None
) -> list[SessionInput]:
    """What the session is told of acquiring from such a source, and of what `act` then does."""
    mailbox = make_mailbox()
    async with trio.open_nursery() as nursery:

        def spawn(function: Callable[..., Awaitable[None]], *arguments: object) -> None:
            nursery.start_soon(function, *arguments)

        source = Source(outcome)
        link = SessionLink(source, spawn)
        link.acquire(1, a_session(), SCOPE, mailbox)
        source.may.set()
        await trio.testing.wait_all_tasks_blocked()
        if act is not None:
            act(link, mailbox)
    assert not link.held
    return mailbox.drain(10)


async def test_a_connection_that_cannot_be_had_is_told_with_its_reason() -> None:
    assert await reports(AcquireFailed(GONE)) == [i.ConnectionUnavailable(1, GONE)]


async def test_a_bug_on_the_way_to_it_is_told_too(captured_logs: list[Any]) -> None:
    [told] = await reports(ZeroDivisionError("a bug"))
    assert isinstance(told, i.ConnectionUnavailable)
    assert told.error.code == "internal"
    assert [line["log_level"] for line in captured_logs] == ["error"]


@pytest.mark.parametrize("fails", [False, True])
async def test_giving_it_back_is_told_even_when_that_fails(fails: bool) -> None:
    reference = Reference(fails)
    told = await reports(reference, lambda link, mailbox: link.release(1, mailbox))
    assert told == [i.ConnectionAcquired(1), i.ConnectionReleased(1)]
    assert reference.released == 1


async def acquired_while_released(
    act: Callable[[SessionLink, Mailbox[SessionInput]], None],
) -> tuple[Reference, list[SessionInput]]:
    """The connection comes in the step in which it is given up."""
    reference, mailbox = Reference(), make_mailbox()
    async with trio.open_nursery() as nursery:

        def spawn(function: Callable[..., Awaitable[None]], *arguments: object) -> None:
            nursery.start_soon(function, *arguments)

        source = Source(reference)
        link = SessionLink(source, spawn)
        link.acquire(1, a_session(), SCOPE, mailbox)
        await trio.testing.wait_all_tasks_blocked()
        source.may.set()
        act(link, mailbox)
    assert not link.held
    return reference, mailbox.drain(10)


# The scheduler takes the two tasks in any order: each round is another throw.
@pytest.mark.parametrize("round_number", range(12))
async def test_a_connection_that_comes_as_it_is_given_up_is_released(round_number: int) -> None:
    reference, told = await acquired_while_released(lambda link, mailbox: link.release(1, mailbox))
    assert reference.released == 1
    assert told == [i.ConnectionReleased(1)]


async def test_a_connection_that_comes_as_it_is_forced_is_released() -> None:
    reference, told = await acquired_while_released(lambda link, _: link.force(1, "cancel"))
    assert reference.released == 1
    assert told == []
