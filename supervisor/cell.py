"""A cell: what outlives a crash of an actor's code, and the guard that turns such a crash into a restart.

Owns the mailbox, whatever the behaviours leave in `extra`, the restart window and the one place of the house
that keeps every `Exception` (architecture rules 9 and 14). It must not know what a message means, nor who finds the cell.

A crash costs as little as is known to be safe: in `receive` the message in hand, since the others of its batch
had no effect yet; in `flush` the whole batch, since nobody knows which effects were performed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, TypeAlias, TypeVar

import attrs
import trio
from attrs import validators

from supervisor.actor import Behaviour
from supervisor.back_off import BackOff
from supervisor.errors import ActorStopped, StopTimedOut
from supervisor.exit_reason import ExitReason, Normal, Shutdown
from supervisor.mailbox import Mailbox
from supervisor.restart_intensity import RestartIntensity

M = TypeVar("M")
X = TypeVar("X")

BehaviourFactory: TypeAlias = Callable[["Cell[M, X]"], Behaviour[M]]


class guard:  # noqa: N801 -- read as a statement: `with guard(record):`
    """Keeps every error of the body, a group of errors as one, and hands it to `record`.

    Cancellation and whatever else is no `Exception` passes, alone or split off the group it came in (FC-25).
    A class, since it stands around each thing a provider says: a generator costs three times as much.
    """

    __slots__ = ("_record",)

    def __init__(self, record: Callable[[Exception], None]) -> None:
        self._record = record

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, BaseExceptionGroup):
            errors, others = error.split(Exception)
            if errors is not None:
                self._record(errors)
            if others is not None:
                raise others
            return True
        if isinstance(error, Exception):
            self._record(error)
            return True
        return False


@attrs.frozen(kw_only=True)
class CellHooks(Generic[M]):
    """What the owner of a cell is told, in the step in which it happens. A hook decides quickly and never waits."""

    on_discarded: Callable[[Sequence[M], Exception], None]
    """These messages will not be carried out, or not be known to have been: answer whoever waits for them."""
    on_crash: Callable[[Exception], None]
    """The code crashed, in a behaviour or in another hook."""
    on_quarantine: Callable[[Exception], None]
    """The crash was one too many; from now on the quarantine behaviour answers."""


@attrs.frozen(kw_only=True)
class CellPolicy:
    """The bounds of a cell."""

    batch_max: int = attrs.field(default=256, validator=validators.ge(1))
    intensity: RestartIntensity = attrs.field(factory=RestartIntensity)
    back_off: BackOff = attrs.field(factory=lambda: BackOff(0.1, 5.0))
    """Between restarts when nothing was received in between, such as while the store cannot be read."""
    stop_grace_seconds: float = attrs.field(default=5.0, validator=validators.ge(0))
    counts: Callable[[Exception], bool] = lambda _: True
    """Whether an error tells of a fault in the code, and so leads to quarantine. What its surroundings refuse, such as
    a full disk does, costs a restart and tells nothing."""


@attrs.define(eq=False)
class Cell(Generic[M, X]):
    """One actor's place: at most one behaviour lives in it at a time, and `run()` goes on from one to the next."""

    mailbox: Mailbox[M]
    extra: X
    """What the behaviours hand on from life to life, such as a live tail or a reference to a connection."""
    _factory: BehaviourFactory[M, X] = attrs.field(kw_only=True)
    _quarantine_factory: BehaviourFactory[M, X] = attrs.field(kw_only=True)
    _hooks: CellHooks[M] = attrs.field(kw_only=True)
    _policy: CellPolicy = attrs.field(kw_only=True, factory=CellPolicy)

    restarts: int = attrs.field(default=0, init=False)
    """How many behaviours crashed before the present one; a factory may look at it."""
    quarantined: bool = attrs.field(default=False, init=False)
    """Too many restarts. Stays until the cell ends, for which the quarantine behaviour has to passivate."""
    hook_failures: int = attrs.field(default=0, init=False)
    recent_restarts: tuple[float, ...] = attrs.field(default=(), init=False)
    """When it restarted, as far as that may still count. A successor under the same key goes on from them."""
    _failures: int = attrs.field(default=0, init=False)
    """Crashes in a row outside of a batch: nothing gets done between them, so they are backed off from."""
    _batch: list[M] = attrs.field(factory=list, init=False)
    _in_hand: int | None = attrs.field(default=None, init=False)
    """Index in the batch during `receive`, else None."""
    _stopping: bool = attrs.field(default=False, init=False)

    @property
    def restarts_count_until(self) -> float:
        """From this moment on none of the recent restarts counts any more."""
        last = self.recent_restarts[-1] if self.recent_restarts else -math.inf
        return last + self._policy.intensity.window_seconds

    async def run(self, retire: Callable[[], None] = lambda: None) -> ExitReason:
        """Lets behaviours live here until one may passivate, or until `request_stop()` and nothing is ready.

        Args:
            retire: takes the cell out of where it is found. It is called in the step in which the end is
                decided, before any wait, so no message can slip into a cell that will not read it (FC-49).

        Cancelling is the hard way: the behaviour is not stopped, what is in hand or waits is discarded.
        """
        try:
            behaviour: Behaviour[M] | None = None
            while behaviour is None:
                await trio.sleep(self._policy.back_off.seconds(self._failures))
                with guard(self._settle_crash):
                    behaviour = await self._live()
            retire()
            self.close()
            await self._stop(behaviour)
            return Shutdown() if self._stopping else Normal()
        finally:
            self.close()

    def request_stop(self) -> None:
        """Asks `run()` to end as soon as no message is ready; what place marks hold back then is discarded."""
        self._stopping = True
        self.mailbox.nudge()

    def close(self) -> None:
        """Discards what waits and what is in hand, with `ActorStopped`; nothing comes in any more."""
        left = [*self._batch, *self.mailbox.close()]
        self._batch = []
        if left:
            self._tell(self._hooks.on_discarded, left, ActorStopped("the actor ended before it answered"))

    async def _live(self) -> Behaviour[M]:
        """One life, from making a behaviour to the step in which it may end. Raises what its code raises."""
        behaviour = (self._quarantine_factory if self.quarantined else self._factory)(self)
        await behaviour.start()
        while not self._may_end(behaviour):
            self._failures = 0
            await self.mailbox.wait()
            self._batch = self.mailbox.drain(self._policy.batch_max)
            for index, message in enumerate(self._batch):
                self._in_hand = index
                behaviour.receive(message)
            self._in_hand = None
            if self._batch:
                await behaviour.flush()
            self._batch = []
        return behaviour

    def _may_end(self, behaviour: Behaviour[M]) -> bool:
        if self._stopping:
            return not self.mailbox.is_ready
        return self.mailbox.is_empty and behaviour.may_passivate()

    async def _stop(self, behaviour: Behaviour[M]) -> None:
        grace_seconds = self._policy.stop_grace_seconds
        with trio.move_on_after(grace_seconds) as scope, guard(self._report_crash):
            await behaviour.stop()
        if scope.cancelled_caught:
            self._report_crash(StopTimedOut(grace_seconds))

    def _settle_crash(self, error: Exception) -> None:
        batch, in_hand = self._batch, self._in_hand
        self._batch, self._in_hand = [], None
        if not batch:
            self._failures += 1
        elif in_hand is None:
            self._tell(self._hooks.on_discarded, batch, error)
        else:
            self.mailbox.return_to_front(batch[:in_hand] + batch[in_hand + 1 :])
            self._tell(self._hooks.on_discarded, [batch[in_hand]], error)
        self._report_crash(error)
        self._count_restart(error)

    def _count_restart(self, error: Exception) -> None:
        self.restarts += 1
        if self.quarantined or not self._policy.counts(error):
            return
        recent = self._policy.intensity.admit(self.recent_restarts, trio.current_time())
        if recent is None:
            self.quarantined = True
            self._tell(self._hooks.on_quarantine, error)
        else:
            self.recent_restarts = recent

    def _report_crash(self, error: Exception) -> None:
        self._tell(self._hooks.on_crash, error)

    def _tell(self, hook: Callable[..., None], *details: object) -> None:
        """Calls a hook. A hook that crashes costs its own report, not the cell and not the hooks after it."""
        failures: list[Exception] = []
        with guard(failures.append):
            hook(*details)
        for failure in failures:
            self.hook_failures += 1
            if hook is not self._hooks.on_crash:
                self._report_crash(failure)
