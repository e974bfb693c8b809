"""`greenroom run` and signals: the first cancels the turn and tells how it ended, the second leaves."""

import signal

import pytest
import trio

from tests.cli.rows import commit, delta, settled
from tests.cli.runs import daemon_with, run
from tests.cli.streams import quiet_output

pytestmark = pytest.mark.usefixtures("known_ids")


async def test_an_interrupt_cancels_the_turn_and_tells_how_it_ended(data_dir, flags):
    daemon, output = daemon_with(delta("m", 0, "Hel")), quiet_output()
    daemon.after["turn/cancel"] = [commit(("turn", settled("canceled", cancelConfirmedAt=5)))]
    codes = []

    async def person():
        await daemon.was_asked("session/create")
        signal.raise_signal(signal.SIGINT)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(person)
        codes.append(await run(daemon, data_dir, flags, output))
    assert codes == [130]
    assert [params["turnId"] for params in daemon.params_of("turn/cancel")] == ["t1"]
    assert output.stderr.getvalue().endswith(
        'greenroom: turn t1 of session s1 was canceled. Next: go on with: greenroom run --session s1 "…"\n'
    )


async def test_a_second_interrupt_leaves_without_waiting(data_dir, flags):
    daemon, output = daemon_with(), quiet_output()
    codes = []

    async def person():
        await daemon.was_asked("session/create")
        signal.raise_signal(signal.SIGINT)
        await daemon.was_asked("turn/cancel")
        signal.raise_signal(signal.SIGINT)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(person)
        codes.append(await run(daemon, data_dir, flags, output))
    assert codes == [130]
    assert "left turn t1 of session s1 before it ended. Next: greenroom show s1" in output.stderr.getvalue()


async def test_a_termination_does_the_same_under_its_own_exit_code(data_dir, flags):
    daemon, output = daemon_with(), quiet_output()
    daemon.after["turn/cancel"] = [commit(("turn", settled("canceled", cancelConfirmedAt=5)))]
    codes = []

    async def service_manager():
        await daemon.was_asked("session/create")
        signal.raise_signal(signal.SIGTERM)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(service_manager)
        codes.append(await run(daemon, data_dir, flags, output))
    assert codes == [143]
