"""Opaque page cursors: what a list needs to go on, as base64url JSON. Pure.

A cursor names its list, so that one made for another list is refused instead of misread.
"""

import base64
import binascii
from typing import Any, Final

import orjson

from store.errors import InvalidCursor

_CURSOR_CHARACTERS_MAX: Final = 512


def encode_cursor(list_name: str, place: tuple[int, ...]) -> str:
    """The cursor that goes on behind `place` in the list called `list_name`."""
    return base64.urlsafe_b64encode(orjson.dumps([list_name, *place])).rstrip(b"=").decode()


def encode_name_cursor(list_name: str, name: str) -> str:
    """The cursor of a list that goes by names: it goes on behind `name`."""
    return base64.urlsafe_b64encode(orjson.dumps([list_name, name])).rstrip(b"=").decode()


def decode_cursor(list_name: str, width: int, cursor: str) -> tuple[int, ...]:
    """The place of `width` numbers in `cursor`. Raises `InvalidCursor`."""
    place = _members(list_name, width, cursor)
    if not all(type(number) is int and abs(number) < 2**63 for number in place):
        raise InvalidCursor("the cursor is none of this store's")
    return place


def decode_name_cursor(list_name: str, cursor: str) -> str:
    """The name in `cursor`. Raises `InvalidCursor`."""
    (name,) = _members(list_name, 1, cursor)
    if not isinstance(name, str):
        raise InvalidCursor("the cursor is none of this store's")
    return name


def _members(list_name: str, width: int, cursor: str) -> tuple[Any, ...]:
    if len(cursor) > _CURSOR_CHARACTERS_MAX:
        raise InvalidCursor("the cursor is none of this store's")
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        values = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError) as error:
        raise InvalidCursor("the cursor is none of this store's") from error
    if not isinstance(values, list) or len(values) != width + 1 or values[0] != list_name:
        raise InvalidCursor("the cursor was made for another list")
    return tuple(values[1:])
