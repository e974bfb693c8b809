"""An adapter on a table: bytes or a command in, outputs out, compared as readable lines with a diff.

`Playbook` drives any `ProviderAdapter`; `Witness` watches the promises every adapter keeps, whatever happens to it.
"""

import difflib
import json

import attrs

from runtime.providers.acp.adapter import AcpDescriptor
from runtime.providers.normalized import (
    AnswerDelivered,
    AnswerFailed,
    BackgroundReported,
    CancelRefused,
    ChildSpawned,
    ConnectionLost,
    GuideAccepted,
    GuideRefused,
    InteractionRequested,
    InteractionWithdrawn,
    ItemEnded,
    NoticeReported,
    OfChild,
    PlanReported,
    ProviderEvent,
    SettingsApplied,
    SettingsRefused,
    SettingsReported,
    TextChunk,
    ThreadOpened,
    ThreadOpenFailed,
    TitleReported,
    ToolCallReported,
    ToolOutputChunk,
    TurnAccepted,
    TurnEnded,
    TurnReconciled,
    TurnRejected,
    TurnStartedByProvider,
    UsageReported,
)
from runtime.providers.port import (
    AdapterLimits,
    CloseThread,
    ConnectionCommand,
    Deliver,
    Diagnostic,
    OpenThread,
    Output,
    ProviderAdapter,
    Scope,
    StartTurn,
    Write,
)
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock

A = Scope("session", "w", "a")
B = Scope("session", "w", "b")
T1, T2 = TurnId("t1"), TurnId("t2")


@attrs.frozen
class Sent:
    """A frame the adapter wrote, as JSON without its version member."""

    frame: dict[str, object]


