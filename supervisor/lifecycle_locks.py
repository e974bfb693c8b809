"""Lifecycle locks: the order between operations that touch several identities (architecture rule 5).

Owns who holds and who waits for which identity, and nothing once nobody does. Only operation tasks take these
locks, never a handler, and always before they tell a mailbox anything. It must not know what a kind means.

There is no deadlock: a task waits only for identities that sort after all it holds, in nested holds too, so of
all tasks that wait, the one whose identity sorts last waits for a task that does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager

import attrs
import trio

from supervisor.errors import LifecycleOrderViolation, LifecycleTimeout


@attrs.frozen(order=True)
class LifecycleIdentity:
    """What can be held; sorts by kind, then workspace, then id."""

    kind: str
    workspace_id: str
    id: str

    def __str__(self) -> str:
        return f"{self.kind} {self.id} of workspace {self.workspace_id}"


@attrs.frozen
class LifecycleHolding:
    """One held identity, for debug answers."""

    holder: str
    since_seconds: float
    """When the holder got it, on trio's clock."""
    waiting: tuple[str, ...]
    """Who gets it next, in this order."""


@attrs.define(eq=False)
class _Claim:
    """A task's turn on one identity: from asking until it gives up or gives back."""

    holder: str
    task: trio.lowlevel.Task
    since_seconds: float = 0.0
    granted: trio.Event = attrs.field(factory=trio.Event)

    def grant(self) -> None:
        self.since_seconds = trio.current_time()
        self.granted.set()


class LifecycleLocks:
    """All lifecycle identities of one service (RT-113)."""

    def __init__(self) -> None:
        # The first claim of a queue is the granted one; a queue without claims is removed.
        self._queues: dict[LifecycleIdentity, deque[_Claim]] = {}

    @asynccontextmanager
    async def hold(
        self, *identities: LifecycleIdentity, holder: str, deadline_seconds: float
    ) -> AsyncIterator[None]:
        """Holds all `identities` while the body runs. Each one goes to those who ask in order of arrival.

        Args:
            holder: who this is, for errors and debug answers, such as `side/open`.
            deadline_seconds: for getting all of them; the body is not bounded from here.

        Raises:
            LifecycleTimeout: one did not come free in time; nothing is held.
            LifecycleOrderViolation: this task holds one of them already, or one that sorts after one of them.
        """
        self._refuse_misuse(set(identities), waits=True)
        ordered = sorted(set(identities))
        claims: dict[LifecycleIdentity, _Claim] = {}
        await trio.lowlevel.checkpoint()
        try:
            with trio.move_on_after(deadline_seconds):
                for identity in ordered:
                    claims[identity] = claim = self._claim(identity, holder)
                    if not claim.granted.is_set():
                        await claim.granted.wait()
            for identity in ordered:
                if identity not in claims or not claims[identity].granted.is_set():
                    raise LifecycleTimeout(identity, self._holder(identity), deadline_seconds)
            yield
        finally:
            self._withdraw(claims)

    def try_hold(self, *identities: LifecycleIdentity, holder: str) -> AbstractContextManager[object] | None:
        """Takes all `identities` at once if nobody holds any of them, else None. Never waits, for internal users.

        They are held from this call on: enter the context manager, which gives them back, in the same step.

        Raises:
            LifecycleOrderViolation: this task holds one of them itself.
        """
        self._refuse_misuse(set(identities), waits=False)
        if any(identity in self._queues for identity in identities):
            return None
        held = ExitStack()
        held.callback(
            self._withdraw, {identity: self._claim(identity, holder) for identity in set(identities)}
        )
        return held

    def holders(self) -> dict[LifecycleIdentity, LifecycleHolding]:
        """Who holds what, and who waits for it; empty when nothing is held."""
        return {
            identity: LifecycleHolding(
                queue[0].holder, queue[0].since_seconds, tuple(claim.holder for claim in list(queue)[1:])
            )
            for identity, queue in self._queues.items()
        }

    def _refuse_misuse(self, identities: set[LifecycleIdentity], *, waits: bool) -> None:
        task = trio.lowlevel.current_task()
        first = min(identities)
        for held in (identity for identity, queue in self._queues.items() if queue[0].task is task):
            if held in identities:
                raise LifecycleOrderViolation(held, held)
            if waits and held > first:
                raise LifecycleOrderViolation(first, held)

    def _claim(self, identity: LifecycleIdentity, holder: str) -> _Claim:
        claim = _Claim(holder, trio.lowlevel.current_task())
        queue = self._queues.setdefault(identity, deque())
        queue.append(claim)
        if queue[0] is claim:
            claim.grant()
        return claim

    def _withdraw(self, claims: dict[LifecycleIdentity, _Claim]) -> None:
        """Gives back what was granted and leaves the queues of the rest; whoever is first now is granted."""
        for identity, claim in claims.items():
            queue = self._queues[identity]
            queue.remove(claim)
            if not queue:
                del self._queues[identity]
            elif not queue[0].granted.is_set():
                queue[0].grant()

    def _holder(self, identity: LifecycleIdentity) -> str | None:
        queue = self._queues.get(identity)
        return queue[0].holder if queue else None
