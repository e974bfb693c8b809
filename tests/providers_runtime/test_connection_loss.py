"""The ways a connection can be lost, and that each scope hears what was said last, then the loss, once."""

import pytest
import trio
import trio.testing

from runtime.providers.limits import ConnectionLimits
from runtime.providers.normalized import ConnectionLost, TextChunk, TurnEnded
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from tests.doubles.connection_bench import connected
from tests.doubles.line_provider import (
    LineAdapter,
    open_first_thread,
    prompt,
    scope,
    shake_hands,
)
from tests.doubles.scripted_process import Agent, Died


@pytest.mark.case("FC-10", "FC-11", "FC-42")
@pytest.mark.parametrize(("end", "how"), [("die 9", "signal 9"), ("sleep 0", "exit code 0")])
async def test_a_process_that_ends_in_a_turn_is_lost_after_what_it_said_last(end, how, autojump_clock):
    async def mortal(agent: Agent):
        await open_first_thread(agent)
        await agent.say("text a t half")
        await agent.stdout.write(b"text a t and no newline")
        if end == "die 9":
            raise Died(9)

    async with connected(mortal) as bench:
        sinks = [await bench.attach("a"), await bench.attach("b")]
        began = trio.current_time()
        await bench.connection.gone.wait()
        assert trio.current_time() - began <= 2
        assert sinks[0].text == "halfand no newline"
        assert [sink.losses for sink in sinks] == [["provider.lost"], ["provider.lost"]]
        assert bench.connection.end_error.message == f"line-agent ended ({how})"
        assert bench.owner.lost_scopes == [scope("a"), scope("b")]
        assert not bench.connection.tell(prompt("a", "t2", "hello"))


@pytest.mark.case("FC-10")
async def test_a_pipe_that_somebody_else_holds_open_does_not_hide_the_end(autojump_clock):
    async def parent(agent: Agent):
        await open_first_thread(agent)
        agent.leaves_pipes_open = True
        await agent.say("text a t half")
        raise Died(9)

    async with connected(parent) as bench:
        sink = await bench.attach("a")
        began = trio.current_time()
        while not sink.losses:
            await trio.sleep(0.1)
        assert trio.current_time() - began <= 2
        assert sink.text == "half"


@pytest.mark.case("FC-10")
async def test_a_scope_with_too_much_still_gets_all_that_a_dead_process_said(autojump_clock):
    async def generous(agent: Agent):
        await open_first_thread(agent)
        await agent.stdout.write(b"text a t " + b"x" * 30_000 + b"\n")
        await agent.say("end a t")
        raise Died(9)

    async with connected(generous, ConnectionLimits(read_bytes=1024)) as bench:
        sink = await bench.attach("a")
        sink.hold()
        await trio.sleep(60)
        assert sink.losses == []
        sink.let_go()
        await bench.connection.gone.wait()
        assert len(sink.text) == 30_000
        assert isinstance(sink.events[-2], TurnEnded)
        assert sink.losses == ["provider.lost"]


@pytest.mark.case("FC-25")
async def test_a_process_that_stops_reading_but_lives_on_is_lost(autojump_clock):
    async def deaf(agent: Agent):
        await shake_hands(agent)
        agent.stdin.close_reader()
        await trio.sleep(0.5)
        await agent.say("text a t last words")
        await trio.sleep_forever()

    async with connected(deaf) as bench:
        await bench.connection.started.wait()
        await trio.testing.wait_all_tasks_blocked()
        sink = await bench.attach("a")
        assert bench.connection.tell(prompt("a", "t", "y" * 100_000))
        began = trio.current_time()
        await bench.connection.gone.wait()
        assert trio.current_time() - began < 10
        assert sink.text == "last words"
        assert sink.losses == ["provider.lost"]
        assert bench.connection.end_error.message == "line-agent closed its pipes"


@pytest.mark.parametrize(
    ("line", "code", "last_words"),
    [("giveup", "provider.protocol", "half and more"), ("bug", "internal", "half")],
)
async def test_the_last_words_before_the_adapter_gives_up_arrive(line, code, last_words, autojump_clock):
    async def broken(agent: Agent):
        await open_first_thread(agent)
        await agent.say("text a t half")
        await trio.sleep(1)
        await agent.say(line, "text a t  and more")
        await trio.sleep_forever()

    async with connected(broken) as bench:
        sinks = [await bench.attach("a"), await bench.attach("b")]
        await bench.connection.gone.wait()
        assert sinks[0].text == last_words
        assert [sink.losses for sink in sinks] == [[code], [code]]


@pytest.mark.case("FC-25")
async def test_a_bug_in_a_command_never_reaches_whoever_told_it(autojump_clock):
    async with connected() as bench:
        sink = await bench.attach("a")
        bench.connection.tell(prompt("a", "t", "bug"))
        await bench.connection.gone.wait()
        assert sink.losses == ["internal"]


@pytest.mark.case("FC-25")
@pytest.mark.parametrize("method", ["end_of_input", "lost"])
async def test_an_adapter_that_fails_at_the_end_still_leaves_every_scope_told(method, autojump_clock):
    def broken(*arguments):
        raise LookupError("a bug")

    async with connected(make_adapter=type("Broken", (LineAdapter,), {method: broken})) as bench:
        sinks = [await bench.attach("a"), await bench.attach("b")]
        bench.connection.tell(prompt("a", "t", "die 9"))
        await bench.connection.gone.wait()
        assert [sink.losses for sink in sinks] == [["provider.lost"], ["provider.lost"]]


async def test_the_loss_is_the_last_word_even_when_the_adapter_says_more(autojump_clock):
    class Talkative(LineAdapter):
        def lost(self, error: TurnError):
            return [*super().lost(error), *self._deliver("a", TextChunk(TurnId("t"), "i", "text", "ghost"))]

    async with connected(make_adapter=Talkative) as bench:
        sink = await bench.attach("a")
        bench.connection.tell(prompt("a", "t", "die 9"))
        await bench.connection.gone.wait()
        assert sink.text == ""
        assert sink.losses == ["provider.lost"]


@pytest.mark.case("FC-10")
async def test_the_end_of_stderr_is_known_when_the_loss_is_told(autojump_clock):
    async def mortal(agent: Agent):
        await open_first_thread(agent)
        await agent.stderr.write(b"x" * 60_000 + b"out of memory")
        raise Died(9)

    async with connected(mortal, ConnectionLimits(read_bytes=1000)) as bench:
        sink = await bench.attach("a")
        await sink.wait_for(ConnectionLost)
        assert bench.connection.info().stderr_tail.endswith("out of memory")


@pytest.mark.case("FC-10")
async def test_a_stderr_that_somebody_else_holds_open_delays_the_loss_within_its_bound(autojump_clock):
    async def parent(agent: Agent):
        await open_first_thread(agent)
        agent.leaves_pipes_open = True
        agent.stdout.end()
        raise Died(9)

    async with connected(parent) as bench:
        sink = await bench.attach("a")
        began = trio.current_time()
        await sink.wait_for(ConnectionLost)
        assert trio.current_time() - began <= 2


@pytest.mark.case("FC-17")
async def test_last_words_that_are_no_protocol_are_counted_too(autojump_clock):
    async def muttering(agent: Agent):
        await open_first_thread(agent)
        await agent.stdout.write(b"Segmentation fault")
        raise Died(11)

    async with connected(muttering) as bench:
        await bench.attach("a")
        await bench.connection.gone.wait()
        assert bench.connection.info().diagnostics.counts == {"noise": 1}
