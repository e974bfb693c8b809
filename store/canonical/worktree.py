"""The record of a checkout that was made for one Session, and what may happen to it.

It outlives the Session's row: written before the checkout is made, dropped after it is gone (RT-061, RT-063).
"""

from typing import Literal, TypeAlias

import attrs

from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId

KeptBecause: TypeAlias = Literal["changes", "commits", "repository_missing", "git_failed"]
"""Files that are not committed, commits that no branch has, no repository left, or git would not say."""


@attrs.frozen
class Worktree:
    """One checkout: where it came from and where it is. Paths are absolute and without links."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    repository: str
    """The top of the working tree it was made from."""
    relative_path: str
    """The project's place below the top of the repository; empty at the top."""
    path: str
    branch: str
    base_commit: str
    store_id: str
    """The database that made it: one that was restored since knows less than was done."""
    created_at: int
    kept_because: KeptBecause | None = None
    """Why it stays though its session was purged; null while it is used, and until somebody tried to remove it."""
    purged: bool = False
    """Its session was there and is purged. Without this and without a session, none ever worked in it."""

    @property
    def key(self) -> SessionKey:
        """The session it was made for."""
        return SessionKey(self.workspace_id, self.agent_session_id)


@attrs.frozen
class KeptWorktree:
    """A checkout that a purge leaves where it is, and why."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId
    path: str
    branch: str
    because: KeptBecause


@attrs.frozen
class WorktreeBegun:
    """It is about to be made. A record of the same session stays as it is: the change is refused."""

    worktree: Worktree


@attrs.frozen
class WorktreeKept:
    """It cannot be removed, and why."""

    key: SessionKey
    because: KeptBecause


@attrs.frozen
class WorktreeGone:
    """Nothing of it is left, or nobody wants to know."""

    key: SessionKey


WorktreeChange: TypeAlias = WorktreeBegun | WorktreeKept | WorktreeGone


@attrs.frozen
class WorktreeStored:
    """The change is durable."""


@attrs.frozen
class WorktreeNotStored:
    """Nothing was stored. `code` is store.full, store.unavailable, session.exists or internal; for store.unavailable
    the change may be durable all the same."""

    code: str


WorktreeOutcome: TypeAlias = WorktreeStored | WorktreeNotStored


@attrs.frozen
class WorktreeCounts:
    """How many checkouts there are, and how many of them only because they could not be removed."""

    all: int
    kept: int
