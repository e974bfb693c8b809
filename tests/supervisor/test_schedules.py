"""The explorer sees what only some schedules show, and would say so if trio's inner names moved."""

import pytest
import trio

from tests.supervisor.schedules import choose, explore, pause


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
    async def program():
        box = [0]

        async def add():
            await pause(2)
            seen = box[0]
            await trio.lowlevel.checkpoint()
            box[0] = seen + 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(add)
            nursery.start_soon(add)
        return box[0]

    assert set(explore(program)) == {1, 2}


def test_choices_are_all_taken():
    async def program():
        return choose(2), choose(3)

    assert set(explore(program)) == {(first, second) for first in range(2) for second in range(3)}


def test_a_program_with_too_many_schedules_is_refused():
    async def program():
        return choose(10)

    with pytest.raises(AssertionError, match="more than 9 schedules"):
        explore(program, schedules_max=9)
