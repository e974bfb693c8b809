"""One life of the daemon in the simulated world: started from the disk, recovered, serving, and ended in its way.

It composes the same controller, front and transport as the daemon does, on simulated ports, in the daemon's own order.
A life that is ended from outside is over at once: its epoch is past, so what its tasks still do reaches nobody while
they are cancelled.
"""

import random
from collections.abc import Iterable
from typing import Final

import trio

from runtime.api.authentication import Principal, TokenStore, token_digest
from runtime.api.commit_events import CommitEvents
from runtime.api.frames import CloseCode
from runtime.api.front import Front
from runtime.api.origin_policy import OriginPolicy
from runtime.api.wsproto_transport import serve_client
from runtime.controller import Controller, ControllerPorts
from runtime.controller_limits import transport_limits
from runtime.providers.acp.adapter import AcpDescriptor
from runtime.providers.registry import ProviderRegistry
from runtime.simulation import checkers
from runtime.simulation.contents import read_contents, read_log
from runtime.simulation.disk import LAYER, DiskFault, SimulatedFiles, simulated_layer
from runtime.simulation.disk_model import DiskOperation
from runtime.simulation.history import Violation
from runtime.simulation.operations import TARGET
from runtime.simulation.options import Ending
from runtime.simulation.pipes import on_tick
from runtime.simulation.world import WORKSPACE, World
from runtime.targets import TargetDefinition
from runtime.wire.rows import ServerInfo
from store.canonical.identifiers import SessionKey, TargetId
from store.errors import StoreError
from store.open import DATABASE_FILE_NAME, Store, StoreOptions, open_store

TOKEN: Final = "simulated"  # noqa: S105 - the front wants one; there is nobody to keep it from
_VERSION: Final = "simulated"
_COMMITS_TO_WAIT_FOR: Final = 4
"""Groups that written-behind text may have to wait for, its own included."""


