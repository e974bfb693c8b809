"""A reply of the scripted model in the words of the Messages API, as `model_server` gives it over HTTP.

Owns the events and their order. What is said, and when, is the script's.
"""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import attrs

from tests.doubles.model_script import Json, Part


@attrs.define(eq=False)
class MessagesReply:
    """One streamed reply: a message of blocks, each with its own deltas.

    Args:
        write: sends a piece of the stream; raises when the other side hung up.
        hold: waits for the release of a name; raises when that never comes.
        sent: told of each piece of text once it is out.
    """

    identity: str
    model: object
    write: Callable[[bytes], None]
    hold: Callable[[str], None]
    sent: Callable[[str], None]
    _blocks: int = attrs.field(default=0, init=False)
    _calls: int = attrs.field(default=0, init=False)
    _text_open: bool = attrs.field(default=False, init=False)
    _pace_seconds: float = attrs.field(default=0.0, init=False)

    def play(self, parts: Sequence[Part]) -> Literal["complete", "failed", "dropped"]:
        """Stream the step; how it ended."""
        usage = {"input_tokens": 100, "output_tokens": 1}
        message = {"id": self._new_id("msg"), "type": "message", "role": "assistant", "content": []}
        told = {**message, "model": self.model, "stop_reason": None, "usage": usage}
        self._event("message_start", message=told)
        for part in parts:
            if isinstance(part, str):
                self._text(part)
            elif "hold" in part:
                self.hold(part["hold"])
            elif "pace" in part:
                self._pace_seconds = part["pace"]
            elif "drop" in part:
                return "dropped"
            elif "fail" in part:
                self._event("error", error={"type": part["fail"], "message": part["message"]})
                return "failed"
            elif "think" in part:
                self._whole_block(
                    {"type": "thinking", "thinking": "", "signature": ""},
                    {"type": "thinking_delta", "thinking": part["think"]},
                    {"type": "signature_delta", "signature": "c2lnbmVk"},
                )
            else:
                self._calls += 1
                arguments = json.dumps(part["arguments"])
                self._whole_block(
                    {"type": "tool_use", "id": self._new_id("toolu"), "name": part["call"], "input": {}},
                    {"type": "input_json_delta", "partial_json": arguments},
                )
        self._end_text()
        delta = {"stop_reason": "tool_use" if self._calls else "end_turn", "stop_sequence": None}
        self._event("message_delta", delta=delta, usage={"output_tokens": 10})
        self._event("message_stop")
        return "complete"

    def _text(self, piece: str) -> None:
        time.sleep(self._pace_seconds)
        if not self._text_open:
            self._text_open = True
            block = {"type": "text", "text": ""}
            self._event("content_block_start", index=self._blocks, content_block=block)
        self._event("content_block_delta", index=self._blocks, delta={"type": "text_delta", "text": piece})
        self.sent(piece)

    def _end_text(self) -> None:
        if self._text_open:
            self._text_open = False
            self._event("content_block_stop", index=self._blocks)
            self._blocks += 1

    def _whole_block(self, block: Json, *deltas: Json) -> None:
        self._end_text()
        self._event("content_block_start", index=self._blocks, content_block=block)
        for delta in deltas:
            self._event("content_block_delta", index=self._blocks, delta=delta)
        self._event("content_block_stop", index=self._blocks)
        self._blocks += 1

    def _event(self, kind: str, **members: Any) -> None:
        payload = {"type": kind, **members}
        self.write(f"event: {kind}\ndata: {json.dumps(payload)}\n\n".encode())

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{self.identity}_{self._blocks}"
