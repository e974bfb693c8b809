"""Connections to a provider that runs already: messages are lines, its end is a loss, and it is never ours to end."""

import pytest
import trio

from runtime.providers import failures
from runtime.providers.limits import ConnectionLimits
from runtime.providers.normalized import TextChunk, ThreadOpened, TurnEnded
from runtime.providers.port import AdapterLimits
from supervisor.process_guard.port import LadderTimes
from tests.doubles.line_provider import prompt, scope
from tests.doubles.line_server import MESSAGE_BYTES_MAX, Guest, Served, dialled, line_server, raw_server

TOKEN = "a-long-secret-token"
SHORT = ConnectionLimits(
    adapter=AdapterLimits(initialize_timeout_seconds=0.3), ladder=LadderTimes(protocol_close_seconds=0.2)
)


async def test_messages_are_lines_in_both_directions() -> None:
    async with line_server() as served, dialled(served.specification()) as bench:
        sink = await bench.attach("a")
        await sink.wait_for(ThreadOpened)
        assert bench.connection.tell(prompt("a", "t1", "end"))
        await sink.wait_for(TurnEnded)
        assert [event.text for event in sink.events if isinstance(event, TextChunk)] == ["done"]
        assert served.guest.heard == ["hello", "open a", "prompt a t1 end"]
        info = bench.connection.info()
        assert (info.pid, info.agent_version, info.program) == (None, "2.0", f"127.0.0.1:{served.port}")
        assert b"authorization" not in served.guest.headers


async def test_a_message_with_line_ends_inside_is_one_line_and_binary_ones_are_lines_too() -> None:
    async def serve(guest: Guest) -> None:
        await guest.hear()
        await guest.say(b"ready\nline-server\r2.0")
        await guest.hear()
        await guest.say("opened\na", "text a t1 x\ny", "")
        await guest.hear()

    async with line_server(serve) as served, dialled(served.specification()) as bench:
        sink = await bench.attach("a")
        chunk = await sink.wait_for(TextChunk)
        assert isinstance(chunk, TextChunk)
        assert chunk.text == "x y"


@pytest.mark.rule("PR-024")
async def test_the_token_goes_into_the_handshake_and_nowhere_else(capfd: pytest.CaptureFixture[str]) -> None:
    async with line_server() as served:
        specification = served.specification(TOKEN)
        async with dialled(specification) as bench:
            await bench.connection.started.wait()
            assert served.guest.headers[b"authorization"] == f"Bearer {TOKEN}".encode()
            assert (
                TOKEN not in repr(bench.connection.info()) + repr(specification) + specification.fingerprint
            )
    assert TOKEN not in "".join(capfd.readouterr())


def test_another_address_or_token_is_another_launch() -> None:
    one = Served(1).specification(TOKEN)
    assert one.fingerprint == Served(1).specification(TOKEN).fingerprint
    assert (
        len(
            {
                one.fingerprint,
                Served(2).specification(TOKEN).fingerprint,
                Served(1).specification().fingerprint,
            }
        )
        == 3
    )


async def start_error(served: Served, limits: ConnectionLimits = SHORT) -> tuple[str, bool, int | None]:
    async with dialled(served.specification(TOKEN), limits) as bench:
        await bench.connection.started.wait()
        await bench.connection.gone.wait()
        error = bench.connection.start_error
        assert error is not None
        assert TOKEN not in error.message
        return error.code, error.retryable, error.http_status


async def test_nobody_there_is_typed_and_may_be_tried_again() -> None:
    async with raw_server(lambda stream: trio.sleep(0)) as served:
        pass
    assert await start_error(served) == ("provider.unavailable", True, None)


@pytest.mark.rule("PR-025")
@pytest.mark.parametrize("status", [401, 403, 404, 503])
async def test_a_refused_handshake_is_no_word_on_any_sign_in(status: int) -> None:
    async with line_server() as served:
        served.refuse_with = status
        assert await start_error(served) == ("provider.unavailable", True, status)


async def silent(stream: trio.SocketStream) -> None:
    async for _ in stream:
        pass


