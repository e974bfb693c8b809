"""Observations of runtimes: the newest for each session, and which of them could be given up."""

from runtime.actors.activities import ActivityRegistry
from runtime.lifecycle.effects import PublishActivity
from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId
from store.canonical.session import SessionRuntime


def key(name: str) -> SessionKey:
    return SessionKey(WorkspaceId("w"), SessionId(name))


def live(at_ms: int, *, releasable: bool) -> PublishActivity:
    return PublishActivity("live", "idle", at_ms, releasable)


def test_the_longest_idle_that_loses_nothing_is_released_first() -> None:
    registry = ActivityRegistry()
    registry.note(key("old"), live(1, releasable=True))
    registry.note(key("forgetful"), live(2, releasable=False))
    registry.note(key("new"), live(3, releasable=True))
    registry.note(key("busy"), PublishActivity("live", "running", 4))
    assert list(registry.releasable()) == [key("old"), key("new")]
    registry.note(key("old"), live(5, releasable=True))
    assert list(registry.releasable()) == [key("new"), key("old")]


def test_whoever_waits_for_room_hears_of_each_session_that_could_make_some() -> None:
    heard: list[list[SessionKey]] = []
    registry = ActivityRegistry(on_releasable=lambda: heard.append(list(registry.releasable())))
    registry.note(key("a"), PublishActivity("live", "running", 1))
    assert heard == []
    registry.note(key("a"), live(2, releasable=True))
    assert heard == [[key("a")]], "the session itself is among those to choose from"


def test_an_absent_runtime_is_forgotten() -> None:
    registry = ActivityRegistry()
    registry.note(key("a"), live(7, releasable=True))
    assert registry.runtime(key("a")) == SessionRuntime("live", 7)
    registry.note(key("a"), PublishActivity("absent", "idle", 8))
    assert registry.runtime(key("a")) == SessionRuntime()
    assert list(registry.releasable()) == []
