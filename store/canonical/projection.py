"""How a streaming message is read: its row with the pieces of text written behind joined in (`architecture` rule 12).

Pure. The row of a streaming message holds the text it had when a unit last wrote it; pieces hold what came
after. A piece that the row already contains is skipped, and nothing is joined beyond a hole.
"""

from collections.abc import Sequence
from typing import assert_never

import attrs

from store.canonical.change import StreamPiece
from store.canonical.message import ContentBlock, Message, TextBlock


def join_pieces(message: Message, pieces: Sequence[StreamPiece]) -> Message:
    """The streaming `message` with its written-behind `pieces` appended and `delta_seq` to match.

    `pieces` are ascending by `first_delta_seq`. A message that has ended is returned as it is: its row is
    complete, and what was still written behind it is void.
    """
    if message.status != "streaming":
        return message
    next_delta_seq = message.delta_seq or 0
    for piece in pieces:
        if piece.first_delta_seq < next_delta_seq:
            continue
        if piece.first_delta_seq > next_delta_seq:
            break
        message = _append(message, piece)
        next_delta_seq = piece.first_delta_seq + piece.deltas
    return attrs.evolve(message, delta_seq=next_delta_seq)


def _append(message: Message, piece: StreamPiece) -> Message:
    match piece.field:
        case "text":
            return attrs.evolve(message, content=_append_text(message.content, piece.text))
        case "output":
            if message.tool_call is None:
                raise ValueError(f"output of message {message.message_id}, which is no tool call")
            output = attrs.evolve(message.tool_call.output, text=message.tool_call.output.text + piece.text)
            return attrs.evolve(message, tool_call=attrs.evolve(message.tool_call, output=output))
        case _:
            assert_never(piece.field)


def _append_text(content: tuple[ContentBlock, ...], text: str) -> tuple[ContentBlock, ...]:
    """Lengthens the one text block; a message that has none yet gets it."""
    for position, block in enumerate(content):
        if isinstance(block, TextBlock):
            longer = attrs.evolve(block, text=block.text + text)
            return (*content[:position], longer, *content[position + 1 :])
    return (*content, TextBlock(text))
