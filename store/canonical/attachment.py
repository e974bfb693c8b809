"""An attachment: a picture that prompts refer to. Rows never hold its bytes (`contract §3`)."""

from hashlib import sha256
from typing import TypeAlias

import attrs

from store.canonical.identifiers import WorkspaceId


@attrs.frozen
class Attachment:
    """A picture as it was put. `attachment_id` is a proposal: the same content is stored once."""

    workspace_id: WorkspaceId
    attachment_id: str
    media_type: str
    created_at: int
    data: bytes = attrs.field(repr=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return sha256(self.data).hexdigest()


@attrs.frozen
class AttachmentStored:
    """It is durable, under this id: that of an equal one when there was one."""

    attachment_id: str


@attrs.frozen
class AttachmentNotStored:
    """Nothing was stored. `code` is limit.exceeded, overloaded, store.full, store.unavailable or internal."""

    code: str


AttachmentOutcome: TypeAlias = AttachmentStored | AttachmentNotStored
