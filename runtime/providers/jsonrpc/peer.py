"""A sans-IO JSON-RPC 2.0 peer: lines in, typed messages out; calls in, bytes out.

Owns the numbering of our requests, which of them are still open, and the count of what was no protocol at all. It
knows no method of any provider. Everything a line can be is a value: nothing the other side writes raises
(FC-17, FC-24, FC-31, FC-54).
"""

from typing import Literal, TypeAlias

import attrs

from runtime.providers.jsonrpc.json_text import MalformedJsonError, decode, encode
from store.canonical.common import Json

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

NOISE_LINES_MAX = 1000
"""Lines without one valid frame between them after which the stream is no protocol (FC-17)."""

_SAMPLE_BYTES = 200

RequestKey: TypeAlias = tuple[str, bytes]
"""Type and JSON text of an id the other side chose: 0, 0.0, false and "0" are four different ids."""


@attrs.frozen
class Request:
    """The other side asks and waits. `key` is its id as something to look up, `id` what goes back."""

    id: Json
    method: str
    params: Json

    @property
    def key(self) -> RequestKey:
        """The id with its type."""
        return request_key(self.id)


@attrs.frozen
class Notification:
    """The other side tells."""

    method: str
    params: Json


@attrs.frozen
class Response:
    """The result of a request of ours that was open until now."""

    id: int
    result: Json


@attrs.frozen
class ErrorResponse:
    """A request of ours failed. `message` and `data` are the provider's words: never shown, only judged."""

    id: int
    code: int
    message: str
    data: Json = None


IgnoredReason = Literal["unknown_response", "second_response", "unaddressed_error"]


@attrs.frozen
class Ignored:
    """Proper JSON-RPC that settles nothing: counted and left."""

    reason: IgnoredReason
    detail: str


@attrs.frozen
class Noise:
    """A line that is no frame. `flood` is set once too much of it came without one valid frame between."""

    reason: str
    sample: str
    flood: bool = False


Received: TypeAlias = Request | Notification | Response | ErrorResponse | Ignored | Noise


def request_key(request_id: Json) -> RequestKey:
    """What to look an inbound request up by; equal only for the same value of the same JSON type (FC-54)."""
    return (type(request_id).__name__, encode(request_id))


class JsonRpcPeer:
    """One end of one connection.

    `version_member` says whether frames carry `"jsonrpc": "2.0"`: some providers leave it out, and inbound frames
    are accepted either way.
    """

    def __init__(self, max_noise_bytes: int, version_member: bool = True) -> None:
        self._max_noise_bytes = max_noise_bytes
        self._head: dict[str, Json] = {"jsonrpc": "2.0"} if version_member else {}
        self._last_id = 0
        self._open: set[int] = set()
        self._noise_lines = 0
        self._noise_bytes = 0
        self.ignored = 0
        """How many proper frames settled nothing."""

    # --- outbound ---------------------------------------------------------------------------------------------

    def request(self, method: str, params: Json) -> tuple[int, bytes]:
        """A call of ours: its id, by which the answer comes back once, and the frame."""
        self._last_id += 1
        self._open.add(self._last_id)
        return self._last_id, self._frame({"id": self._last_id, "method": method, "params": params})

    def notify(self, method: str, params: Json) -> bytes:
        """Tell without being answered."""
        return self._frame({"method": method, "params": params})

    def respond(self, request_id: Json, result: Json) -> bytes:
        """Answer a request of the other side, its id given back exactly."""
        return self._frame({"id": request_id, "result": result})

    def refuse(self, request_id: Json, code: int, message: str) -> bytes:
        """Answer a request of the other side with an error."""
        return self._frame({"id": request_id, "error": {"code": code, "message": message}})

    def _frame(self, members: dict[str, Json]) -> bytes:
        return encode(self._head | members) + b"\n"

    # --- inbound ----------------------------------------------------------------------------------------------

    def receive(self, line: bytes) -> Received:
        """Judge one line."""
        try:
            message = decode(line)
        except MalformedJsonError as error:
            return self._noise(str(error) if line.strip() else "blank line", line)
        if not isinstance(message, dict):
            return self._noise("a batch" if isinstance(message, list) else "no object", line)
        method = message.get("method")
        if isinstance(method, str):
            received: Received = _call(method, message)
        elif method is None and ("result" in message or "error" in message):
            received = self._answer(message)
        else:
            return self._noise("no JSON-RPC message", line)
        self._noise_lines = self._noise_bytes = 0
        return received

    def _answer(self, message: dict[str, Json]) -> Received:
        request_id = message.get("id")
        error = message.get("error")
        if request_id is None:
            return self._ignore("unaddressed_error", _brief(error))
        if type(request_id) is not int or request_id not in self._open:
            # Ours are consecutive, so an id that was given out and is not open has had its answer.
            second = type(request_id) is int and 0 < request_id <= self._last_id
            return self._ignore("second_response" if second else "unknown_response", _brief(request_id))
        self._open.remove(request_id)
        # Both members at once is malformed, yet it is the one answer this call will get: taking it as the error
        # ends the call, ignoring it would leave it open for ever.
        if error is not None or "result" not in message:
            return _error_response(request_id, error)
        return Response(request_id, message["result"])

    def _ignore(self, reason: IgnoredReason, detail: str) -> Ignored:
        self.ignored += 1
        return Ignored(reason, detail)

    def _noise(self, reason: str, line: bytes) -> Noise:
        self._noise_lines += 1
        self._noise_bytes += len(line) + 1
        flood = self._noise_lines >= NOISE_LINES_MAX or self._noise_bytes > self._max_noise_bytes
        return Noise(reason, line[:_SAMPLE_BYTES].decode("utf-8", "replace"), flood)


def _call(method: str, message: dict[str, Json]) -> Request | Notification:
    # A null id cannot be answered so that anybody would notice; the call is then taken as told, not asked.
    request_id = message.get("id")
    if request_id is None:
        return Notification(method, message.get("params"))
    return Request(request_id, method, message.get("params"))


def _error_response(request_id: int, error: Json) -> ErrorResponse:
    if not isinstance(error, dict):
        return ErrorResponse(request_id, 0, error if isinstance(error, str) else "")
    code, message = error.get("code"), error.get("message")
    return ErrorResponse(
        request_id,
        code if type(code) is int else 0,
        message if isinstance(message, str) else "",
        error.get("data"),
    )


def _brief(value: Json) -> str:
    return encode(value)[:_SAMPLE_BYTES].decode("utf-8", "replace")
