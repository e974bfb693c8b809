"""A scripted model on the loopback, by which a real agent works without an account: Responses and Messages over HTTP.

`model_script` says what a prompt is answered with. A reply can hold: then nothing more comes until the test releases
it, and no test has to wait for a race. What was asked, what was sent and how each reply ended is kept, for tests to
prove what reached the model and that a cancel reached it too. Standard library, threads, one port of 127.0.0.1.
"""

import json
import select
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Literal, Self, TypeAlias

import attrs

from tests.doubles.messages_reply import MessagesReply
from tests.doubles.model_script import Json, Part, messages_of, prompt_of, step_of, tool_outputs_of

Ending: TypeAlias = Literal["open", "complete", "failed", "dropped", "client_left", "given_up"]

LOOK_SECONDS = 0.02
HOLD_SECONDS_MAX = 60.0


@attrs.define(eq=False)
class ModelRequest:
    """One request for a reply, and what became of it."""

    body: Json
    sent: list[str] = attrs.field(factory=list)
    """The pieces of text sent so far; whole ones only."""
    holding: str | None = None
    """What it waits for."""
    ending: Ending = "open"

    @property
    def conversation(self) -> list[tuple[str, str]]:
        """The messages the model was given, oldest first: role and text."""
        return messages_of(self.body)

    @property
    def tool_outputs(self) -> list[str]:
        """What the tools called so far gave."""
        return tool_outputs_of(self.body)

    @property
    def text(self) -> str:
        """All the text sent so far."""
        return "".join(self.sent)

    def knows(self, role: str, words: str) -> bool:
        """Whether a message of that role with these words was given to the model."""
        return any(each == role and words in text for each, text in self.conversation)


class ModelServer:
    """Serves while its context is entered, on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self._released: set[str] = set()
        self._news = threading.Condition()
        self._stopping = False
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(LOOK_SECONDS,), daemon=True)

    @property
    def url(self) -> str:
        """The base address agents are configured with."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._news:
            self._stopping = True
            self._news.notify_all()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    # --- for the test -------------------------------------------------------------------------------------------

    def release(self, name: str) -> None:
        """Let go on whoever holds for this name, now or later."""
        with self._news:
            self._released.add(name)
            self._news.notify_all()

    def asked(self, words: str) -> list[ModelRequest]:
        """The requests whose newest prompt contains these words, oldest first."""
        return [request for request in self.requests if words in prompt_of(request.body)]

    def forget(self) -> None:
        """Forget the requests so far, so that a test counts its own, whatever others asked in the same words."""
        self.requests.clear()

    # --- for its handlers ---------------------------------------------------------------------------------------

    def take(self, body: Json) -> tuple[ModelRequest, list[Part]]:
        """Note a request and choose its step."""
        request = ModelRequest(body)
        self.requests.append(request)
        return request, step_of(body)

    def wait_released(self, name: str, connection: socket.socket) -> bool:
        """Wait for a release; false when the other side hung up, the server stops or nobody ever released it."""
        for _ in range(int(HOLD_SECONDS_MAX / LOOK_SECONDS)):
            with self._news:
                if name in self._released:
                    return True
                self._news.wait(LOOK_SECONDS)
            if self._stopping or _hung_up(connection):
                return False
        return False


