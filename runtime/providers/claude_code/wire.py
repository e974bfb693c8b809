"""The frames of the stream-json protocol: JSON objects, one a line, both ways.

Owns how what we say is written, and how lines become frames. What a frame means is not known here. Anything that is no
frame is counted; only a flood of it means that the other side does not speak this protocol.
"""

from typing import Final

import attrs

from runtime.providers.claude_code.failures import provider_error
from runtime.providers.jsonrpc.framing import Frame, LineFramer, LineTooLong
from runtime.providers.jsonrpc.json_text import MalformedJsonError, decode, encode
from runtime.providers.jsonrpc.members import Members
from runtime.providers.port import AdapterLimits, Diagnostic, GiveUp, ImageData, PromptBlock
from store.canonical.common import Json
from store.canonical.message import ResourceLinkBlock, TextBlock

_SAMPLE_BYTES: Final = 80
_FLOOD_TEXT: Final = "Claude Code's output is no protocol: too much of it came without one valid message."


@attrs.frozen
class Skipped:
    """A message that was too large to be read; `sizes` says how large and what the limit is."""

    sizes: str


Read = Members | Skipped | Diagnostic | GiveUp


class FrameReader:
    """Cuts what Claude Code says into frames."""

    def __init__(self, limits: AdapterLimits) -> None:
        self._framer = LineFramer(limits.max_provider_line_bytes, limits.max_provider_discard_bytes)
        self._noise_bytes_max = limits.max_provider_noise_bytes
        self._noise_bytes = 0

    def receive(self, data: bytes) -> list[Read]:
        """The frames that ended in these bytes."""
        return [each for frame in self._framer.receive(data) if (each := self._read(frame)) is not None]

    def end_of_input(self) -> list[Read]:
        """A last line without its newline still counts."""
        return [each for frame in self._framer.end_of_input() if (each := self._read(frame)) is not None]

    def _read(self, frame: Frame) -> Read | None:
        if isinstance(frame, LineTooLong):
            return Skipped(f"{frame.size_bytes} bytes, the limit is {frame.limit_bytes}")
        if not isinstance(frame, bytes):
            size_bytes = frame.limit_bytes + frame.discard_bytes
            text = f"A message of Claude Code did not end within {size_bytes} bytes."
            return GiveUp(provider_error("provider.protocol", text))
        if not frame.strip():
            return None
        try:
            value = decode(frame)
        except MalformedJsonError as error:
            return self._noise(frame, str(error))
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            return self._noise(frame, "no frame")
        self._noise_bytes = 0
        return value

    def _noise(self, line: bytes, reason: str) -> Diagnostic | GiveUp:
        self._noise_bytes += len(line)
        if self._noise_bytes > self._noise_bytes_max:
            return GiveUp(provider_error("provider.protocol", _FLOOD_TEXT))
        return Diagnostic("line.noise", f"{reason}: {line[:_SAMPLE_BYTES].decode(errors='replace')}")


def control_request(request_id: str, request: Json) -> bytes:
    """A request of ours."""
    return _line({"type": "control_request", "request_id": request_id, "request": request})


def control_reply(request_id: str, body: Json) -> bytes:
    """Our answer to a request of Claude Code's."""
    response: Json = {"subtype": "success", "request_id": request_id, "response": body}
    return _line({"type": "control_response", "response": response})


def control_refusal(request_id: str, reason: str) -> bytes:
    """The answer to a request that nobody here can answer."""
    response: Json = {"subtype": "error", "request_id": request_id, "error": reason}
    return _line({"type": "control_response", "response": response})


def control_cancel(request_id: str) -> bytes:
    """A request of ours is not wanted any more."""
    return _line({"type": "control_cancel_request", "request_id": request_id})


def user_message(uuid: str, content: tuple[PromptBlock, ...]) -> bytes:
    """Something a person says. Its `uuid` comes back in everything that becomes of it."""
    blocks: list[Json] = [_block(block) for block in content]
    message: Json = {"role": "user", "content": blocks}
    return _line(
        {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "", "uuid": uuid}
    )


def _block(block: PromptBlock) -> Json:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ResourceLinkBlock():
            return {"type": "text", "text": f"[{block.name}]({block.uri})"}
        case ImageData():
            source: Json = {"type": "base64", "media_type": block.media_type, "data": block.data}
            return {"type": "image", "source": source}


def _line(frame: Json) -> bytes:
    return encode(frame) + b"\n"
