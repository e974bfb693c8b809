"""Plays a recorded conversation through the ACP adapter: the client's side becomes commands, the agent's side bytes.

Where the recording did what the adapter never does (a second prompt while one is open, a fork, a mode switch in
between) the request is left out, and so is its answer.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import attrs

from runtime.providers.acp.adapter import AcpAdapter, AcpDescriptor
from runtime.providers.acp.rest import RestOver
from runtime.providers.normalized import (
    InteractionRequested,
    TextChunk,
    ThreadOpened,
    ToolCallReported,
    TurnEnded,
    TurnRejected,
)
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    CancelTurn,
    CloseThread,
    ConnectionCommand,
    Deliver,
    Diagnostic,
    OpenThread,
    Outputs,
    Scope,
    StartTimer,
    StartTurn,
    Write,
)
from store.canonical.identifiers import RequestId, TurnId
from store.canonical.interaction import OptionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import Witness

HISTORIES = Path(__file__).parents[1] / "histories" / "acp"


@attrs.define
class RecordedTurn:
    """One prompt of the recording: what the agent said in it, and what the adapter made of it."""

    scope: Scope
    turn_id: TurnId
    session_id: str
    texts: dict[str, str] = attrs.field(factory=lambda: {"text": "", "reasoning": ""})
    call_ids: set[str] = attrs.field(factory=set)
    asks: int = 0
    answer: dict[str, object] | None = None
    told_texts: dict[str, str] = attrs.field(factory=lambda: {"text": "", "reasoning": ""})
    told_call_ids: set[str] = attrs.field(factory=set)
    told_asks: int = 0
    end: TurnEnded | TurnRejected | None = None


@attrs.define
class Replay:
    """The adapter, its world, and what was recorded beside it."""

    adapter: AcpAdapter = attrs.field(factory=lambda: AcpDescriptor().adapter(AdapterLimits()))
    witness: Witness = attrs.field(factory=Witness)
    turns: list[RecordedTurn] = attrs.field(factory=list)
    diagnostics: list[Diagnostic] = attrs.field(factory=list)
    opened: list[ThreadOpened] = attrs.field(factory=list)
    frames: list[dict[str, object]] = attrs.field(factory=list)
    _ids: dict[object, object] = attrs.field(factory=dict)
    _scopes: dict[str, Scope] = attrs.field(factory=dict)
    _opening: dict[object, Scope] = attrs.field(factory=dict)
    _open: dict[str, RecordedTurn] = attrs.field(factory=dict)
    _prompts: dict[object, RecordedTurn] = attrs.field(factory=dict)
    _asks: dict[object, tuple[RecordedTurn, RequestId]] = attrs.field(factory=dict)
    _rests: list[RestOver] = attrs.field(factory=list)
    _feeding: str = ""
    _count: int = 0

    def play(self, path: Path) -> "Replay":
        """The whole recording."""
        for direction, message in _messages(path):
            if direction == "out":
                self._client(message)
            else:
                self._agent(message)
        self._perform(self.adapter.end_of_input())
        return self

    # --- the client's side ------------------------------------------------------------------------------------

    def _client(self, message: dict[str, object]) -> None:
        method, params = message.get("method"), message.get("params")
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        match method:
            case "initialize":
                self._call(message, self.adapter.begin())
            case "session/new" | "session/load" | "session/resume" if session_id not in self._scopes:
                self._count += 1
                scope = Scope("session", "w", f"s{self._count}")
                self._opening[message["id"]] = scope
                if session_id is not None:
                    self._scopes[session_id] = scope
                self._call(message, self._command(OpenThread(scope, "/workspace", {}, session_id)))
            case "session/prompt" if session_id in self._scopes and session_id not in self._open:
                self._prompt(message, session_id)
            case "session/cancel" if session_id in self._open:
                turn = self._open[session_id]
                self._perform(self._command(CancelTurn(turn.scope, turn.turn_id)))
            case "session/close" if session_id in self._scopes:
                self._perform(self._command(CloseThread(self._scopes.pop(session_id))))
            case None:
                self._answer(message)
            case _:
                pass

    def _prompt(self, message: dict[str, object], session_id: str) -> None:
        while self._rests:  # the recorded client sent nothing before the rest was over
            self._perform(self.adapter.timer(self._rests.pop()))
        self._count += 1
        turn = RecordedTurn(self._scopes[session_id], TurnId(f"t{self._count}"), session_id)
        self.turns.append(turn)
        self._open[session_id] = turn
        self._prompts[message["id"]] = turn
        self._call(message, self._command(StartTurn(turn.scope, turn.turn_id, (TextBlock("recorded"),))))

    def _answer(self, message: dict[str, object]) -> None:
        turn, request_id = self._asks.pop(json.dumps(message.get("id")), (None, None))
        outcome = message.get("result", {}).get("outcome", {})
        if turn is not None and outcome.get("outcome") == "selected" and turn.end is None:
            answer = OptionAnswer(outcome["optionId"])
            self._perform(self._command(AnswerInteraction(turn.scope, turn.turn_id, request_id, answer)))

    def _command(self, command: ConnectionCommand) -> Outputs:
        self.witness.command(command)
        return self.adapter.command(command)

    def _call(self, message: dict[str, object], outputs: Outputs) -> None:
        self._perform(outputs)
        self._ids[message["id"]] = self.frames[-1]["id"]

    # --- the agent's side -------------------------------------------------------------------------------------

    def _agent(self, message: dict[str, object]) -> None:
        if "method" in message:
            self._feeding = json.dumps(message.get("id"))
            self._note_recorded(message)
        elif message.get("id") is not None:
            if message["id"] not in self._ids:
                return
            recorded = message["id"]
            message = message | {"id": self._ids.pop(recorded)}
            if recorded in self._prompts:
                turn = self._prompts.pop(recorded)
                turn.answer = message
                self._open.pop(turn.session_id, None)
            if recorded in self._opening and isinstance(message.get("result"), dict):
                result = message["result"]
                self._scopes.setdefault(result.get("sessionId"), self._opening[recorded])
        self._perform(self.adapter.receive(json.dumps(message).encode() + b"\n"))

    def _note_recorded(self, message: dict[str, object]) -> None:
        params = message.get("params") or {}
        turn = self._open.get(params.get("sessionId"))
        if turn is None:
            return
        if message["method"] == "session/request_permission":
            turn.asks += 1
            turn.call_ids.add(params["toolCall"]["toolCallId"])
        update = params.get("update", {})
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                turn.texts["text"] += update["content"]["text"]
            case "agent_thought_chunk":
                turn.texts["reasoning"] += update["content"]["text"]
            case "tool_call" | "tool_call_update":
                turn.call_ids.add(update["toolCallId"])

    # --- outputs ----------------------------------------------------------------------------------------------

    def _perform(self, outputs: Outputs) -> None:
        self.witness.outputs(outputs)
        tokens = []
        for output in outputs:
            match output:
                case Write():
                    self.frames.append(json.loads(output.data))
                    tokens.append(output.token)
                case StartTimer(token=RestOver() as rest):
                    self._rests.append(rest)
                case Diagnostic():
                    self.diagnostics.append(output)
                case Deliver():
                    self._note_told(output)
        for token in tokens:
            if token is not None:
                self._perform(self.adapter.written(token))

    def _note_told(self, output: Deliver) -> None:
        event = output.event
        if isinstance(event, ThreadOpened):
            self.opened.append(event)
        turn = next((t for t in self.turns if t.turn_id == getattr(event, "turn_id", None)), None)
        if turn is None:
            return
        match event:
            case TextChunk():
                turn.told_texts[event.kind] += event.text
            case ToolCallReported():
                turn.told_call_ids.add(event.call_id)
            case InteractionRequested():
                turn.told_asks += 1
                self._asks[self._feeding] = (turn, event.request_id)
            case TurnEnded() | TurnRejected():
                turn.end = event


def _messages(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if isinstance(record["msg"], dict):
                yield record["dir"], record["msg"]