class Life:
    """From opening the database to the end of the last task."""

    def __init__(self, world: World, ending: Ending | None) -> None:
        """`ending` is None for the last life, which lasts until `stop` is set."""
        world.lives += 1
        self.world = world
        self.stop = trio.Event()
        self.serving = trio.Event()
        """Clients may connect."""
        self.clean = True
        """It was not ended from outside, and the disk did it no harm."""
        self._number = world.lives
        self._epoch = world.epoch
        self._ending = ending
        self._operations = 0
        self._over = trio.Event()
        self._watches_before = len(world.watches)
        self._state = world.disk.state
        self._listener = world.network.bind()
        self._launcher = world.machine.launcher()
        self._chance: random.Random = world.chances.source(f"store of life {self._number}")

    @property
    def over(self) -> bool:
        """Whether it was ended from outside: nothing of it counts any more."""
        return self.world.epoch != self._epoch

    async def run(self) -> None:
        """Live; returns when nothing of this life is left."""
        world = self.world
        world.note(f"life {self._number} begins")
        world.errors_matter = not any(self._disk_faults())
        self._state.on_operation = self._count_operation
        self._state.faults.extend(self._disk_faults())
        try:
            store = self._open()
            if store is None:
                return
            try:
                self.reader = store.reader
                if not self.over:
                    self._recover(store)
                if not self.over:
                    await self._serve(store)
            finally:
                self._leave_disk()
                store.close()
        finally:
            self._leave_disk()
            self._listener.close()
        self._nothing_is_left()

    # --- starting ---------------------------------------------------------------------------------------------

    def _open(self) -> Store | None:
        simulated_layer()
        world, limits = self.world, self.world.options.limits
        options = StoreOptions(
            clock_ms=world.clock.now_ms,
            new_store_id=world.identifiers.new_id,
            encode=CommitEvents(limits.max_server_frame_bytes).encode,
            page_bytes_max=limits.max_page_bytes,
            base_layer=LAYER,
        )
        try:
            return open_store(SimulatedFiles(world.disk, DATABASE_FILE_NAME), options)
        except StoreError as error:
            self._start_refused(error)
            return None

    def _recover(self, store: Store) -> None:
        world = self.world
        try:
            recovery = store.recover()
        except StoreError as error:
            self._start_refused(error)
            self.world.epoch += 1  # the daemon says why and exits
            return
        if self.over:
            return
        contents = read_contents(store.reader, WORKSPACE)
        for logged in read_log(store.reader, max(world.log, default=0)):
            world.log[logged.commit_seq] = logged
        world.note(f"life {self._number} settled {recovery.sessions_settled} sessions")
        if recovery.quarantined:
            self._violated([Violation("every session can be recovered", str(recovery.quarantined))])
        self._poisoned: frozenset[SessionKey] = frozenset(
            poisoned.session_key for poisoned in recovery.quarantined
        )
        self._violated(checkers.nothing_is_open(contents, "after a restart"))
        self._violated(checkers.acknowledged_is_durable(world.history, contents))
        self._violated(checkers.told_only_what_is_marked(world.machine.notes, contents))
        self._violated(checkers.streamed_text_survives(world.written_behind, contents))
        world.written_behind.clear()
        self._violated(checkers.rows_agree_with_log(contents, world.log))
        self._violated(checkers.published_is_durable(world.watches, world.log))

    def _start_refused(self, error: StoreError) -> None:
        self.world.note(f"life {self._number} cannot start: {error}")
        if not any(fault.fired for fault in self._state.faults) and not self.over:
            self._violated([Violation("the daemon starts", str(error))])

    # --- serving ----------------------------------------------------------------------------------------------

    async def _serve(self, store: Store) -> None:
        world, limits = self.world, self.world.options.limits
        ports = ControllerPorts(
            writer=store.inline_writer(self._commit_latency),
            reader=store.reader,
            launcher=self._launcher,
            registry=ProviderRegistry((AcpDescriptor(_VERSION),)),
            targets=(TargetDefinition(TargetId(TARGET), "acp", "Demo agent", ("demo-agent",), {}),),
            program_found=lambda _: True,
            directories=world.directories,
            clock=world.clock,
            identifiers=world.identifiers,
            poisoned=self._poisoned,
        )
        instance_id = world.identifiers.new_id()
        self.controller = Controller(
            ports, limits, ServerInfo("greenroom", _VERSION, instance_id, world.clock.now_ms())
        )
        self.front = Front(
            limits=transport_limits(limits),
            authenticator=TokenStore((Principal("first", "admin", token_digest=token_digest(TOKEN)),)),
            origins=OriginPolicy(),
            routes=(),
            serve_client=serve_client,
            handle=self.controller.serve_client,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._end_when_due)
            nursery.start_soon(self._cancel_when_over, nursery.cancel_scope)
            await self._run_daemon(self.controller, self.front)
            nursery.cancel_scope.cancel()

    async def _run_daemon(self, controller: Controller, front: Front) -> None:
        """As the daemon does it (`runtime.service.daemon`)."""
        async with trio.open_nursery() as nursery:
            await nursery.start(controller.run)
            async with trio.open_nursery() as clients:
                self._listener.listen()
                clients.start_soon(self._listener.serve, front.serve)
                self.serving.set()
                await self.stop.wait()
                self.world.note(f"life {self._number} stops")
                self._listener.close()
                await controller.stop()
                front.close_all(CloseCode.GOING_AWAY, "the daemon stops")
                close_seconds = transport_limits(self.world.options.limits).close_timeout_seconds
                clients.cancel_scope.deadline = trio.current_time() + close_seconds
            nursery.cancel_scope.cancel()

    async def _commit_latency(self) -> None:
        most = self.world.options.commit_seconds_max
        if self._chance.random() < 0.3:
            await trio.lowlevel.checkpoint()
        else:
            await trio.sleep_until(on_tick(trio.current_time() + self._chance.random() * most))

    # --- ending -----------------------------------------------------------------------------------------------

    async def _end_when_due(self) -> None:
        if self._ending is None:
            return
        await trio.sleep(self._ending.after_seconds)
        if self._ending.kind == "clean_stop":
            self.world.faults["clean stop"] += 1
            self.stop.set()
        elif not self.over:
            self._end_now("at rest")

    async def _cancel_when_over(self, scope: trio.CancelScope) -> None:
        await self._over.wait()
        scope.cancel()

    def _count_operation(self, operation: DiskOperation) -> None:
        """The disk has done something, in the middle of what the database does."""
        ending = self._ending
        serves = self.serving.is_set()
        if ending is None or self.over or ending.while_starting == serves:
            return
        self._operations += 1
        if ending.at_operation == self._operations:
            self._end_now("in a commit" if serves else "in a start")

    def _end_now(self, where: str) -> None:
        assert self._ending is not None
        assert self._ending.kind != "clean_stop"
        self.world.faults[f"{self._ending.kind.replace('_', ' ')} {where}"] += 1
        self.clean = False
        self._state.on_operation = None
        self._remember_written_text()
        self.world.end_life(self._ending.kind, self._listener, self._launcher)
        self._over.set()

    def _remember_written_text(self) -> None:
        """What somebody had heard early enough for it to be written by now (promise 4)."""
        world = self.world
        if not self.serving.is_set() or any(self._disk_faults()):
            return
        options = world.options
        written_by = (
            trio.current_time()
            - options.limits.write_behind_ms / 1000
            - _COMMITS_TO_WAIT_FOR * (options.commit_seconds_max)
        )
        for watch in world.watches[self._watches_before :]:
            for name, text in watch.heard_until(written_by).items():
                world.written_behind[name] = max(world.written_behind.get(name, ""), text, key=len)

    def _leave_disk(self) -> None:
        for fault in self._state.faults:
            if fault.fired:
                self.world.faults[f"disk {fault.call} {fault.kind}"] += fault.fired
        self._state.faults.clear()
        self._state.on_operation = None

    # --- checking ---------------------------------------------------------------------------------------------

    def _disk_faults(self) -> Iterable[DiskFault]:
        for trouble in self.world.options.disk:
            if trouble.life == self._number and self._ending is not None:
                yield DiskFault(trouble.call, trouble.nth, trouble.kind)

    def _violated(self, violations: Iterable[Violation]) -> None:
        for violation in violations:
            self.world.history.violated(violation.promise, f"life {self._number}: {violation.detail}")

    def _nothing_is_left(self) -> None:
        controller = getattr(self, "controller", None)
        if controller is None:
            return
        left = {
            "sessions": controller.sessions.running(),
            "connections": dict(controller.pool.statistics().connections),
            "locks": controller.locks.holders(),
            "subscriptions": len(controller.hub),
            "sweeper": controller.sweeper.pending(),
            "clients": self.front.statistics().connections,
        }
        if self.clean:
            left["processes"] = [
                process.label for process in self._launcher.processes if process.exited is None
            ]
        for what, found in left.items():
            if found:
                self._violated([Violation("nothing is left of a life", f"{what}: {found}")])
