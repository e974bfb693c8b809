"""JSON text at the provider's edge: what comes in is made well-formed, what goes out always is (FC-19).

orjson does the work. It refuses lone surrogates, which agents do produce, so such a line is read a second time by
the standard library and every lone surrogate becomes U+FFFD. Nothing deeper than `NESTING_MAX` passes, so that
no value taken from a provider can later be too deep to be written again.
"""

import json
import math
import re
from typing import Any, NoReturn

import orjson

from store.canonical.common import Json

NESTING_MAX = 128
"""Levels of arrays and objects in one frame. orjson reads 1024 but writes only 254."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER_MIN, _INTEGER_MAX = -(2**63), 2**64 - 1


class MalformedJsonError(ValueError):
    """The line is no JSON we accept; `str()` says why in a few words of ours.

    Raised by `decode` for text that is not JSON (NaN included), not UTF-8, or nested too deep. A JSON value
    of an unexpected shape is not this: shapes are judged by whoever reads them.
    """


def decode(line: bytes) -> Json:
    """Read one JSON document. Of members with the same name the last one counts, as in every common reader."""
    try:
        value: Json = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if b"\\u" not in line:
            raise MalformedJsonError("not JSON" if _is_utf8(line) else "invalid UTF-8") from error
        value = _decode_leniently(line)
    # Counting brackets is a memchr and rules out depth for all but strange frames; only those are walked.
    if line.count(b"{") + line.count(b"[") > NESTING_MAX and not _is_shallow(value):
        raise MalformedJsonError("nested too deep")
    return value


def encode(value: Json) -> bytes:
    """Write one JSON document without a newline; lone surrogates in it are replaced, never refused."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(well_formed(value))


def well_formed(value: Json) -> Json:
    """The same value with lone surrogates replaced and integers beyond 64 bits turned into floats."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [well_formed(item) for item in value]
    if isinstance(value, dict):
        return {_SURROGATE.sub("\ufffd", key): well_formed(item) for key, item in value.items()}
    if isinstance(value, int) and not _INTEGER_MIN <= value <= _INTEGER_MAX:
        return float(value)
    return value


def _decode_leniently(line: bytes) -> Json:
    try:
        value: Any = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
        if not _is_shallow(value):
            raise MalformedJsonError("nested too deep")
        return well_formed(value)
    except RecursionError:
        raise MalformedJsonError("nested too deep") from None
    except UnicodeDecodeError:
        raise MalformedJsonError("invalid UTF-8") from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, MalformedJsonError):
            raise
        raise MalformedJsonError("not JSON") from error


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedJsonError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise MalformedJsonError("number out of range")
    return number


def _is_shallow(value: Json) -> bool:
    """Whether no container lies deeper than `NESTING_MAX`; walks level by level, without recursion."""
    level = [value]
    for _ in range(NESTING_MAX):
        children: list[Json] = []
        for container in level:
            if isinstance(container, dict):
                children.extend(container.values())
            elif isinstance(container, list):
                children.extend(container)
        level = [child for child in children if isinstance(child, dict | list)]
        if not level:
            return True
    return False
