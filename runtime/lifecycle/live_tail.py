"""The live tail: text of streaming messages since their rows were written, numbered as it is published.

Pure and mutable: it belongs to the cell and outlives a crash of the actor's code. Every text is cut here, once,
at a whole code point, so that what was streamed and what is stored are the same (ST-016, ST-017).
"""

from collections.abc import Iterator

import attrs

from store.canonical.change import StreamPiece
from store.canonical.identifiers import MessageId
from store.canonical.message import DeltaField, Message, TextBlock, ToolOutput


@attrs.frozen
class TailLimits:
    """Bytes of UTF-8: a delta's text, a message's text, and a tool call's output (ST-014, ST-015)."""

    max_delta_bytes: int = 64 * 1024
    max_message_bytes: int = 4 * 1024 * 1024
    max_output_bytes: int = 768 * 1024


TRUNCATION_MARKER = "\n[truncated]"


@attrs.frozen
class Delta:
    """One published piece of text; `delta_seq` counts per message from 0 without holes."""

    message: Message
    field: DeltaField
    delta_seq: int
    text: str


@attrs.define
class _Stream:
    message: Message
    field: DeltaField
    bytes_left: int
    texts: list[str] = attrs.field(factory=list)
    next_delta_seq: int = 0
    written_delta_seq: int = 0
    """Deltas below this number are with the store."""
    written_texts: int = 0
    truncated: bool = False


