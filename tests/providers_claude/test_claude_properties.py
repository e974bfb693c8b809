"""Any order of commands, frames, garbage and cut reads keeps the promises that `Witness` watches."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.providers.claude_code.descriptor import ClaudeDescriptor
from runtime.providers.hosting import HostedConversation
from runtime.providers.normalized import InteractionRequested, ThreadOpened
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    ApplySettings,
    CancelTurn,
    CloseThread,
    ConnectionCommand,
    Deliver,
    GuideTurn,
    OpenThread,
    Outputs,
    ReconcileTurn,
    StartTurn,
    Write,
)
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from store.canonical.interaction import OptionAnswer, QuestionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import A, Witness
from tests.providers_claude.claude_playbook import (
    CWD,
    MODEL,
    SESSION,
    aborted,
    answer,
    ask,
    block_starts,
    delta,
    frame,
    init,
    initialized,
    moved,
    refusal,
    result,
    said,
    stream,
    streamed,
    system,
    tool_result,
    tool_use,
)

CALLS = st.sampled_from(["c1", "c1", "c2"])
MESSAGES = st.sampled_from(["m1", "m1", "m2"])
PARENTS = st.sampled_from([None, None, None, "c1"])
STATES = st.sampled_from(["queued", "started", "started", "completed", "cancelled", "odd"])
SAID = st.one_of(
    st.builds(lambda message, text: streamed(message, text), MESSAGES, st.sampled_from(["", "x", "\ud99c"])),
    st.builds(lambda text, index: delta(text, index), st.sampled_from(["", "y"]), st.integers(0, 2)),
    st.builds(
        lambda message, parent, cut: said(message, "xy", parent=parent, aborted=cut),
        MESSAGES,
        PARENTS,
        st.booleans(),
    ),
    st.builds(
        lambda message, call, parent, name: said(message, tool_use(call, name), parent=parent),
        MESSAGES,
        CALLS,
        PARENTS,
        st.sampled_from(["Bash", "Agent", "TodoWrite"]),
    ),
    st.builds(lambda call, bad: tool_result(call, "out", is_error=bad), CALLS, st.booleans()),
    st.sampled_from(
        [
            stream("message_start", message={"id": "m3"}),
            stream("content_block_stop", index=0),
            block_starts(1, type="tool_use", id="c3", name="Bash"),
            init(),
            init("10000000-0000-4000-8000-000000000002", "plan"),
            system("status", permissionMode="acceptEdits"),
            system("api_retry"),
            system("compact_boundary"),
            system("task_notification", tool_use_id="c1", status="completed", summary="done"),
            system("session_state_changed", state="idle"),
            frame("odd"),
            frame("control_cancel_request", request_id="r1"),
            answer("unknown"),
            b"{}\n",
            b"garbage\n",
        ]
    ),
)
SPEECH = st.lists(SAID, min_size=1, max_size=5).map(b"".join)
TOOLS = st.sampled_from(["Bash", "Bash", "AskUserQuestion", "ExitPlanMode", "hook"])
OPERATIONS = st.one_of(
    st.tuples(st.just("say"), SPEECH),
    st.tuples(st.just("say"), SPEECH),
    st.tuples(st.just("move"), st.sampled_from([-1, -1, -1, -2]), STATES),
    st.tuples(st.just("move"), st.sampled_from([-1, -1, -1, -2]), STATES),
    st.tuples(st.just("end"), st.sampled_from(["own", "own", "aborted", "nobody's", "error"])),
    st.tuples(st.just("ask"), TOOLS, CALLS),
    st.tuples(
        st.just("reply"), st.sampled_from([0, 0, 1]), st.sampled_from(["yes", "yes", "no", "cancelled"])
    ),
    st.tuples(
        st.just("reply"), st.sampled_from([0, 0, 1]), st.sampled_from(["yes", "yes", "no", "cancelled"])
    ),
    st.tuples(st.just("read"), st.sampled_from([1, 50, 400])),
    st.tuples(st.just("written"), st.integers(1, 3)),
    st.tuples(st.just("prompt"), st.booleans()),
    st.tuples(st.just("prompt"), st.booleans()),
    st.tuples(
        st.just("answer"), st.sampled_from([0, 0, 1]), st.sampled_from(["allow", "deny", "odd", "questions"])
    ),
    st.tuples(st.just("scope"), st.sampled_from(["cancel", "guide", "reconcile", "settings", "close"])),
    st.tuples(st.just("scope"), st.sampled_from(["cancel", "guide", "guide"])),
)
QUESTIONS = {"questions": [{"question": "Why?", "options": []}], "command": "make", "plan": "# x"}


class World:
    """One adapter under random treatment. Bytes of Claude Code wait in a buffer and are read in any pieces."""

    def __init__(self) -> None:
        self.adapter = ClaudeDescriptor().adapter(
            AdapterLimits(), None, HostedConversation(SESSION, False, {})
        )
        self.witness = Witness()
        self.buffer = b""
        self.requests: list[str] = []
        self.stamps: list[str] = ["none", "none"]
        self.tokens: list[object] = []
        self.requested: list[InteractionRequested] = []
        self.asked: list[str] = []
        self.replied: list[str] = []
        self.turn = TurnId("none")
        self.is_open = False
        self.count = 0
        self.perform(self.adapter.begin())
        self.perform(self.adapter.receive(initialized()))
        self.requests.clear()
        self.command(OpenThread(A, CWD, {}))
        assert self.is_open

    def perform(self, outputs: Outputs) -> None:
        delivered = [output for output in outputs if isinstance(output, Deliver)]
        self.witness.outputs(delivered)
        self.requested += [each.event for each in delivered if isinstance(each.event, InteractionRequested)]
        self.is_open = self.is_open or any(isinstance(each.event, ThreadOpened) for each in delivered)
        for output in outputs:
            if isinstance(output, Write):
                self.wrote(json.loads(output.data))
                self.tokens += [output.token] if output.token is not None else []

    def wrote(self, message: dict[str, object]) -> None:
        if message["type"] == "user":
            self.stamps.append(str(message["uuid"]))
        elif message["type"] == "control_request":
            self.requests.append(str(message["request_id"]))
        else:
            response = message["response"]
            assert isinstance(response, dict)
            self.replied.append(response["request_id"])

    def command(self, command: ConnectionCommand) -> None:
        self.witness.command(command)
        self.perform(self.adapter.command(command))

    def hear(self, data: bytes) -> None:
        self.buffer += data

    def read(self, size: int | None = None) -> None:
        size = len(self.buffer) if size is None else size
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        self.perform(self.adapter.receive(data))

    def do(self, operation: tuple[object, ...]) -> None:
        self.count += 1
        match operation:
            case ("say", bytes(data)):
                self.hear(data)
            case ("move", int(which), str(state)):
                self.hear(moved(self.stamps[which], state))
            case ("end", str(how)):
                self.hear(self.ending(how))
            case ("ask", str(tool), str(call)):
                self.asked.append(f"w{self.count}")
                given = frame("control_request", request_id=self.asked[-1], request={"subtype": "odd"})
                self.hear(given if tool == "hook" else ask(self.asked[-1], call, tool, input=QUESTIONS))
            case ("reply", int(which), str(how)) if which < len(self.requests):
                request_id = self.requests.pop(which)
                self.hear(
                    refusal(request_id) if how == "no" else answer(request_id, cancelled=how == "cancelled")
                )
            case ("read", int(size)):
                self.read(size)
            case ("written", int(number)):
                tokens, self.tokens = self.tokens[:number], self.tokens[number:]
                for token in tokens:
                    self.perform(self.adapter.written(token))
            case ("prompt", bool(changes)):
                self.read()
                self.turn = TurnId(f"t{self.count}")
                wanted = {"model": MODEL, "permissionMode": "plan"} if changes else None
                self.command(StartTurn(A, self.turn, (TextBlock("go"),), wanted))
            case ("answer", int(which), str(how)) if which < len(self.requested):
                self.answer(self.requested[which], how)
            case ("scope", str(what)):
                self.scope(what)

    def ending(self, how: str) -> bytes:
        stamp = self.stamps[-1]
        match how:
            case "aborted":
                return aborted(stamp)
            case "nobody's":
                return result(None)
            case "error":
                return result(stamp, is_error=True, terminal_reason="api_error", api_error_status=500)
            case _:
                return result(stamp)

    def answer(self, asked: InteractionRequested, how: str) -> None:
        given = QuestionAnswer({"question-1": "x"}) if how == "questions" else OptionAnswer(how)
        self.command(AnswerInteraction(A, asked.turn_id, asked.request_id, given))

    def scope(self, what: str) -> None:
        match what:
            case "cancel":
                self.command(CancelTurn(A, self.turn))
            case "guide":
                self.command(GuideTurn(A, self.turn, f"g{self.count}", (TextBlock("oaks"),)))
            case "reconcile":
                self.command(ReconcileTurn(A, self.turn))
            case "settings":
                self.command(ApplySettings(A, f"u{self.count}", {"permissionMode": "plan"}))
            case _:
                self.command(CloseThread(A))


@pytest.mark.case("FC-04", "FC-13", "FC-24", "FC-31")
@settings(max_examples=150, deadline=None)
@given(st.lists(OPERATIONS, max_size=40))
def test_whatever_happens_the_promises_of_the_port_are_kept(operations: list[tuple[object, ...]]) -> None:
    world = World()
    for operation in [("prompt", False), ("move", -1, "queued"), ("move", -1, "started"), *operations]:
        world.do(operation)
    world.read()
    assert len(world.replied) == len(set(world.replied)), "two replies to one request"
    assert set(world.replied) <= set(world.asked)
    world.command(CloseThread(A))
    assert set(world.replied) == set(world.asked), "a request without a reply"
    world.perform(world.adapter.end_of_input())
    world.perform(world.adapter.lost(TurnError("provider.lost", "gone", "provider")))
