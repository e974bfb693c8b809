"""Puts the content of pictures into what a connection is told: no row and no state of a machine holds it."""

from base64 import b64encode

import attrs

from runtime.providers.port import ConnectionCommand, GuideTurn, ImageData, PromptBlock, StartTurn
from store.canonical.identifiers import WorkspaceId
from store.port import StoreReader


def with_pictures(
    command: ConnectionCommand, reader: StoreReader, workspace_id: WorkspaceId
) -> ConnectionCommand:
    """The same command with every picture whole. A picture that a message shows is stored as long as the message."""
    if not isinstance(command, StartTurn | GuideTurn):
        return command
    if not any(isinstance(block, ImageData) for block in command.content):
        return command
    content = tuple(_whole(block, reader, workspace_id) for block in command.content)
    return attrs.evolve(command, content=content)


def _whole(block: PromptBlock, reader: StoreReader, workspace_id: WorkspaceId) -> PromptBlock:
    if not isinstance(block, ImageData):
        return block
    attachment = reader.attachment(workspace_id, block.attachment_id).value
    assert attachment is not None, f"attachment {block.attachment_id} is shown and not stored"
    return attrs.evolve(block, data=b64encode(attachment.data).decode())
