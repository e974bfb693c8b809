"""Reads members of a frame tolerantly: what has the expected type is kept, anything else is as good as absent.

Owns the smallest steps from JSON to typed values. Nothing raises, so that no shape of a provider can.
"""

from collections.abc import Mapping
from typing import TypeAlias

from store.canonical.common import Json

Members: TypeAlias = Mapping[str, Json]


def object_of(value: Json) -> Members:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Json]:
    """`value` when it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Json) -> str | None:
    """`value` when it is a string that is not empty."""
    return value if isinstance(value, str) and value else None


def count_of(value: Json) -> int | None:
    """`value` when it is a whole number from 0 on."""
    return value if type(value) is int and value >= 0 else None
