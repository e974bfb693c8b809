"""Whose title a session has, in every order in which a user, a provider and a turn's end can come."""

from itertools import permutations

import pytest

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import SessionState, loaded_state
from runtime.providers import normalized as n
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import a_session
from store.canonical.change import LoadedSession
from store.canonical.identifiers import SessionId, TurnId
from store.canonical.session import Session, SessionCounters, SessionParent
from tests.lifecycle.playbook import Playbook


def titles_written(book: Playbook) -> list[tuple[str | None, str]]:
    rows = [effect.session for effect in book.effects if isinstance(effect, fx.PersistSession)]
    return [(row.title, row.title_source) for row in rows]


def title_of(book: Playbook) -> tuple[str | None, str]:
    return book.state.session.title, book.state.session.title_source


@pytest.mark.rule("RT-047", "RT-048", "RT-049")
@pytest.mark.parametrize("order", list(permutations(["rename", "provider", "provider again", "ended"])))
def test_in_any_order_the_users_title_stands_from_when_it_came(order: tuple[str, ...]) -> None:
    book = Playbook()
    turn_id = book.running()
    for what in order:
        match what:
            case "rename":
                book.give(i.RenameSession("rename", "Mine"))
            case "provider":
                book.say(n.TitleReported("Theirs"))
            case "provider again":
                book.say(n.TitleReported("Theirs again"))
            case "ended":
                book.say(n.TurnEnded(turn_id, "completed", "end_turn"))
    assert title_of(book) == ("Mine", "user")
    assert book.turns[turn_id].outcome == "completed"
    written = titles_written(book)
    mine = written.index(("Mine", "user"))
    assert set(written[mine:]) == {("Mine", "user")}, "no way back, not even for a moment"


def test_a_cleared_title_may_be_given_by_the_provider_and_taken_by_the_user_again() -> None:
    book = Playbook(SessionState(a_session(title="Mine", title_source="user"), title_locked=True))
    book.give(i.RenameSession("clear", ""))
    assert title_of(book) == (None, "none")
    book.running()
    book.say(n.TitleReported("Theirs"))
    assert title_of(book) == ("Theirs", "provider")
    book.give(i.RenameSession("again", "Theirs"))
    assert title_of(book) == ("Theirs", "user")
    book.say(n.TitleReported("Late"))
    assert title_of(book) == ("Theirs", "user")


@pytest.mark.rule("RT-050")
@pytest.mark.parametrize("source", ["provider", "user"])
def test_a_stored_title_counts_as_the_users(source: str) -> None:
    stored = a_session(title="Stored", title_source=source)
    book = Playbook(loaded_state(LoadedSession(stored, SessionCounters(), None, (), ())))
    book.running()
    book.say(n.TitleReported("Theirs"))
    assert title_of(book) == ("Stored", source)


def test_a_providers_title_is_cut_to_the_longest_there_may_be() -> None:
    book = Playbook()
    book.running()
    book.say(n.TitleReported("T" * 2000))
    assert title_of(book) == ("T" * 500, "provider")


def test_repeating_a_title_or_a_pin_writes_nothing() -> None:
    book = Playbook()
    book.give(i.RenameSession("one", "Mine"))
    book.give(i.PinSession("two", True))
    book.effects.clear()
    book.give(i.RenameSession("three", "Mine"))
    book.give(i.PinSession("four", True))
    assert not any(isinstance(effect, fx.PersistSession) for effect in book.effects)
    assert [row.title for row in book.answers["three"] if isinstance(row, Session)] == ["Mine"]
    assert [row.pinned for row in book.answers["four"] if isinstance(row, Session)] == [True]


PARENT = SessionParent(SessionId("root"), TurnId("t"), SessionId("root"), TurnId("t"))


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"deleted_at": 5}, "session.deleted"),
        ({"parent": PARENT}, "capability.unsupported"),
    ],
)
def test_a_deleted_session_and_a_child_take_no_edit(row: dict[str, object], code: str) -> None:
    book = Playbook(SessionState(a_session(**row)))
    book.give(i.RenameSession("rename", "Mine"))
    book.give(i.PinSession("pin", True))
    book.give(i.UpdateSettings("settings", {"mode": "auto"}))
    for reply in ("rename", "pin", "settings"):
        assert book.answers[reply] == [Refusal(code)]
    assert titles_written(book) == []


def test_a_child_is_read_only_for_runtime_commands_too() -> None:
    book = Playbook(SessionState(a_session(parent=PARENT)))
    book.give(i.ResumeSession("resume"))
    book.give(i.CloseSession("close"))
    assert book.answers["resume"] == book.answers["close"] == [Refusal("capability.unsupported")]


def test_a_quarantined_session_and_a_stopping_daemon_take_no_edit() -> None:
    for given, code in ((i.Quarantine(), "session.quarantined"), (i.Shutdown(), "shutdown.in_progress")):
        book = Playbook()
        book.give(given)
        book.give(i.RenameSession("rename", "Mine"))
        book.give(i.PinSession("pin", True))
        book.give(i.UpdateSettings("settings", {"mode": "auto"}))
        for reply in ("rename", "pin", "settings"):
            assert book.answers[reply] == [Refusal(code)]


def test_a_title_needs_no_target() -> None:
    book = Playbook(target_refusal=Refusal("target.not_found"))
    book.give(i.RenameSession("rename", "Mine"))
    book.give(i.PinSession("pin", True))
    book.give(i.UpdateSettings("settings", {"mode": "auto"}))
    assert title_of(book) == ("Mine", "user")
    assert book.state.session.pinned
    assert book.answers["settings"] == [Refusal("target.not_found")]
