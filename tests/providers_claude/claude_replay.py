"""Plays a recorded process through the adapter: the client's side becomes commands, Claude Code's side bytes.

The recorded client was the adapter itself, so every frame it wrote then has to be written again, in the same order. All
that came up to its next word is one read, so that the result does not depend on how the recorder read.
"""

import json
from pathlib import Path
from typing import Any

import attrs

from runtime.providers.claude_code.adapter import ClaudeAdapter
from runtime.providers.claude_code.descriptor import ClaudeDescriptor
from runtime.providers.claude_code.permissions import ALLOW, DENY, REFUSED_TEXT, STOP
from runtime.providers.hosting import HostedConversation
from runtime.providers.normalized import InteractionRequested, TurnAccepted, TurnStartedByProvider
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    ApplySettings,
    CancelTurn,
    Deliver,
    Diagnostic,
    GuideTurn,
    HandshakeDone,
    OpenThread,
    Output,
    StartTurn,
    Write,
)
from store.canonical.identifiers import TurnId
from store.canonical.interaction import Answer, OptionAnswer, QuestionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import A, Witness, render

HISTORIES = Path(__file__).parents[1] / "histories" / "claude"
GOLDEN = HISTORIES / "told"

Message = dict[str, Any]


@attrs.define
class Replay:
    """The adapter, its world, and what came of it."""

    witness: Witness = attrs.field(factory=Witness)
    lines: list[str] = attrs.field(factory=list)
    """What was told and written, one line each: the golden text."""
    events: list[Deliver] = attrs.field(factory=list)
    diagnostics: list[Diagnostic] = attrs.field(factory=list)
    expected: list[Message] = attrs.field(factory=list)
    """What the recorded client wrote and the adapter has not yet."""
    turn: TurnId | None = None
    _adapter: ClaudeAdapter | None = None
    _asked: dict[str, InteractionRequested] = attrs.field(factory=dict)
    _unread: list[Message] = attrs.field(factory=list)

    def play(self, path: Path) -> "Replay":
        """The whole recording."""
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        names = [each["msg"].get("session_id") for each in records if each["dir"] == "in"]
        settings = _settings(records)
        hosted = HostedConversation(next(name for name in names if name), False, settings)
        self._adapter = ClaudeDescriptor().adapter(AdapterLimits(), None, hosted)
        sent = [each["msg"] for each in records if each["dir"] == "out"]
        for record in records:
            if record["dir"] == "in":
                self._unread.append(record["msg"])
                continue
            self._read()
            sent.pop(0)
            self._client(record["msg"], sent)
        self._read()
        assert self.expected == [], "written, but not recorded"
        return self

    def _client(self, message: Message, later: list[Message]) -> None:
        """The next word of the recorded client: written by itself already, or what a command of ours makes of it."""
        assert self._adapter is not None
        if not self.expected:
            command = self._command(message, later)
            self._perform(self._adapter.begin() if command is None else self._adapter.command(command))
        assert self.expected.pop(0) == message

    def _command(self, message: Message, later: list[Message]) -> Any:
        if message["type"] == "user":
            self.turn = TurnId(message["uuid"])
            return StartTurn(A, self.turn, _content(message))
        assert self.turn is not None or message["request"]["subtype"] == "initialize"
        if message["type"] == "control_response":
            return self._answer(message["response"])
        request = message["request"]
        match request["subtype"]:
            case "initialize":
                return None
            case "interrupt" if "cancel_queued" not in request:
                said = next(each for each in later if each["type"] == "user")
                return GuideTurn(A, self.turn, said["uuid"], _content(said))
            case "interrupt" | "cancel_async_message":
                return CancelTurn(A, self.turn)
            case "set_permission_mode":
                return ApplySettings(A, "u", {"permissionMode": request["mode"]})
            case subtype:
                assert subtype == "set_model"
                prompt = next(each for each in later if each["type"] == "user")
                self.turn = TurnId(prompt["uuid"])
                wanted = {"permissionMode": "acceptEdits", "model": request["model"]}
                return StartTurn(A, self.turn, _content(prompt), wanted)

    def _answer(self, response: Message) -> AnswerInteraction:
        event = self._asked[response["request_id"]]
        return AnswerInteraction(A, event.turn_id, event.request_id, _chosen(event, response["response"]))

    def _read(self) -> None:
        assert self._adapter is not None
        messages, self._unread = self._unread, []
        if messages:
            before = len(self.events)
            self._perform(
                self._adapter.receive(b"".join(json.dumps(each).encode() + b"\n" for each in messages))
            )
            asked = [
                each.event for each in self.events[before:] if isinstance(each.event, InteractionRequested)
            ]
            wanted = [each["request_id"] for each in messages if each["type"] == "control_request"]
            self._asked |= dict(zip(wanted, asked, strict=True))

    def _perform(self, outputs: "list[Output] | tuple[Output, ...]") -> None:
        assert self._adapter is not None
        tokens: list[object] = []
        for output in outputs:
            self.lines.append(render(output))
            match output:
                case Write(data, token):
                    self.expected.append(json.loads(data))
                    tokens += [token] if token is not None else []
                case Deliver(_, event):
                    self.witness.outputs([output])
                    self.events.append(output)
                    if isinstance(event, TurnAccepted | TurnStartedByProvider):
                        self.turn = event.turn_id
                case Diagnostic():
                    self.diagnostics.append(output)
                case HandshakeDone():
                    hosted = self._adapter.hosted
                    self._perform(self._adapter.command(OpenThread(A, "/workspace", hosted.settings)))
                case _:
                    pass
        for token in tokens:
            self._perform(self._adapter.written(token))


def _settings(records: list[Message]) -> dict[str, str]:
    """What the process was started with, as far as a recording shows it."""
    answered = next(
        each["msg"]["response"]["response"]
        for each in records
        if each["dir"] == "in" and each["msg"]["type"] == "control_response"
    )
    mode = answered["current_permission_mode"]
    return {"permissionMode": mode} if mode != "default" else {}


def _content(message: Message) -> tuple[TextBlock, ...]:
    return tuple(TextBlock(block["text"]) for block in message["message"]["content"])


def _chosen(event: InteractionRequested, body: Message) -> Answer:
    """The answer that makes this body."""
    if body["behavior"] == "deny":
        if body.get("interrupt"):
            return OptionAnswer(STOP)
        return OptionAnswer(DENY, None if body["message"] == REFUSED_TEXT else body["message"])
    if "answers" in body["updatedInput"]:
        (answer,) = body["updatedInput"]["answers"].values()
        return QuestionAnswer({"question-1": answer})
    if "updatedPermissions" in body:
        (update,) = body["updatedPermissions"]
        kind = "allow_session" if update["destination"] == "session" else "allow_always"
        return OptionAnswer(next(option.option_id for option in event.options if option.kind == kind))
    return OptionAnswer(ALLOW)
