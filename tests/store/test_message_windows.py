"""Windows of messages: by change, by place and by name, and what they say of the rest."""

import pytest

from store.open import Store
from store.port import MessageQuery
from tests.store.builders import key, message_row, open_in, session_row, turn_row, unit, written


def fill(store: Store, count: int, first: int = 1, **changes) -> None:
    rows = [
        message_row("s", f"m{number}", number, number, **changes) for number in range(first, first + count)
    ]
    head = [session_row("s")] if first == 1 else []
    written(store, unit("s", *head, *rows))


def window(store: Store, **query):
    return store.reader.messages(key("s"), MessageQuery(**query)).value


@pytest.mark.rule("ST-011")
def test_paging_back_reaches_the_start_exactly_once_while_messages_are_added(store: Store):
    fill(store, 1_000)
    seen: list[int] = []
    before, newest = 2**53, 1_000
    while True:
        page = window(store, before_sequence=before, limit=70)
        assert [row.sequence for row in page.messages] == sorted(row.sequence for row in page.messages)
        seen += reversed([row.sequence for row in page.messages])
        if not page.has_more:
            break
        before = page.oldest_sequence
        fill(store, 5, first=newest + 1)
        newest += 5
    assert seen == list(range(1_000, 0, -1))
    assert before != 1


@pytest.mark.rule("ST-009")
def test_reading_after_a_version_brings_exactly_what_changed_ascending(store: Store):
    fill(store, 10)
    for version, number in enumerate((7, 3, 7, 9), start=11):
        written(store, unit("s", message_row("s", f"m{number}", number, version, "changed")))
    page = window(store, after_version=10)
    assert [(row.message_id, row.version) for row in page.messages] == [("m3", 12), ("m7", 13), ("m9", 14)]
    assert (page.has_more, page.message_version) == (False, 14)

    page = window(store, after_version=0, limit=3)
    assert [row.version for row in page.messages] == [1, 2, 4]
    assert page.has_more


@pytest.mark.rule("ST-010")
def test_raised_versions_do_not_look_like_older_history(store: Store):
    fill(store, 3)
    for version in range(4, 50):
        written(store, unit("s", message_row("s", "m3", 3, version, "streams")))
    page = window(store, before_sequence=100, limit=3)
    assert [row.sequence for row in page.messages] == [1, 2, 3]
    assert not page.has_more
    assert page.oldest_sequence == 1


@pytest.mark.rule("ST-012")
def test_an_empty_window_still_tells_the_version(store: Store):
    written(store, unit("s", session_row("s"), version=8))
    page = window(store, after_version=8)
    assert (page.messages, page.has_more, page.oldest_sequence, page.message_version) == ((), False, None, 8)


def test_a_session_that_is_not_here_has_no_window(store: Store):
    assert store.reader.messages(key("s"), MessageQuery(after_version=0)).value is None


def test_messages_are_found_by_name_in_their_order(store: Store):
    fill(store, 9)
    page = window(store, message_ids=("m8", "m2", "unheard-of", "m5"))
    assert [row.message_id for row in page.messages] == ["m2", "m5", "m8"]
    assert not page.has_more


@pytest.mark.rule("ST-013")
def test_the_order_is_that_of_the_sequence_whatever_the_clocks_say(store: Store):
    rows = [message_row("s", f"m{n}", n, n, created_at=1_000 - n) for n in range(1, 6)]
    written(store, unit("s", session_row("s"), *rows))
    page = window(store, before_sequence=99)
    assert [row.sequence for row in page.messages] == [1, 2, 3, 4, 5]


def test_messages_of_retracted_turns_are_left_out_unless_asked_for(store: Store):
    written(
        store,
        unit(
            "s",
            session_row("s"),
            turn_row("s", "t1", 1),
            turn_row("s", "t2", 2, retracted_at=2_000),
            message_row("s", "m1", 1, 1, turn_id="t1"),
            message_row("s", "m2", 2, 2, turn_id="t2"),
            message_row("s", "m3", 3, 3),
        ),
    )
    for query in ({"after_version": 0}, {"before_sequence": 9}, {"message_ids": ("m1", "m2", "m3")}):
        kept = [row.message_id for row in window(store, **query).messages]
        every = [row.message_id for row in window(store, include_retracted=True, **query).messages]
        assert (kept, every) == (["m1", "m3"], ["m1", "m2", "m3"])


def test_a_window_ends_at_the_size_of_a_page_but_never_empty_handed(tmp_path):
    store = open_in(tmp_path, page_bytes_max=10_000)
    fill(store, 10, text="x" * 4_000)
    back = window(store, before_sequence=99)
    assert [row.sequence for row in back.messages] == [9, 10]
    assert back.has_more
    forth = window(store, after_version=0)
    assert [row.version for row in forth.messages] == [1, 2]
    assert forth.has_more
    written(store, unit("s", message_row("s", "m11", 11, 11, "y" * 50_000)))
    assert [row.sequence for row in window(store, before_sequence=99).messages] == [11]
    store.close()


@pytest.mark.parametrize("query", [{}, {"after_version": 1, "before_sequence": 2}])
def test_exactly_one_question_is_asked(store: Store, query):
    written(store, unit("s", session_row("s")))
    with pytest.raises(ValueError, match="exactly one"):
        window(store, **query)
