"""Plays a recorded connection through the Codex adapter: the client's side becomes commands, Codex's side bytes.

What the recording did and the adapter never does (forks, reverts, goals, a second prompt while one is open) is left
out with its answer; what Codex then tells is heard all the same. Everything up to the client's next word comes in one
read, so that the result does not depend on how the recorder read.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from runtime.providers.codex.adapter import CodexAdapter
from runtime.providers.codex.attestation import FACTS
from runtime.providers.codex.descriptor import CodexDescriptor
from runtime.providers.codex.handshake import FIRST_REQUEST
from runtime.providers.jsonrpc.peer import RequestKey, request_key
from runtime.providers.normalized import InteractionRequested, TurnAccepted, TurnStartedByProvider
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    CancelTurn,
    CloseThread,
    ConnectionCommand,
    Deliver,
    Diagnostic,
    GiveUp,
    GuideTurn,
    HandshakeDone,
    OpenThread,
    Output,
    Outputs,
    ReconcileTurn,
    Scope,
    StartTurn,
    Write,
)
from runtime.providers.programs import ProgramReport
from store.canonical.identifiers import TurnId
from store.canonical.interaction import OptionAnswer, QuestionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import Witness, render

HISTORIES = Path(__file__).parents[1] / "histories" / "codex"
GOLDEN = HISTORIES / "told"
SETTINGS = ("approvalPolicy", "sandbox", "model")
OLDER_REPORT = ProgramReport("0.153.0", FACTS)
"""The one recording of another version than the tested one: its schema shows all that is looked for."""


@attrs.define
class Replay:
    """The adapter, its world, and what came of it."""

    adapter: CodexAdapter = attrs.field(
        factory=lambda: CodexDescriptor("0.1.0").adapter(AdapterLimits(), OLDER_REPORT)
    )
    witness: Witness = attrs.field(factory=Witness)
    lines: list[str] = attrs.field(factory=list)
    """What was said and told, one line each: the golden text."""
    events: list[Deliver] = attrs.field(factory=list)
    diagnostics: list[Diagnostic] = attrs.field(factory=list)
    frames: list[dict[str, Any]] = attrs.field(factory=list)
    asked: list[RequestKey] = attrs.field(factory=list)
    """Requests of Codex that reached the adapter."""
    answered: list[RequestKey] = attrs.field(factory=list)
    threads: dict[str, Scope] = attrs.field(factory=dict)
    turns: dict[str, tuple[Scope, TurnId]] = attrs.field(factory=dict)
    """Turns the adapter told of, by Codex's id."""
    _ids: dict[object, int] = attrs.field(factory=dict)
    _openings: dict[object, Scope] = attrs.field(factory=dict)
    _starts: dict[object, Scope] = attrs.field(factory=dict)
    _busy: set[Scope] = attrs.field(factory=set)
    _asks: dict[RequestKey, tuple[Scope, InteractionRequested]] = attrs.field(factory=dict)
    _unread: list[dict[str, Any]] = attrs.field(factory=list)
    _unmatched: list[dict[str, Any]] = attrs.field(factory=list)
    """Requests the adapter sent that no recorded request has been found for yet."""
    _feedback: list[str] = attrs.field(factory=list)
    _records_all: bool = False
    """Whether the recorded client was the adapter itself, so that its own first request was recorded."""
    _working: bool = False
    _count: int = 0

    def play(self, path: Path) -> "Replay":
        """The whole recording."""
        messages = list(_messages(path))
        sent = [message for direction, message in messages if direction == "out"]
        self._records_all = any(message.get("method") == FIRST_REQUEST for message in sent[:3])
        self._feedback = [message["params"]["input"][0]["text"] for message in sent if _is_feedback(message)]
        if all(message.get("method") != "initialize" for _, message in messages):
            self._perform(self.adapter.begin())
            self._feed({"id": self.frames[-1]["id"], "result": {"userAgent": "greenroom/0.171.0 (x)"}})
            self._begin_work()
        for direction, message in messages:
            if direction == "in":
                self._unread.append(message)
                continue
            self._read()
            self._client(message)
        self._read()
        self._perform(self.adapter.end_of_input())
        return self

    # --- the client's side ------------------------------------------------------------------------------------

    def _client(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params") or {}
        scope = self.threads.get(params.get("threadId", ""))
        match method:
            case "initialize" if not self.frames:
                self._call(message, self.adapter.begin())
            case "thread/start" if self._working:
                self._open(message, params, None)
            case "thread/resume" if scope is None:
                self._open(message, params, params["threadId"])
            case "turn/start" if scope is not None and scope not in self._busy:
                self._count += 1
                self._busy.add(scope)
                self._starts[message["id"]] = scope
                start = StartTurn(scope, TurnId(f"t{self._count}"), (TextBlock("recorded"),))
                self._call(message, self._command(start))
            case "turn/interrupt" if params.get("turnId") in self.turns:
                owner, turn_id = self.turns[params["turnId"]]
                self._call(message, self._command(CancelTurn(owner, turn_id)))
            case "turn/steer" if params.get("expectedTurnId") in self.turns and not _is_feedback(message):
                owner, turn_id = self.turns[params["expectedTurnId"]]
                guide = GuideTurn(owner, turn_id, f"g{message['id']}", (TextBlock("recorded"),))
                self._call(message, self._command(guide))
            case "thread/unsubscribe" if scope is not None:
                del self.threads[params["threadId"]]
                self._busy.discard(scope)
                self._call(message, self._command(CloseThread(scope)))
            case "thread/turns/list" if scope is not None and self._records_all:
                named = [(turn_id, name) for name, (owner, turn_id) in self.turns.items() if owner == scope]
                self._call(message, self._command(ReconcileTurn(scope, *named[-1])))
            case None:
                self._answer(message)
            case _:
                self._match(message)

    def _open(self, message: dict[str, Any], params: dict[str, Any], thread_id: str | None) -> None:
        self._count += 1
        scope = Scope("session", "w", f"s{self._count}")
        self._openings[message["id"]] = scope
        if thread_id is not None:
            self.threads[thread_id] = scope
        settings = {name: params[name] for name in SETTINGS if name in params}
        effort = params.get("config", {}).get("model_reasoning_effort")
        settings |= {"reasoningEffort": effort} if effort else {}
        command = OpenThread(scope, params.get("cwd", "/workspace"), settings, thread_id)
        self._call(message, self._command(command))

    def _answer(self, message: dict[str, Any]) -> None:
        scope, event = self._asks.pop(request_key(message["id"]), (None, None))
        result = message.get("result")
        if scope is None or event is None or not isinstance(result, dict):
            return
        answer: OptionAnswer | QuestionAnswer
        if "answers" in result:
            given = {name: tuple(each["answers"]) for name, each in result["answers"].items()}
            answer = QuestionAnswer(given)
        else:
            word = result.get("decision", result.get("action"))
            persist = (result.get("_meta") or {}).get("persist")
            option = f"{word}-{persist}" if persist else word or result.get("scope")
            if "permissions" in result and not result["permissions"]:
                option = "decline"
            if not isinstance(option, str) or option not in {each.option_id for each in event.options}:
                return
            feedback = self._feedback.pop(0) if option == "decline" and self._feedback else None
            answer = OptionAnswer(option, feedback)
        self._perform(self._command(AnswerInteraction(scope, event.turn_id, event.request_id, answer)))

    def _command(self, command: ConnectionCommand) -> Outputs:
        self.witness.command(command)
        self.lines.append(f"-- {type(command).__name__} {command.scope}")
        return self.adapter.command(command)

    def _call(self, message: dict[str, Any], outputs: Outputs) -> None:
        """What the command sent is answered by what was recorded, if it is the same request."""
        self._perform(outputs)
        self._match(message)

    def _match(self, message: dict[str, Any]) -> None:
        """The recorded request and the oldest one of this method that the adapter sent are the same."""
        for sent in self._unmatched:
            if sent["method"] == message["method"]:
                self._ids[message["id"]] = sent["id"]
                self._unmatched.remove(sent)
                return

    # --- Codex's side -----------------------------------------------------------------------------------------

    def _begin_work(self) -> None:
        """The adapter's own first request is answered right away where it was not recorded."""
        self._working = True
        if not self._records_all:
            self._unmatched.clear()
            self._feed({"id": self.frames[-1]["id"], "result": {"data": []}})

    def _read(self) -> None:
        """Everything that came since the client's last word, in one read."""
        data = b""
        unread, self._unread = self._unread, []
        for message in unread:
            fed = self._as_heard(message)
            if fed is None:
                continue
            if "userAgent" in (fed.get("result") or {}):
                agent = fed["result"]["userAgent"].replace("adapter_probe/", "greenroom/")
                self._feed(fed | {"result": {"userAgent": agent}})
                self._begin_work()
                continue
            data += json.dumps(fed).encode() + b"\n"
        if data:
            self._perform(self.adapter.receive(data))

    def _as_heard(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if "method" in message:
            if "id" in message:
                self.asked.append(request_key(message["id"]))
            if message["method"] == "turn/completed":
                self._busy.discard(self.threads.get(message["params"]["threadId"]))
            return message
        recorded = message.get("id")
        if recorded not in self._ids:
            return None
        if recorded in self._openings and "result" in message:
            self.threads[message["result"]["thread"]["id"]] = self._openings[recorded]
        if recorded in self._starts and "error" in message:
            self._busy.discard(self._starts[recorded])
        return message | {"id": self._ids.pop(recorded)}

    def _feed(self, message: dict[str, Any]) -> None:
        self._perform(self.adapter.receive(json.dumps(message).encode() + b"\n"))

    # --- outputs ----------------------------------------------------------------------------------------------

    def _perform(self, outputs: Outputs) -> None:
        self.witness.outputs(outputs)
        tokens = []
        for output in outputs:
            self._note(output)
            if isinstance(output, Write):
                sent = json.loads(output.data)
                self.frames.append(sent)
                if "method" not in sent:
                    self.answered.append(request_key(sent["id"]))
                elif "id" in sent:
                    self._unmatched.append(sent)
                tokens.append(output.token)
        for token in tokens:
            if token is not None:
                self._perform(self.adapter.written(token))

    def _note(self, output: Output) -> None:
        match output:
            case Write() | HandshakeDone() | GiveUp():
                self.lines.append(render(output))
            case Diagnostic():
                self.diagnostics.append(output)
                self.lines.append(render(output))
            case Deliver(scope, event):
                self.lines.append(render(output))
                self.events.append(output)
                if isinstance(event, TurnAccepted | TurnStartedByProvider):
                    self.turns[event.provider_turn_id or ""] = (scope, event.turn_id)
                if isinstance(event, InteractionRequested):
                    unanswered = [key for key in self.asked if key not in self.answered]
                    held = set(self._asks)
                    key = next(key for key in unanswered if key not in held)
                    self._asks[key] = (scope, event)
            case _:
                pass


def _is_feedback(message: dict[str, Any]) -> bool:
    """Whether the recorded steer carries the words of a refusal: the adapter sends those by itself."""
    name = (message.get("params") or {}).get("clientUserMessageId") or ""
    return message.get("method") == "turn/steer" and name.startswith("feedback-")


def _messages(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if isinstance(record["msg"], dict):
                yield record["dir"], record["msg"]


def write_golden() -> None:
    """Write down what the adapter makes of every recording."""
    GOLDEN.mkdir(exist_ok=True)
    for path in sorted(HISTORIES.glob("*.jsonl")):
        text = "\n".join(Replay().play(path).lines) + "\n"
        (GOLDEN / f"{path.stem}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_golden()
