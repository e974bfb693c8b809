"""`fault/inject`, `fault/list`, `fault/clear`: for administrators of a daemon that was started for faults, and no other."""

from collections.abc import AsyncIterator, Iterator

import pytest
import trio

from runtime.failpoints import POINTS
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, MakeDaemon, running, token_of
from tests.end_to_end.talk import start

PLACE = "session.start.before"


@pytest.fixture(scope="module")
def faulty_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    yield from running(Daemon(tmp_path_factory.mktemp("faults"), options=("--enable-faults",)))


@pytest.fixture
async def faulty(faulty_daemon: Daemon, workspace: str) -> AsyncIterator[Client]:
    async with connected(faulty_daemon) as client:
        await client.subscribe(workspace)
        yield client
        await client.request("fault/clear")


async def shown(client: Client, name: str = PLACE) -> Json:
    items = (await client.request("fault/list", limit=200))["items"]
    [found] = [item for item in items if item["name"] == name]
    return dict(found)


# --- served with the flag alone -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fault/inject", "fault/list", "fault/clear"])
async def test_without_the_flag_it_is_unsupported(client: Client, connect: Connect, method: str) -> None:
    assert method not in client.hello["capabilities"]["methods"]
    params = {"name": PLACE, "action": "kill"} if method == "fault/inject" else {}
    assert (await client.refused(method, **params))["code"] == "capability.unsupported"
    async with connect(token=token_of("reader")) as reader:
        assert (await reader.refused(method, **params))["code"] == "capability.unsupported"
    assert (await client.request("health/read"))["status"] == "ok"


async def test_with_the_flag_it_is_among_the_capabilities(faulty: Client) -> None:
    assert {"fault/inject", "fault/list", "fault/clear"} <= set(faulty.hello["capabilities"]["methods"])


@pytest.mark.parametrize("name", ["reader", "worker"])
async def test_only_an_administrator_may(make_daemon: MakeDaemon, tmp_path, name: str) -> None:
    token_file = tmp_path / "token"
    token_file.write_text(token_of(name))
    token_file.chmod(0o600)
    scope = "read" if name == "reader" else "control"
    tokens = [{"name": name, "tokenFile": str(token_file), "scope": scope}]
    daemon = make_daemon({"tokens": tokens}, options=("--enable-faults",))
    async with connected(daemon, token=token_of(name)) as other:
        for method, params in (
            ("fault/inject", {"name": PLACE, "action": "kill"}),
            ("fault/list", {}),
            ("fault/clear", {}),
        ):
            assert (await other.refused(method, **params))["code"] == "auth.forbidden"


# --- what they do -------------------------------------------------------------------------------------------------


async def test_every_failpoint_is_listed_with_what_it_stands_for(faulty: Client) -> None:
    page = await faulty.request("fault/list", limit=200)
    assert page["nextCursor"] is None
    assert {item["name"]: item["standsFor"] for item in page["items"]} == {
        point.name: point.stands_for for point in POINTS
    }
    seen, cursor = [], None
    for _ in range(len(POINTS)):
        part = await faulty.request("fault/list", limit=30, cursor=cursor)
        seen += [item["name"] for item in part["items"]]
        cursor = part["nextCursor"]
        if cursor is None:
            break
    assert seen == sorted(point.name for point in POINTS)


async def test_a_paused_prompt_is_marked_and_not_told_until_it_is_cleared(
    faulty: Client, workspace: str
) -> None:
    armed = (await faulty.request("fault/inject", name=PLACE, action="pause"))["failpoint"]
    assert armed["armed"] == {"action": "pause", "onPass": None, "probability": 1.0, "delayMs": 0}
    talk = await start(faulty, workspace, "[[say hello]]")
    await faulty.row("turn", turnId=talk.turn["turnId"], delivery="dispatching")
    with trio.fail_after(15):
        while (await shown(faulty))["waiting"] == 0:
            pass  # each look is a round trip
    assert await talk.texts() == []
    await faulty.request("fault/clear", name=PLACE)
    assert (await faulty.settled(talk.turn))["outcome"] == "completed"
    after = await shown(faulty)
    assert (after["armed"], after["waiting"]) == (None, 0)
    assert after["passes"] >= after["fired"] >= 1


