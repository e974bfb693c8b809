"""When there may be a Side, what counts as one, and what is kept of it before it is open."""

import attrs
import pytest

from runtime.providers.normalized import (
    ConnectionLost,
    ProviderEvent,
    SideForked,
    TextChunk,
    ThreadOpenFailed,
    TitleReported,
)
from runtime.providers.side_facts import SideFacts
from runtime.side.lineage import is_side_of, resolve_support
from runtime.side.open_buffer import OpenBuffer
from store.canonical.common import TurnError
from store.canonical.identifiers import SessionId, TargetId, TurnId, WorkspaceId
from store.canonical.session import LifecycleCapabilities, Session, SessionParent

ALL = SideFacts(*(True,) * 7)
DECIDING = ("native_fork", "active_turn_snapshot", "ephemeral", "hidden_history", "boundary")
FORKED = SideForked("child", "thread", ephemeral=True, shown_turns=0, settings={})
ERROR = TurnError("provider.lost", "gone", "runtime")


def session(**members: object) -> Session:
    complete = {
        "workspace_id": WorkspaceId("w"),
        "agent_session_id": SessionId("s"),
        "agent_target_id": TargetId("codex"),
        "provider": "codex",
        "cwd": "/w",
        "created_at": 1,
        "updated_at": 1,
        "provider_session_id": "thread",
        "lifecycle_capabilities": LifecycleCapabilities(side=True),
        **members,
    }
    return Session(**complete)  # type: ignore[arg-type]


@pytest.mark.rule("RT-109")
@pytest.mark.parametrize("missing", DECIDING)
def test_each_of_the_five_facts_decides(missing: str) -> None:
    support = resolve_support(session(), attrs.evolve(ALL, **{missing: False}))
    assert not support.supported
    assert support.reason == "provider"


@pytest.mark.parametrize("missing", ["tools", "multi_turn"])
def test_the_others_are_told_and_decide_nothing(missing: str) -> None:
    support = resolve_support(session(), attrs.evolve(ALL, **{missing: False}))
    assert support.supported
    assert not getattr(support.facts, missing)


@pytest.mark.rule("RT-109", "RT-110")
@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"lifecycle_capabilities": LifecycleCapabilities()}, "program"),
        ({"provider_session_id": None}, "conversation"),
        (
            {"parent": SessionParent(SessionId("r"), TurnId("t"), SessionId("r"), TurnId("t"))},
            "child",
        ),
    ],
)
def test_what_is_not_attested_of_this_very_session_is_no_yes(members: dict[str, object], reason: str) -> None:
    assert resolve_support(session(**members), ALL).reason == reason
    assert resolve_support(session(), ALL).supported


@pytest.mark.rule("RT-112", "RT-128")
@pytest.mark.parametrize(
    "changes",
    [
        {"source_session_id": "another"},
        {"provider_session_id": "thread"},
        {"ephemeral": False},
        {"shown_turns": 1},
    ],
)
def test_a_fork_of_wrong_lineage_is_no_side(changes: dict[str, object]) -> None:
    assert is_side_of(FORKED, "thread")
    assert not is_side_of(attrs.evolve(FORKED, **changes), "thread")


def chunk(text: str) -> TextChunk:
    return TextChunk(TurnId("t"), "i", "text", text)


@pytest.mark.rule("RT-112")
def test_what_comes_around_the_outcome_is_kept_in_order_and_is_no_outcome() -> None:
    buffer = OpenBuffer(10_000)
    early: list[ProviderEvent] = [TitleReported("a"), FORKED, chunk("b"), TitleReported("c")]
    for event in early:
        buffer.take_in(event)
    assert buffer.outcome == FORKED
    assert buffer.replay() == (TitleReported("a"), chunk("b"), TitleReported("c"))


def test_the_first_outcome_stands_and_a_loss_after_it_is_known() -> None:
    buffer = OpenBuffer(10_000)
    buffer.take_in(FORKED)
    buffer.take_in(ConnectionLost(ERROR))
    assert buffer.outcome == FORKED
    assert buffer.lost == ConnectionLost(ERROR)
    failed = OpenBuffer(10_000)
    failed.take_in(ThreadOpenFailed(ERROR))
    failed.take_in(FORKED)
    assert failed.outcome == ThreadOpenFailed(ERROR)


def test_too_much_before_the_side_is_open_ends_the_opening() -> None:
    buffer = OpenBuffer(2_000)
    buffer.take_in(chunk("x" * 2_000))
    assert buffer.outcome == "overflow"
    buffer.take_in(chunk("y"))
    assert buffer.replay() == ()
