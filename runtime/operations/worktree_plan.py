"""What is to be done about a Session's own checkout: names, reuse, and the words for each way it can fail. Pure.

Knows git's answers as text and no process; the disk only by what it is told of it (RT-060..RT-063).
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs

from runtime.refusal import Refusal
from store.canonical.identifiers import SessionKey
from store.canonical.session import SessionIsolation
from store.canonical.worktree import Worktree

Reason: TypeAlias = Literal[
    "git_missing",
    "not_a_repository",
    "bare_repository",
    "foreign_owner",
    "unborn_branch",
    "submodules",
    "project_not_committed",
    "branch_taken",
    "path_taken",
    "mismatch",
    "kept",
    "git_failed",
]

ADVICE: Final[Mapping[Reason, str]] = {
    "git_missing": "install git on the daemon's machine, or create the session without isolation",
    "not_a_repository": "name a project inside a git working tree, or create the session without isolation",
    "bare_repository": "name a project inside a working tree of this repository, which itself has none",
    "foreign_owner": "the repository belongs to another user: run the daemon as its owner, or allow it with "
    "git config --global --add safe.directory",
    "unborn_branch": "make a first commit: a checkout needs one to begin at",
    "submodules": "create the session without isolation: a checkout would lack what is in the submodules",
    "project_not_committed": "commit the project's folder first: the last commit does not have it",
    "branch_taken": "rename or delete the branch of that name, or choose another agentSessionId",
    "path_taken": "move away what lies where the checkout belongs, or choose another agentSessionId",
    "mismatch": "repeat the create with the same project and directory, or choose another agentSessionId",
    "kept": "the checkout of a purged session of this id holds work: save it and remove the checkout, "
    "or choose another agentSessionId",
    "git_failed": "the daemon's log has the last line git said",
}
"""What a person does about it. No path stands in it, as in any error."""

_BRANCH_FOLDER: Final = "greenroom"
_NOT_IN_REFERENCES: Final = re.compile(r":|^\.|\.(?=\.)|\.$|\.(?=lock$)")

_WORDS_OF_GIT: Final[tuple[tuple[str, Reason], ...]] = (
    ("dubious ownership", "foreign_owner"),
    ("not a git repository", "not_a_repository"),
    ("must be run in a work tree", "bare_repository"),
    ("a branch named", "branch_taken"),
    ("cannot lock ref", "branch_taken"),
)


@attrs.frozen
class Source:
    """A place inside a working tree."""

    repository: str
    """The top of the working tree, without links."""
    relative_path: str
    """Of the place, below the top; empty at the top."""
    commit: str
    """What is checked out there."""


def branch_of(key: SessionKey) -> str:
    """The branch of a session's checkout: one of its own, whatever its ids look like.

    What git does not take in a name is written as `%` and two digits, which no id holds.
    """
    return "/".join((_BRANCH_FOLDER, _component(key.workspace_id), _component(key.agent_session_id)))


def _component(identifier: str) -> str:
    return _NOT_IN_REFERENCES.sub(lambda found: f"%{ord(found[0]):02X}", identifier)


def directory_in(worktree: Worktree) -> str:
    """Where its session works: the project's own place inside the checkout (RT-062)."""
    return f"{worktree.path}/{worktree.relative_path}" if worktree.relative_path else worktree.path


def isolation_of(worktree: Worktree) -> SessionIsolation:
    """The same as the Session's row shows it."""
    return SessionIsolation("worktree", worktree.path, worktree.branch, worktree.base_commit)


def decide(known: Worktree | None, wanted: Worktree) -> Literal["make", "make again"] | Reason:
    """What a create does, given the record that an earlier one under the same session id left (RT-061).

    Only a create that brought no session leaves one that is not purged: nobody worked there, so it is made anew.
    """
    if known is None:
        return "make"
    if known.purged:
        return "kept"
    same = (known.repository, known.relative_path, known.path) == (
        wanted.repository,
        wanted.relative_path,
        wanted.path,
    )
    return "make again" if same else "mismatch"


def may_discard(worktree: Worktree, store_id: str) -> bool:
    """Whether nobody ever worked there. A database that was restored cannot know."""
    return not worktree.purged and worktree.store_id == store_id


def reason_in(errors: str) -> Reason:
    """Why git would not, by its own words (in the language C)."""
    return next((reason for words, reason in _WORDS_OF_GIT if words in errors), "git_failed")


def refusal(reason: Reason) -> Refusal:
    """The typed no, which says what to do."""
    return Refusal(
        "isolation.refused", details={"param": "isolation", "reason": reason, "advice": ADVICE[reason]}
    )
