"""The search: the index follows the rows whoever writes them, and whatever a person types is words, never syntax."""

from pathlib import Path

import attrs
import pytest

from store.canonical.attachment import Attachment
from store.canonical.change import SessionRemoved, Unit
from store.canonical.message import ImageBlock, TextBlock
from store.group import AttachmentJob, UnitsJob
from store.migrations import shipped_migrations
from store.open import Store
from store.statements import search
from tests.store.builders import (
    W,
    ignore,
    key,
    message_row,
    open_in,
    piece,
    session_row,
    turn_row,
    unit,
    write_pieces,
    written,
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_in(tmp_path)


def say(store: Store, session: str, *texts: str, title: str | None = None) -> None:
    """A session with these texts, one message each."""
    rows = [message_row(session, f"m{n}", n, n, text, turn_id="t1") for n, text in enumerate(texts, 1)]
    settled = turn_row(session, phase="settled", outcome="completed")
    written(store, unit(session, session_row(session, title=title), settled, *rows))


def found(store: Store, query: str, workspace: str = "w") -> list[str]:
    page = store.reader.search(key("any", workspace).workspace_id, query, None, 50).value
    return [hit.session.agent_session_id for hit in page.items]


def whole(store: Store) -> None:
    """What the indexes hold is what they would hold if they were made anew from the tables."""
    connection = store.committer.connection
    connection.execute("CREATE VIRTUAL TABLE temp.again USING fts5 (session, text, columnsize = 0)")
    connection.execute(
        "INSERT INTO again (rowid, session, text) SELECT id, session, text FROM searched_messages"
    )
    connection.execute("CREATE VIRTUAL TABLE temp.expected USING fts5vocab (temp, again, instance)")
    connection.execute("CREATE VIRTUAL TABLE temp.held USING fts5vocab (main, message_search, instance)")
    expected, held = (
        set(connection.execute(f"SELECT term, doc, col, offset FROM {table}"))
        for table in ("expected", "held")
    )
    for table in ("expected", "held", "again"):
        connection.execute(f"DROP TABLE temp.{table}")
    assert held == expected
    connection.execute("INSERT INTO message_search (message_search) VALUES ('integrity-check')")
    connection.execute("INSERT INTO title_search (title_search, rank) VALUES ('integrity-check', 1)")


@pytest.mark.rule("AP-027")
def test_titles_come_first_then_the_newest_text_and_each_session_once(store: Store) -> None:
    say(store, "old", "the harbour at night", "harbour again")
    say(store, "new", "a harbour in the morning")
    say(store, "named", "nothing of it", "the harbour", title="Harbour plans")
    say(store, "other", "the sea")
    page = store.reader.search(W, "harbour", None, 50).value
    assert [(hit.session.agent_session_id, hit.message_id) for hit in page.items] == [
        ("named", None),
        ("new", "m1"),
        ("old", "m2"),
    ]
    assert [hit.snippet for hit in page.items] == [
        "Harbour plans",
        "a harbour in the morning",
        "harbour again",
    ]
    assert page.next_cursor is None
    whole(store)


def test_pages_show_each_session_once_while_others_are_written(store: Store) -> None:
    for number in range(7):
        say(store, f"s{number}", "the harbour", "a harbour", title="Harbour" if number < 2 else None)
    seen, cursor = [], None
    for call in range(20):
        page = store.reader.search(W, "harbour", cursor, 2).value
        seen += [hit.session.agent_session_id for hit in page.items]
        say(store, f"later{call}", "the harbour")
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == ["s1", "s0", "later0", "s6", "s5", "s4", "s3", "s2"]


def test_all_words_are_wanted_in_any_order_case_and_accent_and_long_ones_by_their_beginning(
    store: Store,
) -> None:
    say(store, "a", "Die Brücke über den großen Fluss")
    assert found(store, "fluss BRUCKE") == ["a"]
    assert found(store, "Brü flu") == ["a"]
    assert found(store, "fl") == [], "two letters are a whole word"
    assert found(store, "brücke haus") == []


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "*",
        "AND",
        "a AND",
        "NEAR(",
        "text:harbour",
        "session : s1",
        "-x",
        "^x",
        "'; DROP TABLE messages; --",
        "(((",
        "\x00",
        "…",
        "🙂",
        "_",
        "%",
        "x" * 500,
        " ".join("word" for _ in range(200)),
    ],
)
def test_nothing_that_is_typed_is_an_error(store: Store, query: str) -> None:
    say(store, "a", "nothing to be found")
    assert found(store, query) == []


def test_words_that_mean_something_to_the_index_are_words(store: Store) -> None:
    say(store, "a", "this AND that, near s1: not (those)")
    for query in ("AND", "NOT those", "near s1", 'that, "near"'):
        assert found(store, query) == ["a"]
    assert found(store, "s2") == [], "the index's own words are nobody's"


