"""Any order of commands, frames, garbage and cut reads keeps the promises that `Witness` watches."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.providers.acp.adapter import AcpAdapter, AcpDescriptor
from runtime.providers.normalized import InteractionRequested
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    CancelTurn,
    CloseThread,
    Deliver,
    HandshakeDone,
    OpenThread,
    Outputs,
    Scope,
    StartTurn,
    Write,
)
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from store.canonical.interaction import OptionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import A, B, Witness, ask, chunk, frame, update

SESSIONS = st.sampled_from(["sa", "sa", "sa", "sb", "zz"])
SCOPES = st.sampled_from([A, A, A, B])
CALLS = st.sampled_from(["c1", "c2", "call-with-a-long-id"])
MESSAGES = st.sampled_from([None, "1", "message-with-a-long-id", "another-message-long-id"])

FRAMES = st.one_of(
    st.builds(
        lambda session, text, sort, message: chunk(session, text, sort, messageId=message),
        SESSIONS,
        st.sampled_from(["", "x", " \ud99c"]),
        st.sampled_from(["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"]),
        MESSAGES,
    ),
    st.builds(
        lambda session, sort, call, status: update(session, sort, toolCallId=call, status=status, title="t"),
        SESSIONS,
        st.sampled_from(["tool_call", "tool_call_update"]),
        CALLS,
        st.sampled_from(["pending", "in_progress", "completed", "failed", "odd", None]),
    ),
    st.builds(
        lambda session, sort: update(session, sort, entries=[], title="n", used=1, status="completed"),
        SESSIONS,
        st.sampled_from(
            ["plan", "notice", "usage_update", "session_info_update", "compaction_update", "odd"]
        ),
    ),
    st.binary(max_size=6).map(lambda data: data.replace(b"\n", b"") + b"\n"),
    st.sampled_from(
        [
            frame(id=1, result={"protocolVersion": 1}),
            frame(id=999, result={}),
            frame(method="session/update", params={"sessionId": "sa"}),
            frame(method="$/cancel_request", params={"requestId": "ask-1"}),
            frame(id=None, error={"code": -32700}),
        ]
    ),
)
CONTENT = st.lists(FRAMES, min_size=1, max_size=4).map(b"".join)
KINDS = st.sampled_from([("allow_once", "reject_once"), ("allow_once", "reject_once"), ()])
REPLIES = st.sampled_from(["end_turn", "end_turn", "cancelled", "refusal", "odd", "error", "twice"])
HELD = st.sampled_from([False, False, False, True])
"""Whether the agent's bytes wait in the pipe until somebody reads, or are read at once."""
OPERATIONS = st.one_of(
    st.tuples(st.just("agent"), HELD, CONTENT),
    st.tuples(st.just("agent"), HELD, CONTENT),
    st.tuples(st.just("ask"), HELD, SESSIONS, CALLS, KINDS),
    st.tuples(st.just("ask"), HELD, SESSIONS, CALLS, KINDS),
    st.tuples(st.just("reply"), HELD, st.integers(0, 1), REPLIES),
    st.tuples(st.just("read"), st.sampled_from([1, 100, 400])),
    st.tuples(st.just("written"), st.integers(1, 3)),
    st.tuples(st.just("prompt"), SCOPES),
    st.tuples(st.just("prompt"), SCOPES),
    st.tuples(st.just("answer"), st.integers(0, 3), st.sampled_from(["o0", "o1", "never"])),
    st.tuples(
        st.just("scope"),
        st.sampled_from(["open", "resume", "close", "cancel", "cancel", "cancel", "cancel another"]),
        SCOPES,
    ),
)


BEGINNING = [("scope", "open", A), ("reply", False, 0, "end_turn"), ("prompt", A)]


