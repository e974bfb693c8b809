"""A subscription whose client cannot keep up with a Side: it hears so once, and nothing more of that Side."""

import json

import pytest

from runtime.side.rows import SideClosed, SideError
from runtime.wire.encoding import encode_event
from runtime.wire.events import SideUpdated
from store.canonical.identifiers import SessionId, WorkspaceId
from tests.doubles.subscription_stage import Stage


def tell(stage: Stage, side: str, sequence: int, *, last: bool = False, size: int = 0) -> None:
    """Something of a Side as the hub publishes it."""
    error = SideError(code="." * size or "internal")
    event = SideUpdated(
        workspace_id=WorkspaceId("w"),
        source_agent_session_id=SessionId("s"),
        side_agent_session_id=SessionId(side),
        sequence=sequence,
        payload=SideClosed(reason="closed") if last else error,
    )
    stage.subscription.side(event, encode_event(event), last=last)


def read(stage: Stage) -> list[str]:
    """What the client gets when it reads all that is there: each Side with the sequence, or its gap."""
    told: list[str] = []
    while pieces := stage.queue.take(1 << 20):
        data = b"".join(pieces)
        stage.queue.written(len(data))
        for piece in data.split(b'{"jsonrpc"')[1:]:
            event, _ = json.JSONDecoder().raw_decode('{"jsonrpc"' + piece.decode(errors="replace"))
            params = event["params"]
            told.append(f"{params['sideAgentSessionId']}:{params.get('sequence', 'gap')}")
    return told


@pytest.mark.rule("RT-117")
def test_who_keeps_up_gets_everything() -> None:
    stage = Stage()
    for sequence in range(1, 4):
        tell(stage, "a", sequence)
    tell(stage, "a", 4, last=True)
    assert read(stage) == ["a:1", "a:2", "a:3", "a:4"]


@pytest.mark.rule("RT-117")
def test_who_does_not_hears_so_once_and_nothing_more_of_that_side() -> None:
    stage = Stage()
    tell(stage, "a", 1, size=1500)
    tell(stage, "a", 2, size=1500)
    tell(stage, "a", 3)
    assert read(stage) == ["a:1", "a:gap"]
    tell(stage, "a", 4)
    tell(stage, "b", 1)
    tell(stage, "a", 5, last=True)
    assert read(stage) == ["b:1"]


@pytest.mark.rule("RT-122")
def test_a_gap_that_had_no_room_is_told_later_and_nothing_of_the_side_stays() -> None:
    stage = Stage()
    for size in (500, 10):
        while stage.queue.put_fact(b"{", b'"filler":"' + b"." * size + b'"}'):
            pass
    tell(stage, "a", 1)
    tell(stage, "a", 2, last=True)
    stage.queue.written(len(b"".join(stage.queue.take(1 << 20))))
    assert read(stage) == ["a:gap"]
    tell(stage, "a", 1)
    assert read(stage) == ["a:1"], "another Side of that id later is another one"
