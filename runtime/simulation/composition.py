"""Composes one daemon of the simulated world, as `runtime.service.daemon` composes the real one.

The same controller, front and transport in the same order, on simulated ports. Nothing here knows how a life ends.
"""

import random
from collections.abc import Callable
from typing import Final

import trio

from runtime.api.authentication import Principal, TokenStore, token_digest
from runtime.api.commit_events import CommitEvents
from runtime.api.frames import CloseCode
from runtime.api.front import Front
from runtime.api.origin_policy import OriginPolicy
from runtime.api.wsproto_transport import serve_client
from runtime.controller import Controller
from runtime.controller_limits import transport_limits
from runtime.controller_ports import ControllerPorts
from runtime.failpoints import failpoints
from runtime.providers.acp.adapter import AcpDescriptor
from runtime.providers.codex.descriptor import CodexDescriptor
from runtime.providers.registry import ProviderRegistry
from runtime.simulation.agent_machine import CODEX_PROGRAM, SimulatedLauncher
from runtime.simulation.disk import LAYER, SimulatedFiles, simulated_layer
from runtime.simulation.network import SimulatedListener
from runtime.simulation.operations import CODEX, DEMO
from runtime.simulation.pipes import on_tick
from runtime.simulation.world import World
from runtime.targets import TargetDefinition
from runtime.wire.rows import ServerInfo
from store.canonical.identifiers import SessionKey, TargetId
from store.commit_log import LogLimits
from store.open import DATABASE_FILE_NAME, Store, StoreOptions, open_store

TOKEN: Final = "simulated"  # noqa: S105 - the front wants one; there is nobody to keep it from
_VERSION: Final = "simulated"


def open_database(world: World) -> Store:
    """The store on the world's disk. Raises what `open_store` raises."""
    simulated_layer()
    limits = world.options.limits
    options = StoreOptions(
        clock_ms=world.clock.now_ms,
        new_store_id=world.identifiers.new_id,
        encode=CommitEvents(limits.max_server_frame_bytes).encode,
        log_limits=LogLimits(
            bytes_max=limits.commit_log_max_bytes,
            count_max=limits.commit_log_max_count,
            age_max_ms=int(limits.commit_log_max_age_seconds * 1000),
        ),
        page_bytes_max=limits.max_page_bytes,
        base_layer=LAYER,
        faults=failpoints,
    )
    return open_store(SimulatedFiles(world.disk, DATABASE_FILE_NAME), options)


class SimulatedDaemon:
    """One composed daemon, ready to run."""

    def __init__(
        self,
        world: World,
        store: Store,
        poisoned: frozenset[SessionKey],
        launcher: SimulatedLauncher,
        chance: random.Random,
    ) -> None:
        self._world = world
        self._chance = chance
        limits = world.options.limits
        ports = ControllerPorts(
            writer=store.inline_writer(self._take_time_to_commit),
            reader=store.reader,
            launcher=launcher,
            registry=ProviderRegistry((AcpDescriptor(_VERSION), CodexDescriptor(_VERSION))),
            targets=(
                TargetDefinition(TargetId(DEMO), "acp", "Demo agent", ("demo-agent",), {}),
                TargetDefinition(TargetId(CODEX), "codex", "Codex", (CODEX_PROGRAM,), {}),
            ),
            program_found=lambda _: True,
            directories=world.directories,
            clock=world.clock,
            identifiers=world.identifiers,
            unanswered=world.options.unanswered,
            poisoned=poisoned,
        )
        server_info = ServerInfo("greenroom", _VERSION, world.identifiers.new_id(), world.clock.now_ms())
        self.controller = Controller(ports, limits, server_info)
        self.front = Front(
            limits=transport_limits(limits),
            authenticator=TokenStore((Principal("first", "admin", token_digest=token_digest(TOKEN)),)),
            origins=OriginPolicy(),
            routes=(),
            serve_client=serve_client,
            handle=self.controller.serve_client,
        )

    async def run(self, listener: SimulatedListener, serving: Callable[[], None], stop: trio.Event) -> None:
        """From the first client to the last. `serving` is called when clients may connect."""
        async with trio.open_nursery() as nursery:
            await nursery.start(self.controller.run)
            async with trio.open_nursery() as clients:
                listener.listen()
                clients.start_soon(listener.serve, self.front.serve)
                serving()
                await stop.wait()
                listener.close()
                await self.controller.stop()
                self.front.close_all(CloseCode.GOING_AWAY, "the daemon stops")
                close_seconds = transport_limits(self._world.options.limits).close_timeout_seconds
                clients.cancel_scope.deadline = trio.current_time() + close_seconds
            nursery.cancel_scope.cancel()

    def left_over(self) -> dict[str, object]:
        """What a daemon that has ended still holds, by its name; nothing of it may be anything."""
        controller = self.controller
        return {
            "sessions": controller.sessions.running(),
            "connections": dict(controller.pool.statistics().connections),
            "locks": controller.locks.holders(),
            "subscriptions": len(controller.hub),
            "sweeper": controller.sweeper.pending(),
            "clients": self.front.statistics().connections,
        }

    async def _take_time_to_commit(self) -> None:
        if self._chance.random() < 0.3:
            await trio.lowlevel.checkpoint()
        else:
            seconds = self._chance.random() * self._world.options.commit_seconds_max
            await trio.sleep_until(on_tick(trio.current_time() + seconds))