class World:
    """One adapter under random treatment. Bytes of the agent wait in a buffer and are read in any pieces."""

    def __init__(self) -> None:
        self.adapter: AcpAdapter = AcpDescriptor().adapter(AdapterLimits())
        self.witness = Witness()
        self.buffer = b""
        self.calls: list[dict[str, object]] = []
        self.tokens: list[object] = []
        self.requested: list[tuple[Scope, InteractionRequested]] = []
        self.turns: dict[Scope, TurnId] = {}
        self.asked: list[str] = []
        self.count = 0
        self.ready = False
        self.perform(self.adapter.begin())
        result = {
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"close": {}}},
        }
        self.perform(self.adapter.receive(frame(id=1, result=result)))
        assert self.ready
        self.calls.clear()

    def perform(self, outputs: Outputs) -> None:
        self.witness.outputs(outputs)
        for output in outputs:
            if isinstance(output, Write):
                message = json.loads(output.data)
                if "method" in message and "id" in message:
                    self.calls.append(message)
                if output.token is not None:
                    self.tokens.append(output.token)
            elif isinstance(output, Deliver) and isinstance(output.event, InteractionRequested):
                self.requested.append((output.scope, output.event))
            elif isinstance(output, HandshakeDone):
                self.ready = True

    def command(self, command: object) -> None:
        self.witness.command(command)  # type: ignore[arg-type]
        self.perform(self.adapter.command(command))  # type: ignore[arg-type]

    def do(self, operation: tuple[object, ...]) -> None:
        match operation:
            case ("agent", held, data):
                self.say(data, held)
            case ("ask", held, session, call, kinds):
                self.count += 1
                self.asked.append(f"ask-{self.count}")
                self.say(ask(session, f"ask-{self.count}", call, *kinds), held)
            case ("reply", held, which, how):
                self.reply(which, how)
                self.say(b"", held)
            case ("read", size):
                self.read(size)
            case ("written", number):
                done, self.tokens = self.tokens[:number], self.tokens[number:]
                for token in done:
                    self.perform(self.adapter.written(token))
            case ("prompt", scope):
                self.count += 1
                self.turns[scope] = TurnId(f"t{self.count}")
                self.command(StartTurn(scope, self.turns[scope], (TextBlock("go"),)))
            case ("answer", which, option) if which < len(self.requested):
                scope, event = self.requested[-1 - which]
                self.command(AnswerInteraction(scope, event.turn_id, event.request_id, OptionAnswer(option)))
            case ("scope", "open" | "resume" as how, scope):
                self.command(OpenThread(scope, "/w", {}, "old" if how == "resume" else None))
            case ("scope", "close", scope):
                self.command(CloseThread(scope))
            case ("scope", how, scope):
                turn_id = self.turns.get(scope, TurnId("t0")) if how == "cancel" else TurnId("t0")
                self.command(CancelTurn(scope, turn_id))

    def say(self, data: bytes, held: bool) -> None:
        self.buffer += data
        if not held:
            self.read(len(self.buffer))

    def read(self, size: int) -> None:
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        self.perform(self.adapter.receive(data))

    def reply(self, which: int, how: str) -> None:
        if which >= len(self.calls):
            return
        call = self.calls[which] if how == "twice" else self.calls.pop(which)
        if how == "error":
            self.buffer += frame(id=call["id"], error={"code": -32603, "message": "no"})
        elif call["method"] == "session/new":
            taken = {session for session in ("sa", "sb") if session.encode() in self.buffer}
            self.buffer += frame(id=call["id"], result={"sessionId": "sb" if "sa" in taken else "sa"})
        else:
            self.buffer += frame(id=call["id"], result={"stopReason": how})

    def finish(self) -> None:
        """Everything that is under way arrives, everybody leaves, the connection ends."""
        self.perform(self.adapter.receive(self.buffer + b"\n"))
        for token in self.tokens:
            self.perform(self.adapter.written(token))
        for scope in (A, B):
            self.command(CloseThread(scope))
        self.perform(self.adapter.end_of_input())
        self.perform(self.adapter.lost(TurnError("provider.lost", "ended", "provider")))


@pytest.mark.rule("RT-014", "ST-006")
@pytest.mark.case("FC-04", "FC-13", "FC-24", "FC-54")
@settings(max_examples=300, deadline=None)
@given(st.lists(OPERATIONS, min_size=5, max_size=60))
def test_events_stay_inside_their_turn_and_every_ask_gets_one_answer(
    operations: list[tuple[object, ...]],
) -> None:
    world = World()
    for operation in [
        ("open", A, False),
        ("reply", 0, "end_turn"),
        ("read", 400),
        ("prompt", A),
        *operations,
    ]:
        world.do(operation)
    world.finish()
    answered = [json.loads(request_id) for request_id in world.witness.answered]
    assert sorted(answered) == sorted(world.asked)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(FRAMES, st.binary(max_size=80)), max_size=20), st.integers(1, 50))
def test_no_bytes_of_an_agent_raise_before_or_after_the_handshake(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    for ready in (False, True):
        world = World() if ready else None
        adapter = world.adapter if world else AcpDescriptor().adapter(AdapterLimits())
        if not ready:
            adapter.begin()
        for start in range(0, len(data), size):
            adapter.receive(data[start : start + size])
        adapter.end_of_input()
        adapter.lost(TurnError("provider.lost", "ended", "provider"))
