"""What an actor's code looks like to the cell that runs it.

Owns the shape only: one `Behaviour` is one life of an actor, between two crashes at most. It must not own
anything that has to survive a crash; that is kept in the cell (`Cell.extra`) or in the store.
"""

from typing import Protocol, TypeVar

M_contra = TypeVar("M_contra", contravariant=True)


class Behaviour(Protocol[M_contra]):
    """One life of an actor. The cell calls these methods from one task, one at a time.

    An error from any of them is a crash: the behaviour is forgotten without a call of `stop()`, and the cell
    makes another one (architecture rule 9).
    """

    async def start(self) -> None:
        """Loads what this life begins with; called once, before all else."""

    def receive(self, message: M_contra) -> None:
        """Decides what `message` means and remembers the effects; performs none of them."""

    async def flush(self) -> None:
        """Performs the effects of the whole batch received since the last flush.

        The only place where a behaviour waits, and it waits for nothing but the commit (architecture rule 3).
        """

    def may_passivate(self) -> bool:
        """True when nothing would be lost if this life ended now; asked when no message waits.

        It is asked after each batch, not all the time: what changes with the clock must come as a message.
        """

    async def stop(self) -> None:
        """Frees what this life opened. The actor is already out of its directory; a successor waits."""
