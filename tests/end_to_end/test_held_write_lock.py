"""Many sessions write at once while another program holds the write lock of the database (FC-15)."""

from pathlib import Path

import apsw
import pytest
import trio

from store.open import DATABASE_FILE_NAME
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start, text_of

SESSIONS = 8
PIECES = 60
READS = 40
"""Round trips for which the lock is held: reads go on."""


def hold_the_lock(path: Path) -> apsw.Connection:
    """As another program would: with SQLite's own lock, over the layer it ships."""
    other = apsw.Connection(str(path))
    other.set_busy_timeout(10_000)
    other.execute("BEGIN IMMEDIATE")
    return other


@pytest.mark.case("FC-15")
async def test_a_held_write_lock_only_delays_whoever_writes_meanwhile(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxConcurrentStarts": SESSIONS}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        prompt = f"[[stream {PIECES} size=20 delay=20 stamp tag=x]] [[tool t]] [[say done]]"
        talks = [await start(client, "w", prompt, clientSubmitId=f"s{number}") for number in range(SESSIONS)]
        for talk in talks:
            await client.event("message_delta", agentSessionId=talk.session_id)
        for hold in range(2):
            other = await trio.to_thread.run_sync(hold_the_lock, daemon.data_dir / DATABASE_FILE_NAME)
            try:
                create = {"workspaceId": "w", "agentTargetId": "demo", "clientSubmitId": f"held-{hold}"}
                sent = await client.send("session/create", **create)
                for _ in range(READS):
                    await client.request("session/messages", **talks[0].key, afterVersion=0)
                assert sent.answer is None, "nothing can be durable while another holds the lock"
            finally:
                other.execute("ROLLBACK")
                other.close()
            assert (await sent.result())["session"]["agentTargetId"] == "demo"
        for talk in talks:
            turn = await client.settled(talk.turn)
            assert (turn["outcome"], turn["error"]) == ("completed", None)
            stored = {message["messageId"]: text_of(message) for message in await talk.messages()}
            shown = {row["messageId"]: text_of(row) for row in client.rows("message", turnId=turn["turnId"])}
            assert shown.items() <= stored.items()
            assert sum(said.count("~x.") for said in stored.values()) == PIECES
        numbers = [event["commitSeq"] for event in client.events("commit")]
        assert numbers == sorted(set(numbers))
        assert (await client.request("health/read"))["status"] == "ok"
    assert "locked" not in daemon.log_tail()
