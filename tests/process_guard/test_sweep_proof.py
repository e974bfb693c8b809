"""What a sweep may end and what it must leave alone: the proof, on tables made up for it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from supervisor.process_guard import Unproven, sweep
from supervisor.process_guard.forced_end import Ownership, end_owned, find_owned
from supervisor.process_guard.process_table import ProcessIdentity, ProcessRow

OWN_PID = 1000
NOTHING: frozenset[ProcessIdentity] = frozenset()


class MadeUpTable:
    """A process table in memory. What is killed is gone, and its children go to pid 1."""

    def __init__(self, *rows: ProcessRow, marked: Iterable[int] = (), immortal: Iterable[int] = ()) -> None:
        self.living = {row.pid: row for row in (process(1, parent=0), process(OWN_PID), *rows)}
        self.marked = set(marked)
        self.immortal = set(immortal)
        self.killed: list[int] = []

    def boot_id(self) -> str:
        return "this-boot"

    def own_pid(self) -> int:
        return OWN_PID

    def rows(self) -> dict[int, ProcessRow]:
        return dict(self.living)

    def carriers(self, mark: Mapping[str, str]) -> set[int]:
        assert mark == {"GREENROOM_INSTANCE": "dead"}
        return self.marked & self.living.keys()

    def kill_all(self, victims: Iterable[ProcessRow]) -> None:
        for victim in victims:
            self.killed.append(victim.pid)
            if victim.pid not in self.immortal:
                del self.living[victim.pid]
        for row in list(self.living.values()):
            if row.parent_pid not in (0, *self.living):
                self.living[row.pid] = row._replace(parent_pid=1)


def process(pid: int, *, start: int = 50, parent: int = 1, session: int = 0, state: str = "S") -> ProcessRow:
    return ProcessRow(pid, start, parent, session or pid, state)


def line(role: str, pid: int, *, start: int = 50, boot: str = "this-boot") -> str:
    return json.dumps({f"{role}Pid": pid, "startTime": start, "bootId": boot, "label": "x"}) + "\n"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "dead.jsonl"


@pytest.mark.case("FC-03")
async def test_recorded_processes_and_their_descendants_are_ended_guards_last(
    record: Path, autojump_clock: object
) -> None:
    record.write_text(line("daemon", 9) + line("spawner", 10) + line("reaper", 11) + line("provider", 12))
    table = MadeUpTable(process(10), process(11, parent=10), process(12, parent=11), process(13, parent=12))
    report = await sweep(record.parent, own_instance_id="new", table=table)
    assert sorted(table.killed[:2]) == [12, 13]
    assert sorted(table.killed[2:]) == [10, 11]
    assert {identity.pid for identity in report.ended} == {10, 11, 12, 13}
    assert not record.exists()


@pytest.mark.case("FC-03")
async def test_marked_processes_are_ended_with_their_unmarked_children(
    record: Path, autojump_clock: object
) -> None:
    record.write_text(line("daemon", 9))
    table = MadeUpTable(process(20), process(21, parent=20), process(22), marked=[20])
    report = await sweep(record.parent, own_instance_id="new", table=table)
    assert sorted(table.killed) == [20, 21]
    assert report.remaining == ()


async def test_a_pid_that_was_used_again_is_reported_and_left_alone(record: Path) -> None:
    record.write_text(line("daemon", 9) + line("reaper", 11) + line("provider", 12))
    table = MadeUpTable(process(11, start=51), process(12, start=99))
    report = await sweep(record.parent, own_instance_id="new", table=table)
    assert table.killed == []
    assert report.unproven == (
        Unproven("dead", ProcessIdentity(11, 51), "pid_used_again"),
        Unproven("dead", ProcessIdentity(12, 99), "pid_used_again"),
    )
    assert not record.exists()


async def test_an_unmarked_process_in_a_recorded_session_is_reported_and_left_alone(record: Path) -> None:
    record.write_text(line("daemon", 9) + line("provider", 12))
    table = MadeUpTable(process(30, session=12), process(31, session=12, state="Z"))
    report = await sweep(record.parent, own_instance_id="new", table=table)
    assert table.killed == []
    assert report.unproven == (Unproven("dead", ProcessIdentity(30, 50), "session_of_recorded"),)


async def test_another_boot_leaves_nothing_to_do(record: Path) -> None:
    record.write_text(line("daemon", 9, boot="before") + line("provider", 12, boot="before"))
    table = MadeUpTable(process(12), process(20), marked=[20])
    report = await sweep(record.parent, own_instance_id="new", table=table)
    assert table.killed == []
    assert report.unproven == ()
    assert not record.exists()


async def test_a_record_whose_daemon_lives_is_kept_and_nothing_of_it_is_touched(record: Path) -> None:
    record.write_text(line("daemon", 9) + line("provider", 12))
    table = MadeUpTable(process(9), process(12, parent=9), marked=[12])
    report = await sweep(record.parent, own_instance_id="new", table=table)
    assert table.killed == []
    assert report.unproven == (Unproven("dead", ProcessIdentity(9, 50), "instance_alive"),)
    assert record.exists()


async def test_our_own_record_is_passed_over(record: Path) -> None:
    record.write_text(line("daemon", OWN_PID) + line("provider", 12))
    table = MadeUpTable(process(12))
    report = await sweep(record.parent, own_instance_id="dead", table=table)
    assert report.instances == ()
    assert table.killed == []
    assert record.exists()


@pytest.mark.parametrize(
    "text", ["", "\0\0\0", '{"daemonPid": 9, "sta', '[1]\n"x"\n{}\n{"providerPid": "y"}\n']
)
async def test_an_unreadable_record_is_no_reason_to_stop(record: Path, text: str) -> None:
    record.write_text(text)
    report = await sweep(record.parent, own_instance_id="new", table=MadeUpTable(process(12)))
    assert report.instances == ("dead",)
    assert not record.exists()


async def test_a_torn_line_hides_no_other(record: Path, autojump_clock: object) -> None:
    record.write_text(line("daemon", 9) + '{"reaperPid": 1\n' + line("provider", 12) + '{"reap')
    table = MadeUpTable(process(12))
    await sweep(record.parent, own_instance_id="new", table=table)
    assert table.killed == [12]


async def test_what_will_not_end_is_reported_within_the_bound_and_its_record_kept(
    record: Path, autojump_clock: object
) -> None:
    record.write_text(line("daemon", 9) + line("provider", 12) + line("provider", 13))
    table = MadeUpTable(process(12), process(13), immortal=[12])
    report = await sweep(record.parent, own_instance_id="new", table=table, seconds=2)
    assert report.remaining == (ProcessIdentity(12, 50),)
    assert report.ended == (ProcessIdentity(13, 50),)
    assert report.unproven == ()
    assert record.exists()


async def test_a_missing_folder_is_an_empty_one(tmp_path: Path) -> None:
    report = await sweep(tmp_path / "never-made", own_instance_id="new", table=MadeUpTable())
    assert report.instances == ()


def test_neither_we_nor_our_ancestors_are_ever_found() -> None:
    """The daemon may run in a shell that an agent of the dead instance had opened."""
    shell, sibling = process(40), process(41, parent=40)
    rows = {row.pid: row for row in (process(1, parent=0), shell, sibling, process(OWN_PID, parent=40))}
    owned = find_owned(Ownership(NOTHING, NOTHING, {}), rows, {40, 41, OWN_PID}, OWN_PID)
    assert [row.pid for row in owned] == [41]


def test_zombies_are_dead_but_their_children_are_not() -> None:
    rows = {row.pid: row for row in (process(12, state="Z"), process(13, parent=12))}
    owned = find_owned(Ownership(frozenset({ProcessIdentity(12, 50)}), NOTHING, {}), rows, set(), OWN_PID)
    assert [row.pid for row in owned] == [13]


async def test_a_tree_that_grows_while_it_is_killed_is_followed(autojump_clock: object) -> None:
    class Respawning(MadeUpTable):
        births = 5

        def kill_all(self, victims: Iterable[ProcessRow]) -> None:
            super().kill_all(victims)
            if self.births:
                self.births -= 1
                self.living[100 + self.births] = process(100 + self.births)
                self.marked.add(100 + self.births)

    table = Respawning(process(12), marked=[12])
    result = await end_owned(table, Ownership(NOTHING, NOTHING, {"GREENROOM_INSTANCE": "dead"}), seconds=5)
    assert result.remaining == ()
    assert {identity.pid for identity in result.ended} == {12, 100, 101, 102, 103, 104}
