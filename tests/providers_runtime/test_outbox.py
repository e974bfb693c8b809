"""The outbox: whole writes, in order, bounded, with one writer."""

import pytest
import trio
import trio.testing

from runtime.providers.outbox import Outbox
from runtime.providers.port import Write
from supervisor.process_guard.port import ChildInputClosed
from tests.doubles.scripted_process import Pipe, Sink


async def test_writes_go_out_whole_in_order_and_tokens_come_back(nursery, autojump_clock):
    outbox, pipe, tokens = Outbox(100), Pipe(4), []
    nursery.start_soon(outbox.run, Sink(pipe), tokens.append)
    outbox.put(Write(b"0123456789", token="first"))
    outbox.put(Write(b"ab"))
    outbox.put(Write(b"", token="nothing to say"))
    assert await pipe.read(100) == b"0123"
    assert tokens == []
    assert outbox.waiting_bytes == 12
    received = b""
    while len(received) < 8:
        received += await pipe.read(100)
    await outbox.wait_flushed()
    assert received == b"456789ab"
    assert tokens == ["first", "nothing to say"]
    assert outbox.waiting_bytes == 0


async def test_what_does_not_fit_is_refused_and_counts_for_nothing(nursery, autojump_clock):
    outbox, pipe = Outbox(10), Pipe(1)
    nursery.start_soon(outbox.run, Sink(pipe), lambda token: None)
    assert outbox.put(Write(b"12345678"))
    await trio.testing.wait_all_tasks_blocked()
    assert not outbox.put(Write(b"123"))
    assert outbox.put(Write(b"12"))
    assert outbox.waiting_bytes == 10, "what is being written still waits"


async def test_a_process_that_does_not_read_any_more_ends_the_writer():
    outbox, pipe = Outbox(10), Pipe()
    pipe.close_reader()
    outbox.put(Write(b"1", token="lost"))
    tokens = []
    with pytest.raises(ChildInputClosed):
        await outbox.run(Sink(pipe), tokens.append)
    assert tokens == []
    assert outbox.waiting_bytes == 1


async def test_an_empty_outbox_is_flushed():
    await Outbox(1).wait_flushed()
