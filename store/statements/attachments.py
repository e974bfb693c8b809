"""SQL of attachments: stored once by content, tied to the sessions that show them, dropped when nothing does (ST-029)."""

from collections.abc import Sequence
from typing import Final

import apsw

from store.canonical.attachment import Attachment
from store.canonical.identifiers import SessionKey, WorkspaceId
from store.canonical.message import ImageBlock, Message
from store.errors import AttachmentGone, TooManyUnused

DROPPED_A_STEP: Final = 8

# Putting it again begins its time anew.
_PUT = """
    INSERT INTO attachments (workspace_id, attachment_id, media_type, created_at, data, digest)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (workspace_id, media_type, digest) WHERE digest <> ''
    DO UPDATE SET created_at = max(created_at, excluded.created_at)
    RETURNING attachment_id
"""
_UNUSED_BYTES = "SELECT coalesce(sum(octet_length(data)), 0) FROM attachments WHERE used = 0"
_USE = """
    INSERT OR IGNORE INTO attachment_uses (attachment_ref, session_ref)
    SELECT a.id, s.id FROM attachments AS a JOIN sessions AS s ON s.id = ?1 AND s.workspace_id = a.workspace_id
    WHERE a.attachment_id = ?2
"""
_IS_USED = """
    SELECT 1 FROM attachment_uses AS u JOIN attachments AS a ON a.id = u.attachment_ref
    WHERE u.session_ref = ? AND a.attachment_id = ?
"""
_DROP = """
    DELETE FROM attachments WHERE id IN (
        SELECT id FROM attachments WHERE used = 0 AND created_at < ? ORDER BY created_at LIMIT ?
    )
"""
_FACTS = "SELECT media_type, octet_length(data) FROM attachments WHERE workspace_id = ? AND attachment_id = ?"
_ONE = "SELECT media_type, created_at, data FROM attachments WHERE workspace_id = ? AND attachment_id = ?"
_SHOWN_BY = """
    SELECT 1 FROM attachment_uses AS u
        JOIN attachments AS a ON a.id = u.attachment_ref JOIN sessions AS s ON s.id = u.session_ref
    WHERE s.workspace_id = ?1 AND s.agent_session_id = ?2 AND s.deleted_at IS NULL
        AND a.workspace_id = ?1 AND a.attachment_id = ?3
"""


def put(connection: apsw.Connection, attachment: Attachment, unused_bytes_max: int) -> str:
    """Store it, or find an equal one; its id. Raises `TooManyUnused` when too much waits to be used."""
    bindings = (
        attachment.workspace_id,
        attachment.attachment_id,
        attachment.media_type,
        attachment.created_at,
        attachment.data,
        attachment.digest,
    )
    attachment_id = str(connection.execute(_PUT, bindings).get)
    unused = connection.execute(_UNUSED_BYTES).get
    assert isinstance(unused, int)
    if unused > unused_bytes_max:
        raise TooManyUnused(f"attachments that nothing uses would take up {unused} bytes")
    return attachment_id


def use(connection: apsw.Connection, reference: int, message: Message) -> None:
    """Tie the pictures of a message to its session. Raises `AttachmentGone` when one is not here any more."""
    for block in message.content:
        if isinstance(block, ImageBlock):
            connection.execute(_USE, (reference, block.attachment_id))
            if connection.execute(_IS_USED, (reference, block.attachment_id)).get is None:
                raise AttachmentGone(f"attachment {block.attachment_id} of message {message.message_id}")


def drop_unused(connection: apsw.Connection, put_before: int) -> int:
    """Drop some of those that nothing has used since; how many."""
    connection.execute(_DROP, (put_before, DROPPED_A_STEP))
    return connection.changes()


def facts(
    connection: apsw.Connection, workspace_id: WorkspaceId, attachment_id: str
) -> tuple[str, int] | None:
    """Media type and size in bytes, without reading the content."""
    values = connection.execute(_FACTS, (workspace_id, attachment_id)).fetchone()
    return None if values is None else (str(values[0]), int(str(values[1])))


def find(connection: apsw.Connection, workspace_id: WorkspaceId, attachment_id: str) -> Attachment | None:
    """The attachment with its content."""
    values: Sequence[object] | None = connection.execute(_ONE, (workspace_id, attachment_id)).fetchone()
    if values is None:
        return None
    media_type, created_at, data = values
    assert isinstance(created_at, int)
    assert isinstance(data, bytes)
    return Attachment(workspace_id, attachment_id, str(media_type), created_at, data)


def is_shown_by(connection: apsw.Connection, key: SessionKey, attachment_id: str) -> bool:
    """Whether that session, not deleted, shows it."""
    bindings = (key.workspace_id, key.agent_session_id, attachment_id)
    return connection.execute(_SHOWN_BY, bindings).get is not None
