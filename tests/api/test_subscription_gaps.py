"""A subscription whose client is too slow: what is lost is said where it is lost, and facts never are."""

import pytest

from tests.doubles.subscription_stage import KEY, QUEUE_BYTES, Stage


@pytest.fixture
def stage() -> Stage:
    one = Stage()
    one.subscription.begin(0)
    return one


def test_who_keeps_up_gets_everything_as_it_comes(stage: Stage) -> None:
    message = stage.open("m")
    stage.commit(1)
    stage.stream(message, 500)
    stage.stream(message, 500)
    stage.end(message)
    stage.commit(2)
    assert stage.read() == ["c1", "d:m.0", "d:m.1", "c2"]


def test_lost_text_is_said_at_once_and_made_good_by_a_snapshot(stage: Stage) -> None:
    message = stage.open("m")
    stage.commit(1)
    for _ in range(5):
        stage.stream(message, 700)
    assert stage.read() == ["c1", "d:m.0", "d:m.1", "gap:m"]
    assert stage.read() == ["snap:m.5"]
    stage.stream(message, 100)
    assert stage.read() == ["d:m.5"]


def test_the_row_that_ends_a_message_never_hides_that_text_was_lost(stage: Stage) -> None:
    message = stage.open("m")
    stage.commit(1)
    for _ in range(5):
        stage.stream(message, 700)
    stage.end(message)
    stage.commit(2)
    told = stage.read_all()
    assert told.index("gap:m") < told.index("c2")
    assert [event for event in told if event.startswith("snap")] == [], "its row makes it good"


def test_facts_beyond_the_bound_come_from_the_log_once_and_in_order(stage: Stage) -> None:
    for number in range(1, 40):
        stage.commit(number, 700)
    assert not stage.subscription.live
    assert stage.queue.bytes_queued <= QUEUE_BYTES
    assert stage.read_all() == [f"c{number}" for number in range(1, 40)]
    assert stage.subscription.live
    stage.commit(40)
    assert stage.read() == ["c40"]


def test_text_lost_while_behind_is_told_before_the_facts_that_follow(stage: Stage) -> None:
    for number in range(1, 10):
        stage.commit(number, 700)
    assert not stage.subscription.live
    message = stage.open("m")
    stage.commit(10)
    stage.stream(message, 500)
    stage.end(message)
    stage.commit(11)
    told = stage.read_all()
    assert [event for event in told if event.startswith("c")] == [f"c{number}" for number in range(1, 12)]
    assert told.index("gap:m") < told.index("c11")
    assert told.count("gap:m") == 1


def test_text_that_comes_while_a_replay_is_under_way_is_lost_with_a_word_and_one_snapshot() -> None:
    stage = Stage()
    for number in range(1, 20):
        stage.log(number, 700)
    old, new = stage.open("old"), stage.open("new")
    stage.tails.of(KEY).append(old.message_id, "x" * 10)
    stage.subscription.begin(19)
    assert not stage.subscription.live
    stage.commit(20)
    stage.stream(new, 500)
    told = stage.read_all()
    assert [event for event in told if event.startswith("c")] == [f"c{number}" for number in range(1, 21)]
    assert sorted(event for event in told if event.startswith("snap")) == ["snap:new.1", "snap:old.1"]
    assert told.index("gap:new") < told.index("snap:new.1")
    assert "gap:old" not in told, "of that one nothing was sent yet"


def test_text_that_comes_and_ends_while_a_replay_is_under_way_is_lost_with_a_word() -> None:
    stage = Stage()
    for number in range(1, 20):
        stage.log(number, 700)
    stage.subscription.begin(19)
    message = stage.open("m")
    stage.commit(20)
    stage.stream(message, 500)
    stage.end(message)
    stage.commit(21)
    told = stage.read_all()
    assert told.index("gap:m") < told.index("c21"), "or the client would miss text without knowing it"
    assert told.count("gap:m") == 1


def test_a_message_that_no_frame_holds_is_told_lost_and_not_streamed_on(stage: Stage) -> None:
    large, small = stage.open("large"), stage.open("small")
    stage.subscription.frame_bytes_max = 3000
    stage.read_all()
    for _ in range(7):
        stage.stream(large, 700)
    told = stage.read_all()
    assert told[-1] == "gap:large"
    assert [event for event in told if event.startswith("snap")] == []
    stage.stream(large, 100)
    stage.stream(small, 100)
    stage.commit(1)
    assert stage.read_all() == ["d:small.0", "c1"], "others go on, and nothing is told twice"
    stage.end(large)
    stage.commit(2)
    again = stage.open("large")
    stage.stream(again, 100)
    assert stage.read_all()[0] == "c2"


def test_who_comes_when_a_message_is_too_large_already_is_told_so() -> None:
    stage = Stage()
    large = stage.open("large")
    for _ in range(5):
        stage.tails.of(KEY).append(large.message_id, "x" * 700)
    stage.subscription.frame_bytes_max = 3000
    stage.subscription.begin(0)
    assert stage.read_all() == ["gap:large"]
    stage.stream(large, 10)
    assert stage.read_all() == []


def test_a_small_fact_does_not_overtake_the_word_that_found_no_room(stage: Stage) -> None:
    message = stage.open("m")
    number = 0
    while QUEUE_BYTES - stage.queue.bytes_queued > 120:
        number += 1
        stage.commit(number, min(700, QUEUE_BYTES - stage.queue.bytes_queued - 90))
    assert stage.subscription.live
    stage.stream(message, 500)
    told = stage.read(1)
    assert stage.queue.bytes_queued > QUEUE_BYTES / 2, "some room, and nobody was called for it yet"
    stage.end(message)
    stage.commit(number + 1)
    told += stage.read_all()
    assert told.index("gap:m") < told.index(f"c{number + 1}")


def test_a_log_that_no_longer_reaches_back_is_a_resync(stage: Stage) -> None:
    for number in range(1, 20):
        stage.commit(number, 700)
    message = stage.open("m")
    stage.oldest = 15
    told = stage.read_all()
    assert told[-2:] == ["resync19", "snap:m.0"]
    assert stage.subscription.live
    stage.stream(message, 10)
    stage.commit(20)
    assert stage.read() == ["d:m.0", "c20"]


def test_memory_is_bounded_whatever_comes_and_nothing_is_told_twice(stage: Stage) -> None:
    message = stage.open("m")
    told = []
    for number in range(1, 200):
        stage.commit(number, 50 + number * 7 % 900)
        stage.stream(message, 10 + number * 13 % 700)
        assert stage.queue.bytes_queued <= QUEUE_BYTES + 1000
        if number % 7 == 0:
            told += stage.read(1500)
    stage.end(message)
    stage.commit(200)
    told += stage.read_all()
    assert [event for event in told if event.startswith("c")] == [f"c{number}" for number in range(1, 201)]
    held: int | None = 0
    for event in told:
        kind, _, place = event.partition(":m")
        number = int(place.removeprefix(".") or 0)
        if kind == "gap":
            assert held is not None, "a gap is told once"
            held = None
        elif kind == "snap":
            held = number
        elif kind == "d":
            assert held == number, "deltas follow one another, or a snapshot"
            held = number + 1
