"""Routes of a connection: order, merging, back-pressure, and the loss said once to each."""

import pytest
import trio
import trio.testing

from runtime.providers.normalized import ConnectionLost, ItemEnded, TextChunk, TurnEnded, TurnRejected
from runtime.providers.port import CloseThread
from runtime.providers.routes import ScopeRoutes
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from tests.doubles.line_provider import RecordingSink, prompt, scope

ERROR = TurnError("provider.lost", "gone", "provider")
A, B = scope("a"), scope("b")


def chunk(text, item="i", turn="t"):
    return TextChunk(TurnId(turn), item, "text", text)


class Routes(ScopeRoutes):
    """With two scopes attached and what was reported kept."""

    def __init__(self):
        self.lost_scopes, self.broken_scopes = [], []
        super().__init__(
            self.lost_scopes.append, lambda scope, fault: self.broken_scopes.append((scope, fault))
        )
        self.a, self.b = RecordingSink(), RecordingSink()
        self.attach(A, self.a)
        self.attach(B, self.b)


@pytest.mark.rule("RT-018")
def test_adjacent_chunks_of_one_scope_arrive_as_one_whatever_other_scopes_say():
    routes = Routes()
    for scope_, event in [
        (A, chunk("1")),
        (B, chunk("x")),
        (A, chunk("2")),
        (A, ItemEnded(TurnId("t"), "i")),
    ]:
        assert routes.collect(scope_, event)
    assert routes.collect(A, chunk("3"))
    assert routes.a.events == []
    routes.flush()
    assert routes.a.events == [chunk("12"), ItemEnded(TurnId("t"), "i"), chunk("3")]
    assert routes.b.events == [chunk("x")]


@pytest.mark.case("FC-24")
def test_nobody_hears_what_belongs_to_no_route():
    routes = Routes()
    routes.detach(A)
    assert not routes.collect(A, chunk("1"))
    assert not routes.collect(scope("c"), chunk("1"))
    routes.flush()
    assert routes.a.events == routes.b.events == []


def test_the_loss_is_said_once_to_each_and_nothing_after_it():
    routes = Routes()
    routes.collect(A, ConnectionLost(ERROR))
    routes.collect(A, chunk("too late"))
    routes.flush()
    routes.lose_all(ERROR)
    routes.lose_all(ERROR)
    assert routes.a.events == routes.b.events == [ConnectionLost(ERROR)]
    assert routes.lost_scopes == [A, B]
    assert len(routes) == 0


@pytest.mark.case("FC-25")
def test_a_sink_that_raises_costs_its_own_route_alone():
    routes = Routes()
    routes.a.fault = LookupError("a bug in the scope")
    routes.collect(A, chunk("1"))
    routes.collect(B, chunk("2"))
    routes.flush()
    assert routes.b.events == [chunk("2")]
    assert routes.broken_scopes == [(A, routes.a.fault)]
    assert A not in routes
    routes.lose_all(ERROR)
    assert routes.b.losses == ["provider.lost"]


@pytest.mark.parametrize(
    ("event", "idle"),
    [
        (TurnEnded(TurnId("t"), "completed"), True),
        (TurnRejected(TurnId("t"), ERROR), True),
        (TurnEnded(TurnId("an older one"), "completed"), False),
    ],
)
def test_a_scope_is_idle_once_its_own_turn_has_ended(event, idle):
    routes = Routes()
    routes.told(prompt("a", "t", "hello"))
    routes.collect(A, event)
    routes.flush()
    routes.lose_idle(ERROR)
    assert list(routes) == ([] if idle else [A])
    assert routes.b.losses == ["provider.lost"]


def test_a_scope_that_closed_its_thread_is_idle():
    routes = Routes()
    routes.told(prompt("a", "t", "hello"))
    routes.told(CloseThread(A))
    assert routes.thread_closed(A)
    assert not routes.thread_closed(B)
    routes.lose_idle(ERROR)
    assert len(routes) == 0


@pytest.mark.rule("RT-018")
async def test_reading_waits_for_every_scope_that_has_too_much(nursery, autojump_clock):
    routes = Routes()
    await routes.wait_below_low_water()
    routes.a.hold()
    routes.b.hold()
    may_read = trio.Event()

    async def read():
        await routes.wait_below_low_water()
        may_read.set()

    nursery.start_soon(read)
    await trio.testing.wait_all_tasks_blocked()
    routes.a.let_go()
    await trio.testing.wait_all_tasks_blocked()
    assert not may_read.is_set()
    routes.b.let_go()
    await may_read.wait()


async def test_a_scope_that_leaves_holds_up_nobody(nursery, autojump_clock):
    routes = Routes()
    routes.a.hold()
    nursery.start_soon(routes.wait_below_low_water)
    await trio.testing.wait_all_tasks_blocked()
    routes.detach(A)
    await trio.testing.wait_all_tasks_blocked()
    assert not nursery.child_tasks - {trio.lowlevel.current_task()}
