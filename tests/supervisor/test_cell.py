"""A cell: what a crash costs, when it restarts, and when it is quarantined."""

import math
from collections import Counter

import pytest
import trio
import trio.testing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supervisor import ActorStopped, BackOff, Normal, RestartIntensity, Shutdown
from tests.supervisor.cell_stage import Planted, Stage, play


@pytest.fixture
def stage():
    return Stage()


# --- the ordinary life


async def test_what_waits_is_received_in_batches_each_flushed_once(stage, autojump_clock):
    cell = stage.cell(batch_max=2)
    assert await play(cell, "abcde") == Shutdown()
    assert stage.batches == ["ab", "cd", "e"]
    assert (stage.lives, stage.stopped, stage.discarded) == (["life 0"], ["life 0"], [])


async def test_a_cell_ends_by_itself_when_its_behaviour_may_passivate(stage, autojump_clock):
    stage.passivate = True
    cell = stage.cell()
    cell.mailbox.put("a")
    assert await cell.run() == Normal()
    assert (stage.performed, stage.stopped) == (["a"], ["life 0"])
    with pytest.raises(ActorStopped):
        cell.mailbox.put("b")


async def test_a_cell_does_not_passivate_while_a_place_mark_waits(stage, autojump_clock):
    stage.passivate = True
    cell = stage.cell()
    mark = cell.mailbox.place_mark("client")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cell.run)
        await trio.sleep(100)
        assert stage.stopped == []
        mark.release()
        await trio.sleep(100)
        assert stage.stopped == ["life 0"]


async def test_the_cell_is_retired_in_the_step_that_decides_its_end(stage):
    stage.passivate = True
    cell = stage.cell()
    seen = []
    await cell.run(lambda: seen.append((cell.mailbox.is_empty, list(stage.stopped))))
    assert seen == [(True, [])]


async def test_a_stop_carries_out_what_is_ready_and_discards_what_is_held_back(stage):
    cell = stage.cell()
    cell.mailbox.place_mark("client")
    cell.mailbox.offer("h", source="client")
    cell.mailbox.put("a")
    cell.request_stop()
    assert await cell.run() == Shutdown()
    assert (stage.performed, stage.stopped) == (["a"], ["life 0"])
    [(messages, error)] = stage.discarded
    assert messages == ["h"]
    assert isinstance(error, ActorStopped)


# --- what a crash costs


async def test_a_crash_in_receive_drops_that_message_alone(stage, autojump_clock):
    stage.crashes["receive c"] = 1
    cell = stage.cell()
    await play(cell, "abcde")
    assert "".join(stage.performed) == "abde"
    [(messages, error)] = stage.discarded
    assert messages == ["c"]
    assert isinstance(error, Planted)
    assert stage.errors == [error]
    assert (stage.lives, cell.restarts, stage.stopped) == (["life 0", "life 1"], 1, ["life 1"])


async def test_a_crash_in_flush_drops_the_whole_batch(stage, autojump_clock):
    stage.crashes["flush b"] = 1
    cell = stage.cell(batch_max=3)
    await play(cell, "abcde")
    assert "".join(stage.performed) == "de"
    [(messages, error)] = stage.discarded
    assert messages == ["a", "b", "c"]
    assert stage.errors == [error]


async def test_what_is_kept_in_the_cell_outlives_the_crash(stage, autojump_clock):
    stage.crashes["receive b"] = 1
    cell = stage.cell()
    cell.extra["kept"].append("tail")
    mailbox = cell.mailbox
    await play(cell, "abc")
    assert cell.mailbox is mailbox
    assert cell.extra == {"kept": ["tail"]}


@pytest.mark.rule("RT-142")
@pytest.mark.case("FC-49")
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    messages=st.text("abcdef", max_size=12),
    poisoned=st.sets(st.sampled_from([f"{place} {m}" for place in ("receive", "flush") for m in "abc"])),
    batch_max=st.integers(1, 5),
)
def test_every_message_is_performed_or_discarded_once_and_the_next_is_served(messages, poisoned, batch_max):
    """Whatever crashes: no message is lost, none is done twice, order holds, and the cell goes on."""
    stage = Stage(Counter(dict.fromkeys(poisoned, math.inf)))
    cell = stage.cell(batch_max=batch_max, intensity=RestartIntensity(1000))
    sent = [*messages, "z"]
    trio.run(play, cell, sent, clock=trio.testing.MockClock(autojump_threshold=0))
    dropped = [message for batch, _ in stage.discarded for message in batch]
    assert Counter(stage.performed) + Counter(dropped) == Counter(sent)
    for message in "abc":
        if {f"receive {message}", f"flush {message}"} & poisoned:
            assert message not in stage.performed
    # Without poison in flush, exactly the poisoned messages are dropped and the rest keeps its order.
    if not any(place.startswith("flush") for place in poisoned):
        assert stage.performed == [m for m in sent if f"receive {m}" not in poisoned]
        assert stage.performed[-1] == "z"


