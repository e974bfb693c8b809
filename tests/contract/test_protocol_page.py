"""`docs/protocol.md`: its worked session, played against a real daemon, frame by frame."""

import json
import re
from typing import Any, TypeAlias

from tests.end_to_end.client import Client, connected
from tests.end_to_end.fixtures import MakeDaemon
from tools.files import ROOT

Names: TypeAlias = dict[str, Any]

PAGE = ROOT / "docs" / "protocol.md"
REST = "…"
_LEFT_OUT = (
    (",…]", f',"{REST}"]'),
    ("[…]", f'["{REST}"]'),
    (",…", f',"{REST}":0'),
    ("{…", f'{{"{REST}":0'),
)
"""How the page writes what is left out, and as JSON."""
ONE_MORE = "any number"
"""A number that the page calls `$n`, another one each time."""


def frames() -> list[tuple[str, Any]]:
    """What is said on the page: by whom, and what."""
    said = []
    for block in re.findall(r"```frames\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        for line in block.splitlines():
            arrow, _, text = line.partition(" ")
            for written, meant in _LEFT_OUT:
                text = text.replace(written, meant)
            frame = json.loads(text.replace(":$n", f':"{ONE_MORE}"'))
            said.append((arrow, frame["params"] if frame.get("method") == "event" else frame))
    return said


def matches(shown: Any, real: Any, names: Names) -> bool:
    """Whether a real value is what the page shows; takes the ids it names into `names`."""
    if shown == REST:
        return True
    if shown == ONE_MORE:
        return isinstance(real, int)
    if isinstance(shown, str) and shown.startswith("$"):
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
    return names.get(shown, shown) if isinstance(shown, str) else shown


def pieces(frame: Any) -> list[Any]:
    """What a frame says, one row at a time: which rows share a commit depends on what happened together."""
    if isinstance(frame, dict) and frame.get("type") == "commit":
        return [change for change in frame["changes"] if change != REST]
    return [frame]


async def test_the_worked_session_is_what_a_daemon_says(make_daemon: MakeDaemon) -> None:
    names: Names = {}
    place = 0
    async with connected(make_daemon(), initialize=False) as client:
        for arrow, shown in frames():
            if arrow == "→":
                await client.send_text(json.dumps(filled_in(shown, names)))
                continue
            for piece in pieces(shown):
                place = await _place_after(client, piece, names, place)
    assert {"$store", "$session", "$turn", "$answer", "$ask", "$second"} <= names.keys()


async def _place_after(client: Client, shown: Any, names: Names, place: int) -> int:
    """The place after the next piece that is the shown one. The page leaves out some in between."""

    def found() -> int | None:
        received = [piece for frame in client.received for piece in pieces(frame)]
        for index in range(place, len(received)):
            tried = dict(names)
            if matches(shown, received[index], tried):
                names.update(tried)
                return index + 1
        return None

    result: int = await client.wait(found, json.dumps(shown, ensure_ascii=False))
    return result
