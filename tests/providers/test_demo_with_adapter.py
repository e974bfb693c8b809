"""The demo agent and the ACP adapter, mouth to ear: what one says is what the other tells."""

import pytest

from runtime.providers.acp.adapter import AcpDescriptor
from runtime.providers.demo.actions import (
    Repeat,
    Write,
)
from runtime.providers.normalized import InteractionRequested, TextChunk, TurnAccepted, TurnEnded
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    CancelTurn,
    ConnectionCommand,
    Deliver,
    Diagnostic,
    GiveUp,
    OpenThread,
    Outputs,
    StartTurn,
)
from runtime.providers.port import Write as AdapterWrite
from store.canonical.interaction import OptionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import T1, T2, A
from tests.providers.demo_driver import VirtualAgent


class Together:
    """The adapter and the demo agent, mouth to ear."""

    def __init__(self, limits: AdapterLimits | None = None) -> None:
        self.agent = VirtualAgent()
        self.adapter = AcpDescriptor().adapter(limits or AdapterLimits())
        self.events: list[object] = []
        self.others: list[object] = []
        self._perform(self.adapter.begin())
        self.command(OpenThread(A, "/w", {}))

    def command(self, command: ConnectionCommand) -> None:
        self._perform(self.adapter.command(command))

    def prompt(self, text: str, turn_id: object = T1, seconds: float = 60.0) -> "Together":
        self.command(StartTurn(A, turn_id, (TextBlock(text),)))  # type: ignore[arg-type]
        return self.run(seconds)

    def run(self, seconds: float) -> "Together":
        self.agent.run(seconds)
        self._hear()
        return self

    def text(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, TextChunk) and e.kind == "text")

    def end(self) -> object:
        return self.events[-1]

    def kinds(self) -> list[str]:
        return [output.kind for output in self.others if isinstance(output, Diagnostic)]

    def _perform(self, outputs: Outputs) -> None:
        for output in outputs:
            if isinstance(output, AdapterWrite):
                self.agent._perform(self.agent.agent.receive(output.data.rstrip(b"\n"), self.agent.now))
                self._perform(self.adapter.written(output.token))
            elif isinstance(output, Deliver):
                self.events.append(output.event)
            else:
                self.others.append(output)
        self._hear()

    def _hear(self) -> None:
        while self.agent.lines or any(isinstance(action, Repeat) for action in self.agent.actions):
            actions, self.agent.actions = self.agent.actions, []
            self.agent.lines = []
            for action in actions:
                match action:
                    case Write(data, piecewise):
                        for piece in [data[i : i + 1] for i in range(len(data))] if piecewise else [data]:
                            self._perform(self.adapter.receive(piece))
                    case Repeat(data, times, False):
                        for _ in range(times):
                            self._perform(self.adapter.receive(data))


@pytest.mark.rule("PR-007")
def test_plain_conversation_through_the_adapter() -> None:
    both = Together().prompt("hello [[recall]]")
    assert both.text() == "I remember 0: "
    assert [type(event).__name__ for event in both.events[1:]] == [
        "TurnAccepted",
        "TextChunk",
        "ItemEnded",
        "TurnEnded",
    ]
    both.prompt("[[recall]]", T2)
    assert both.text() == "I remember 0: I remember 1: hello [[recall]]"
    assert both.kinds() == []


def test_ask_through_the_adapter_is_answered_by_its_option() -> None:
    both = Together().prompt("[[ask allow_once,reject_once]] [[say done]]")
    request = both.end()
    assert isinstance(request, InteractionRequested)
    both.command(AnswerInteraction(A, T1, request.request_id, OptionAnswer(request.options[0].option_id)))
    both.run(1.0)
    assert both.text() == "Permission: allow_once (allow-once).done"
    assert isinstance(both.end(), TurnEnded)


@pytest.mark.case("FC-17", "FC-19", "FC-20", "FC-24", "FC-54")
def test_mischief_on_the_wire_costs_nothing_but_diagnostics() -> None:
    both = Together().prompt(
        "[[banner]] [[garbage no json]] [[badutf8]] [[unknown-id]] [[stray]] [[surrogate]] [[bytes]] [[say \U0001f642]] [[twice]]"
    )
    assert both.text() == "half \ufffd, nul \x00, last \uffff.\U0001f642"
    assert TurnEnded(T1, "completed", "end_turn") in both.events
    assert set(both.kinds()) == {
        "line.noise",
        "answer.unknown_response",
        "answer.unaddressed_error",
        "update.stray_session",
        "ask.stray_session",
        "answer.second_response",
    }


@pytest.mark.case("FC-08")
def test_big_lines_pass_and_endless_ones_end_the_connection() -> None:
    both = Together().prompt("[[bigline 30000000]] [[say next]]")
    assert len(both.text()) == 30_000_004
    small = AdapterLimits(max_provider_line_bytes=100_000, max_provider_discard_bytes=100_000)
    both = Together(small).prompt("[[endless 100000]] [[say next]]")
    assert (both.text(), both.kinds()) == ("next", ["line.discarded"])
    both = Together(small).prompt("[[endless 300000]] [[say next]]")
    assert (both.text(), type(both.others[-1])) == ("", GiveUp)


@pytest.mark.case("FC-12")
def test_cancel_through_the_adapter_ends_what_the_agent_ends() -> None:
    both = Together().prompt("[[cancel-late 2000]] [[stream 1000 delay=100]]", seconds=1.0)
    both.command(CancelTurn(A, T1))
    both.run(1.0)
    assert not isinstance(both.end(), TurnEnded)
    both.run(1.5)
    assert both.end() == TurnEnded(T1, "canceled", "cancelled")


@pytest.mark.case("FC-13")
def test_late_words_of_the_demo_agent_do_not_reach_the_next_turn() -> None:
    both = Together().prompt("[[tool x status=open]] [[late 500]]", seconds=0.1).run(1.0)
    assert both.kinds() == ["update.no_turn"]
    assert TurnAccepted(T1) in both.events
    both.prompt("[[say two]]", T2)
    assert both.text() == "two"