def frame(**members: object) -> bytes:
    """A frame of the agent."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def update(session_id: str, sort: str, /, **members: object) -> bytes:
    """A `session/update` of the agent."""
    params = {"sessionId": session_id, "update": {"sessionUpdate": sort, **members}}
    return frame(method="session/update", params=params)


def chunk(session_id: str, text: str, sort: str = "agent_message_chunk", **members: object) -> bytes:
    """A piece of text of the agent."""
    return update(session_id, sort, content={"type": "text", "text": text}, **members)


def ask(session_id: str, request_id: object, call_id: str, *kinds: str, **tool_call: object) -> bytes:
    """A permission request whose options are named by their kinds."""
    options = [{"optionId": f"o{n}", "name": kind, "kind": kind} for n, kind in enumerate(kinds)]
    params = {"sessionId": session_id, "toolCall": {"toolCallId": call_id, **tool_call}, "options": options}
    return frame(id=request_id, method="session/request_permission", params=params)


class Playbook:
    """Drives one adapter. What came out since the last `expect` is compared there, in order."""

    def __init__(self, adapter: ProviderAdapter | None = None, limits: AdapterLimits | None = None) -> None:
        self.adapter = adapter or AcpDescriptor().adapter(limits or AdapterLimits())
        self.outputs: list[Output] = []
        self.everything: list[Output] = []
        self.tokens: list[object] = []
        self.frames: list[dict[str, object]] = []

    # --- in ---------------------------------------------------------------------------------------------------

    def begin(self) -> "Playbook":
        return self._note(self.adapter.begin())

    def receive(self, *data: bytes) -> "Playbook":
        """All frames in one read."""
        return self._note(self.adapter.receive(b"".join(data)))

    def command(self, command: ConnectionCommand) -> "Playbook":
        return self._note(self.adapter.command(command))

    def written(self) -> "Playbook":
        """Everything told so far is out whole."""
        tokens, self.tokens = self.tokens, []
        for token in tokens:
            self._note(self.adapter.written(token))
        return self

    def timer(self, token: object) -> "Playbook":
        return self._note(self.adapter.timer(token))

    def reply(self, method: str, **members: object) -> "Playbook":
        """The agent answers the newest request of this method."""
        call = next(sent for sent in reversed(self.frames) if sent.get("method") == method)
        return self.receive(frame(id=call["id"], **members))

    def _note(self, outputs: "list[Output] | tuple[Output, ...]") -> "Playbook":
        for output in outputs:
            self.outputs.append(output)
            self.everything.append(output)
            if isinstance(output, Write):
                self.frames.append(json.loads(output.data))
                if output.token is not None:
                    self.tokens.append(output.token)
        return self

    # --- out --------------------------------------------------------------------------------------------------

    def expect(self, *expected: object) -> "Playbook":
        """Exactly these outputs came since the last time. An event alone means: delivered to scope A."""
        seen, wanted = [render(output) for output in self.outputs], [render(item) for item in expected]
        self.outputs = []
        if seen != wanted:
            raise AssertionError("outputs differ\n" + "\n".join(difflib.ndiff(wanted, seen)))
        return self

    def skip(self) -> "Playbook":
        """Nobody looks at what came so far."""
        self.outputs = []
        return self

    def events(self, scope: Scope = A) -> list[ProviderEvent]:
        """All events of a scope so far."""
        return [o.event for o in self.everything if isinstance(o, Deliver) and o.scope == scope]

    def diagnostics(self) -> list[str]:
        """The kinds of all diagnostics so far."""
        return [o.kind for o in self.everything if isinstance(o, Diagnostic)]

    # --- common beginnings ------------------------------------------------------------------------------------

    def ready(self, **capabilities: object) -> "Playbook":
        """The handshake is done."""
        result = {
            "protocolVersion": 1,
            "agentInfo": {"name": "double", "version": "1"},
            "agentCapabilities": {"loadSession": True, **capabilities},
        }
        return self.begin().reply("initialize", result=result).skip()

    def opened(self, scope: Scope = A, session_id: str = "sa", **capabilities: object) -> "Playbook":
        """A new conversation is open."""
        if not self.frames:
            self.ready(**capabilities)
        self.command(OpenThread(scope, "/w", {})).reply("session/new", result={"sessionId": session_id})
        return self.skip()

    def prompted(self, scope: Scope = A, turn_id: TurnId = T1, text: str = "go") -> "Playbook":
        """A prompt is open and accepted."""
        return self.command(StartTurn(scope, turn_id, (TextBlock(text),))).written().skip()


def render(output: object) -> str:
    """One output as one line."""
    match output:
        case Write():
            return render(Sent(json.loads(output.data)))
        case Sent():
            members = {key: value for key, value in output.frame.items() if key != "jsonrpc"}
            return f"write {json.dumps(members, sort_keys=True, ensure_ascii=False)}"
        case Deliver():
            return f"{output.scope} <- {_fields(output.event)}"
        case _ if type(output) in _EVENTS:
            return render(Deliver(A, output))  # type: ignore[arg-type]
        case _:
            return _fields(output)


def _fields(value: object) -> str:
    """A value with only those of its fields that are not null."""
    if not attrs.has(type(value)):
        return repr(value)
    told = attrs.asdict(value, recurse=False)  # type: ignore[call-overload]
    fields = ", ".join(f"{name}={item!r}" for name, item in told.items() if item is not None)
    return f"{type(value).__name__}({fields})"


_EVENTS = (
    AnswerDelivered,
    AnswerFailed,
    CancelRefused,
    ConnectionLost,
    GuideAccepted,
    GuideRefused,
    InteractionRequested,
    InteractionWithdrawn,
    ItemEnded,
    NoticeReported,
    PlanReported,
    SettingsApplied,
    SettingsRefused,
    SettingsReported,
    TextChunk,
    ThreadOpened,
    ThreadOpenFailed,
    TitleReported,
    ToolCallReported,
    ToolOutputChunk,
    TurnAccepted,
    TurnEnded,
    TurnReconciled,
    TurnRejected,
    TurnStartedByProvider,
    UsageReported,
)


@attrs.define
class Witness:
    """Watches outputs in order and raises as soon as a promise of the port is broken.

    Promises: an open conversation is said once; events of a turn lie between its acceptance and its end; chunks are
    never empty and never follow the end of their item; a request of the agent gets one answer; nothing follows a
    loss.
    """

    open_threads: set[Scope] = attrs.field(factory=set)
    accepted: dict[Scope, TurnId] = attrs.field(factory=dict)
    over: set[tuple[Scope, TurnId]] = attrs.field(factory=set)
    ended_items: set[tuple[Scope, TurnId, str]] = attrs.field(factory=set)
    pending: set[tuple[Scope, TurnId, str]] = attrs.field(factory=set)
    answered: list[str] = attrs.field(factory=list)
    lost: set[Scope] = attrs.field(factory=set)

    def command(self, command: ConnectionCommand) -> None:
        """A scope leaves: what is said of it later is a mistake."""
        if isinstance(command, CloseThread):
            self.open_threads.discard(command.scope)
            self.accepted.pop(command.scope, None)
            self.pending = {asked for asked in self.pending if asked[0] != command.scope}

    def outputs(self, outputs: "list[Output] | tuple[Output, ...]") -> None:
        for output in outputs:
            if isinstance(output, Write):
                message = json.loads(output.data)
                if "method" not in message:
                    self.answered.append(json.dumps(message["id"]))
            elif isinstance(output, Deliver):
                self._event(output.scope, output.event)

    def _event(self, scope: Scope, event: ProviderEvent) -> None:
        assert scope not in self.lost, f"{event} after the loss"
        match event:
            case ThreadOpened():
                assert scope not in self.open_threads
                self.open_threads.add(scope)
            case ThreadOpenFailed():
                if event.error.code == "provider.lost":  # an open one that is gone, not a second one refused
                    self.open_threads.discard(scope)
            case TitleReported() | TurnReconciled() | GuideAccepted() | GuideRefused():
                pass
            case SettingsReported() | SettingsApplied() | SettingsRefused():
                pass
            case ChildSpawned():
                assert self.accepted.get(scope) == event.turn_id, "a sub-agent outside a turn"
                self.open_threads.add(Scope("session", scope.workspace_id, event.child_id))
            case OfChild(child_id, said):
                child = Scope("session", scope.workspace_id, child_id)
                assert child in self.open_threads, "a word of a sub-agent that was never shown"
                self._event(child, said)
            case ConnectionLost():
                self.lost.add(scope)
            case BackgroundReported(turn_ids):
                assert all((scope, turn_id) in self.over for turn_id in turn_ids)
            case UsageReported():
                assert scope in self.open_threads
            case TurnAccepted() | TurnStartedByProvider():
                assert scope not in self.accepted, "accepted while another turn is open"
                assert (scope, event.turn_id) not in self.over, "accepted after its end"
                self.accepted[scope] = event.turn_id
            case TurnRejected():
                self._end(scope, event.turn_id)
            case TurnEnded():
                assert self.accepted.get(scope) == event.turn_id, "ended without being accepted"
                assert not {p for p in self.pending if p[0] == scope}, "an Interaction outlived its turn"
                self._end(scope, event.turn_id)
            case AnswerFailed():
                pass
            case ToolCallReported() | ToolOutputChunk() if (scope, event.turn_id) in self.over:
                pass  # a late word about a call attaches to its old turn
            case _:
                assert self.accepted.get(scope) == event.turn_id, f"{event} outside its turn"
                self._in_turn(scope, event)

    def _in_turn(self, scope: Scope, event: ProviderEvent) -> None:
        match event:
            case TextChunk():
                assert event.text
                assert (scope, event.turn_id, event.item_id) not in self.ended_items
            case ItemEnded():
                self.ended_items.add((scope, event.turn_id, event.item_id))
            case InteractionRequested():
                key = (scope, event.turn_id, event.request_id)
                assert key not in self.pending
                assert len({option.option_id for option in event.options}) == len(event.options)
                assert event.options or event.kind == "question"
                self.pending.add(key)
            case InteractionWithdrawn() | AnswerDelivered():
                self.pending.remove((scope, event.turn_id, event.request_id))
            case _:
                pass

    def _end(self, scope: Scope, turn_id: TurnId) -> None:
        assert (scope, turn_id) not in self.over, "ended twice"
        if self.accepted.get(scope) == turn_id:
            del self.accepted[scope]
        self.over.add((scope, turn_id))
