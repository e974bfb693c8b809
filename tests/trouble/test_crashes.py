"""kill -9 of a real daemon and of the processes that guard its agents, in every order: nothing outlives it."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from runtime.providers.demo import demo_command
from supervisor.process_guard.process_table import read_rows
from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon, poll_until
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import Talk, start
from tests.process_guard.support import HERE as GUARD_TESTS
from tests.process_guard.support import STUBBORN_ROLES, StubbornTree, alive, kill_now, stubborn_tree
from tests.trouble.agents import agent_of, command_name, parent_of
from tests.trouble.beside import takes_prompts

TREE_SECONDS = 5.0


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[StubbornTree]:
    with stubborn_tree(tmp_path / "tree") as one:
        yield one


@pytest.fixture
def guarding(make_daemon: MakeDaemon, tree: StubbornTree, tmp_path: Path) -> Daemon:
    """A daemon whose agents have a family that does everything to outlive them."""
    family = (sys.executable, "-I", "-S", str(Path(__file__).with_name("stubborn_agent.py")))
    child = str(GUARD_TESTS / "stubborn_child.py")
    command = [*family, child, str(tree.folder), *demo_command(str(tmp_path / "agents"))]
    horde = {"id": "horde", "provider": "acp", "command": command, "env": {"DEMO_STUBBORN": "1"}}
    return make_daemon({"targets": [horde]})


@pytest.fixture
async def horde(guarding: Daemon, tree: StubbornTree) -> AsyncIterator[Talk]:
    """A session with such an agent, all of the family born, in the middle of a turn."""
    async with connected(guarding) as client:
        await client.subscribe("horde")
        talk = await start(client, "horde", "[[say here]][[hang]]", target="horde")
        await client.event("message_delta", agentSessionId=talk.session_id)
        assert poll_until(lambda: "respawned" in tree.pids(), TREE_SECONDS)
        assert tree.survivors().keys() == STUBBORN_ROLES
        yield talk


def reaper_of(daemon: Daemon, talk: Talk) -> int:
    return parent_of(agent_of(daemon, talk))


def spawner_of(daemon: Daemon) -> int:
    found = [
        pid for pid in read_rows() if parent_of(pid) == daemon.pid and command_name(pid) == "greenroom-spawn"
    ]
    assert len(found) == 1
    return found[0]


async def interrupted_and_usable(daemon: Daemon, client: Client, talk: Talk) -> None:
    """After a restart: the turn is over, nothing runs, the session goes on."""
    again = Talk(client, talk.key, talk.created)
    read = await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"])
    # `failed` when the daemon still saw its agent die.
    assert read["turn"]["phase"] == "settled"
    assert read["turn"]["outcome"] in ("interrupted", "failed")
    assert "here".startswith((await again.texts())[0]), "less when it was killed within writeBehindMs"
    await takes_prompts(again)


@pytest.mark.case("FC-03", "FC-06")
@pytest.mark.parametrize("first", ["nothing", "spawner", "reaper", "stopped reaper"])
async def test_no_descendant_of_an_agent_outlives_the_daemon(
    guarding: Daemon, tree: StubbornTree, horde: Talk, first: str
) -> None:
    if first == "spawner":
        kill_now(spawner_of(guarding))
    elif first == "reaper":
        kill_now(reaper_of(guarding, horde))
    elif first == "stopped reaper":
        os.kill(reaper_of(guarding, horde), signal.SIGSTOP)
    guarding.kill()
    assert poll_until(lambda: not tree.survivors(), TREE_SECONDS), tree.survivors()
    assert guarding.providers_left(0) == []
    guarding.start()
    async with connected(guarding) as client:
        await client.subscribe("horde")
        await interrupted_and_usable(guarding, client, horde)


@pytest.mark.case("FC-03", "FC-59")
async def test_close_ends_the_whole_family(guarding: Daemon, tree: StubbornTree, horde: Talk) -> None:
    closed = await horde.client.request("session/close", **horde.key)
    assert closed["session"]["runtime"]["state"] == "absent"
    assert tree.survivors() == {}
    assert (await horde.client.settled(horde.turn))["outcome"] == "canceled"


@pytest.mark.case("FC-03", "FC-10")
async def test_killed_reaper_costs_its_own_session_alone(
    guarding: Daemon, tree: StubbornTree, horde: Talk
) -> None:
    client = horde.client
    other = await start(client, "horde", "[[say other]]")
    await client.settled(other.turn)
    kill_now(reaper_of(guarding, horde))
    turn = await client.settled(horde.turn)
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
    assert poll_until(lambda: not tree.survivors(), TREE_SECONDS), tree.survivors()
    await takes_prompts(other)
    await takes_prompts(horde)


@pytest.mark.case("FC-03")
async def test_killed_spawner_costs_nothing_and_the_next_agent_starts(
    guarding: Daemon, tree: StubbornTree, horde: Talk
) -> None:
    client = horde.client
    old = spawner_of(guarding)
    kill_now(old)
    other = await start(client, "horde", "[[say other]]")
    assert (await client.settled(other.turn))["outcome"] == "completed"
    assert spawner_of(guarding) != old
    assert tree.survivors().keys() == STUBBORN_ROLES
    await client.request("turn/cancel", **horde.key, turnId=horde.turn["turnId"])
    assert (await client.settled(horde.turn))["outcome"] == "canceled"


@pytest.mark.case("FC-03", "FC-06")
async def test_next_start_ends_what_is_left_when_all_that_guarded_it_was_killed_first(
    guarding: Daemon, tree: StubbornTree, horde: Talk
) -> None:
    # Without its environment nobody can prove this one to be ours; only reaper and spawner know it by descent.
    kill_now(*tree.pids()["forgetful"])
    spawner, reaper = spawner_of(guarding), reaper_of(guarding, horde)
    kill_now(spawner, reaper)
    guarding.kill()
    assert tree.survivors(), "nothing is left to be swept"
    guarding.start()
    # Looked at before anybody has connected: the sweep comes before the listening.
    assert tree.survivors() == {}
    assert not alive(reaper)
    async with connected(guarding) as client:
        await client.subscribe("horde")
        await interrupted_and_usable(guarding, client, horde)
