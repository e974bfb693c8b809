"""The directory: one cell a key, woken once, let go when idle, and no message lost on the way."""

from collections import defaultdict

import attrs
import pytest
import trio
import trio.testing

from runtime.simulation.explore import choose, explore, pause
from supervisor import (
    ActorStopped,
    Cell,
    CellHooks,
    CellPolicy,
    Directory,
    DirectoryStatistics,
    Mailbox,
    MailboxFull,
    MailboxLimits,
)


@attrs.define
class Stage:
    """What the actors of one directory did, and how long their steps take: so many turns, or seconds."""

    passivate: bool = True
    turns: int = 0
    performed: dict = attrs.field(factory=lambda: defaultdict(list))
    discarded: list = attrs.field(factory=list)
    errors: list = attrs.field(factory=list)
    alive: dict = attrs.field(factory=lambda: defaultdict(int))
    lives: dict = attrs.field(factory=lambda: defaultdict(int))
    start_seconds: float = 0
    stop_seconds: float = 0

    def cell(self, key):
        return Cell(
            Mailbox(MailboxLimits(messages_max=8), size=len),
            None,
            factory=lambda cell: Recording(self, key),
            quarantine_factory=lambda cell: Recording(self, key),
            hooks=CellHooks(
                on_discarded=lambda messages, error: self.discarded.extend(messages),
                on_crash=self.errors.append,
                on_quarantine=self.errors.append,
            ),
            policy=CellPolicy(stop_grace_seconds=50),
        )

    async def take(self, seconds):
        for _ in range(self.turns):
            await trio.lowlevel.checkpoint()
        if seconds:
            await trio.sleep(seconds)

    def directory(self, **options):
        return Directory(self.cell, **options)


class Recording:
    """An actor that is alone with its key from start to stop, or the test fails."""

    def __init__(self, stage, key):
        self.stage = stage
        self.key = key
        self.received = []

    async def start(self):
        self.stage.alive[self.key] += 1
        self.stage.lives[self.key] += 1
        assert self.stage.alive[self.key] == 1, "two actors of one key"
        await self.stage.take(self.stage.start_seconds)

    def receive(self, message):
        if message == "crash":
            self.stage.alive[self.key] -= 1
            raise ValueError(message)
        self.received.append(message)

    async def flush(self):
        await self.stage.take(0)
        self.stage.performed[self.key] += self.received
        self.received = []

    def may_passivate(self):
        return self.stage.passivate

    async def stop(self):
        await self.stage.take(self.stage.stop_seconds)
        self.stage.alive[self.key] -= 1


@pytest.fixture
def stage():
    return Stage()


async def test_a_message_makes_and_wakes_the_cell_and_idleness_lets_it_go(stage, autojump_clock):
    async with stage.directory() as directory:
        directory.reference("k").put("a")
        assert directory.running() == ("k",)
        await trio.sleep(1)
        assert directory.running() == ()
        assert directory.statistics() == DirectoryStatistics(cells=0, stopping=0, activations=1)
    assert stage.performed == {"k": ["a"]}


async def test_a_cell_is_woken_once_however_often_it_is_told(stage, autojump_clock):
    stage.start_seconds = 1
    async with stage.directory() as directory:
        cell = directory.cell("k")
        for message in "abc":
            assert directory.cell("k") is cell
            directory.wake("k")
            cell.mailbox.put(message)
            await trio.sleep(0.1)
        await trio.sleep(10)
    assert (stage.performed, stage.lives) == ({"k": ["a", "b", "c"]}, {"k": 1})


async def test_looking_makes_nothing(stage):
    async with stage.directory() as directory:
        assert directory.find("k") is None
        reference = directory.reference("k")
        assert directory.running() == ()
        reference.put("a")
        assert directory.find("k") is directory.cell("k")


async def test_a_refused_command_leaves_the_cell_to_itself(stage, autojump_clock):
    stage.start_seconds = 1
    async with stage.directory() as directory:
        reference = directory.reference("k")
        for number in range(8):
            reference.tell(str(number), source="client")
        with pytest.raises(MailboxFull):
            reference.tell("8", source="client")
        await trio.sleep(10)
        assert directory.running() == ()
        reference.tell("8", source="client")
        await trio.sleep(10)
    assert "".join(stage.performed["k"]) == "012345678"


@pytest.mark.case("FC-52")
async def test_a_new_actor_waits_until_the_old_one_is_gone(stage, autojump_clock):
    stage.stop_seconds = 5
    async with stage.directory() as directory:
        reference = directory.reference("k")
        reference.put("a")
        await trio.sleep(1)
        assert directory.statistics() == DirectoryStatistics(cells=0, stopping=1, activations=1)
        reference.put("b")
        reference.put("c")
        await trio.sleep(3)
        assert directory.statistics() == DirectoryStatistics(cells=1, stopping=1, activations=2)
        assert (stage.performed["k"], stage.lives["k"]) == (["a"], 1)
        await trio.sleep(2)
        assert (stage.performed["k"], stage.lives["k"]) == (["a", "b", "c"], 2)
        await trio.sleep(5)
        assert directory.statistics() == DirectoryStatistics(cells=0, stopping=0, activations=2)


@pytest.mark.case("FC-49")
async def test_a_stop_that_hangs_does_not_block_its_key_for_ever(stage, autojump_clock):
    stage.stop_seconds = 1e9
    async with stage.directory() as directory:
        directory.reference("k").put("a")
        await trio.sleep(1)
        stage.alive["k"] = 0  # its stop will be cancelled and cannot say so itself
        directory.reference("k").put("b")
        await trio.sleep(51)
        assert stage.performed["k"] == ["a", "b"]
        stage.stop_seconds = 0


