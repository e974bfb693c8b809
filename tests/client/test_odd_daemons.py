"""A daemon that breaks the protocol, vanishes or repeats itself costs a connection at most, never a hang or a wrong row."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from greenroom_client import (
    NEVER,
    AccessRefused,
    Client,
    ClientOptions,
    ConnectionLost,
    DaemonUnreachable,
    GreenroomError,
    Reconnect,
    connect,
    new_submit_id,
    prompt,
    repeat_until_answered,
)
from greenroom_client import websocket as websocket_module
from tests.client.loops import on_both_loops
from tests.client.odd_daemon import SOON, Line, close, odd_daemon, ping

TEXT_FRAME, BINARY_FRAME = b"\x81", b"\x82"


def small(payload: bytes, first: bytes = TEXT_FRAME) -> bytes:
    """A server frame, unmasked, of less than 126 bytes."""
    return first + bytes([len(payload)]) + payload


async def welcomed(line: Line) -> None:
    await line.welcome()
    await line.wait_for_end()


ODD_BYTES = {
    "an opcode that does not exist": b"\xff\xff\xff\xff",
    "a masked server frame": b"\x81\x85abcdefghi",
    "half a character": small(b'"\xe2\x82"'),
    "a binary frame": small(b"{}", BINARY_FRAME),
    "no JSON": small(b"{"),
    "a batch": small(b"[]"),
    "a number": small(b"7"),
    "an event of no subscription": small(b'{"method":"event","params":{"type":"commit"}}'),
    "half a frame": b"\x81\x7e\xff\xff{",
}


@pytest.mark.parametrize("odd", sorted(ODD_BYTES))
def test_bytes_that_break_the_protocol_end_the_connection_and_the_next_one_serves(odd: str, backend: str):
    async def breaks(line: Line) -> None:
        await line.welcome()
        request = await line.expect("session/list")
        await line.bytes(ODD_BYTES[odd])
        if odd != "half a frame":
            await line.wait_for_end()
        del request

    async def serves(line: Line) -> None:
        await line.welcome()
        await line.reply(await line.expect("session/list"), {"items": [], "nextCursor": None, "commitSeq": 7})
        await line.wait_for_end()

    async def test() -> None:
        async with (
            odd_daemon(breaks, serves) as daemon,
            connect(daemon.url, token="t", options=SOON) as client,
        ):
            # A read is asked again by itself.
            assert (await client.session_list(workspace_id="w"))["commitSeq"] == 7

    run(test, backend)


HARMLESS: dict[str, Callable[[Line], Awaitable[None]]] = {
    "a notification nobody knows": lambda line: line.send({"jsonrpc": "2.0", "method": "news", "params": {}}),
    "a reply to nobody": lambda line: line.send({"jsonrpc": "2.0", "id": 99, "result": {}}),
    "a reply with an odd id": lambda line: line.send({"jsonrpc": "2.0", "id": ["x"], "result": {}}),
    "an error that names no request": lambda line: line.send(
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no", "data": {}}}
    ),
    "an event of a subscription that was left": lambda line: line.commit(3, subscription_id=8),
    "a message in pieces": lambda line: line.bytes(b'\x01\x03{"a' + b"\x89\x00" + b'\x80\x05":1}\n'),
}


@pytest.mark.parametrize("odd", sorted(HARMLESS))
def test_what_nobody_knows_is_passed_over(odd: str, backend: str):
    async def talks(line: Line) -> None:
        await line.welcome()
        request = await line.expect("session/list")
        await HARMLESS[odd](line)
        await line.reply(request, {"items": [], "nextCursor": None, "commitSeq": 1, "new": "member"})
        await line.wait_for_end()

    async def test() -> None:
        options = ClientOptions(reconnect=NEVER)
        async with odd_daemon(talks) as daemon, connect(daemon.url, token="t", options=options) as client:
            reply = await client.session_list(workspace_id="w")
            assert dict(reply)["new"] == "member"

    run(test, backend)


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(test: Callable[[], Awaitable[None]], backend: str) -> None:
    async def within_time() -> None:
        with anyio.fail_after(30):
            await test()

    anyio.run(within_time, backend=backend)


@on_both_loops
async def test_an_endless_message_ends_the_connection_not_the_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(websocket_module, "MESSAGE_CHARACTERS_MAX", 1_000_000)

    async def endless(line: Line) -> None:
        await line.welcome()
        await line.bytes(b"\x01\x01{")
        while True:
            await line.bytes(b"\x00\x7e\xff\xff" + b"x" * 65535)

    async with odd_daemon(endless) as daemon:
        options = ClientOptions(reconnect=NEVER)
        async with connect(daemon.url, token="t", options=options) as client:
            with pytest.raises(ConnectionLost, match="more than"):
                await client.session_list(workspace_id="w")


@on_both_loops
async def test_pings_are_answered_and_silence_is_noticed():
    pongs = []

    async def falls_silent(line: Line) -> None:
        await line.welcome(pingSeconds=0.05)
        request = await line.expect("session/list")
        await line.bytes(ping(line))
        with anyio.move_on_after(0.1):
            await line.frame()
        pongs.append(line.pongs)
        await line.reply(request, {"items": [], "nextCursor": None, "commitSeq": 1})
        await anyio.sleep_forever()

    async with odd_daemon(falls_silent) as daemon:
        async with connect(daemon.url, token="t", options=ClientOptions(reconnect=NEVER)) as client:
            await client.session_list(workspace_id="w")
            with pytest.raises(ConnectionLost, match="said nothing"):
                await client.session_list(workspace_id="w")
    assert pongs == [1]


@pytest.mark.parametrize(
    ("status", "failure"), [(401, AccessRefused), (404, AccessRefused), (503, DaemonUnreachable)]
)
def test_a_refused_upgrade_is_typed(status: int, failure: type[Exception], backend: str):
    async def test() -> None:
        async with odd_daemon(welcomed, reject_with=status) as daemon:
            with pytest.raises(failure, match=str(status)):
                async with connect(daemon.url, token="secret"):
                    pass
            assert daemon.tokens == ["Bearer secret"]

    run(test, backend)


@on_both_loops
async def test_who_speaks_no_websocket_is_no_daemon():
    async def serve(stream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"220 mail.example ESMTP\r\n\r\n")
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await stream.receive()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        with pytest.raises(AccessRefused, match="no daemon"):
            async with connect(f"ws://127.0.0.1:{port}/v1/ws", token="t"):
                pass
        tasks.cancel_scope.cancel()


@on_both_loops
async def test_a_daemon_that_never_welcomes_is_given_up_in_time():
    async def mute(line: Line) -> None:
        await line.wait_for_end()

    async with odd_daemon(mute) as daemon:
        with pytest.raises(DaemonUnreachable, match="no answer within"):
            async with connect(daemon.url, token="t", options=ClientOptions(connect_timeout_seconds=0.1)):
                pass


@pytest.mark.parametrize(
    "welcome", [None, [], {}, {"storeId": "s"}, {"storeId": "s", "limits": {"pingSeconds": []}}]
)
def test_who_welcomes_with_something_else_is_no_daemon(welcome: object, backend: str):
    async def odd(line: Line) -> None:
        await line.reply(await line.expect("initialize"), welcome)
        await line.wait_for_end()

    async def test() -> None:
        async with odd_daemon(odd) as daemon:
            with pytest.raises(AccessRefused, match="no daemon"):
                async with connect(daemon.url, token="t"):
                    pass

    run(test, backend)


@on_both_loops
async def test_a_request_waits_for_the_connection_no_longer_than_it_is_told():
    async def dies(line: Line) -> None:
        await line.welcome()
        await line.expect("health/read")

    async with odd_daemon(dies) as daemon:
        patient = Reconnect(first_pause_seconds=60, longest_pause_seconds=60)
        options = ClientOptions(reconnect=patient, connection_wait_seconds=0.05)
        async with connect(daemon.url, token="t", options=options) as client:
            with pytest.raises(DaemonUnreachable, match="came back within"):
                await client.health_read()
            assert client.state == "connecting"


@on_both_loops
async def test_a_version_that_is_not_spoken_is_said_at_once():
    async def another(line: Line) -> None:
        await line.refuse(await line.expect("initialize"), "protocol.unsupported", details={"supported": [2]})
        await line.wait_for_end()

    async with odd_daemon(another, welcomed) as daemon:
        with pytest.raises(GreenroomError) as refused:
            async with connect(daemon.url, token="t", options=SOON):
                pass
    assert refused.value.details == {"supported": [2]}


@on_both_loops
async def test_a_command_lost_in_the_middle_is_unknown_and_its_repetition_has_the_same_id():
    submit_ids = []

    async def takes_it_and_dies(line: Line) -> None:
        await line.welcome()
        submit_ids.append((await line.expect("session/send"))["params"]["clientSubmitId"])

    async def answers(line: Line) -> None:
        await line.welcome()
        request = await line.expect("session/send")
        submit_ids.append(request["params"]["clientSubmitId"])
        await line.refuse(request, "overloaded", retryable=True, retryAfterMs=1)
        request = await line.expect("session/send")
        submit_ids.append(request["params"]["clientSubmitId"])
        await line.reply(request, {"turn": {"turnId": "t"}, "commitSeq": 1})
        await line.wait_for_end()

    def send(client: Client, submit_id: str):
        return client.session_send(
            workspace_id="w", agent_session_id="s", client_submit_id=submit_id, content=prompt("x")
        )

    async with odd_daemon(takes_it_and_dies, takes_it_and_dies, answers) as daemon:
        async with connect(daemon.url, token="t", options=SOON) as client:
            with pytest.raises(ConnectionLost) as lost:
                await send(client, "first")
            assert lost.value.delivery == "unknown"
            one = new_submit_id()
            reply = await repeat_until_answered(lambda: send(client, one))
    assert reply["turn"]["turnId"] == "t"
    assert submit_ids == ["first", one, one, one]


@pytest.mark.rule("AP-018")
@on_both_loops
async def test_the_state_of_the_connection_is_told_as_it_changes():
    states: list[str] = []

    async def dies(line: Line) -> None:
        await line.welcome()
        await line.expect("session/list")

    async def stays(line: Line) -> None:
        await line.welcome()
        await line.reply(await line.expect("session/list"), {"items": [], "nextCursor": None, "commitSeq": 1})
        await line.wait_for_end()

    async with odd_daemon(dies, stays) as daemon:
        options = ClientOptions(reconnect=SOON.reconnect, on_state=states.append)
        async with connect(daemon.url, token="t", options=options) as client:
            assert client.state == "connected"
            await client.session_list(workspace_id="w")
    assert states == ["connected", "connecting", "connected", "closed"]


@on_both_loops
async def test_attempts_are_bounded_and_then_everybody_waiting_is_told():
    async def dies(line: Line) -> None:
        await line.welcome()
        await line.expect("events/subscribe")

    async with odd_daemon(dies) as daemon, connect(daemon.url, token="t", options=SOON) as client:
        with pytest.raises((ConnectionLost, DaemonUnreachable)):
            async with client.subscribe("w"):
                pass
        assert client.state == "closed"
        with pytest.raises((ConnectionLost, DaemonUnreachable)):
            await client.health_read()


@on_both_loops
async def test_a_token_that_was_taken_back_is_not_tried_for_ever():
    async with odd_daemon() as daemon:

        async def revokes(line: Line) -> None:
            await line.welcome()
            await line.expect("session/list")
            daemon.reject_with = 401
            await line.bytes(close(line, 1008))
            await line.wait_for_end()

        daemon.scenes += [revokes, welcomed]
        async with connect(daemon.url, token="t", options=SOON) as client:
            with pytest.raises(AccessRefused):
                await client.session_list(workspace_id="w")
        assert len(daemon.tokens) == 2


@pytest.mark.parametrize("attempt", [1, 2, 5, 40])
def test_pauses_grow_to_a_bound_and_are_spread(attempt: int):
    reconnect = Reconnect(first_pause_seconds=0.1, longest_pause_seconds=5)
    whole = min(5.0, 0.1 * 2 ** (attempt - 1))
    pauses = [reconnect.pause_seconds(attempt) for _ in range(50)]
    assert all(whole / 2 <= pause <= whole for pause in pauses)
    assert len(set(pauses)) > 1
