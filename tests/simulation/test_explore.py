"""The explorer itself, and small protocols under every schedule there is, on the objects that play them in the service."""

import pytest
import trio

from runtime.simulation.explore import NotRepeatable, TooManySchedules, choose, explore, pause
from runtime.simulation.protocols.locks import open_and_close
from runtime.simulation.protocols.protocol import Protocol, walk
from runtime.simulation.protocols.registry import PROTOCOLS

# --- the explorer itself --------------------------------------------------------------------------------------


def test_every_order_of_a_batch_is_run():
    async def program():
        order = []

        async def step(name):
            order.append(name)

        async with trio.open_nursery() as nursery:
            for name in "abc":
                nursery.start_soon(step, name)
        return "".join(order)

    assert set(explore(program)) == {"abc", "acb", "bac", "bca", "cab", "cba"}


def test_a_lost_update_is_found():
    async def program(turns_max):
        box = [0]

        async def add():
            await pause(turns_max)
            seen = box[0]
            await trio.lowlevel.checkpoint()
            box[0] = seen + 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(add)
            nursery.start_soon(add)
        return box[0]

    assert set(explore(program, 2)) == {1, 2}


def test_choices_are_all_taken():
    async def program():
        return choose(2), choose(3)

    assert set(explore(program)) == {(first, second) for first in range(2) for second in range(3)}


def test_a_program_with_too_many_schedules_is_refused():
    async def program():
        return choose(10)

    with pytest.raises(TooManySchedules, match="more than 9 schedules"):
        explore(program, limit=9)


def test_a_program_that_takes_other_chances_is_refused():
    widths = iter(range(2, 100))

    async def program():
        return choose(next(widths)), choose(2)

    with pytest.raises(NotRepeatable):
        explore(program)


def test_a_failure_says_in_which_schedule_it_was():
    async def program():
        assert (choose(2), choose(2)) != (1, 0), "planted"

    with pytest.raises(AssertionError) as failure:
        explore(program)
    assert failure.value.__notes__ == ["in schedule 3, of the choices 1 0"]


# --- walks of protocols ---------------------------------------------------------------------------------------


def a_protocol(program, *ends: str, schedules_min: int = 1) -> Protocol:
    return Protocol(name="test", shows="", program=program, ends=frozenset(ends), schedules_min=schedules_min)


async def heads_or_tails() -> str:
    return ("heads", "tails")[choose(2)]


@pytest.mark.parametrize(
    ("ends", "schedules_min", "faults"),
    [
        (("heads", "tails"), 2, []),
        (("heads",), 2, ["it ended in a way it must not: tails"]),
        (("edge", "heads", "tails"), 2, ["it never ended in this way: edge"]),
        (("heads", "tails"), 3, ["2 schedules, where there were 3"]),
    ],
)
def test_a_walk_compares_how_its_protocol_ended(
    ends: tuple[str, ...], schedules_min: int, faults: list[str]
) -> None:
    assert walk(a_protocol(heads_or_tails, *ends, schedules_min=schedules_min)).faults == faults


def test_a_walk_ends_at_the_first_broken_promise_and_says_where_that_was() -> None:
    async def program() -> str:
        async def fail() -> None:
            if choose(3) == 1:
                raise LookupError("planted")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
        return "done"

    walked = walk(a_protocol(program, "done"))
    assert walked.schedules == 1
    assert walked.faults == ["LookupError: planted", "in schedule 2, of the choices 1"]


def test_the_protocols_have_four_thousand_schedules_together() -> None:
    assert sum(protocol.schedules_min for protocol in PROTOCOLS.values()) >= 4_000


# --- the protocols --------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-113")
def test_two_lifecycle_locks_never_wait_for_one_another():
    assert walk(PROTOCOLS["two-locks"]).faults == []
    assert set(explore(open_and_close, False)) == {"both done", "stuck"}, "without the order some lock up"


@pytest.mark.rule("RT-003", "RT-007")
def test_a_cancel_that_meets_the_end_of_its_turn_changes_nothing_that_stands():
    assert walk(PROTOCOLS["cancel-settle"]).faults == []


@pytest.mark.rule("RT-009", "RT-010", "RT-011")
@pytest.mark.case("FC-04")
def test_an_answer_that_meets_a_cancel_is_given_or_refused_but_never_both():
    assert walk(PROTOCOLS["answer-cancel"]).faults == []


@pytest.mark.rule("RT-047", "RT-048", "RT-049")
def test_a_title_of_the_users_stands_whenever_it_meets_the_agents_and_the_end_of_the_turn():
    assert walk(PROTOCOLS["rename-complete"]).faults == []


@pytest.mark.rule("RT-048")
def test_a_change_of_settings_stands_whenever_it_meets_the_end_of_the_turn():
    assert walk(PROTOCOLS["set-complete"]).faults == []


@pytest.mark.rule("RT-010")
def test_of_two_answers_the_first_one_stands_whoever_that_is():
    assert walk(PROTOCOLS["two-answers"]).faults == []


@pytest.mark.rule("RT-007")
def test_a_session_that_is_closed_while_its_turn_is_stopped_ends_with_that_turn():
    assert walk(PROTOCOLS["close-cancel"]).faults == []
