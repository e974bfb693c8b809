"""Any order of commands, frames, garbage and cut reads keeps the promises that `Witness` watches."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.providers.codex.descriptor import CodexDescriptor
from runtime.providers.normalized import InteractionRequested, TurnStartedByProvider
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    CancelTurn,
    CloseThread,
    ConnectionCommand,
    Deliver,
    GuideTurn,
    HandshakeDone,
    OpenThread,
    Outputs,
    ReconcileTurn,
    Scope,
    StartTurn,
    Write,
)
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from store.canonical.interaction import OptionAnswer, QuestionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import A, B, Witness
from tests.providers_codex.codex_playbook import (
    USER_AGENT,
    completed,
    delta,
    frame,
    notice,
    opened_result,
    request,
    started,
    turn_completed,
    turn_started,
)

THREADS = st.sampled_from(["ta"] * 10 + ["tb", "zz"])
TURNS = st.sampled_from(["p1"] * 8 + ["p2", "p3"])
ITEMS = st.sampled_from(["i1", "i1", "i2"])
SCOPES = st.sampled_from([A] * 7 + [B])
KINDS = st.sampled_from(
    (
        "agentMessage",
        "commandExecution",
        "contextCompaction",
        "enteredReviewMode",
        "fileChange",
        "mcpToolCall",
        "odd",
        "plan",
        "reasoning",
        "userMessage",
        "webSearch",
    )
)
TOLD = st.sampled_from(
    (
        "error",
        "item/commandExecution/outputDelta",
        "item/fileChange/patchUpdated",
        "item/reasoning/summaryTextDelta",
        "odd/method",
        "serverRequest/resolved",
        "thread/name/updated",
        "thread/status/changed",
        "thread/tokenUsage/updated",
        "turn/plan/updated",
        "warning",
    )
)
CHANGES = [{"path": "/a", "kind": {"type": "add"}, "diff": "x\n"}]
BODY = {"text": "xy", "command": "make", "changes": CHANGES, "summary": ["xy"], "server": "s", "tool": "t"}

SAID = st.one_of(
    st.builds(
        lambda thread, turn, text, item: delta(text, item, turn, thread),
        THREADS,
        TURNS,
        st.sampled_from(["", "x", " \ud99c"]),
        ITEMS,
    ),
    st.builds(
        lambda thread, turn, kind, item: started(kind, item, turn, thread, **BODY),
        THREADS,
        TURNS,
        KINDS,
        ITEMS,
    ),
    st.builds(
        lambda thread, turn, kind, item, status: completed(kind, item, turn, thread, **BODY, status=status),
        THREADS,
        TURNS,
        KINDS,
        ITEMS,
        st.sampled_from(["inProgress", "completed", "failed", "declined", "odd", None]),
    ),
    st.builds(lambda thread, turn: turn_started(turn, thread), THREADS, TURNS),
    st.builds(
        lambda thread, turn, status: turn_completed(status, turn, thread),
        THREADS,
        TURNS,
        st.sampled_from(["completed", "completed", "interrupted", "failed", "odd"]),
    ),
    st.builds(
        lambda method, thread, turn: notice(
            method,
            thread,
            turn,
            delta="d",
            itemId="i1",
            willRetry=True,
            plan=[{"step": "s"}],
            changes=CHANGES,
            status={"type": "idle"},
            threadName="n",
            message="w",
            requestId=1,
            tokenUsage={"total": {"totalTokens": 3}, "last": {"totalTokens": 1}},
            thread={"id": "zz", "parentThreadId": "ta"},
        ),
        TOLD,
        THREADS,
        TURNS,
    ),
    st.binary(max_size=6).map(lambda data: data.replace(b"\n", b"") + b"\n"),
    st.sampled_from(
        [
            frame(id=999, result={}),
            frame(id=1, result={"userAgent": USER_AGENT}),
            frame(method="turn/started", params={"threadId": "ta"}),
            frame(method="item/completed", params={"threadId": "ta", "turnId": "p1", "item": 3}),
            frame(method="thread/started", params={"thread": {"id": "zz", "parentThreadId": "ta"}}),
            frame(error={"code": -32600, "message": "m"}, id=None),
            notice("thread/closed", "ta"),
        ]
    ),
)
SPEECH = st.lists(SAID, min_size=1, max_size=5).map(b"".join)
ASKS = st.sampled_from(
    [
        "item/commandExecution/requestApproval",
        "item/commandExecution/requestApproval",
        "item/fileChange/requestApproval",
        "item/fileChange/requestApproval",
        "item/permissions/requestApproval",
        "item/tool/requestUserInput",
        "mcpServer/elicitation/request",
        "item/tool/call",
        "odd/request",
    ]
)
REPLIES = st.sampled_from(["good"] * 6 + ["another", "error", "no turn", "found p3", "twice"])
ANSWERS = st.sampled_from(["accept", "accept", "decline", "cancel", "never", "questions", "with feedback"])
HELD = st.sampled_from([False, False, False, True])
"""Whether Codex's bytes wait in the pipe until somebody reads, or are read at once."""
OPERATIONS = st.one_of(
    st.tuples(st.just("say"), HELD, SPEECH),
    st.tuples(st.just("say"), HELD, SPEECH),
    st.tuples(st.just("ask"), HELD, ASKS, THREADS, TURNS, ITEMS),
    st.tuples(st.just("ask"), HELD, ASKS, THREADS, TURNS, ITEMS),
    st.tuples(st.just("reply"), HELD, st.sampled_from([0, 0, 0, 1, 2]), REPLIES),
    st.tuples(st.just("reply"), HELD, st.sampled_from([0, 0, 0, 1, 2]), REPLIES),
    st.tuples(st.just("read"), st.sampled_from([1, 100, 400])),
    st.tuples(st.just("written"), st.integers(1, 3)),
    st.tuples(st.just("prompt"), SCOPES),
    st.tuples(st.just("prompt"), SCOPES),
    st.tuples(st.just("answer"), st.sampled_from([0, 0, 1, 2]), ANSWERS),
    st.tuples(st.just("answer"), st.sampled_from([0, 0, 1, 2]), ANSWERS),
    st.tuples(st.just("scope"), st.sampled_from(["cancel", "cancel another", "guide", "reconcile"]), SCOPES),
    st.tuples(st.just("scope"), st.sampled_from(["open", "resume", "close", "cancel"]), SCOPES),
)
BEGINNING: list[tuple[object, ...]] = [
    ("scope", "open", A),
    ("reply", False, 0, "good"),
    ("prompt", A),
    ("reply", True, 0, "good"),
]


