"""`debug/session`: the insides of one session, for an administrator. It wakes nothing and shows no secret."""

import pytest
import trio

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.fixtures import Connect, MakeDaemon, agent, token_of
from tests.end_to_end.talk import Talk, start

SECRET = "sk-test-0123456789abcdef0123"


async def inspected(talk: Talk) -> Json:
    reply = await talk.client.request("debug/session", **talk.key)
    assert reply["session"] == talk.key
    inspection: Json = reply["inspection"]
    return inspection


async def test_a_session_that_sleeps_is_shown_and_not_woken(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    with trio.fail_after(10):  # the actor that answered the create goes just after its answer
        while (await inspected(talk))["actor"] is not None:
            pass
    for _ in range(2):
        inspection = await inspected(talk)
        assert inspection["actor"] is None
        assert (inspection["runtimeState"], inspection["connections"]) == ("absent", [])
        assert inspection["lastConnection"] is None


async def test_a_running_turn_shows_its_process_its_lane_and_its_timers(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[stderr 5000]] [[stream 5]] [[ask]]")
    asked = await talk.pending()
    inspection = await inspected(talk)
    with trio.fail_after(10):
        while inspection["connections"][0]["stderrBytes"] < 5000:
            inspection = await inspected(talk)
    actor = inspection["actor"]
    assert (actor["turnId"], actor["turnPhase"]) == (talk.turn["turnId"], "waiting")
    assert (actor["link"], actor["generation"], actor["restarts"]) == ("open", 1, 0)
    assert (actor["pendingInteractions"], actor["mailbox"]["messages"]) == (1, 0)
    assert actor["mailbox"]["paused"] is False
    [connection] = inspection["connections"]
    assert (connection["state"], connection["scopes"], connection["exitStatus"]) == ("ready", 1, None)
    assert connection["pid"] > 1
    assert len(connection["stderrTail"]) > 0
    assert inspection["pool"]["connections"]["ready"] >= 1
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    await client.settled(talk.turn)
    idle = await inspected(talk)
    assert idle["actor"]["turnId"] is None
    [timer] = [timer for timer in idle["actor"]["timers"] if timer["kind"] == "idle"]
    assert 0 < timer["dueMs"] <= 1800_000
    assert asked["requestId"]


async def test_an_operation_in_the_middle_shows_the_lock_it_holds(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ignore-cancel]] [[hang]]")
    await client.row("turn", turnId=talk.turn["turnId"], phase="running")
    closing = await client.send("session/close", **talk.key)
    await client.row("turn", turnId=talk.turn["turnId"], phase="settling")
    [lock] = (await inspected(talk))["locks"]
    assert (lock["kind"], lock["id"], lock["waiting"]) == ("session", talk.session_id, [])
    assert lock["holder"].startswith("close session")
    await closing.result()
    assert (await inspected(talk))["locks"] == []


@pytest.mark.case("FC-50")
async def test_a_process_that_failed_is_remembered_with_its_last_words_redacted(
    make_daemon: MakeDaemon, tmp_path
) -> None:
    script = f"import sys; sys.stderr.write('cannot start with {SECRET}'); sys.exit(3)"
    target = {
        "id": "failing",
        "provider": "acp",
        "command": ["python3", "-c", script],
        "env": {"API_KEY": SECRET},
    }
    daemon = make_daemon({"targets": [target, agent("fine", tmp_path)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "hello", target="failing")
        assert (await client.settled(talk.turn))["outcome"] == "failed"
        last = (await inspected(talk))["lastConnection"]
        assert last["stderrTail"].startswith("cannot start with ")
        assert SECRET not in str(last)
        crashed = await start(client, "w", "[[crash]]", target="fine", clientSubmitId="crash")
        await client.settled(crashed.turn)
        lost = (await inspected(crashed))["lastConnection"]
        assert lost["state"] == "ended"


@pytest.mark.parametrize("name", ["reader", "worker"])
async def test_only_an_administrator_may_look(
    client: Client, connect: Connect, workspace: str, name: str
) -> None:
    talk = await start(client, workspace)
    async with connect(token=token_of(name)) as other:
        assert (await other.refused("debug/session", **talk.key))["code"] == "auth.forbidden"


async def test_what_is_not_there_is_not_found(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    for key in ({**talk.key, "agentSessionId": "none"}, {**talk.key, "workspaceId": f"{workspace}-other"}):
        assert (await client.refused("debug/session", **key))["code"] == "session.not_found"


@pytest.mark.parametrize(
    ("params", "path"),
    [({"agentSessionId": None}, "params.agentSessionId"), ({"turnId": "t"}, "params.turnId")],
)
async def test_what_is_wrong_with_it_is_named(
    client: Client, workspace: str, params: Json, path: str
) -> None:
    right = {"workspaceId": workspace, "agentSessionId": "s"}
    refused = await client.refused("debug/session", **{**right, **params})
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
