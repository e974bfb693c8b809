"""200,000 requests at random from the published contract: each is answered once, as its method's table says, never with `internal`."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from runtime.wire.methods import METHODS, all_refusals
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import TOKENS, running, shared_settings, token_of
from tests.fuzz.raw_client import RawClient, masked_frame, raw_connection
from tests.fuzz.requests import Requests

FRAMES_A_RUN = 25_000
IN_FLIGHT = 100
"""Fewer than `maxInFlightRequests`: a request that is refused for its number says nothing of itself."""
RUN_SECONDS_MAX = 110.0
NOT_A_REQUEST = {"request.invalid", "request.too_large", "request.unknown_method"}
NOT_OF_THE_METHOD = {"request.unknown_method", "capability.unsupported"}
EVENT = b'{"jsonrpc":"2.0","method":"event"'


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """Few places for everything, so that limits are met, and short deadlines, so that nothing takes long."""
    folder = tmp_path_factory.mktemp("fuzz")
    settings = shared_settings(folder)
    settings["limits"] = {
        "maxSessions": 3000,
        "maxLiveConnections": 2,
        "admissionWaitSeconds": 1,
        "cancelGraceSeconds": 1,
        "initializeTimeoutSeconds": 5,
        "respondTimeoutSeconds": 2,
        "lifecycleTimeoutSeconds": 5,
        "idleReleaseSeconds": 1,
    }
    yield from running(Daemon(folder, settings))


@attrs.define
class Run:
    """One connection's requests, and what was said of them."""

    requests: Requests
    asked: dict[int, str] = attrs.field(factory=dict)
    frames_sent: int = 0
    replies: int = 0
    codes: Counter[str] = attrs.field(factory=Counter)

    def next_frames(self, number: int) -> list[bytes]:
        frames = []
        for _ in range(number):
            frame, request_id, method = self.requests.frame()
            if request_id is not None and method is not None:
                self.asked[request_id] = method
            frames.append(frame)
        self.frames_sent += number
        return frames

    def take(self, text: bytes) -> None:
        """A frame of the server's: checked when it is a reply, passed over when it is an event."""
        if text.startswith(EVENT):
            return
        reply = json.loads(text)
        self.replies += 1
        method = self.asked.pop(reply["id"], None) if isinstance(reply["id"], int) else None
        if "result" in reply:
            assert method is not None, f"a result nobody asked for: {reply}"
            self.codes["ok"] += 1
            self.requests.learn(reply["result"])
            return
        code = self.checked(reply["error"])
        allowed = NOT_A_REQUEST if method is None else {*all_refusals(METHODS[method]), *NOT_OF_THE_METHOD}
        assert code in allowed - {"internal"}, f"{method}: {reply}"
        self.codes[code] += 1

    def checked(self, error: dict[str, Any]) -> str:
        """The code of an error that has the contract's shape."""
        assert error.keys() == {"code", "message", "data"}, error
        assert {"code", "retryable", "delivery", "details"} <= error["data"].keys(), error
        assert -32700 <= error["code"] <= -32000, error
        return str(error["data"]["code"])


def requests_from(seed: str, folder: Path, workspaces: tuple[str, ...]) -> Requests:
    """Names that mean something to this daemon; most sessions are on a target whose program does not exist."""
    return Requests(
        random.Random(seed),
        {
            "workspaceId": workspaces,
            "agentTargetId": (*("missing",) * 30, "disabled", "nobody", "logged"),
            "clientSubmitId": tuple(f"{seed}-{number}" for number in range(2000)),
            "cwd": (None, str(folder), str(folder / ".." / folder.name), "/nonexistent", "relative"),
        },
        methods=tuple(name for name in METHODS if name != "initialize"),
    )


async def converse(client: RawClient, run: Run) -> None:
    """Send them all, never too many at once, and wait for every reply."""
    with trio.move_on_after(RUN_SECONDS_MAX):
        while run.replies < FRAMES_A_RUN:
            room = min(IN_FLIGHT - (run.frames_sent - run.replies), FRAMES_A_RUN - run.frames_sent)
            if room > IN_FLIGHT // 2 or (room > 0 and run.frames_sent + room == FRAMES_A_RUN):
                await client.send(*run.next_frames(room))
            for text in await client.receive():
                run.take(text)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("token", ["admin", "worker", "tenant", "reader"])
async def test_every_request_is_answered_once_and_as_its_method_says(
    daemon: Daemon, token: str, seed: int
) -> None:
    workspaces = (*TOKENS.get(token, {}).get("workspaces", ()), "fuzz-1", "fuzz-2", "other")
    run = Run(requests_from(f"{token}-{seed}", daemon.folder / "root", workspaces))
    async with raw_connection(daemon.port, daemon.token if token == "admin" else token_of(token)) as client:
        hello = {"protocolVersion": 1, "clientInfo": {"name": "fuzz"}}
        await client.send(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
        )
        while not (first := await client.receive()):
            pass
        assert b'"result"' in first[0], first
        await converse(client, run)
    assert run.frames_sent == run.replies, f"never answered: {list(run.asked.items())[:50]}"
    assert run.replies == FRAMES_A_RUN, "the daemon was too slow"
    expected = {"ok", "request.invalid", "session.not_found"}
    assert expected <= run.codes.keys(), run.codes


async def test_a_binary_frame_is_refused_and_the_connection_lives(daemon: Daemon) -> None:
    async with raw_connection(daemon.port, daemon.token) as client:
        await client.stream.send_all(masked_frame(b"\x00\xff", opcode=2))
        while not (texts := await client.receive()):
            pass
        assert json.loads(texts[0])["id"] is None


async def test_a_conversation_goes_on_as_ever_afterwards(daemon: Daemon) -> None:
    async with connected(daemon) as client:
        await client.subscribe("afterwards")
        created = await client.request(
            "session/create",
            workspaceId="afterwards",
            agentTargetId="logged",
            clientSubmitId="one",
            initialContent=[{"type": "text", "text": "[[say still here]]"}],
        )
        assert (await client.settled(created["turn"]))["outcome"] == "completed"