class World:
    """One adapter under random treatment. Bytes of Codex wait in a buffer and are read in any pieces."""

    def __init__(self) -> None:
        self.adapter = CodexDescriptor().adapter(AdapterLimits())
        self.witness = Witness()
        self.buffer = b""
        self.calls: list[dict[str, object]] = []
        self.tokens: list[object] = []
        self.requested: list[tuple[Scope, InteractionRequested]] = []
        self.turns: dict[Scope, TurnId] = {}
        self.asked: list[int] = []
        self.count = 0
        self.ready = False
        self.perform(self.adapter.begin())
        self.perform(self.adapter.receive(frame(id=1, result={"userAgent": USER_AGENT})))
        self.perform(self.adapter.receive(frame(id=2, result={"data": []})))
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
            elif isinstance(output, Deliver) and isinstance(output.event, TurnStartedByProvider):
                self.turns[output.scope] = output.event.turn_id
            elif isinstance(output, HandshakeDone):
                self.ready = True

    def command(self, command: ConnectionCommand) -> None:
        self.witness.command(command)
        self.perform(self.adapter.command(command))

    def do(self, operation: tuple[object, ...]) -> None:
        match operation:
            case ("say", held, data):
                self.say(data, held)
            case ("ask", held, method, thread, turn, item):
                self.asked.append(len(self.asked))
                self.say(self.ask(method, thread, turn, item), held)
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
            case ("answer", which, how) if which < len(self.requested):
                self.answer(which, how)
            case ("scope", how, scope):
                self.scope_wants(how, scope)

    def scope_wants(self, how: str, scope: Scope) -> None:
        turn_id = self.turns.get(scope, TurnId("t0"))
        match how:
            case "open" | "resume":
                self.command(OpenThread(scope, "/w", {}, "ta" if how == "resume" else None))
            case "close":
                self.command(CloseThread(scope))
            case "guide":
                self.command(GuideTurn(scope, turn_id, "g", (TextBlock("more"),)))
            case "reconcile":
                self.command(ReconcileTurn(scope, turn_id, "p1"))
            case _:
                self.command(CancelTurn(scope, turn_id if how == "cancel" else TurnId("t0")))

    def ask(self, method: str, thread: str, turn: str, item: str) -> bytes:
        return request(
            self.asked[-1],
            method,
            thread,
            turn,
            itemId=item,
            command="make",
            permissions={"network": {"enabled": True}},
            questions=[{"id": "q", "question": "Which?"}],
            mode="form",
            message="Sure?",
            serverName="s",
            requestedSchema={"properties": {}},
        )

    def answer(self, which: int, how: str) -> None:
        scope, event = self.requested[-1 - which]
        answer = OptionAnswer(how)
        if how == "with feedback":
            answer = OptionAnswer("decline", "rather not")
        elif how == "questions":
            answer = QuestionAnswer({"q": "this"})
        self.command(AnswerInteraction(scope, event.turn_id, event.request_id, answer))

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
        call = self.calls[-1 - which] if how == "twice" else self.calls.pop(-1 - which)
        params = call["params"]
        if how in ("error", "no turn", "found p3"):
            words = {
                "no turn": "no active turn to interrupt",
                "found p3": "expected active turn id p1 but found p3",
            }
            error = {"code": -32600, "message": words.get(how, "thread not found: ta")}
            self.buffer += frame(id=call["id"], error=error)
        elif call["method"] in ("thread/start", "thread/resume"):
            named = params.get("threadId") or ("tb" if "ta" in self.named() else "ta")
            self.buffer += frame(id=call["id"], result=opened_result(named))
        elif call["method"] == "turn/start":
            self.buffer += frame(id=call["id"], result={"turn": {"id": "p2" if how == "another" else "p1"}})
        elif call["method"] == "thread/turns/list":
            kept = [{"id": "p1", "status": "completed" if how == "good" else "inProgress", "items": []}]
            self.buffer += frame(id=call["id"], result={"data": kept})
        else:
            terminals = [{"itemId": "i1", "processId": "7"}]
            self.buffer += frame(id=call["id"], result={"turnId": "p1", "data": terminals})

    def named(self) -> set[str]:
        return {"ta"} if self.witness.open_threads or b'"ta"' in self.buffer else set()

    def finish(self) -> None:
        """Everything that is under way arrives, everybody leaves, the connection ends."""
        self.perform(self.adapter.receive(self.buffer + b"\n"))
        for token in self.tokens:
            self.perform(self.adapter.written(token))
        for scope in (A, B):
            self.command(CloseThread(scope))
        while self.calls:
            call = self.calls.pop()
            self.perform(
                self.adapter.receive(frame(id=call["id"], error={"code": -32600, "message": "over"}))
            )
        self.perform(self.adapter.end_of_input())
        self.perform(self.adapter.lost(TurnError("provider.lost", "ended", "provider")))


@pytest.mark.rule("RT-014", "PR-014", "ST-006")
@pytest.mark.case("FC-01", "FC-04", "FC-13", "FC-24", "FC-31")
@settings(max_examples=400, deadline=None)
@given(st.lists(OPERATIONS, min_size=5, max_size=60))
def test_every_turn_has_one_end_and_every_request_one_reply(operations: list[tuple[object, ...]]) -> None:
    world = World()
    for operation in [*BEGINNING, *operations]:
        world.do(operation)
    world.finish()
    answered = [json.loads(request_id) for request_id in world.witness.answered]
    assert sorted(answered) == sorted(world.asked)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(SAID, st.binary(max_size=80)), max_size=20), st.integers(1, 50))
def test_no_bytes_raise_before_or_after_the_handshake(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    for ready in (False, True):
        world = World() if ready else None
        adapter = world.adapter if world else CodexDescriptor().adapter(AdapterLimits())
        if not ready:
            adapter.begin()
        for start in range(0, len(data), size):
            adapter.receive(data[start : start + size])
        adapter.end_of_input()
        adapter.lost(TurnError("provider.lost", "ended", "provider"))
