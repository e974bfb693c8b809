"""One text frame of a client into one request, or into the error reply it deserves (`contract §2`). Pure.

Owns the envelope of JSON-RPC 2.0 alone: what the method is and whether its params fit is decided later. Whatever
comes in, the result is a value: the connection lives.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeGuard

import attrs
import orjson

from runtime.refusal import Refusal
from runtime.wire.constraints import INTEGER_MAX
from runtime.wire.encoding import JsonRpcId, encode_error
from runtime.wire.errors import INVALID_REQUEST, PARSE_ERROR

NESTING_MAX = 64
"""Arrays and objects inside each other, the request itself included."""
ID_CHARACTERS_MAX = 128

RequestIdentity: TypeAlias = str | int

_MEMBERS = frozenset({"jsonrpc", "id", "method", "params"})


@attrs.frozen
class ClientRequest:
    """A well-formed request; method and params are not looked at yet."""

    id: RequestIdentity
    method: str
    params: Mapping[str, Any]


@attrs.frozen
class BadFrame:
    """The frame is no request; `reply` is the error frame to send, `refusal` what it says."""

    refusal: Refusal
    reply: bytes


def read_frame(text: str | bytes) -> ClientRequest | BadFrame:
    """The request in a text frame. Where an object has a member twice, the last one counts."""
    try:
        frame = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _bad("must be JSON: no NaN, no infinity, no lone surrogate", number=PARSE_ERROR)
    if _may_nest_too_deep(text) and nests_deeper_than(frame, NESTING_MAX):
        return _bad(f"must not nest deeper than {NESTING_MAX}", number=PARSE_ERROR)
    if type(frame) is list:
        return _bad("must be one request: batches are not taken")
    if type(frame) is not dict:
        return _bad("must be an object")
    return _request(frame)


def refuse_binary_frame() -> BadFrame:
    """What a binary frame is answered with."""
    return _bad("must be a text frame")


def nests_deeper_than(value: object, levels: int) -> bool:
    """Whether containers stand inside each other more than `levels` deep; looks level by level, no recursion."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(levels):
        if not level:
            return False
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, (dict, list))
        ]
    return bool(level)


def _may_nest_too_deep(text: str | bytes) -> bool:
    """Counting brackets is far cheaper than walking the value, and settles it for nearly every frame."""
    if isinstance(text, str):
        return text.count("[") + text.count("{") > NESTING_MAX
    return text.count(b"[") + text.count(b"{") > NESTING_MAX


def _request(frame: dict[str, Any]) -> ClientRequest | BadFrame:
    request_id = frame.get("id")
    if not _is_request_id(request_id):
        problem = (
            "is missing" if "id" not in frame else "must be a string of at most 128 characters or an integer"
        )
        return _bad(problem, "id")
    if frame.get("jsonrpc") != "2.0":
        return _bad('must be "2.0"', "jsonrpc", request_id)
    method = frame.get("method")
    if type(method) is not str:
        return _bad("must be a string" if "method" in frame else "is missing", "method", request_id)
    params = frame.get("params", {})
    if type(params) is not dict:
        return _bad("must be an object", "params", request_id)
    if not frame.keys() <= _MEMBERS:
        return _bad("must have no members besides jsonrpc, id, method and params", "", request_id)
    return ClientRequest(request_id, method, params)


def _is_request_id(value: object) -> TypeGuard[RequestIdentity]:
    if type(value) is str:
        return len(value) <= ID_CHARACTERS_MAX
    return type(value) is int and abs(value) <= INTEGER_MAX


def _bad(
    problem: str, path: str = "", request_id: JsonRpcId = None, number: int = INVALID_REQUEST
) -> BadFrame:
    refusal = Refusal("request.invalid", details={"path": path, "problem": problem})
    return BadFrame(refusal, encode_error(request_id, refusal, number))
