"""The client of the daemon: replies find their requests, events keep their order, a lost connection wakes everybody."""

import socket
from functools import partial

import orjson
import pytest
import trio
from trio_websocket import serve_websocket, wrap_server_stream

from runtime.cli.daemon_client import (
    AccessRefused,
    DaemonGone,
    DaemonUnreachable,
    Endpoint,
    RequestRefused,
    open_client,
)
from tests.cli.fake_daemon import HELLO, TOKEN, FakeDaemon, Refused, running
from tests.cli.rows import delta


def endpoint(daemon):
    return Endpoint(daemon.url, TOKEN)


async def test_it_introduces_itself_and_keeps_the_answer(data_dir):
    daemon = FakeDaemon()
    async with running(daemon, data_dir), open_client(endpoint(daemon)) as client:
        assert client.hello == HELLO
    (method, params) = daemon.requests[0]
    assert (method, params["protocolVersion"]) == ("initialize", 1)
    assert params["clientInfo"]["name"] == "greenroom-command-line"


async def test_replies_in_another_order_reach_the_right_requests():
    async def shuffler(request):
        connection = await request.accept(subprotocol="greenroom.v1")
        hello = orjson.loads(await connection.get_message())
        await connection.send_message(orjson.dumps({"id": hello["id"], "result": HELLO}).decode())
        frames = [orjson.loads(await connection.get_message()) for _ in range(3)]
        await connection.send_message(orjson.dumps({"id": None, "error": {}}).decode())
        await connection.send_message(orjson.dumps({"id": 999, "result": {}}).decode())
        for frame in reversed(frames):
            reply = {"id": frame["id"], "result": {"echo": frame["params"]["number"]}}
            await connection.send_message(orjson.dumps(reply).decode())
        await connection.get_message()

    replies = {}
    async with trio.open_nursery() as nursery:
        server = await nursery.start(serve_websocket, shuffler, "127.0.0.1", 0, None)
        async with open_client(Endpoint(f"ws://127.0.0.1:{server.port}/v1/ws", TOKEN)) as client:

            async def one(number):
                replies[number] = await client.request("any", {"number": number})

            async with trio.open_nursery() as asking:
                for number in range(3):
                    asking.start_soon(one, number)
        nursery.cancel_scope.cancel()
    assert replies == {number: {"echo": number} for number in range(3)}


async def test_an_error_reply_is_raised_with_its_code(data_dir):
    daemon = FakeDaemon(answers={"session/get": Refused("request.invalid", "No.", {"path": "params.x"})})
    async with running(daemon, data_dir), open_client(endpoint(daemon)) as client:
        with pytest.raises(RequestRefused) as raised:
            await client.request("session/get", {})
    assert (raised.value.code, raised.value.message, raised.value.details) == (
        "request.invalid",
        "No.",
        {"path": "params.x"},
    )


async def test_events_come_in_order_and_end_with_the_connection(data_dir):
    daemon = FakeDaemon(close_after="events/subscribe")
    daemon.after["events/subscribe"] = [delta("m", number, "x") for number in range(50)]
    async with running(daemon, data_dir), open_client(endpoint(daemon)) as client:
        await client.request("events/subscribe", {})
        seen = [event["deltaSeq"] async for event in client.events]
        assert seen == list(range(50))
        assert str(client.gone) == "the daemon closed the connection (1001 shutdown)"
        with pytest.raises(DaemonGone):
            await client.request("health/read", {})


async def test_a_request_in_flight_hears_of_the_end(data_dir):
    class Silent(FakeDaemon):
        async def _answer(self, connection, frame):
            if frame["method"] == "initialize":
                await super()._answer(connection, frame)
            else:
                await connection.aclose(1011, "oh")

    daemon = Silent()
    async with running(daemon, data_dir), open_client(endpoint(daemon)) as client:
        with pytest.raises(DaemonGone, match=r"1011 oh"):
            await client.request("health/read", {})


async def test_nobody_listening_is_told_plainly_not_in_a_group():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{unused.getsockname()[1]}/v1/ws"
        with pytest.raises(DaemonUnreachable):
            async with open_client(Endpoint(url, TOKEN)):
                pass


async def test_a_socket_file_is_spoken_to_as_well(tmp_path):
    daemon = FakeDaemon()
    path = tmp_path / "socket"
    with trio.socket.socket(socket.AF_UNIX) as listening:
        await listening.bind(str(path))
        listening.listen()
        async with trio.open_nursery() as nursery:
            listeners = [trio.SocketListener(listening)]
            nursery.start_soon(_serve_on, daemon, listeners)
            async with open_client(Endpoint(f"ws+unix:{path}:/v1/ws", TOKEN)) as client:
                assert client.hello == HELLO
            nursery.cancel_scope.cancel()
    with pytest.raises(DaemonUnreachable):
        async with open_client(Endpoint(f"ws+unix:{tmp_path}/other:/v1/ws", TOKEN)):
            pass


async def _serve_on(daemon, listeners):
    async def one(stream):
        async with trio.open_nursery() as nursery:
            await daemon._serve(await wrap_server_stream(nursery, stream))
            nursery.cancel_scope.cancel()

    await trio.serve_listeners(one, listeners)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "answered 200"),
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "answered 404"),
        # The library does not tell that the other side went away while shaking hands: the deadline does.
        (b"", "did not shake hands"),
    ],
)
async def test_a_server_of_another_kind_is_not_taken_for_a_daemon(answer, said, monkeypatch):
    if not answer:
        monkeypatch.setattr("runtime.cli.daemon_client.HANDSHAKE_SECONDS", 0.1)

    async def other_program(stream):
        await stream.receive_some()
        if answer:
            await stream.send_all(answer)
        await stream.send_eof()

    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, host="127.0.0.1")
        (listener,) = await nursery.start(serve, other_program, 0)
        url = f"ws://127.0.0.1:{listener.socket.getsockname()[1]}/v1/ws"
        with pytest.raises(AccessRefused, match=said):
            async with open_client(Endpoint(url, TOKEN)):
                pass
        nursery.cancel_scope.cancel()
