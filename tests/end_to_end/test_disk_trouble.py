"""A disk that cannot be written, and rows that cannot be read: what is refused, what goes on, and the way back."""

import resource
from pathlib import Path

import pytest
import trio

from store.connection import open_for_writing
from store.open import DATABASE_FILE_NAME
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon, token_of
from tests.end_to_end.talk import Talk, start, text


def files_may_grow(daemon: Daemon, allowed: bool) -> None:
    """The kernel refuses the daemon to write beyond the first byte of any file, or allows it again."""
    limit = resource.RLIM_INFINITY if allowed else 1
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


@pytest.mark.case("FC-49")
async def test_without_a_writable_disk_nothing_is_acknowledged_and_reads_go_on(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon({"limits": {"storeReserveBytes": 0}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say x]]", clientSubmitId="before")
        settled = await client.settled(talk.turn)
        await client.request("events/subscribe", workspaceId="w", topics=["host.updated"])
        files_may_grow(daemon, allowed=False)
        create = {"workspaceId": "w", "agentTargetId": "demo", "clientSubmitId": "during"}
        refused = await client.refused("session/create", **create)
        assert (refused["code"], refused["retryable"]) == ("store.unavailable", True)
        send = {**talk.key, "clientSubmitId": "during", "content": text("[[say y]]")}
        assert (await client.refused("session/send", **send))["code"] == "store.unavailable"
        health = await client.request("health/read")
        assert health["status"] in ("degraded", "failing")
        assert [problem["code"] for problem in health["problems"]] == [f"store.{health['status']}"]
        assert (await client.request("turn/get", **talk.key, turnId=settled["turnId"]))["turn"] == settled
        assert len((await client.request("session/list", workspaceId="w"))["items"]) == 1
        await client.event("health")
        files_may_grow(daemon, allowed=True)
        created = await client.request("session/create", **create)
        assert created["session"]["agentTargetId"] == "demo"
        turn = (await client.request("session/send", **send))["turn"]
        assert (await client.settled(turn))["outcome"] == "completed"
        assert (await client.request("health/read"))["status"] == "ok"
        told = await client.wait(lambda: client.events("health")[1:], "the word that all is well again")
        assert told[-1]["topic"] == "host.updated"
        assert (await talk.texts()) == ["x", "y"]


@pytest.mark.case("FC-34", "FC-49")
async def test_a_disk_error_in_a_turn_ends_it_as_what_it_is_with_nothing_shown_that_is_not_stored(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon({"limits": {"storeReserveBytes": 0}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(
            client, "w", "[[say x]] [[sleep 700]] [[tool late]] [[hang]]", clientSubmitId="one"
        )
        await client.row("message", kind="text", role="assistant")
        files_may_grow(daemon, allowed=False)
        with trio.fail_after(20):
            while (await client.request("health/read"))["live"]["connections"]:  # the tool call was not taken
                await client.request("session/list", workspaceId="w")
        files_may_grow(daemon, allowed=True)
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["delivery"]) == ("failed", "accepted")
        assert (turn["error"]["code"], turn["error"]["origin"]) == ("store.unavailable", "runtime")
        stored = (await client.request("session/messages", **talk.key, afterVersion=0, limit=200))["messages"]
        shown = {row["messageId"]: row for row in client.rows("message")}
        assert shown == {row["messageId"]: row for row in stored}
        assert (await talk.say("[[say y]]"))["outcome"] == "completed"
        assert (await client.request("health/read"))["status"] == "ok"


def damage(daemon: Daemon, talk: Talk) -> None:
    """Give a turn of this session a phase that no vocabulary knows."""
    connection = open_for_writing(Path(daemon.data_dir / DATABASE_FILE_NAME))
    connection.execute("PRAGMA ignore_check_constraints = 1")
    connection.execute("UPDATE turns SET phase = 'dancing' WHERE turn_id = ?", (talk.turn["turnId"],))
    connection.close()


@pytest.mark.case("FC-40")
async def test_a_session_whose_rows_cannot_be_read_is_set_aside_alone(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    token_file = tmp_path / "v.token"
    token_file.write_text(token_of("v"))
    token_file.chmod(0o600)
    elsewhere = {"name": "v", "tokenFile": str(token_file), "scope": "read", "workspaces": ["v"]}
    daemon = make_daemon({"tokens": [elsewhere]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        bad = await start(client, "w", "[[hang]]", clientSubmitId="bad")
        good = await start(client, "w", "[[say x]]", clientSubmitId="good")
        await client.row("turn", turnId=bad.turn["turnId"], phase="running")
        await client.settled(good.turn)
        await trio.to_thread.run_sync(daemon.kill)
    damage(daemon, bad)
    await trio.to_thread.run_sync(daemon.start)
    async with connected(daemon) as client:
        await client.subscribe("w")
        health = await client.request("health/read")
        assert health["status"] == "degraded"
        assert health["quarantined"] == [bad.key]
        assert [(p["code"], p["agentSessionId"]) for p in health["problems"]] == [
            ("session.quarantined", bad.session_id)
        ]
        async with connected(daemon, token=token_of("v")) as other:
            seen = await other.request("health/read")
            assert (seen["status"], seen["problems"], seen["quarantined"]) == ("degraded", [], [])
        for method, params in (
            ("session/send", {"clientSubmitId": "x", "content": text("x")}),
            ("turn/cancel", {"turnId": bad.turn["turnId"]}),
            ("session/close", {}),
            ("session/resume", {}),
            ("turn/get", {"turnId": bad.turn["turnId"]}),
            ("session/get", {}),
        ):
            refused = await client.refused(method, **bad.key, **params)
            assert refused["code"] == "session.quarantined", method
        assert (await good.through(client).say("[[say y]]"))["outcome"] == "completed"
        listed = await client.request("session/list", workspaceId="w")
        assert good.session_id in {item["agentSessionId"] for item in listed["items"]}
    assert await trio.to_thread.run_sync(daemon.stop) == 0
