"""A prompt as an agent is told it: the blocks of its row, pictures by reference until a connection is told."""

from collections.abc import Iterable
from typing import assert_never

from runtime.providers.port import ImageData, PromptBlock
from store.canonical.message import (
    ContentBlock,
    ImageBlock,
    NoticeBlock,
    PlanBlock,
    ResourceLinkBlock,
    TextBlock,
)


def prompt_blocks(content: Iterable[ContentBlock]) -> tuple[PromptBlock, ...]:
    """The blocks in their order; none is dropped. Plans and notices are no part of a prompt: none can be sent."""
    return tuple(_block(block) for block in content)


def _block(block: ContentBlock) -> PromptBlock:
    match block:
        case TextBlock() | ResourceLinkBlock():
            return block
        case ImageBlock():
            return ImageData(block.media_type, "", block.attachment_id)
        case PlanBlock() | NoticeBlock():
            raise ValueError(f"a {block.type} block in a prompt")
        case _:
            assert_never(block)
