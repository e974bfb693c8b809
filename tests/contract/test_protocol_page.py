"""`docs/protocol.md`: its worked session, played against a real daemon, frame by frame."""

import json
import re
from typing import Any

from tests.contract.played_frames import ONE_MORE, REST, Names, filled_in, pieces, place_after
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tools.files import ROOT

PAGE = ROOT / "docs" / "protocol.md"
_LEFT_OUT = (
    (",…]", f',"{REST}"]'),
    ("[…]", f'["{REST}"]'),
    (",…", f',"{REST}":0'),
    ("{…", f'{{"{REST}":0'),
)
"""How the page writes what is left out, and as JSON."""


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


async def test_the_worked_session_is_what_a_daemon_says(make_daemon: MakeDaemon) -> None:
    names: Names = {}
    place = 0
    async with connected(make_daemon(), initialize=False) as client:
        for arrow, shown in frames():
            if arrow == "→":
                await client.send_text(json.dumps(filled_in(shown, names)))
                continue
            for piece in pieces(shown):
                place = await place_after(client, piece, names, place)
    assert {"$store", "$session", "$turn", "$answer", "$ask", "$second"} <= names.keys()