async def test_a_fault_at_one_pass_crashes_one_session_and_costs_nobody_else(
    faulty_daemon: Daemon, workspace: str
) -> None:
    before = len(faulty_daemon.log_lines())
    async with connected(faulty_daemon) as faulty:
        await faulty.subscribe(workspace)
        await faulty.request("fault/inject", name="provider.launch.after", action="raise", onPass=1)
        struck = await start(faulty, workspace, "[[say hello]]", clientSubmitId="struck")
        spared = await start(faulty, workspace, "[[say hello]]", clientSubmitId="spared")
        outcomes = {(await faulty.settled(talk.turn))["outcome"] for talk in (struck, spared)}
        assert outcomes == {"failed", "completed"}
        assert (await shown(faulty, "provider.launch.after"))["fired"] == 1
        await faulty.request("fault/clear")
    logged = faulty_daemon.log_lines()[before:]
    assert not [line for line in logged if line.get("level") == "critical"]


async def test_a_delay_holds_up_a_commit_and_a_later_arming_replaces_it(
    faulty: Client, workspace: str
) -> None:
    place = "store.commit.before"
    await faulty.request("fault/inject", name=place, action="delay", delayMs=1)
    again = await faulty.request("fault/inject", name=place, action="delay", delayMs=2, probability=0.5)
    assert again["failpoint"]["armed"]["delayMs"] == 2
    talk = await start(faulty, workspace, "[[say hello]]")
    assert (await faulty.settled(talk.turn))["outcome"] == "completed"


async def test_a_kill_ends_the_daemon_and_nothing_else_is_lost(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(options=("--enable-faults",))
    async with connected(daemon) as client:
        await client.subscribe("w")
        await client.request("fault/inject", name="marker.dispatching.after", action="kill")
        talk = await start(client, "w", "[[say hello]]")
        await client.end()
    assert daemon.reap() == -9
    daemon.start()
    async with connected(daemon) as client:
        turn = (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
    assert (turn["phase"], turn["outcome"], turn["delivery"]) == ("settled", "interrupted", "unknown")


# --- what is wrong with it ----------------------------------------------------------------------------------------


async def test_a_name_that_there_is_not_is_refused_with_those_near(faulty: Client) -> None:
    for method, params in (
        ("fault/inject", {"name": "session.begin.before", "action": "kill"}),
        ("fault/clear", {"name": "session.begin.before"}),
    ):
        refused = await faulty.refused(method, **params)
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.name")
        assert "session.open.before" in refused["details"]["near"]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"action": "delay"}, "a delay, and nothing else, has a time"),
        ({"action": "kill", "delayMs": 5}, "a delay, and nothing else, has a time"),
        ({"action": "kill", "probability": 0}, "a probability is above 0"),
        ({"action": "kill", "probability": 1.5}, "a probability is above 0"),
        ({"action": "pause", "name": "store.telling.before"}, "nothing can wait there"),
    ],
)
async def test_what_makes_no_sense_is_said_and_arms_nothing(
    faulty: Client, params: Json, problem: str
) -> None:
    refused = await faulty.refused("fault/inject", **{"name": PLACE, **params})
    assert refused["code"] == "request.invalid"
    assert problem in refused["details"]["problem"]
    assert (await shown(faulty))["armed"] is None


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("fault/inject", {"action": "kill"}, "params.name"),
        ("fault/inject", {"name": PLACE, "action": "maim"}, "params.action"),
        ("fault/inject", {"name": PLACE, "action": "kill", "onPass": 0}, "params.onPass"),
        ("fault/inject", {"name": PLACE, "action": "delay", "delayMs": 0}, "params.delayMs"),
        ("fault/list", {"cursor": "x"}, "params.cursor"),
        ("fault/list", {"cursor": "9999"}, "params.cursor"),
        ("fault/list", {"limit": 0}, "params.limit"),
        ("fault/clear", {"workspaceId": "w"}, "params.workspaceId"),
    ],
)
async def test_what_is_wrong_with_it_is_named(faulty: Client, method: str, params: Json, path: str) -> None:
    refused = await faulty.refused(method, **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)


# --- the environment variable -------------------------------------------------------------------------------------


async def test_the_variable_is_ignored_without_the_flag(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(environment={"GREENROOM_FAILPOINTS": "store.commit.before=kill"})
    async with connected(daemon) as client:
        await start(client, "w")
    assert daemon.stop() == 0
    assert any("ignored" in line["event"] for line in daemon.log_lines())


@pytest.mark.parametrize(
    ("spelled", "said"),
    [("session.begin.before=kill", "session.open.before"), (f"{PLACE}=maim", "no such action: maim")],
)
def test_a_variable_that_makes_no_sense_ends_the_start(
    make_daemon: MakeDaemon, spelled: str, said: str
) -> None:
    environment = {"GREENROOM_FAILPOINTS": spelled}
    daemon = make_daemon(start=False, options=("--enable-faults",), environment=environment)
    assert daemon.run_to_end() == 2
    assert said in daemon.log_tail()