class LiveTail:
    """The streaming messages of one session."""

    def __init__(self, limits: TailLimits | None = None) -> None:
        self._limits = limits or TailLimits()
        self._streams: dict[MessageId, _Stream] = {}

    def __contains__(self, message_id: MessageId) -> bool:
        return message_id in self._streams

    def __len__(self) -> int:
        return len(self._streams)

    def open(self, message: Message) -> None:
        """Begin with a row that streams. Text the row holds already counts as written; opening twice keeps the tail."""
        if message.message_id in self._streams:
            return
        field: DeltaField = "output" if message.kind == "tool_call" else "text"
        text = _text_of(message)
        limit = self._limits.max_output_bytes if field == "output" else self._limits.max_message_bytes
        delta_seq = message.delta_seq or 0
        self._streams[message.message_id] = _Stream(
            message=message,
            field=field,
            bytes_left=limit - len(text.encode()),
            texts=[text] if text else [],
            next_delta_seq=delta_seq,
            written_delta_seq=delta_seq,
            written_texts=1 if text else 0,
            truncated=message.truncated,
        )

    def revise(self, message: Message) -> None:
        """Adopt other fields of a row that goes on streaming."""
        self._streams[message.message_id].message = message

    def append(self, message_id: MessageId, text: str) -> list[Delta]:
        """Number more text; none for a message already cut, or one that does not stream."""
        stream = self._streams.get(message_id)
        if stream is None or stream.truncated or not text:
            return []
        size = len(text) if text.isascii() else len(text.encode())
        if size > stream.bytes_left:
            text = cut_text(text, stream.bytes_left) + TRUNCATION_MARKER
            stream.truncated = True
        stream.bytes_left -= size
        deltas = []
        for part in _parts(text, self._limits.max_delta_bytes):
            deltas.append(Delta(stream.message, stream.field, stream.next_delta_seq, part))
            stream.texts.append(part)
            stream.next_delta_seq += 1
        return deltas

    def replace(self, message_id: MessageId, text: str) -> None:
        """Adopt a whole new text; it is published by the next row, not as deltas."""
        stream = self._streams.get(message_id)
        if stream is None:
            return
        limit = self._limits.max_output_bytes if stream.field == "output" else self._limits.max_message_bytes
        size = len(text.encode())
        stream.truncated = size > limit
        stream.bytes_left = limit - size
        stream.texts = [cut_text(text, limit) + TRUNCATION_MARKER if stream.truncated else text]
        stream.written_texts = 1
        stream.written_delta_seq = stream.next_delta_seq

    def mark_written(self, message_id: MessageId) -> None:
        """A row with all of the present text is committed: nothing of it need be written behind."""
        stream = self._streams.get(message_id)
        if stream is not None:
            stream.written_delta_seq = stream.next_delta_seq
            stream.written_texts = len(stream.texts)

    def complete(self, row: Message) -> Message:
        """Lay the streamed text into a row about to be written or read."""
        stream = self._streams.get(row.message_id)
        if stream is None:
            return row
        delta_seq = stream.next_delta_seq if row.status == "streaming" else None
        return _with_text(row, stream.field, self.text(row.message_id), delta_seq, stream.truncated)

    def text(self, message_id: MessageId) -> str:
        """All the text of a streaming message so far."""
        stream = self._streams[message_id]
        if len(stream.texts) > 1:
            # Joined texts stay one piece, so that repeated reads do not join the same text again.
            unwritten = stream.texts[stream.written_texts :]
            written = "".join(stream.texts[: stream.written_texts])
            stream.texts = [written, *unwritten] if written else unwritten
            stream.written_texts = 1 if written else 0
        return "".join(stream.texts)

    def snapshots(self) -> Iterator[Message]:
        """Each streaming message as it stands now."""
        for stream in self._streams.values():
            yield self.complete(stream.message)

    def close(self, message_id: MessageId) -> None:
        """The row that ends the message is committed."""
        self._streams.pop(message_id, None)

    def take_unwritten(self) -> list[StreamPiece]:
        """Text the store does not have yet, one piece a message; it counts as written from here on."""
        pieces = []
        for message_id, stream in self._streams.items():
            text = "".join(stream.texts[stream.written_texts :])
            if not text:
                continue
            pieces.append(
                StreamPiece(
                    workspace_id=stream.message.workspace_id,
                    agent_session_id=stream.message.agent_session_id,
                    message_id=message_id,
                    first_delta_seq=stream.written_delta_seq,
                    deltas=stream.next_delta_seq - stream.written_delta_seq,
                    field=stream.field,
                    text=text,
                )
            )
            stream.written_delta_seq = stream.next_delta_seq
            stream.written_texts = len(stream.texts)
        return pieces

    def give_back(self, piece: StreamPiece) -> None:
        """The store did not take this piece: it is part of the next one. Not so when a row has the text by now."""
        stream = self._streams.get(piece.message_id)
        if stream is None or stream.written_delta_seq != piece.first_delta_seq + piece.deltas:
            return
        written = "".join(stream.texts[: stream.written_texts])
        if not written.endswith(piece.text):
            return
        kept = written.removesuffix(piece.text)
        stream.texts = [*([kept] if kept else []), piece.text, *stream.texts[stream.written_texts :]]
        stream.written_texts = 1 if kept else 0
        stream.written_delta_seq = piece.first_delta_seq


def cut_text(text: str, bytes_max: int) -> str:
    """The longest prefix of whole code points within `bytes_max` bytes of UTF-8 (ST-016)."""
    return text.encode()[: max(0, bytes_max)].decode(errors="ignore")


def _parts(text: str, bytes_max: int) -> Iterator[str]:
    if len(text) * 4 <= bytes_max:
        yield text
        return
    while text:
        part = cut_text(text, bytes_max)
        yield part
        text = text[len(part) :]


def _text_of(message: Message) -> str:
    if message.tool_call is not None:
        return message.tool_call.output.text
    return "".join(block.text for block in message.content if isinstance(block, TextBlock))


def _with_text(row: Message, field: DeltaField, text: str, delta_seq: int | None, truncated: bool) -> Message:
    if field == "output":
        if row.tool_call is None:
            return row
        output: ToolOutput = attrs.evolve(row.tool_call.output, text=text)
        call = attrs.evolve(row.tool_call, output=output)
        return attrs.evolve(row, tool_call=call, delta_seq=delta_seq, truncated=truncated)
    # A plan of entries streams without any text: its content is the row's.
    content = (TextBlock(text),) if text or not row.content else row.content
    return attrs.evolve(row, content=content, delta_seq=delta_seq, truncated=truncated)
