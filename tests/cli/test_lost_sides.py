"""A Side whose stream has a hole is given up: what is missing is read from nowhere (RT-124)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from greenroom_client import TurnView
from runtime.cli.failures import CommandFailed, Subject
from runtime.cli.side_talk import SideTalk

DELTA = {
    "type": "message_delta",
    "agentSessionId": "side",
    "turnId": "t",
    "messageId": "m",
    "kind": "text",
    "field": "text",
    "text": "so far",
}


class Forbidden:
    """A client of which nothing may be asked."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{name} was asked for")


def side(payload: dict[str, Any]) -> dict[str, Any]:
    return {"type": "side", "sideAgentSessionId": "side", "sequence": 1, "payload": payload}


@pytest.mark.rule("RT-124")
@pytest.mark.parametrize(
    "hole",
    [
        {"type": "side_gap", "sideAgentSessionId": "side"},
        {"type": "gap", "lost": "text", "reason": "reconnected", "commitSeq": 7},
        side({"type": "expired", "reason": "provider_lost"}),
        side({"type": "closed", "reason": "owner_lost"}),
    ],
    ids=["too slow", "connection lost", "provider lost", "owner lost"],
)
async def test_a_hole_ends_the_answer_and_nothing_is_read_again(hole: dict[str, Any]) -> None:
    async def events() -> AsyncIterator[Any]:
        yield side({**DELTA, "deltaSeq": 0})
        yield hole
        yield side({**DELTA, "deltaSeq": 1, "text": "never seen"})

    client: Any = Forbidden()
    talk = SideTalk(client, Subject("s", "w"), "side", events(), lambda _: None)
    talk.view = TurnView("side", "t")
    seen: list[object] = []

    async def read() -> None:
        async for piece in talk.pieces():
            seen.append(piece)  # noqa: PERF401 -- kept as far as it came

    with pytest.raises(CommandFailed, match="ended before it had answered") as failed:
        await read()
    assert failed.value.code == "side.expired"
    assert len(seen) <= 1
    assert "never seen" not in str(seen)
