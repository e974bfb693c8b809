"""What a database holds, as the rows of the outer contract: what the checkers compare promises with.

Read through the store's reader in one go, between two lives or at the end. No SQL, and nothing a client could not read.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import attrs
import orjson

from runtime.simulation.history import Json, SessionName
from runtime.wire.encoding import encode_row
from store.canonical.change import Row
from store.canonical.identifiers import SessionKey, WorkspaceId
from store.canonical.session import Session
from store.port import LoggedCommit, MessageQuery, Page, Read, SessionFilter, StoreReader

T = TypeVar("T")

_PAGE: Final = 200
_LOG_BYTES: Final = 1 << 30


@attrs.define
class Contents:
    """All rows of one workspace, by their names."""

    sessions: dict[SessionName, Json] = attrs.field(factory=dict)
    turns: dict[tuple[str, str, str], Json] = attrs.field(factory=dict)
    messages: dict[tuple[str, str, str], Json] = attrs.field(factory=dict)
    interactions: dict[tuple[str, str, str, str], Json] = attrs.field(factory=dict)
    """Of sessions that are not deleted: the list of a workspace leaves out the others."""

    def deleted(self, session: SessionName) -> bool:
        """Whether it is there, and deleted."""
        row = self.sessions.get(session)
        return row is not None and row.get("deletedAt") is not None

    def turn_of(self, session: SessionName, submit_id: str) -> Json | None:
        """The turn that a submit id of this session started."""
        return next(
            (
                turn
                for name, turn in self.turns.items()
                if name[:2] == session and turn["clientSubmitId"] == submit_id
            ),
            None,
        )


def read_contents(reader: StoreReader, workspace_id: str) -> Contents:
    """Everything in one workspace."""
    workspace = WorkspaceId(workspace_id)
    contents = Contents()
    listed = _pages(lambda cursor: reader.sessions(workspace, SessionFilter(), cursor, _PAGE))
    deleted = _pages(lambda cursor: reader.deleted_sessions(workspace, cursor, _PAGE))
    roots = [*(item.session for item in listed), *deleted]
    for session in [*roots, *(below for root in roots for below in _below(reader, root.key))]:
        key = session.key
        name = key.workspace_id, key.agent_session_id
        contents.sessions[name] = _json(session)
        for turn in _pages(lambda cursor, key=key: reader.turns(key, cursor, _PAGE)):  # type: ignore[misc]
            contents.turns[*name, turn.turn_id] = _json(turn)
        for message in _messages(reader, key):
            contents.messages[*name, message["messageId"]] = message
    for row in _pages(lambda cursor: reader.interactions(workspace, None, cursor, _PAGE)):
        name = row.workspace_id, row.agent_session_id
        contents.interactions[*name, row.turn_id, row.request_id] = _json(row)
    return contents


def _below(reader: StoreReader, root: SessionKey) -> Iterator[Session]:
    """The sessions of its sub-agents, which no list shows."""
    for key in reader.tree_keys(root):
        loaded = reader.load(key).value if key != root else None
        if loaded is not None:
            yield loaded.session


def read_log(reader: StoreReader, after: int) -> Sequence[LoggedCommit]:
    """What the commit log holds after a number; everything it has, when it no longer reaches back so far."""
    head = 2**53
    logged = reader.log_after(after, head, _LOG_BYTES)
    return logged if logged is not None else ()


def _messages(reader: StoreReader, key: SessionKey) -> Iterator[Json]:
    after = 0
    while True:
        window = reader.messages(
            key, MessageQuery(after_version=after, include_retracted=True, limit=_PAGE)
        ).value
        if window is None or not window.messages:
            return
        yield from (_json(message) for message in window.messages)
        after = window.messages[-1].version


def _pages(read: Callable[[str | None], Read[Page[T]]]) -> Iterator[T]:
    cursor: str | None = None
    while True:
        page = read(cursor).value
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _json(row: Row) -> Json:
    shown: Json = orjson.loads(encode_row(row))
    return shown