def test_text_is_found_once_it_has_ended_and_as_it_ended(store: Store) -> None:
    streaming = message_row("a", "m1", 1, 1, "", turn_id="t1", status="streaming", delta_seq=0)
    written(store, unit("a", session_row("a"), turn_row("a"), streaming))
    write_pieces(store, piece("a", "m1", 0, "a harbour"))
    assert found(store, "harbour") == []
    written(store, unit("a", message_row("a", "m1", 1, 2, "a harbour at night", turn_id="t1")))
    assert found(store, "harbour night") == ["a"]
    written(store, unit("a", message_row("a", "m1", 1, 3, "a lake", turn_id="t1")))
    assert (found(store, "harbour"), found(store, "lake")) == ([], ["a"])
    whole(store)


def test_prompts_are_found_as_they_are_shown_and_only_what_is_said(store: Store) -> None:
    picture = ImageBlock("image/png", 3, "harbour")
    stored = Attachment(W, "harbour", "image/png", 1_000, b"png")
    store.committer.commit([AttachmentJob(stored, 1_000, ignore)])
    rows = (
        message_row("a", "m1", 1, 1, "hidden words", role="user", display_prompt="shown words"),
        message_row("a", "m2", 2, 2, "a thought", kind="reasoning"),
        message_row("a", "m3", 3, 3, content=(TextBlock("first"), picture, TextBlock("second"))),
    )
    written(store, unit("a", session_row("a"), *rows))
    assert found(store, "shown") == ["a"]
    assert found(store, "first second") == ["a"]
    for query in ("hidden", "thought", "harbour"):
        assert found(store, query) == []


def test_retracted_deleted_and_foreign_sessions_are_not_found(store: Store) -> None:
    say(store, "retracted", "the harbour")
    written(store, unit("retracted", turn_row("retracted", phase="settled", retracted_at=5), version=1))
    say(store, "deleted", "the harbour", title="Harbour")
    [row] = store.reader.tree(key("deleted")).value
    removal = SessionRemoved(attrs.evolve(row, deleted_at=5_000))
    removed = Unit(row.key, row.agent_session_id, (removal,), session_state=None)
    store.committer.commit([UnitsJob((removed,), ignore)])
    say(store, "here", "the harbour")
    assert found(store, "harbour") == ["here"]
    assert found(store, "harbour", workspace="elsewhere") == []


def test_a_purge_takes_its_words_away(store: Store) -> None:
    say(store, "a", "the harbour", title="Harbour")
    [row] = store.reader.tree(key("a")).value
    removal = SessionRemoved(attrs.evolve(row, deleted_at=5_000))
    for one in (
        Unit(row.key, row.agent_session_id, (removal,), session_state=None),
        Unit(row.key, row.agent_session_id, (), session_state=None, purges=True),
    ):
        store.committer.commit([UnitsJob((one,), ignore)])
    while store.committer.is_cleaning:
        store.committer.upkeep()
    for index in ("message_search", "title_search"):
        rows = store.committer.connection.execute(f"SELECT count(*) FROM {index}('harbour')").get
        assert rows == 0
    whole(store)


def test_a_title_is_found_as_it_is_now(store: Store) -> None:
    say(store, "a", title="First name")
    written(store, unit("a", session_row("a", title="Second name")))
    assert (found(store, "first"), found(store, "second")) == ([], ["a"])
    written(store, unit("a", session_row("a", title=None)))
    assert found(store, "second") == []
    whole(store)


def test_a_call_looks_at_a_bounded_number_of_matches_and_says_where_to_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MATCHES_A_CALL", 4)
    say(store, "few", "harbour")
    say(store, "many", *(f"harbour {n}" for n in range(10)))
    seen, cursor, calls = [], None, 0
    while calls < 20:
        page = store.reader.search(W, "harbour", cursor, 50).value
        calls, cursor = calls + 1, page.next_cursor
        seen += [hit.session.agent_session_id for hit in page.items]
        if cursor is None:
            break
    assert seen == ["many", "few"]
    assert calls >= 3


def test_a_database_from_before_the_search_is_searched_too(tmp_path: Path) -> None:
    before = tuple(step for step in shipped_migrations() if step.number < 3)
    old = open_in(tmp_path, migrations=before)
    say(old, "a", "the harbour", title="Night")
    streaming = message_row("b", "m1", 1, 1, "", turn_id="t1", status="streaming", delta_seq=0)
    written(old, unit("b", session_row("b"), turn_row("b"), streaming))
    old.close()
    store = open_in(tmp_path)
    assert (found(store, "harbour"), found(store, "night")) == (["a"], ["a"])
    written(store, unit("b", message_row("b", "m1", 1, 2, "harbour", turn_id="t1")))
    assert found(store, "harbour") == ["b", "a"]
    whole(store)


def test_a_unit_that_is_rolled_back_leaves_no_words(store: Store) -> None:
    say(store, "a", "the lake")
    with pytest.raises(AssertionError):
        written(store, unit("a", message_row("a", "m9", 1, 9, "the harbour", turn_id="nowhere")))
    assert found(store, "harbour") == []
    whole(store)


def test_a_very_long_text_is_found_by_how_it_begins(store: Store) -> None:
    say(store, "a", "harbour " + "x " * 40_000 + "lighthouse")
    assert (found(store, "harbour"), found(store, "lighthouse")) == (["a"], [])
    whole(store)
