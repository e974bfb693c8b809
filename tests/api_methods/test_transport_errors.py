"""Frames that are no requests: each is answered as the contract says, and the connection lives."""

import json

import pytest
import trio

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.fixtures import Connect, MakeDaemon
from tests.end_to_end.shapes import ERROR, check
from tests.end_to_end.talk import start


async def answered(client: Client, frame: str | bytes, request_id: object = None) -> Json:
    """The error that such a frame is answered with."""
    before = len(client.received)
    await client.send_text(frame)
    answer = await client.wait(
        lambda: next((f for f in client.received[before:] if "error" in f), None), "an error"
    )
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert answer["id"] == request_id
    check(answer["error"], ERROR, "error")
    assert answer["error"]["data"]["code"] == "request.invalid"
    assert answer["error"]["data"]["delivery"] == "not_dispatched"
    error: Json = answer["error"]
    return error


async def still_lives(client: Client) -> None:
    assert (await client.request("health/read"))["status"] == "ok"


def nested(depth: int) -> str:
    """A request whose arrays and objects stand that deep inside each other."""
    inner = "[" * (depth - 2) + "]" * (depth - 2)
    return '{"jsonrpc":"2.0","id":"deep","method":"health/read","params":{"a":' + inner + "}}"


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "not json",
        "{",
        '{"jsonrpc":"2.0","id":1,"method":"health/read","params":{"a":NaN}}',
        '{"jsonrpc":"2.0","id":1,"method":"health/read","params":{"a":-Infinity}}',
        '{"jsonrpc":"2.0","id":1,"method":"health/read","params":{"a":"\\ud800"}}',
        '{"jsonrpc":"2.0","id":1,"method":"health/read",}',
        nested(65),
        nested(10_000),
    ],
    ids=lambda frame: frame[:20],
)
async def test_what_is_no_json(client: Client, frame: str) -> None:
    error = await answered(client, frame)
    assert error["code"] == -32700
    await still_lives(client)


async def test_sixty_four_levels_are_allowed(client: Client) -> None:
    await client.send_text(nested(64))
    answer = await client.wait(lambda: [f for f in client.received if f.get("id") == "deep"], "an answer")
    assert answer[0]["error"]["code"] == -32602, "a request like any other: its member is unknown"


@pytest.mark.parametrize(
    "frame",
    [
        "[]",
        '[{"jsonrpc":"2.0","id":1,"method":"health/read"}]',
        '"text"',
        "7",
        "null",
        b'{"jsonrpc":"2.0","id":1,"method":"health/read"}',
        b"\xff\xfe",
        '{"jsonrpc":"2.0","method":"health/read"}',
        '{"jsonrpc":"2.0","id":null,"method":"health/read"}',
        '{"jsonrpc":"2.0","id":1.5,"method":"health/read"}',
        '{"jsonrpc":"2.0","id":true,"method":"health/read"}',
        '{"jsonrpc":"2.0","id":9007199254740992,"method":"health/read"}',
        json.dumps({"jsonrpc": "2.0", "id": "x" * 129, "method": "health/read"}),
        '{"jsonrpc":"2.0","id":{},"method":"health/read"}',
        '{"jsonrpc":"2.0","result":{}}',
    ],
    ids=lambda frame: repr(frame)[:40],
)
async def test_what_is_no_request_of_anybody(client: Client, frame: str | bytes) -> None:
    error = await answered(client, frame)
    assert error["code"] == -32600
    await still_lives(client)


@pytest.mark.parametrize(
    "change",
    [
        {"jsonrpc": "1.0"},
        {"jsonrpc": None},
        {"method": None},
        {"method": 7},
        {"params": []},
        {"params": None},
        {"params": "x"},
        {"token": "x"},
        {"result": {}},
    ],
    ids=lambda change: repr(change),
)
async def test_a_request_that_is_ill_formed_is_answered_by_its_id(client: Client, change: Json) -> None:
    frame = {"jsonrpc": "2.0", "id": "mine", "method": "health/read", **change}
    error = await answered(client, json.dumps(frame), "mine")
    assert error["code"] == -32600
    await still_lives(client)


@pytest.mark.parametrize("request_id", ["", "x" * 128, "🚪" * 128, 0, -1, 2**53 - 1, -(2**53) + 1])
async def test_every_id_that_is_allowed_comes_back_as_it_was(connect: Connect, request_id: str | int) -> None:
    async with connect() as client:
        sent = await client.send("health/read", request_id=request_id)
        await sent.result()
        assert sent.answer is not None
        assert sent.answer["id"] == request_id


async def test_params_may_be_left_out(client: Client) -> None:
    await client.send_text('{"jsonrpc":"2.0","id":"bare","method":"health/read"}')
    await client.wait(lambda: [f for f in client.received if f.get("id") == "bare"], "an answer")
    assert client.received[-1]["result"]["status"] == "ok"


async def test_an_id_in_flight_is_not_used_again_and_the_first_is_answered(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, target="slow")
    first = await client.send("session/resume", **talk.key, request_id="same")
    frame = {"jsonrpc": "2.0", "id": "same", "method": "health/read", "params": {}}
    error = await answered(client, json.dumps(frame))
    assert error["code"] == -32600
    assert (await first.result())["session"]["runtime"]["state"] == "live"
    await client.send_text(json.dumps(frame | {"id": "same-2"}))
    again = {"jsonrpc": "2.0", "id": "free-again", "method": "health/read", "params": {}}
    await client.send_text(json.dumps(again))
    await client.wait(lambda: [f for f in client.received if f.get("id") == "free-again"], "an answer")


async def test_a_frame_above_the_bound_closes_with_1009(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxFrameBytes": 65536}})
    async with connected(daemon) as client:
        padding = 65536 - len('{"jsonrpc":"2.0","id":"p","method":""}')
        await client.send_text(
            json.dumps({"jsonrpc": "2.0", "id": "p", "method": "x" * padding}, separators=(",", ":"))
        )
        await client.wait(lambda: [f for f in client.received if f.get("id") == "p"], "an answer")
        await client.send_text("x" * 65537)
        assert (await client.end())[0] == 1009


async def test_who_never_says_hello_is_closed_with_1008(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"helloTimeoutSeconds": 0.5}})
    async with connected(daemon, initialize=False) as silent, connected(daemon) as polite:
        assert (await silent.refused("health/read"))["code"] == "protocol.uninitialized"
        assert (await silent.end())[0] == 1008
        await still_lives(polite)


async def test_too_many_requests_in_flight_are_overloaded(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxInFlightRequests": 4}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        slow = "[[cancel-late 1500]] [[hang]]"
        talks = [await start(client, "w", slow, clientSubmitId=f"{n}") for n in range(4)]
        for talk in talks:
            await client.row("turn", turnId=talk.turn["turnId"], phase="running")
        with trio.CancelScope():
            closing = [await client.send("session/close", **talk.key) for talk in talks]
            refused = await client.refused("health/read")
        assert (refused["code"], refused["retryable"]) == ("overloaded", True)
        assert refused["retryAfterMs"] > 0
        for one in closing:
            await one.result()
        await still_lives(client)


async def test_a_stopping_daemon_says_goodbye_with_1001(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        assert await trio.to_thread.run_sync(daemon.stop) == 0
        assert (await client.end())[0] == 1001
    assert not (daemon.data_dir / "daemon.json").exists()
