"""One life of the daemon in the simulated world: started from the disk, recovered, serving, and ended in its way.

Owns when and how it ends, and what has to hold right after it began and right after it ended. A life that is ended
from outside is over at once: its epoch is past, so what its tasks still do while they are cancelled reaches nobody.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import trio

from runtime.failpoints import failpoints
from runtime.simulation import checkers
from runtime.simulation.composition import SimulatedDaemon, open_database
from runtime.simulation.contents import read_contents
from runtime.simulation.disk import DiskFault
from runtime.simulation.disk_model import DiskOperation
from runtime.simulation.edits import edits_stand
from runtime.simulation.history import Violation
from runtime.simulation.options import Ending, Phase
from runtime.simulation.removals import removals_stand
from runtime.simulation.world import WORKSPACE, World
from store.canonical.identifiers import SessionKey
from store.errors import StoreError
from store.open import Store
from supervisor.failpoints import Arming

_COMMITS_TO_WAIT_FOR: Final = 4
"""Groups that written-behind text may have to wait for, its own included."""
_ENDED_IN: Final[dict[Phase, str]] = {
    "starting": "in a start",
    "serving": "in a commit",
    "stopping": "in a stop",
}


class Life:
    """From opening the database to the end of the last task."""

    def __init__(self, world: World, ending: Ending | None) -> None:
        """`ending` is None for the last life, which lasts until `stop` is set."""
        world.lives += 1
        self.world = world
        self.stop = trio.Event()
        self.store: Store | None = None
        """Open from the start of the life to its end."""
        self._number = world.lives
        self._epoch = world.epoch
        self._ending = ending
        self._phase: Phase = "starting"
        self._operations = 0
        self._over = trio.Event()
        self._state = world.disk.state
        self._faults = list(self._disk_faults())
        self._listener = world.network.bind()
        self._launcher = world.machine.launcher()
        self._daemon: SimulatedDaemon | None = None

    def is_over(self) -> bool:
        """Whether it was ended from outside: nothing of it counts any more."""
        return self.world.epoch != self._epoch

    async def run(self) -> None:
        """Live; returns when nothing of this life is left."""
        self.world.note(f"life {self._number} begins")
        self.world.errors_matter = not self._faults
        self._state.on_operation = self._count_operation
        self._state.faults.extend(self._faults)
        self._arm_failpoint()
        try:
            await self._live()
        except StoreError as error:
            self._start_refused(error)
        finally:
            failpoints.switch_off()
            self._leave_disk()
            self._listener.close()
            if self.store is not None:
                self.store.close()
        self._check_end()
        self.world.ended_cleanly = self._phase == "stopping" and not self.is_over() and not self._faults

    async def _live(self) -> None:
        self.store = open_database(self.world)
        if self.is_over():
            return
        poisoned = self._recover(self.store)
        if self.is_over():
            return
        self._check_recovery(self.store)
        chance = self.world.chances.source(f"store of life {self._number}")
        self._daemon = SimulatedDaemon(self.world, self.store, poisoned, self._launcher, chance)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._end_when_due)
            nursery.start_soon(self._cancel_when_over, nursery.cancel_scope)
            await self._daemon.run(self._listener, self._serves, self.stop)
            nursery.cancel_scope.cancel()

    def _recover(self, store: Store) -> frozenset[SessionKey]:
        recovery = store.recover()
        self.world.note(f"life {self._number} settled {recovery.sessions_settled} sessions")
        if self.is_over():
            return frozenset()
        if recovery.quarantined:
            self._violated([Violation("every session can be recovered", str(recovery.quarantined))])
        if self.world.ended_cleanly and (recovery.sessions_settled or store.report.unclean_end):
            self._violated([Violation("a clean stop leaves nothing open", str((recovery, store.report)))])
        return frozenset(poisoned.session_key for poisoned in recovery.quarantined)

    def _start_refused(self, error: StoreError) -> None:
        """The daemon says why and exits; only a faulty disk is a reason."""
        self.world.note(f"life {self._number} cannot start: {error}")
        if not self._faults and not self.is_over():
            self._violated([Violation("the daemon starts", str(error))])

    # --- ending -----------------------------------------------------------------------------------------------

    def _serves(self) -> None:
        self._phase = "serving"

    async def _end_when_due(self) -> None:
        if self._ending is None:
            await self.stop.wait()
        else:
            await trio.sleep(self._ending.after_seconds)
            if self._ending.kind != "clean_stop":
                self._end_now("at rest")
                return
            self.world.faults["clean stop"] += 1
        self.world.note(f"life {self._number} stops")
        self._phase = "stopping"
        self.stop.set()

    async def _cancel_when_over(self, scope: trio.CancelScope) -> None:
        await self._over.wait()
        scope.cancel()

    def _count_operation(self, operation: DiskOperation) -> None:
        """The disk has done something, in the middle of what the database does."""
        ending = self._ending
        if ending is not None and ending.phase == self._phase:
            self._operations += 1
            if ending.at_operation == self._operations:
                self._end_now(_ENDED_IN[self._phase])

    def _arm_failpoint(self) -> None:
        ending = self._ending
        if ending is not None and ending.failpoint is not None:
            failpoints.switch_on(kill=self._end_at)
            failpoints.arm(ending.failpoint, Arming("kill", on_pass=ending.on_pass))

    def _end_at(self, failpoint: str) -> None:
        self.world.note(f"life {self._number} comes by {failpoint}")
        self._end_now("at a failpoint")

    def _end_now(self, where: str) -> None:
        if self._ending is None or self.is_over():
            return
        how = "kill" if self._ending.kind == "kill" else "power_cut"
        self.world.faults[f"{how.replace('_', ' ')} {where}"] += 1
        self._state.on_operation = None
        self._remember_written_text()
        self.world.end_life("kill" if how == "kill" else "power_cut", self._listener, self._launcher)
        self._over.set()

    def _remember_written_text(self) -> None:
        """What somebody had heard early enough for it to be written by now (promise 4)."""
        world, options = self.world, self.world.options
        if self._phase == "starting" or self._faults:
            return
        delay_seconds = options.limits.write_behind_ms / 1000
        written_by = trio.current_time() - delay_seconds - _COMMITS_TO_WAIT_FOR * options.commit_seconds_max
        for watch in world.watches:
            if watch.told_by is not self._listener:
                continue
            for name, text in watch.heard_until(written_by).items():
                world.written_behind[name] = max(world.written_behind.get(name, ""), text, key=len)

    def _leave_disk(self) -> None:
        for fault in self._faults:
            if fault.fired:
                self.world.faults[f"disk {fault.call} {fault.kind}"] += fault.fired
        self._state.faults.clear()
        self._state.on_operation = None

    def _disk_faults(self) -> Iterator[DiskFault]:
        for trouble in self.world.options.disk:
            if trouble.life == self._number and self._ending is not None:
                yield DiskFault(trouble.call, trouble.nth, trouble.kind)

    # --- what has to hold -------------------------------------------------------------------------------------

    def _check_recovery(self, store: Store) -> None:
        """Before clients are served: everything promised is there, and nothing is open."""
        world = self.world
        contents = read_contents(store.reader, WORKSPACE)
        world.read_log(store)
        self._violated(checkers.nothing_is_open(contents, "after a restart"))
        self._violated(checkers.acknowledged_is_durable(world.history, contents))
        self._violated(edits_stand(world.history, contents))
        self._violated(removals_stand(world.history, contents))
        self._violated(checkers.told_only_what_is_marked(world.machine.notes, contents))
        self._violated(checkers.streamed_text_survives(world.written_behind, contents))
        self._violated(checkers.rows_agree_with_log(contents, world.log))
        self._violated(checkers.published_is_durable(world.watches, world.log))
        world.written_behind.clear()

    def _check_end(self) -> None:
        """After the last task: nothing is held, and a clean end leaves no process and no open log."""
        if self._daemon is None:
            return
        left = self._daemon.left_over()
        if not self.is_over():
            left["processes"] = [
                process.label for process in self._launcher.processes if process.exited is None
            ]
        for what, found in left.items():
            if found:
                self._violated([Violation("nothing is left of a life", f"{what}: {found}")])

    def _violated(self, violations: Iterable[Violation]) -> None:
        for violation in violations:
            self.world.history.violated(violation.promise, f"life {self._number}: {violation.detail}")
