"""How the sessions of one tree tell each other: messages into each other's mailboxes, and never a question.

Owns what is remembered of that from life to life of a root's code: which sub-agents' sessions have turns that nobody else
will end. What a message means is decided by the machines (`lifecycle.children`, `lifecycle.child`).
"""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import structlog

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import SessionState
from runtime.lifecycle.turn import Settlement
from runtime.providers.normalized import TurnStartedByProvider
from runtime.providers.port import ChildCommand, ConnectionCommand
from store.canonical.common import TurnError
from store.canonical.identifiers import SessionKey
from store.canonical.session import Session
from supervisor.directory import Directory
from supervisor.errors import ActorStopped
from supervisor.mailbox import Mailbox

log = structlog.get_logger(__name__)

_CRASHED = Settlement(
    "failed", error=TurnError("internal", "the controller of the root session restarted", "runtime")
)


@attrs.frozen
class SessionPost:
    """From session to session; nothing here waits."""

    _sessions: Callable[[], Directory[SessionKey, i.SessionInput, Any]]

    def tell(self, key: SessionKey, message: i.SessionInput) -> None:
        """Put it into that session's mailbox, and wake who is to hear it."""
        try:
            self._sessions().mailbox(key).put(message)
        except ActorStopped:
            log.debug("a message came after the last session ended", kind=type(message).__name__)

    def lane(self, key: SessionKey) -> Mailbox[i.SessionInput] | None:
        """Where messages of that session wait, if it has a cell."""
        cell = self._sessions().find(key)
        return cell.mailbox if cell is not None else None


@attrs.define(eq=False)
class WorkingChildren:
    """The sessions of sub-agents whose open turns depend on this root; kept over a crash of its code."""

    root: SessionKey
    post: SessionPost
    _keys: set[SessionKey] = attrs.field(factory=set, init=False)

    def note(self, state: SessionState | None, *, performed: bool) -> None:
        """What the machine holds. Before its effects are performed, those that depended on it until now count too."""
        children = state.children if state is not None else {}
        if not children and not self._keys:
            return
        working = {
            SessionKey(self.root.workspace_id, name)
            for name, child in children.items()
            if child.turn_id or child.background
        }
        self._keys = working if performed else self._keys | working

    def cut_off(self) -> Iterator[fx.TellSession]:
        """A new life hears nothing of what the last one heard: those that depended on it are told."""
        keys, self._keys = sorted(self._keys), set()
        return (fx.TellSession(key, i.RootLost(_CRASHED)) for key in keys)

    def lanes(self) -> Iterator[Mailbox[i.SessionInput]]:
        """Where what is passed on to them waits: the connection stops reading for these too."""
        found = (self.post.lane(key) for key in self._keys)
        return (mailbox for mailbox in found if mailbox is not None)


def told_through_root(session: Session, command: ConnectionCommand) -> fx.TellSession | None:
    """A sub-agent's session has no connection of its own: what it tells its agent goes by its root."""
    if session.parent is None or not isinstance(command, ChildCommand):
        return None
    root = SessionKey(session.workspace_id, session.root_agent_session_id)
    return fx.TellSession(root, i.FromChild(session.agent_session_id, command))


def never_begun(key: SessionKey, message: i.SessionInput) -> fx.TellSession | None:
    """A turn that began for this session and that it did not take: its root must not wait for that."""
    if not isinstance(message, i.FromRoot) or not isinstance(message.event, TurnStartedByProvider):
        return None
    root = SessionKey(key.workspace_id, message.root_id)
    return fx.TellSession(root, i.ChildSettled(key.agent_session_id, message.event.turn_id))