# --- restart, back-off, quarantine


async def test_a_crash_with_work_in_hand_restarts_at_once(stage, autojump_clock):
    stage.crashes.update({"receive a": 1, "flush b": 1})
    await play(stage.cell(batch_max=1), "abc")
    assert stage.starts_at == [0, 0, 0]


@pytest.mark.parametrize("place", ["start", "may_passivate"])
async def test_a_crash_without_work_in_hand_backs_off_exponentially(stage, autojump_clock, place):
    stage.crashes[place] = 4
    cell = stage.cell(intensity=RestartIntensity(10), back_off=BackOff(1, 4))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cell.run)
        await trio.sleep(50)
        assert stage.starts_at == [0, 1, 3, 7, 11]
        cell.mailbox.put("a")
        cell.request_stop()
    assert (stage.performed, stage.discarded, stage.stopped) == (["a"], [], ["life 4"])


async def test_a_factory_that_crashes_is_a_crash_like_any_other(stage, autojump_clock):
    stage.crashes["make"] = 2
    cell = stage.cell()
    await play(cell, "a")
    assert (stage.performed, cell.restarts, stage.lives) == (["a"], 2, ["life 0", "life 1", "life 2"])


async def test_the_back_off_begins_anew_after_a_life_that_waited_for_messages(stage, autojump_clock):
    stage.crashes["start"] = 2
    cell = stage.cell(intensity=RestartIntensity(100), back_off=BackOff(1, 64))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cell.run)
        await trio.sleep(100)
        assert stage.starts_at == [0, 1, 3]
        stage.crashes.update({"receive a": 1, "start": 2})
        cell.mailbox.put("a")
        await trio.sleep(100)
        assert stage.starts_at[3:] == [100, 101, 103]
        nursery.cancel_scope.cancel()


async def test_one_crash_too_many_quarantines_and_the_cell_keeps_answering(stage, autojump_clock):
    for message in "abcd":
        stage.crashes[f"receive {message}"] = 1
    cell = stage.cell()
    await play(cell, "abcdef")
    assert stage.lives == ["life 0", "life 1", "life 2", "life 3", "quarantine 4"]
    assert [str(error) for error in stage.quarantines] == ["receive d"]
    assert stage.performed == ["e", "f"]
    assert cell.quarantined
    assert stage.stopped == ["quarantine 4"]


async def test_crashes_far_apart_do_not_quarantine(stage, autojump_clock):
    cell = stage.cell(intensity=RestartIntensity(1, 60))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cell.run)
        for message in "abcdef":
            stage.crashes[f"receive {message}"] = 1
            cell.mailbox.put(message)
            await trio.sleep(60)
        nursery.cancel_scope.cancel()
    assert (cell.restarts, cell.quarantined) == (6, False)


@pytest.mark.case("FC-34")
async def test_errors_that_tell_nothing_of_the_code_restart_it_without_end(stage, autojump_clock):
    stage.crashes.update({f"receive {message}": 1 for message in "abcdef"})
    cell = stage.cell(intensity=RestartIntensity(1), counts=lambda error: str(error) == "receive f")
    await play(cell, "abcdefg")
    assert (cell.restarts, cell.quarantined) == (6, False)
    assert [batch for batch, _ in stage.discarded] == [[message] for message in "abcdef"]
    assert stage.performed == ["g"]


async def test_a_quarantine_that_crashes_is_made_again_without_end(stage, autojump_clock):
    cell = stage.cell(intensity=RestartIntensity(0))
    stage.crashes.update({f"receive {message}": 1 for message in "abcde"})
    stage.crashes["start"] = 3
    await play(cell, "abcdef")
    assert stage.performed == ["f"]
    assert len(stage.quarantines) == 1
    assert [batch for batch, _ in stage.discarded] == [["a"], ["b"], ["c"], ["d"], ["e"]]


@pytest.mark.case("FC-49")
async def test_a_quarantined_cell_ends_when_its_behaviour_may_passivate(stage, autojump_clock):
    """The way back: the next message finds no cell, so a new one begins with the ordinary behaviour."""
    stage.crashes["receive a"] = 1
    cell = stage.cell(intensity=RestartIntensity(0))
    stage.passivate = True
    cell.mailbox.put("a")
    assert await cell.run() == Normal()
    assert stage.lives == ["life 0", "quarantine 1"]
    successor = stage.cell()
    successor.mailbox.put("b")
    await successor.run()
    assert stage.performed == ["b"]
    assert stage.lives[-1] == "life 0"
