"""Where an outcome goes. A reply is a sink, not an event a task awaits: tasks woken in commit order publish out
of order (`architecture rule 2`)."""

from typing import Protocol, TypeAlias

import attrs

from runtime.refusal import Refusal
from runtime.side.rows import Side
from store.canonical.interaction import Interaction
from store.canonical.session import Session
from store.canonical.turn import Turn
from store.canonical.worktree import KeptWorktree


@attrs.frozen
class SessionReply:
    """Result of create, resume and close."""

    session: Session
    turn: Turn | None = None


@attrs.frozen
class TurnReply:
    """Result of send and cancel."""

    turn: Turn


@attrs.frozen
class InteractionReply:
    """Result of respond."""

    interaction: Interaction


@attrs.frozen
class SessionsReply:
    """Result of delete and restore: the rows they are about, a root before what is below it."""

    sessions: tuple[Session, ...]


@attrs.frozen
class PurgedReply:
    """Result of a purge: the rows as they stood, and the checkouts that stay."""

    sessions: tuple[Session, ...]
    kept_worktrees: tuple[KeptWorktree, ...]


@attrs.frozen
class SideReply:
    """Result of opening and closing a Side."""

    side: Side


@attrs.frozen
class SidesReply:
    """Result of disposing of a surface: the Sides that were closed, as they ended."""

    sides: tuple[Side, ...]


Outcome: TypeAlias = (
    SessionReply | SessionsReply | PurgedReply | TurnReply | InteractionReply | SideReply | SidesReply
)


class ReplySink(Protocol):
    """Takes the outcome of one command, once; a second one is ignored. Never waits, never raises."""

    def deliver(self, outcome: Outcome, commit_seq: int) -> None:
        """The command's result, which contains every commit up to `commit_seq`."""

    def refuse(self, refusal: Refusal) -> None:
        """The command's typed no."""
