"""One provider connection on scripted processes, with an owner that writes down what it is told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from runtime.providers.connection import ProviderConnection
from runtime.providers.launch import LaunchSpecification
from runtime.providers.limits import ConnectionLimits
from runtime.providers.port import Learned, OpenThread, ProviderAdapter, Scope
from runtime.providers.transport import ProcessTransports
from store.canonical.common import TurnError
from supervisor.resource_sweeper import CloseResource
from tests.doubles.line_provider import LineAdapter, RecordingSink, launch, line_agent, scope
from tests.doubles.scripted_process import Script, ScriptedLauncher, ScriptedProcess


class Owner:
    def __init__(self) -> None:
        self.starts: list[TurnError | None] = []
        self.lost_scopes: list[Scope] = []
        self.failed_closes: list[tuple[str, CloseResource]] = []
        self.told: list[Learned] = []

    def connection_started(self, connection: ProviderConnection) -> None:
        self.starts.append(connection.start_error)

    def scope_lost(self, connection: ProviderConnection, scope: Scope) -> None:
        self.lost_scopes.append(scope)

    def learned(self, connection: ProviderConnection, told: Learned) -> None:
        self.told.append(told)

    def close_failed(self, name: str, close: CloseResource) -> None:
        self.failed_closes.append((name, close))


class Bench:
    def __init__(
        self,
        system: trio.Nursery,
        script: Script,
        limits: ConnectionLimits,
        make_adapter: Callable[[], ProviderAdapter],
        specification: LaunchSpecification,
    ) -> None:
        self.owner = Owner()
        self.launcher = ScriptedLauncher(system, script)
        self.connection = ProviderConnection(
            specification, make_adapter, ProcessTransports(self.launcher), limits, self.owner
        )

    @property
    def process(self) -> ScriptedProcess:
        return self.launcher.processes[-1]

    async def attach(self, name: str) -> RecordingSink:
        """A scope with its thread asked for, once the connection is ready."""
        await self.connection.started.wait()
        sink = RecordingSink()
        self.connection.attach(scope(name), sink)
        assert self.connection.tell(OpenThread(scope(name), "/", {}))
        return sink


@asynccontextmanager
async def connected(
    script: Script = line_agent,
    limits: ConnectionLimits | None = None,
    make_adapter: Callable[[], ProviderAdapter] = LineAdapter,
    specification: LaunchSpecification | None = None,
    prepare: Callable[[Bench], None] = lambda bench: None,
) -> AsyncIterator[Bench]:
    """Runs a connection; at the end it is stopped, and nothing of it may be left."""
    async with trio.open_nursery() as system:
        bench = Bench(system, script, limits or ConnectionLimits(), make_adapter, specification or launch())
        prepare(bench)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.connection.run)
            yield bench
            bench.connection.stop()
        assert bench.connection.gone.is_set()
        assert bench.connection.scopes == 0
        if not bench.owner.failed_closes:
            assert bench.launcher.living == []
        system.cancel_scope.cancel()
