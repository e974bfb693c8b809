"""Which sessions an operation on trees is about: the roots that were named, with all below them. Read, nothing decided.

A child belongs to its tree and cannot be deleted, restored or purged without it (RT-136; `contract §4`, Children).
"""

from collections.abc import Iterable

import attrs

from runtime.refusal import Refusal
from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId
from store.canonical.session import Session
from store.port import StoreReader


@attrs.frozen
class TreePlan:
    """What the names stand for now."""

    keys: frozenset[SessionKey]
    """Everything that has to be locked: names that nobody has yet among them, since a create may be under way."""
    members: tuple[Session, ...]
    """All sessions of the trees, each once, a root before what is below it."""
    unknown: tuple[SessionId, ...]
    children: tuple[SessionId, ...]
    """Names of children whose root was not named."""

    def refusal(self, *, unknown: bool) -> Refusal | None:
        """Why the whole batch is refused (ST-024); `unknown` says whether unknown names are a reason."""
        if unknown and self.unknown:
            return Refusal("session.not_found", details={"agentSessionIds": list(self.unknown)})
        if self.children:
            return Refusal("capability.unsupported", details={"agentSessionIds": list(self.children)})
        return None


def plan_trees(reader: StoreReader, workspace_id: WorkspaceId, session_ids: Iterable[SessionId]) -> TreePlan:
    """Look the names up. Raises RowError when a row of a tree cannot be read."""
    named = dict.fromkeys(session_ids)
    roots = {name: reader.root_of(SessionKey(workspace_id, name)) for name in named}
    members: dict[SessionKey, Session] = {}
    for name, root in roots.items():
        if root == name:
            tree = reader.tree(SessionKey(workspace_id, name)).value
            members.update((session.key, session) for session in tree)
    return TreePlan(
        keys=frozenset((*members, *(SessionKey(workspace_id, name) for name in named))),
        members=tuple(members.values()),
        unknown=tuple(name for name, root in roots.items() if root is None),
        children=tuple(name for name, root in roots.items() if root is not None and root not in named),
    )
