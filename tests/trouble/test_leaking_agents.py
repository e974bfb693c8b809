"""What an agent lets out of keys, tokens and places as it fails stays with it: fifty kinds, on every way an error has."""

import json
import sys
from pathlib import Path

import pytest
import trio

from tests.doubles.secret_kinds import SAID, found_in
from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import running
from tests.end_to_end.talk import start

AGENT = Path(__file__).with_name("leaking_agent.py")
STARTS = ("initialize", "session/new")


@pytest.fixture(scope="module")
def leaking(tmp_path_factory):
    """A daemon whose agents let out everything they know."""
    folder = tmp_path_factory.mktemp("leaking")
    words = folder / "words.json"
    words.write_text(json.dumps(list(SAID.values())), encoding="utf-8")
    targets = [
        {
            "id": way.replace("/", "-"),
            "provider": "acp",
            "command": [sys.executable, "-I", "-S", str(AGENT), str(words), way],
        }
        for way in ("later", *STARTS)
    ]
    yield from running(Daemon(folder, {"targets": targets}))


@pytest.mark.rule("PR-023", "PR-024")
@pytest.mark.parametrize("way", ["error", "stop", "die", "ask", *STARTS])
async def test_nothing_an_agent_lets_out_as_it_fails_is_seen_or_kept_anywhere(
    leaking: Daemon, way: str
) -> None:
    target = way.replace("/", "-") if way in STARTS else "later"
    async with connected(leaking) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "ask", target=target, clientSubmitId=f"leak {way}")
        turn = await client.settled(talk.turn)
        if way not in STARTS:
            turn = await talk.say(way)
        assert turn["outcome"] == ("completed" if way == "ask" else "failed")
        assert turn["error"] is None or turn["error"]["message"]
        with trio.fail_after(15):
            while "no such file" not in (shown := await everything(client, talk.key)):
                pass  # its last words are still on their way
        assert "[redacted] in hand" in shown
        assert found_in(shown) == []
    assert found_in(leaking.log_file.read_text(encoding="utf-8")) == []
    kept = b"".join(file.read_bytes() for file in leaking.data_dir.glob("greenroom.db*"))
    assert found_in(kept.decode("utf-8", "replace")) == []


async def everything(client: Client, key: dict[str, str]) -> str:
    """All that the connection heard, and all that can be asked of a session and of the host."""
    told: list[object] = list(client.received)
    for method in ("session/get", "turn/list", "session/messages", "debug/session"):
        asked = {"afterVersion": 0} if method == "session/messages" else {}
        told.append(await client.request(method, **key, **asked))
    told += [await client.request(method) for method in ("health/read", "metrics/read", "target/list")]
    return json.dumps(told, ensure_ascii=False)
