"""A connection pool on scripted processes; at its end nothing may be left."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import trio

from runtime.providers.launch import LaunchSpecification
from runtime.providers.limits import PoolLimits
from runtime.providers.pool import ConnectionPool
from runtime.providers.port import CloseThread, OpenThread
from runtime.providers.registry import ProviderRegistry
from runtime.providers.tenancy import AcquireFailed, ConnectionReference
from runtime.providers.transport import ProcessTransports
from supervisor.resource_sweeper import ResourceSweeper
from tests.doubles.line_provider import LineProvider, RecordingSink, launch, line_agent, prompt, scope
from tests.doubles.scripted_process import Script, ScriptedLauncher


class PoolBench:
    def __init__(
        self, system: trio.Nursery, script: Script, limits: PoolLimits, provider: LineProvider
    ) -> None:
        self.provider = provider
        self.launcher = ScriptedLauncher(system, script)
        self.sweeper = ResourceSweeper(on_abandoned=lambda resource: None)
        self.pressure = 0
        self.on_pressure: Callable[[], None] = lambda: None
        self.pool = ConnectionPool(
            ProviderRegistry([provider]),
            ProcessTransports(self.launcher),
            limits,
            self.sweeper,
            self._feel_pressure,
        )

    def _feel_pressure(self) -> None:
        self.pressure += 1
        self.on_pressure()

    async def acquire(
        self, name: str, specification: LaunchSpecification | None = None, sink: RecordingSink | None = None
    ) -> Tenant:
        sink = sink or RecordingSink()
        return Tenant(name, await self.pool.acquire(specification or launch(), scope(name), sink), sink)

    async def acquire_all(self, names: Iterable[str]) -> list[Tenant]:
        """All at once."""
        tenants: dict[str, Tenant] = {}

        async def one(name: str) -> None:
            tenants[name] = await self.acquire(name)

        async with trio.open_nursery() as nursery:
            for name in names:
                nursery.start_soon(one, name)
        return [tenants[name] for name in names]

    async def try_acquire(self, name: str, specification: LaunchSpecification | None = None) -> str:
        """The code of the failure, or an empty string."""
        try:
            await self.acquire(name, specification)
        except AcquireFailed as failure:
            return failure.error.code
        return ""


class Tenant:
    """A scope that holds a connection."""

    def __init__(self, name: str, reference: ConnectionReference, sink: RecordingSink) -> None:
        self.name = name
        self.reference = reference
        self.sink = sink

    @property
    def pid(self) -> int | None:
        return self.reference.connection.pid

    def open(self) -> bool:
        return self.reference.tell(OpenThread(scope(self.name), "/", {}))

    def prompt(self, turn: str, text: str) -> bool:
        return self.reference.tell(prompt(self.name, turn, text))

    def close_thread(self) -> bool:
        return self.reference.tell(CloseThread(scope(self.name)))

    async def leave(self) -> None:
        self.reference.release()
        await self.reference.wait_gone()


@asynccontextmanager
async def pooled(
    script: Script = line_agent,
    limits: PoolLimits | None = None,
    *,
    sessions_per_connection: int = 1,
    provider: LineProvider | None = None,
) -> AsyncIterator[PoolBench]:
    provider = provider or LineProvider(sessions_per_connection)
    async with trio.open_nursery() as system:
        bench = PoolBench(system, script, limits or PoolLimits(), provider)
        async with trio.open_nursery() as nursery:
            await nursery.start(bench.sweeper.run)
            await nursery.start(bench.pool.run)
            yield bench
            nursery.cancel_scope.cancel()
        statistics = bench.pool.statistics()
        assert (dict(statistics.connections), statistics.scopes) == ({}, 0)
        assert (statistics.waiting, statistics.starts_in_flight) == (0, 0)
        if not bench.sweeper.pending():
            assert bench.launcher.living == []
        system.cancel_scope.cancel()
