"""The directory of the cells of one kind: finds a cell by its key, makes it, wakes it, and lets it go.

Owns the map and the nursery the cells run in. It must not know what a message means nor when an actor is idle.
Ten thousand keys without a cell cost nothing here (FC-47).

A cell is in the map from the step that makes it to the step that decides its end; there is no state between.
Its `stop()` may still run then: a new cell of the same key takes messages at once but comes to life only when
the old one is gone (FC-52).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import TracebackType
from typing import Generic, Self, TypeVar

import attrs
import trio

from supervisor.cell import Cell
from supervisor.child_spec import StopRequest
from supervisor.errors import ActorStopped
from supervisor.mailbox import Mailbox
from supervisor.reference import ActorReference

K = TypeVar("K", bound=Hashable)
M = TypeVar("M")
X = TypeVar("X")


@attrs.frozen(kw_only=True)
class DirectoryStatistics:
    """`cells` and `stopping` are present counts, `activations` counts since the directory was made."""

    cells: int
    stopping: int
    activations: int


class Directory(Generic[K, M, X]):
    """Key → cell. An asynchronous context manager; cells exist only within its `async with`.

    Args:
        make_cell: makes the cell of a key; called in the step of the first message, so it must not wait.
        stop_grace_seconds: how long all cells together may take to end when the directory is left.
    """

    def __init__(self, make_cell: Callable[[K], Cell[M, X]], *, stop_grace_seconds: float = 10.0) -> None:
        self._make_cell = make_cell
        self._stop_grace_seconds = stop_grace_seconds
        self._cells: dict[K, Cell[M, X]] = {}
        self._awake: set[K] = set()
        self._stopping: dict[K, trio.Event] = {}
        self._crashed: dict[K, tuple[tuple[float, ...], float]] = {}
        """Restarts of cells that have ended, and until when these count."""
        self._activations = 0
        self._nursery_manager: AbstractAsyncContextManager[trio.Nursery]
        self._nursery: trio.Nursery | None = None

    def cell(self, key: K) -> Cell[M, X]:
        """Finds or makes the cell of `key`. A maker has to `wake` it in the same step; `mailbox` does both.

        Raises:
            ActorStopped: there is no cell, and none is made outside of the directory's `async with`.
        """
        cell = self._cells.get(key)
        if cell is None:
            if self._nursery is None:
                raise ActorStopped(f"the directory makes no cell for {key!r}: it is not open")
            cell = self._cells[key] = self._make_cell(key)
            cell.recent_restarts, _ = self._crashed.pop(key, ((), 0.0))
        return cell

    def wake(self, key: K) -> None:
        """Starts the task of an existing cell, if it is not running already (single-flight)."""
        if key not in self._awake:
            assert self._nursery is not None
            self._awake.add(key)
            self._activations += 1
            self._nursery.start_soon(self._host, key, self._cells[key], name=f"cell {key!r}")

    def mailbox(self, key: K) -> Mailbox[M]:
        """The mailbox of an actor that is there and awake from this step on."""
        cell = self.cell(key)
        self.wake(key)
        return cell.mailbox

    def reference(self, key: K) -> ActorReference[M]:
        """A handle that finds the actor anew for each message; makes nothing by itself."""
        return ActorReference(partial(self.mailbox, key))

    def find(self, key: K) -> Cell[M, X] | None:
        """The cell if there is one, for those who only look."""
        return self._cells.get(key)

    def running(self) -> tuple[K, ...]:
        """The keys that have a cell, the oldest first."""
        return tuple(self._cells)

    def statistics(self) -> DirectoryStatistics:
        """Figures for health answers."""
        return DirectoryStatistics(
            cells=len(self._cells), stopping=len(self._stopping), activations=self._activations
        )

    async def run(self, *, task_status: trio.TaskStatus[StopRequest] = trio.TASK_STATUS_IGNORED) -> None:
        """Lives until asked to stop; the directory as a child of a `Supervisor`."""
        stop_requested = trio.Event()
        async with self:
            task_status.started(stop_requested.set)
            await stop_requested.wait()

    async def __aenter__(self) -> Self:
        self._nursery_manager = trio.open_nursery()
        self._nursery = await self._nursery_manager.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        """Asks all cells to stop and gives them the grace, then cancels; at once when left by an error."""
        assert self._nursery is not None
        for key, cell in self._cells.items():
            self.wake(key)
            cell.request_stop()
        self._nursery.cancel_scope.deadline = trio.current_time() + self._stop_grace_seconds
        self._nursery = None
        return await self._nursery_manager.__aexit__(kind, error, traceback)

    def _remember_crashes(self, key: K, cell: Cell[M, X]) -> None:
        """So that a crash in each of several short lives ends in quarantine as well as several in one life."""
        now = trio.current_time()
        self._crashed = {old: kept for old, kept in self._crashed.items() if now < kept[1]}
        if now < cell.restarts_count_until:
            self._crashed[key] = (cell.recent_restarts, cell.restarts_count_until)

    async def _host(self, key: K, cell: Cell[M, X]) -> None:
        gone = trio.Event()

        def retire() -> None:
            del self._cells[key]
            self._awake.remove(key)
            self._stopping[key] = gone
            self._remember_crashes(key, cell)

        try:
            if key in self._stopping:
                await self._stopping[key].wait()
            await cell.run(retire)
        finally:
            if self._stopping.get(key) is gone:
                del self._stopping[key]
            elif self._cells.get(key) is cell:
                # Cancelled before its end was decided, perhaps even before it ran.
                cell.close()
                del self._cells[key]
                self._awake.remove(key)
            gone.set()
