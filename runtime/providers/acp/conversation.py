"""One conversation on an ACP connection: which turn is open, and to whom each update belongs.

Owns the attribution. The wire names no turn, so an update belongs to the one open prompt of its session, unless it
names a call or a message of an earlier turn; without an open prompt only the session's own facts are told and
content is counted and dropped, never guessed (FC-13, FC-24, FC-26, ST-006).
"""

from typing import Literal, TypeAlias

import attrs

from runtime.providers.acp.asks import AnswerToken, OpenAsks
from runtime.providers.acp.failures import Ending
from runtime.providers.acp.normalizer import TurnNormalizer, TurnUpdate
from runtime.providers.acp.offers import read_commands
from runtime.providers.acp.permissions import CANCELLED, why_unusable
from runtime.providers.acp.rest import Rest
from runtime.providers.acp.settings import SessionSettings
from runtime.providers.acp.tool_calls import ToolCallLedger
from runtime.providers.acp.wire import (
    CommandsUpdate,
    ConfigUpdate,
    ContentChunk,
    ModeUpdate,
    NoticeUpdate,
    PermissionRequest,
    QuietUpdate,
    SessionUpdate,
    TitleUpdate,
    ToolCallPart,
    UnknownUpdate,
    UsageUpdate,
)
from runtime.providers.catalogue import ProviderFacts
from runtime.providers.jsonrpc.peer import JsonRpcPeer, Request
from runtime.providers.normalized import (
    ProviderEvent,
    SettingsReported,
    TitleReported,
    TurnAccepted,
    TurnEnded,
    TurnRejected,
    UsageReported,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, Learned, Scope, Write
from runtime.providers.recent import RecentSet
from store.canonical.common import Settings, TurnError, Usage
from store.canonical.identifiers import TurnId

Phase: TypeAlias = Literal["opening", "open", "closed"]

_REMEMBERED_MESSAGES_MAX = 512
_UNIQUE_ID_CHARACTERS = 16
"""Message ids at least this long are taken as unique for ever; agents that count from 1 in each turn use shorter."""

_UNUSABLE_ASK_TEXT = "The agent asked for something in a form that cannot be answered here; it was told so."


@attrs.frozen
class PromptToken:
    """Names the write of a prompt: once it is out whole, the agent has it (`contract §4`)."""

    scope: Scope
    turn_id: TurnId


@attrs.define
class OpenTurn:
    """The one prompt that is open on the wire."""

    turn_id: TurnId
    normalizer: TurnNormalizer
    accepted: bool = False
    heard: bool = False
    """Whether the agent said anything that is part of this turn."""
    cancel_asked: bool = False
    messages: RecentSet = attrs.field(factory=lambda: RecentSet(_REMEMBERED_MESSAGES_MAX))
    """The agent's own ids of the messages of this turn, by which a straggler is known later (FC-13)."""


class Conversation:
    """The state of one scope's conversation; everything it wants performed goes into the batch it is given."""

    def __init__(self, scope: Scope, peer: JsonRpcPeer) -> None:
        self.scope = scope
        self.session_id: str | None = None
        self.phase: Phase = "opening"
        self.settings = SessionSettings()
        self.turn: OpenTurn | None = None
        self.rest = Rest()
        self.signs_of_life = 0
        """Updates heard so far: an agent that replays a long history is not a silent one."""
        self._peer = peer
        self._ledger = ToolCallLedger()
        self.asks = OpenAsks(scope, peer, self._ledger)
        self._past_messages = RecentSet(_REMEMBERED_MESSAGES_MAX)
        self._usage = Usage()
        self._settings_told: Settings = {}
        self._held: dict[type[ProviderEvent], ProviderEvent] = {}

    # --- updates ----------------------------------------------------------------------------------------------

    def update(self, update: SessionUpdate, out: OutputBatch) -> None:
        """Take one update of this session."""
        self.signs_of_life += 1
        match update:
            case TitleUpdate():
                self._tell(TitleReported(update.title), out)
            case UsageUpdate():
                self._tell_usage(update.usage, out)
            case ConfigUpdate() | ModeUpdate():
                self.settings.told(update)
                self.tell_settings(out)
            case CommandsUpdate(commands):
                out.add(Learned(ProviderFacts(skills=read_commands(commands))))
            case QuietUpdate():
                pass
            case UnknownUpdate():
                out.add(Diagnostic("update.unknown", update.kind))
            case _:
                self._content(update, out)

    def opened(self, out: OutputBatch) -> None:
        """The conversation takes prompts; facts that came before are told now."""
        self.phase = "open"
        self._settings_told = self.settings.current()
        held, self._held = self._held, {}
        for event in held.values():
            out.deliver(self.scope, event)

    def tell_settings(self, out: OutputBatch) -> None:
        """What holds now, unless that has been told. What holds as the conversation opens is told with it."""
        current = self.settings.current()
        if self.phase == "open" and current != self._settings_told:
            self._settings_told = current
            out.deliver(self.scope, SettingsReported(current))

    def settings_now_told(self) -> Settings:
        """What holds now, for an answer that tells it."""
        self._settings_told = self.settings.current()
        return self._settings_told

    def _content(self, update: TurnUpdate, out: OutputBatch) -> None:
        if self.phase == "opening":
            self._remember_past(update)
        elif isinstance(update, ToolCallPart) and self._is_late_call(update):
            self._late_call(update, out)
        elif isinstance(update, ContentChunk) and (update.message_id or "") in self._past_messages:
            out.add(Diagnostic("update.late", f"message {update.message_id}"))
        elif self.turn is None:
            self._remember_past(update)
            if not (isinstance(update, ContentChunk) and not update.text):
                out.add(Diagnostic("update.no_turn", type(update).__name__))
        else:
            if isinstance(update, ContentChunk) and update.message_id is not None:
                self.turn.messages.add(update.message_id)
            for event in self.turn.normalizer.update(update):
                self._hear(self.turn, event, out)

    def _hear(self, turn: OpenTurn, event: ProviderEvent, out: OutputBatch) -> None:
        turn.heard = True
        self.accept(out)
        out.deliver(self.scope, event)

    def _is_late_call(self, part: ToolCallPart) -> bool:
        """Whether this is about a call of an earlier turn or of a replayed history.

        A frame that announces a call under an id used before begins a new one: agents may count per turn.
        """
        if part.call_id not in self._ledger or (part.created and self.turn is not None):
            return False
        record = self._ledger.find(part.call_id)
        return record is None or self.turn is None or record.turn_id != self.turn.turn_id

    def _late_call(self, part: ToolCallPart, out: OutputBatch) -> None:
        record = self._ledger.find(part.call_id)
        if record is None:
            out.add(Diagnostic("update.late", f"replayed call {part.call_id}"))
            return
        for event in record.update(part):
            out.deliver(self.scope, event)

    def _remember_past(self, update: TurnUpdate) -> None:
        """Content without a turn of ours: what it is part of must not leak into the next turn either."""
        if isinstance(update, ToolCallPart):
            self._ledger.replayed(update.call_id)
        elif isinstance(update, ContentChunk):
            self._remember_message(update.message_id)

    def _remember_message(self, message_id: str | None) -> None:
        if message_id is not None and len(message_id) >= _UNIQUE_ID_CHARACTERS:
            self._past_messages.add(message_id)

    def _tell_usage(self, usage: Usage, out: OutputBatch) -> None:
        # Agents leave figures out of some updates; what was reported once stays true until it is reported anew.
        told = {name: value for name, value in attrs.asdict(usage).items() if value is not None}
        self._usage = attrs.evolve(self._usage, **told)
        self._tell(UsageReported(self._usage, self.turn.turn_id if self.turn else None), out)

    def _tell(self, event: ProviderEvent, out: OutputBatch) -> None:
        if self.phase == "opening":
            self._held[type(event)] = event
        else:
            out.deliver(self.scope, event)

    # --- the turn ---------------------------------------------------------------------------------------------

    def begin(self, turn_id: TurnId) -> None:
        """A prompt is being written."""
        self.turn = OpenTurn(turn_id, TurnNormalizer(turn_id, self._ledger))

    def written(self, token: PromptToken | AnswerToken, out: OutputBatch) -> None:
        """A frame is out whole."""
        if isinstance(token, AnswerToken):
            self.asks.written(token.request_id, out)
        elif self.turn is not None and self.turn.turn_id == token.turn_id:
            self.accept(out)

    def accept(self, out: OutputBatch) -> None:
        """The prompt is out whole, or the agent's own words prove that it has it."""
        if self.turn is not None and not self.turn.accepted:
            self.turn.accepted = True
            out.deliver(self.scope, TurnAccepted(self.turn.turn_id))

    def ask(self, request: Request, permission: PermissionRequest, out: OutputBatch) -> None:
        """The agent asks for permission: put it to a person, or answer `cancelled` at once."""
        turn = self.turn
        if turn is not None and self.asks.is_open(request.key):
            out.add(Diagnostic("ask.repeated_id", permission.session_id))
            return
        if turn is None or turn.cancel_asked:
            out.add(Write(self._peer.respond(request.id, CANCELLED)))
            out.add(
                Diagnostic("ask.cancelled", "no open turn" if turn is None else "the turn is being stopped")
            )
            return
        part = permission.tool_call
        unusable = why_unusable(permission)
        if part is None or unusable is not None:
            out.add(Write(self._peer.respond(request.id, CANCELLED)))
            out.add(Diagnostic("ask.unusable", unusable or ""))
            self.accept(out)
            turn.heard = True
            self.notice("interaction.unsupported", _UNUSABLE_ASK_TEXT, out)
            return
        if permission.malformed_options:
            out.add(Diagnostic("ask.malformed_options", str(permission.malformed_options)))
        # The words of an ask say what is asked; they are no output of the call.
        for event in turn.normalizer.tool_call(attrs.evolve(part, text=None)):
            self._hear(turn, event, out)
        self.accept(out)
        turn.heard = True
        record = self._ledger.find(part.call_id)
        assert record is not None
        self.asks.publish(request, permission, part, record, out)

    def rejected(self, error: TurnError, out: OutputBatch) -> None:
        """The agent answered the prompt with an error, and said nothing else of it: it has it, so it was delivered.

        ACP has no acknowledgement; accepted is what was written whole (`contract §4`), whichever of the two is heard first.
        """
        if self.turn is not None:
            self.accept(out)
            turn, self.turn = self.turn, None
            out.deliver(self.scope, TurnRejected(turn.turn_id, error))

    def ended(self, ending: Ending, usage: Usage | None, out: OutputBatch) -> None:
        """The agent's word that the turn is over: what is open in it ends first, the end is told last.

        Text that is open when a turn stops short is not told as ended: it was cut off, and ends as its turn does.
        """
        turn = self.turn
        if turn is None:
            return
        self.accept(out)
        self.asks.confirm_all(out)
        self.asks.withdraw_all(out)
        if ending.outcome == "completed":
            for event in turn.normalizer.end():
                out.deliver(self.scope, event)
        out.deliver(
            self.scope, TurnEnded(turn.turn_id, ending.outcome, ending.stop_reason, ending.error, usage)
        )
        for message_id in turn.messages:
            self._remember_message(message_id)
        self.turn = None

    def notice(self, code: str, text: str, out: OutputBatch) -> None:
        """Warn the user of something about the open turn; without one there is nobody to warn."""
        if self.turn is not None and self.turn.accepted:
            for event in self.turn.normalizer.update(NoticeUpdate("warning", text, code)):
                out.deliver(self.scope, event)

    def closed(self, out: OutputBatch) -> None:
        """The scope left: open asks are answered, nothing more is told."""
        self.phase = "closed"
        self.asks.abandon(out)
        self.turn = None
