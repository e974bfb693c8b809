"""A session's hold on its connections: nothing of it is kept longer than there is a process behind it."""

import attrs
import pytest
import trio

from runtime.actors.links import ConnectionSource, SessionLink
from runtime.lifecycle import inputs as i
from runtime.lifecycle.inputs import merge_inputs
from runtime.providers.normalized import ConnectionLost
from runtime.providers.port import Scope
from runtime.providers.routes import ScopeSink
from runtime.providers.tenancy import ConnectionReference
from runtime.simulation.protocols.rows import a_session
from store.canonical.session import Session
from supervisor.mailbox import Mailbox, MailboxLimits
from tests.doubles.line_provider import launch, scope
from tests.doubles.pool_bench import PoolBench, pooled

SCOPE = scope("a")


@attrs.define
class FromBench(ConnectionSource):
    """The bench's pool as a session sees it."""

    bench: PoolBench

    async def acquire(self, session: Session, scope: Scope, sink: ScopeSink) -> ConnectionReference:
        return await self.bench.pool.acquire(launch(), scope, sink)


class Stage:
    """A link with its mailbox, and what it reported there."""

    def __init__(self, bench: PoolBench, nursery: trio.Nursery) -> None:
        self.mailbox: Mailbox[i.SessionInput] = Mailbox(
            MailboxLimits(messages_max=100, bytes_max=100_000), size=lambda _: 1, merge=merge_inputs
        )
        self.link = SessionLink(FromBench(bench), nursery.start_soon)

    async def reports(self) -> list[i.SessionInput]:
        with trio.fail_after(60):
            await self.mailbox.wait()
        return list(self.mailbox.drain(100))

    async def acquire(self, generation: int) -> None:
        self.link.acquire(generation, a_session(), SCOPE, self.mailbox)
        assert await self.reports() == [i.ConnectionAcquired(generation)]


@pytest.mark.case("FC-30", "FC-49")
async def test_lost_connection_is_held_no_longer(autojump_clock: object) -> None:
    async with pooled() as bench, trio.open_nursery() as nursery:
        stage = Stage(bench, nursery)
        await stage.acquire(1)
        assert len(stage.link.references()) == 1
        [process] = bench.launcher.living
        process.kill_tree()
        [lost] = await stage.reports()
        assert isinstance(lost, i.FromProvider)
        assert isinstance(lost.event, ConnectionLost)
        assert not stage.link.held
        assert stage.link.references() == ()

        await stage.acquire(2)
        assert len(stage.link.references()) == 1
        stage.link.release(2, stage.mailbox)
        assert await stage.reports() == [i.ConnectionReleased(2)]
        assert not stage.link.held


async def test_release_is_reported_when_the_process_is_gone_even_if_it_died_meanwhile(
    autojump_clock: object,
) -> None:
    async with pooled() as bench, trio.open_nursery() as nursery:
        stage = Stage(bench, nursery)
        await stage.acquire(1)
        [process] = bench.launcher.living
        stage.link.release(1, stage.mailbox)
        process.kill_tree()
        reports: list[i.SessionInput] = []
        while i.ConnectionReleased(1) not in reports:
            reports += await stage.reports()
        assert bench.launcher.living == []
        assert not stage.link.held