@pytest.mark.rule("RT-142")
@pytest.mark.case("FC-25")
async def test_a_crash_stays_with_its_own_key(stage, autojump_clock):
    async with stage.directory() as directory:
        for key in ("k", "l", "m"):
            for message in ("a", "crash" if key == "l" else "b", "c"):
                directory.reference(key).put(message)
        await trio.sleep(1)
    assert stage.performed == {"k": ["a", "b", "c"], "l": ["a", "c"], "m": ["a", "b", "c"]}
    assert stage.discarded == ["crash"]


@pytest.mark.case("FC-40")
async def test_crashes_of_several_short_lives_count_together(stage, autojump_clock):
    told_of_crash, told_of_quarantine = 1, 2
    async with stage.directory() as directory:
        for expected in (*[told_of_crash] * 3, told_of_quarantine, told_of_quarantine):
            before = len(stage.errors)
            directory.reference("k").put("crash")
            await trio.sleep(1)
            assert directory.find("k") is None, "it passivated in between"
            assert len(stage.errors) - before == expected
        directory.reference("l").put("crash")
        await trio.sleep(60)
        directory.reference("k").put("crash")
        await trio.sleep(1)
        assert len(stage.errors) == 9, "what is long ago counts no more, nor does what another one did"


# --- leaving


async def test_leaving_carries_out_what_waits_and_stops_every_cell(stage, autojump_clock):
    stage.passivate = False
    stage.stop_seconds = 2
    async with stage.directory() as directory:
        for key in ("k", "l"):
            directory.reference(key).put("a")
        directory.cell("unwoken").mailbox.put("a")
    assert trio.current_time() == 2
    assert stage.performed == {"k": ["a"], "l": ["a"], "unwoken": ["a"]}
    assert set(stage.alive.values()) == {0}
    assert directory.running() == ()


async def test_leaving_cancels_what_does_not_stop_within_the_grace(stage, autojump_clock):
    stage.passivate = False
    stage.start_seconds = 1e9
    async with stage.directory(stop_grace_seconds=3) as directory:
        directory.reference("k").put("a")
        directory.reference("l").put("b")
    assert trio.current_time() == 3
    assert sorted(stage.discarded) == ["a", "b"]
    assert directory.statistics() == DirectoryStatistics(cells=0, stopping=0, activations=2)


async def test_outside_of_its_lifetime_no_cell_is_made(stage):
    directory = stage.directory()
    with pytest.raises(ActorStopped):
        directory.reference("k").put("a")
    async with directory:
        directory.reference("k").put("a")
    with pytest.raises(ActorStopped):
        directory.reference("k").put("b")
    assert stage.performed == {"k": ["a"]}


async def test_leaving_by_cancellation_leaves_nothing(stage, autojump_clock):
    stage.start_seconds = 1e9
    with trio.move_on_after(1):
        async with stage.directory() as directory:
            directory.reference("k").put("a")
            await trio.sleep_forever()
    assert (trio.current_time(), stage.discarded, directory.running()) == (1, ["a"], ())


async def test_a_successor_cancelled_while_it_waits_answers_for_its_messages(stage, autojump_clock):
    stage.stop_seconds = 40
    async with stage.directory(stop_grace_seconds=3) as directory:
        directory.reference("k").put("a")
        await trio.sleep(1)
        directory.reference("k").put("b")
    assert (stage.performed, stage.discarded) == ({"k": ["a"]}, ["b"])
    assert directory.statistics() == DirectoryStatistics(cells=0, stopping=0, activations=2)


async def test_a_directory_can_be_a_child_of_a_supervisor(stage):
    directory = stage.directory()
    async with trio.open_nursery() as nursery:
        request_stop = await nursery.start(directory.run)
        directory.reference("k").put("a")
        request_stop()
    assert stage.performed == {"k": ["a"]}


# --- every schedule


@pytest.mark.case("FC-52")
def test_no_schedule_loses_a_message_across_passivation_or_meets_two_actors():
    """The second message comes at every step of the first actor's life, its end and its successor's start."""

    async def program():
        stage = Stage(turns=choose(2))
        async with stage.directory() as directory:
            directory.reference("k").put("a")
            await pause(11)
            directory.reference("k").put("b")
            await trio.sleep(1)
            assert directory.statistics().cells == directory.statistics().stopping == 0
            directory.reference("k").put("c")
        assert (stage.errors, stage.discarded) == ([], [])
        assert stage.performed["k"] == ["a", "b", "c"]
        return stage.lives["k"]

    assert set(explore(program)) == {2, 3}


def test_no_schedule_loses_the_message_of_one_of_two_tellers():
    async def program():
        stage = Stage(turns=1)

        async def tell(message, turns):
            await pause(turns)
            directory.reference("k").put(message)

        async with stage.directory() as directory, trio.open_nursery() as nursery:
            nursery.start_soon(tell, "a", 0)
            nursery.start_soon(tell, "b", 3)
            nursery.start_soon(tell, "c", 1)
        assert (stage.errors, stage.discarded) == ([], [])
        return "".join(sorted(stage.performed["k"])), stage.alive["k"]

    assert set(explore(program)) == {("abc", 0)}


def test_under_every_schedule_of_leaving_a_message_is_performed_or_refused():
    async def program():
        stage = Stage(turns=1)
        refused = []

        async def late():
            await pause(6)
            try:
                directory.reference("k").put("b")
            except ActorStopped:
                refused.append("b")

        async with trio.open_nursery() as nursery, stage.directory() as directory:
            nursery.start_soon(late)
            directory.reference("k").put("a")
        assert (stage.alive["k"], stage.discarded) == (0, [])
        return "".join(stage.performed["k"]), "".join(refused)

    assert set(explore(program)) == {("ab", ""), ("a", "b")}