async def hangs_up(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.aclose()


async def says_nonsense(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.send_all(b"\x00nonsense\r\n\r\n" * 10)
    await silent(stream)


async def stops_in_the_head(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.send_all(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: web")
    await stream.aclose()


@pytest.mark.parametrize("serve", [hangs_up, says_nonsense, stops_in_the_head])
async def test_what_is_no_server_for_us_is_typed(serve) -> None:
    async with raw_server(serve) as served:
        assert await start_error(served) == ("provider.unavailable", True, None)


async def deaf(guest: Guest) -> None:
    while await guest.hear() is not None:
        pass


async def test_a_server_that_never_shakes_hands_runs_out_of_time() -> None:
    async with raw_server(silent) as served:
        assert (await start_error(served))[0] == "provider.timeout"
    async with line_server(deaf) as served:
        assert (await start_error(served))[0] == "provider.timeout"


async def leaves(guest: Guest) -> None:
    await guest.socket.aclose(1001)


async def breaks_off(guest: Guest) -> None:
    await trio.aclose_forcefully(guest.socket._stream)


async def tears_a_frame(guest: Guest) -> None:
    await guest.socket._stream.send_all(b"\x81\x7e\x10\x00half a message")
    await breaks_off(guest)


async def sends_garbage(guest: Guest) -> None:
    await guest.socket._stream.send_all(b"\xff\xff\xff\xff\xff")
    await deaf(guest)


async def sends_no_text(guest: Guest) -> None:
    await guest.socket._stream.send_all(b"\x81\x02\xc3\x28")
    await deaf(guest)


async def sends_too_much(guest: Guest) -> None:
    await guest.say("x" * (MESSAGE_BYTES_MAX + 1))
    await deaf(guest)


@pytest.mark.case("FC-10", "FC-25")
@pytest.mark.parametrize(
    "end", [leaves, breaks_off, tears_a_frame, sends_garbage, sends_no_text, sends_too_much]
)
async def test_however_it_ends_what_was_said_counts_and_the_rest_is_lost(end) -> None:
    async def serve(guest: Guest) -> None:
        await guest.hear()
        await guest.say("ready line-server 2.0")
        await guest.hear()
        await guest.say("opened a")
        await guest.hear()
        await guest.say("text a t1 last words")
        await end(guest)

    async with line_server(serve) as served, dialled(served.specification(), SHORT) as bench:
        sink = await bench.attach("a")
        await sink.wait_for(ThreadOpened)
        assert bench.connection.tell(prompt("a", "t1", "work"))
        await bench.connection.gone.wait()
        assert [event.text for event in sink.events if isinstance(event, TextChunk)] == ["last words"]
        assert sink.losses == ["provider.lost"]
        assert not bench.connection.tell(prompt("a", "t2", "more")), "nothing is handed to a lost connection"
        assert len(served.guests) == 1, "nothing is dialled again by itself"


async def test_a_message_up_to_the_bound_passes_whole() -> None:
    text = "x" * (MESSAGE_BYTES_MAX - 20)

    async def serve(guest: Guest) -> None:
        await guest.hear()
        await guest.say("ready line-server 2.0")
        await guest.hear()
        await guest.say(f"text a t1 {text}")
        await deaf(guest)

    async with line_server(serve) as served, dialled(served.specification()) as bench:
        sink = await bench.attach("a")
        chunk = await sink.wait_for(TextChunk)
        assert isinstance(chunk, TextChunk)
        assert chunk.text == text


@pytest.mark.parametrize("how", ["leave", "stop", "drain"])
async def test_what_runs_for_us_is_ended_by_words_before_the_socket_is_closed(how: str) -> None:
    async with line_server() as served:
        async with dialled(served.specification()) as bench:
            sink = await bench.attach("a")
            await sink.wait_for(ThreadOpened)
            assert bench.connection.tell(prompt("a", "t1", "work"))
            if how == "leave":
                bench.connection.detach(scope("a"))
                bench.connection.leave()
            elif how == "stop":
                bench.connection.stop()
            else:
                bench.connection.drain(0.05, failures.REPLACED)
            await bench.connection.gone.wait()
        await served.guest.left.wait()
        assert served.guest.heard[-2:] == ["prompt a t1 work", "close a"]
        assert served.guest.close_code == 1000


async def test_killing_closes_the_socket_at_once() -> None:
    async with line_server() as served, dialled(served.specification()) as bench:
        sink = await bench.attach("a")
        await sink.wait_for(ThreadOpened)
        bench.connection.kill()
        await bench.connection.gone.wait()
        await served.guest.left.wait()
        assert served.guest.heard == ["hello", "open a"]
        assert sink.losses == ["provider.lost"]


async def test_a_server_that_does_not_read_cannot_hold_the_end_up() -> None:
    async def serve(guest: Guest) -> None:
        await guest.hear()
        await guest.say("ready line-server 2.0")
        await trio.sleep_forever()

    async with line_server(serve) as served, dialled(served.specification(), SHORT) as bench:
        await bench.attach("a")
        for turn in range(200):
            assert bench.connection.tell(prompt("a", f"t{turn}", "x" * 100_000))
        bench.connection.stop()
        await bench.connection.gone.wait()


async def test_cancelled_from_outside_nothing_is_left() -> None:
    async with line_server() as served:
        with trio.CancelScope() as cancelling:
            async with dialled(served.specification()) as bench:
                await bench.attach("a")
                cancelling.cancel()
                await trio.sleep_forever()
        await served.guest.left.wait()
