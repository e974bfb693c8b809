"""Frames that were written down, played against a daemon of today: ids that differ are named, the rest is compared.

A shown value is JSON in which `"$name"` is an id that the daemon makes, `REST` anything, and a member called `REST`
any further members. Owns the comparison; where shown frames come from is the business of its users.
"""

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from tests.end_to_end.client import Client

Names: TypeAlias = dict[str, Any]

REST = "…"
ONE_MORE = "any number"
"""A number that the protocol page calls `$n`, another one each time."""


def matches(shown: Any, real: Any, names: Names) -> bool:
    """Whether a real value is what is shown; takes the ids it names into `names`."""
    if shown == REST:
        return True
    if shown == ONE_MORE:
        return isinstance(real, int)
    if isinstance(shown, str) and shown.startswith("$"):
        if shown not in names and real in names.values():
            return False  # two ids that were two stay two
        return isinstance(real, str) and names.setdefault(shown, real) == real
    if isinstance(shown, dict):
        return isinstance(real, dict) and _members_match(shown, real, names)
    if isinstance(shown, list):
        open_ended = shown[-1:] == [REST]
        listed = shown[:-1] if open_ended else shown
        return (
            isinstance(real, list)
            and (len(real) >= len(listed) if open_ended else len(real) == len(listed))
            and all(matches(one, other, names) for one, other in zip(listed, real, strict=False))
        )
    return bool(shown == real)


def _members_match(shown: dict[str, Any], real: dict[str, Any], names: Names) -> bool:
    listed = {key: value for key, value in shown.items() if key != REST}
    if REST not in shown and listed.keys() != real.keys():
        return False
    return all(key in real and matches(value, real[key], names) for key, value in listed.items())


def filled_in(shown: Any, names: Names) -> Any:
    """A frame to send, with the ids the server made."""
    if isinstance(shown, dict):
        return {key: filled_in(value, names) for key, value in shown.items()}
    if isinstance(shown, list):
        return [filled_in(item, names) for item in shown]
    return names.get(shown, shown) if isinstance(shown, str) else shown


def pieces(frame: Any) -> list[Any]:
    """What a frame says, one row at a time: which rows share a commit depends on what happened together."""
    if isinstance(frame, dict) and frame.get("type") == "commit":
        return [change for change in frame["changes"] if change != REST]
    return [frame]


async def place_after(client: Client, shown: Any, names: Names, place: int) -> int:
    """The place after the next received piece from `place` on that is the shown one, waited for.

    Others may come in between.
    """

    def found() -> int | None:
        for index, piece in enumerate(_received(client)):
            tried = dict(names)
            if index >= place and matches(shown, piece, tried):
                names.update(tried)
                return index + 1
        return None

    result: int = await client.wait(found, json.dumps(shown, ensure_ascii=False))
    return result


def _received(client: Client) -> Iterable[Any]:
    return (piece for frame in client.received for piece in pieces(frame))
