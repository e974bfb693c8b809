"""How others reach an actor: they tell it something, or, at the edge, ask it and wait for one answer.

Owns the reply slot and the deadline of an ask. It must not keep a mailbox: an actor that passivates gets a new
one, so the mailbox is looked up for each message.

Only the API edge and operation tasks ask (architecture rule 4). A handler that asked could wait for an actor
that waits for it; actors tell, and are told.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import attrs
import trio

from supervisor.errors import AskTimedOut
from supervisor.mailbox import Mailbox
from supervisor.work_lane import PlaceMark

M = TypeVar("M")
R = TypeVar("R")


@attrs.define(eq=False)
class ReplySlot(Generic[R]):
    """One answer, given exactly once. A later one is ignored and counted: the first is what was promised."""

    ignored: int = attrs.field(default=0, init=False)
    _result: Callable[[], R] | None = attrs.field(default=None, init=False)
    _settled: trio.Event = attrs.field(factory=trio.Event, init=False)

    @property
    def is_settled(self) -> bool:
        """Whether an answer or an error was given."""
        return self._result is not None

    def set(self, value: R) -> None:
        """Answers."""
        self._settle(lambda: value)

    def fail(self, error: Exception) -> None:
        """Answers with an error, which the asker's `ask` raises."""

        def raise_error() -> R:
            raise error

        self._settle(raise_error)

    async def wait(self) -> None:
        """Waits until the slot is settled."""
        await self._settled.wait()

    def result(self) -> R:
        """The answer; raises the error it was failed with. Only for a settled slot."""
        assert self._result is not None, "no answer was given yet"
        return self._result()

    def _settle(self, result: Callable[[], R]) -> None:
        if self._result is not None:
            self.ignored += 1
            return
        self._result = result
        self._settled.set()


@attrs.frozen(eq=False)
class ActorReference(Generic[M]):
    """A handle on an actor that may come and go; cheap to make and to keep."""

    _reach: Callable[[], Mailbox[M]]
    """Finds or makes the actor's mailbox and sees to it that somebody reads it, in one step."""

    def tell(self, message: M, *, source: Hashable | None = None, control: bool = False) -> None:
        """Offers a client's command, see `Mailbox.offer`; raises `MailboxFull` or `ActorStopped`."""
        self._reach().offer(message, source=source, control=control)

    def put(self, message: M) -> None:
        """Hands over a fact, see `Mailbox.put`; raises `ActorStopped` when there will be no actor any more."""
        self._reach().put(message)

    def place_mark(self, source: Hashable) -> PlaceMark:
        """Keeps the place of an operation, see `Mailbox.place_mark`."""
        return self._reach().place_mark(source)

    async def ask(
        self,
        make: Callable[[ReplySlot[R]], M],
        deadline_seconds: float,
        *,
        source: Hashable | None = None,
        control: bool = False,
    ) -> R:
        """Tells the message that `make` builds around a reply slot, and waits for the answer.

        Only for the API edge and operation tasks. Cancelling the asker takes nothing back: the message stays
        admitted (architecture rule 14).

        Raises:
            AskTimedOut: no answer within `deadline_seconds`; the outcome is unknown.
            MailboxFull, ActorStopped: as `tell`; and whatever the slot was failed with.
        """
        slot: ReplySlot[R] = ReplySlot()
        self.tell(make(slot), source=source, control=control)
        with trio.move_on_after(deadline_seconds):
            await slot.wait()
        if not slot.is_settled:
            raise AskTimedOut(deadline_seconds)
        return slot.result()