class _BrokenOff(Exception):
    """Raised within a reply that cannot go on."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending)
        self.ending = ending


@attrs.define(eq=False)
class _Reply:
    """One streamed reply: events in chunks, ids of its own."""

    server: ModelServer
    handler: "_Handler"
    request: ModelRequest
    _numbers: Iterator[int] = attrs.field(factory=count, init=False)
    _output: list[Json] = attrs.field(factory=list, init=False)
    _text_item: Json | None = attrs.field(default=None, init=False)
    _pace_seconds: float = attrs.field(default=0.0, init=False)
    _identity: str = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._identity = f"{len(self.server.requests)}_{id(self.request):x}"

    def play(self, parts: Sequence[Part]) -> Ending:
        """Stream the step; how it ended."""
        base = {"id": f"resp_{self._identity}", "object": "response", "model": self.request.body.get("model")}
        self._event("response.created", response={**base, "status": "in_progress", "output": []})
        for part in parts:
            if isinstance(part, str):
                self._text(part)
            elif "hold" in part:
                _hold(self.server, self.handler, self.request, part["hold"])
            elif "pace" in part:
                self._pace_seconds = part["pace"]
            elif "drop" in part:
                return "dropped"
            elif "fail" in part:
                error = {"code": part["fail"], "message": part["message"]}
                self._event("response.failed", response={**base, "status": "failed", "error": error})
                return "failed"
            elif "think" in part:
                self._end_text()
                self._think(part["think"])
            elif "give" in part:
                self._end_text()
                self._give(part)
            else:
                self._end_text()
                self._call(part)
        self._end_text()
        usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        done = {**base, "status": "completed", "output": self._output, "usage": usage}
        self._event("response.completed", response=done)
        return "complete"

    def _text(self, piece: str) -> None:
        time.sleep(self._pace_seconds)
        if self._text_item is None:
            self._text_item = {
                "type": "message",
                "id": self._new_id("msg"),
                "role": "assistant",
                "content": [],
            }
            self._item_event("added", self._text_item)
        self._event(
            "response.output_text.delta",
            item_id=self._text_item["id"],
            output_index=len(self._output),
            content_index=0,
            delta=piece,
        )
        self.request.sent.append(piece)
        self._text_item["content"].append(piece)

    def _end_text(self) -> None:
        if self._text_item is not None:
            text = "".join(self._text_item["content"])
            self._text_item["content"] = [{"type": "output_text", "text": text, "annotations": []}]
            self._end_item(self._text_item)
            self._text_item = None

    def _think(self, text: str) -> None:
        item: Json = {"type": "reasoning", "id": self._new_id("rs"), "summary": []}
        self._item_event("added", item)
        place = {"item_id": item["id"], "output_index": len(self._output), "summary_index": 0}
        empty = {"type": "summary_text", "text": ""}
        self._event("response.reasoning_summary_part.added", **place, part=empty)
        self._event("response.reasoning_summary_text.delta", **place, delta=text)
        item["summary"] = [{"type": "summary_text", "text": text}]
        self._end_item(item)

    def _call(self, part: Json) -> None:
        item = {
            "type": "function_call",
            "id": self._new_id("fc"),
            "call_id": self._new_id("call"),
            "name": part["call"],
            "arguments": json.dumps(part["arguments"]),
        }
        if "space" in part:
            item["namespace"] = part["space"]
        self._item_event("added", item)
        self._end_item(item)

    def _give(self, part: Json) -> None:
        item = {
            "type": "custom_tool_call",
            "id": self._new_id("ctc"),
            "call_id": self._new_id("call"),
            "name": part["give"],
            "input": part["text"],
        }
        self._item_event("added", item)
        self._end_item(item)

    def _end_item(self, item: Json) -> None:
        self._item_event("done", item)
        self._output.append(item)

    def _item_event(self, kind: str, item: Json) -> None:
        self._event(f"response.output_item.{kind}", output_index=len(self._output), item=item)

    def _event(self, kind: str, **members: Any) -> None:
        payload = {"type": kind, "sequence_number": next(self._numbers), **members}
        self.handler.write_chunk(f"event: {kind}\ndata: {json.dumps(payload)}\n\n".encode())

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{self._identity}_{next(self._numbers)}"


def _hold(server: ModelServer, handler: "_Handler", request: ModelRequest, name: str) -> None:
    request.holding = name
    released = server.wait_released(name, handler.connection)
    request.holding = None
    if not released:
        raise _BrokenOff("client_left" if _hung_up(handler.connection) else "given_up")


class _Handler(BaseHTTPRequestHandler):
    """One connection: one request, one reply."""

    server_of_model: ModelServer
    protocol_version = "HTTP/1.1"
    timeout = HOLD_SECONDS_MAX

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/models"):
            self._whole(200, {"object": "list", "data": [], "models": []})
        else:
            self._whole(404, {"error": {"message": f"no {self.path} here"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._whole(200, {"input_tokens": 100})
            return
        if not path.endswith(("/responses", "/messages")):
            self._whole(404, {"error": {"message": f"no {self.path} here"}})
            return
        request, parts = self.server_of_model.take(body)
        try:
            request.ending = self._answer(request, parts)
        except _BrokenOff as broken_off:
            request.ending = broken_off.ending
        except OSError:
            request.ending = "client_left"

    def _answer(self, request: ModelRequest, parts: list[Part]) -> Ending:
        first = parts[0] if parts else ""
        if isinstance(first, Mapping) and "refuse" in first:
            error = {"type": "api_error", "message": first["message"]}
            self._whole(first["refuse"], {"type": "error", "error": error})
            return "failed"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        ending: Ending
        if self.path.partition("?")[0].endswith("/messages"):
            wait = partial(_hold, self.server_of_model, self, request)
            identity = f"{len(self.server_of_model.requests)}_{id(request):x}"
            reply = MessagesReply(
                identity, request.body.get("model"), self.write_chunk, wait, request.sent.append
            )
            ending = reply.play(parts)
        else:
            ending = _Reply(self.server_of_model, self, request).play(parts)
        if ending != "dropped":
            self.wfile.write(b"0\r\n\r\n")
        return ending

    def write_chunk(self, data: bytes) -> None:
        """One piece of a streamed reply; raises when the other side hung up."""
        if _hung_up(self.connection):
            raise _BrokenOff("client_left")
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def log_message(self, *args: Any) -> None:
        """Nothing on stderr: what was asked is kept."""

    def _whole(self, status: int, payload: Json) -> None:
        data = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


def _handler_of(server: ModelServer) -> type[_Handler]:
    return type("_HandlerOfServer", (_Handler,), {"server_of_model": server})


def _hung_up(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
