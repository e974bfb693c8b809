"""The same seed gives the same run: in one process and in others, whatever their hash seed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio
import trio.testing
from trio._core import _run as trio_scheduler

from runtime.simulation import disk
from runtime.simulation.run import run_seed
from runtime.simulation.scheduler import (
    Chances,
    StepDigest,
    SwitchesMoved,
    batches_ordered_by,
    check_switches,
    run_in_virtual_time,
)
from tests.doubles.virtual_time import pass_time

SEEDS = 6


def in_another_process(hash_seed: str) -> dict[str, object]:
    arguments = ["simulate", "--seeds", str(SEEDS), "--seed", "11", "--json"]
    run = subprocess.run(
        [sys.executable, "-m", "runtime.cli", *arguments],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
        timeout=100,
    )
    report = json.loads(run.stdout)
    del report["seconds"]
    return report


def test_two_processes_with_other_hash_seeds_take_the_same_steps() -> None:
    first, second = in_another_process("1"), in_another_process("2")
    assert first == second
    assert first["seeds"] == SEEDS


def test_a_seed_takes_the_same_steps_again_whatever_ran_before() -> None:
    digest = run_seed(21).digest
    run_seed(22)
    assert run_seed(21).digest == digest


def test_seeds_take_different_steps() -> None:
    assert len({run_seed(seed).digest for seed in range(30, 34)}) == 4


async def three_tasks() -> str:
    order = []

    async def step(name: str) -> None:
        for _ in range(3):
            await trio.lowlevel.checkpoint()
            order.append(name)

    async with trio.open_nursery() as nursery:
        for name in "abc":
            nursery.start_soon(step, name)
    return "".join(order)


def test_the_source_of_chance_decides_the_order_of_tasks() -> None:
    """Fails when trio no longer asks the source that the scheduler sets."""
    orders = {run_in_virtual_time(three_tasks, order=Chances(seed).source("schedule")) for seed in range(20)}
    assert len(orders) > 10


def test_the_digest_tells_other_steps_and_other_moments_apart() -> None:
    async def sleep(seconds: float) -> None:
        await pass_time(seconds)

    async def named_steps(*names: str) -> None:
        for name in names:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.lowlevel.checkpoint, name=name)

    def digest_of(program, *arguments) -> str:
        digest = StepDigest()
        run_in_virtual_time(program, *arguments, order=Chances(0).source("schedule"), instrument=digest)
        return digest.hexdigest()

    assert digest_of(sleep, 1.0) == digest_of(sleep, 1.0)
    assert digest_of(sleep, 1.0) != digest_of(sleep, 2.0)
    assert digest_of(named_steps, "a", "b") == digest_of(named_steps, "a", "b")
    assert digest_of(named_steps, "a", "b") != digest_of(named_steps, "b", "a")


def test_the_switches_are_where_they_are_expected_and_put_back() -> None:
    check_switches()
    before = trio_scheduler._ALLOW_DETERMINISTIC_SCHEDULING, trio_scheduler._r
    source = Chances(0).source("schedule")
    with batches_ordered_by(source):
        assert trio_scheduler._r is source
        assert trio_scheduler._ALLOW_DETERMINISTIC_SCHEDULING is True
    assert (trio_scheduler._ALLOW_DETERMINISTIC_SCHEDULING, trio_scheduler._r) == before


@pytest.mark.parametrize("name", ["_ALLOW_DETERMINISTIC_SCHEDULING", "_r"])
def test_a_trio_that_moved_its_switches_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delattr(trio_scheduler, name)
    with pytest.raises(SwitchesMoved):
        run_in_virtual_time(three_tasks, order=Chances(0).source("schedule"))


def test_purposes_do_not_disturb_one_another() -> None:
    chances = Chances(5)
    network = chances.source("network")
    network.random()
    assert chances.source("agents").random() == Chances(5).source("agents").random()
    assert chances.source("agents").random() != chances.source("network").random()


def test_nothing_of_a_run_is_left_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(disk, "_ram_folder", lambda: str(tmp_path))
    run_seed(3)
    assert list(tmp_path.iterdir()) == []
