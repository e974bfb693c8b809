"""Which Sides there are: one id is one Side of one source, and what has ended is remembered within a bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from runtime.refusal import Refusal
from runtime.side.registry import SideEntry, SideRegistry
from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId

W = WorkspaceId("w")


def key(name: str) -> SessionKey:
    return SessionKey(W, SessionId(name))


def entry(name: str, source: str = "source", surface: str = "pane", owner: int = 1) -> SideEntry[None]:
    return SideEntry(key(name), key(source), surface, owner, None)


def registry(sides_max: int = 8, tombstones_max: int = 2) -> SideRegistry[None]:
    return SideRegistry(sides_max, tombstones_max)


@pytest.mark.rule("RT-112")
def test_the_same_source_finds_its_side_and_another_is_refused() -> None:
    sides = registry()
    sides.reserve(entry("a"))
    assert sides.reserve_refusal(key("a"), key("source")) is None
    assert sides.reserve_refusal(key("a"), key("other")) == Refusal("side.exists")


def test_a_failed_opening_leaves_its_id_free() -> None:
    sides = registry()
    reserved = entry("a")
    sides.reserve(reserved)
    sides.cancel(reserved)
    assert len(sides) == 0
    assert sides.refusal(key("a")) == Refusal("side.not_found")
    assert sides.reserve_refusal(key("a"), key("other")) is None


@pytest.mark.rule("RT-118")
def test_an_ended_side_is_remembered_and_its_id_taken_for_as_long() -> None:
    sides = registry(tombstones_max=2)
    for name in "abc":
        reserved = entry(name)
        sides.reserve(reserved)
        sides.end(reserved)
        sides.end(reserved)
    assert sides.refusal(key("a")) == Refusal("side.not_found")
    assert sides.refusal(key("c")) == Refusal("side.expired")
    assert sides.reserve_refusal(key("c"), key("source")) == Refusal("side.expired")


def test_one_side_too_many_is_refused_and_the_way_is_free_when_one_has_ended() -> None:
    sides = registry(sides_max=1)
    reserved = entry("a")
    sides.reserve(reserved)
    refusal = sides.reserve_refusal(key("b"), key("source"))
    assert refusal == Refusal("limit.exceeded", details={"limit": "maxSides"})
    sides.end(reserved)
    assert sides.reserve_refusal(key("b"), key("source")) is None


@pytest.mark.rule("RT-126")
def test_sides_are_found_by_source_owner_and_place() -> None:
    sides = registry()
    for one in (entry("a"), entry("b", source="other", owner=2), entry("c", surface="drawer", owner=2)):
        sides.reserve(one)
    assert [one.key for one in sides.of_source(key("source"))] == [key("a"), key("c")]
    assert [one.key for one in sides.of_owner(2)] == [key("b"), key("c")]
    assert [one.key for one in sides.of_surface("w", "pane")] == [key("a"), key("b")]
    assert sides.of_surface("elsewhere", "pane") == []


@pytest.mark.rule("RT-122")
@given(some.lists(some.tuples(some.sampled_from("abcdef"), some.booleans()), max_size=60))
def test_nothing_of_ended_sides_grows(steps: list[tuple[str, bool]]) -> None:
    sides = registry(sides_max=4, tombstones_max=2)
    for name, ends in steps:
        known = sides.find(key(name))
        if known is not None:
            (sides.end if ends else sides.cancel)(known)
        elif sides.reserve_refusal(key(name), key("source")) is None:
            sides.reserve(entry(name))
        assert len(sides) <= 4
        remembered = [one for one in "abcdef" if sides.refusal(key(one)).code == "side.expired"]
        assert len(remembered) <= 2
