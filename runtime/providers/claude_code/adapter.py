"""The Claude Code adapter: one process, one conversation or one fork of it, bytes and commands in, outputs out.

Owns the handshake and the way of every command to the conversation; what is decided there is decided in `conversation`,
`content`, `guidance`, `asks` and `side_questions`. The process was started for its conversation (`launching`), so opening
it costs no request. Nothing Claude Code says raises.
"""

from functools import partial
from typing import Final

import attrs

from runtime.providers.catalogue import ProviderFacts
from runtime.providers.claude_code import content, guidance
from runtime.providers.claude_code.asks import AnswerToken
from runtime.providers.claude_code.attestation import Ability, Attestation, attest
from runtime.providers.claude_code.control import ControlAnswer, OpenRequests
from runtime.providers.claude_code.conversation import Conversation
from runtime.providers.claude_code.failures import provider_error, runtime_error, start_failure
from runtime.providers.claude_code.launching import is_kept
from runtime.providers.claude_code.preparing import ChangesDeadline, SettingChanges, SettingFailure
from runtime.providers.claude_code.reconcile import Reconciling
from runtime.providers.claude_code.self_description import answered, read_facts
from runtime.providers.claude_code.settings import (
    SettingChange,
    changes_towards,
    launched_with,
    mode_of,
    wider,
)
from runtime.providers.claude_code.side_questions import SideQuestions
from runtime.providers.claude_code.wire import FrameReader, Read, Skipped
from runtime.providers.hosting import HostedConversation
from runtime.providers.jsonrpc.members import Members, text_of
from runtime.providers.normalized import (
    AnswerFailed,
    ConnectionLost,
    SettingsApplied,
    SettingsRefused,
    SideForked,
    ThreadOpened,
    ThreadOpenFailed,
    TurnRejected,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    ApplySettings,
    CancelTurn,
    ChildCommand,
    CloseThread,
    ConnectionCommand,
    Diagnostic,
    DropChild,
    EndBackground,
    ForChild,
    GiveUp,
    GuideTurn,
    HandshakeDone,
    Inquire,
    Learned,
    OpenSide,
    OpenThread,
    Outputs,
    ReconcileTurn,
    RefuseAsk,
    Scope,
    StartTimer,
    StartTurn,
    StopTimer,
)
from runtime.providers.side_words import BOUNDARY, side_rules
from store.canonical.common import Json, Settings, TurnError

AGENT_NAME: Final = "Claude Code"
NOT_THE_FORK_TEXT: Final = "Claude Code works on another conversation than the fork that was asked for."
NOT_ATTESTED_TEXT: Final = "This version of Claude Code is not known to do what is needed of it."
_SKIPPED_CODE: Final = "provider.message_skipped"


@attrs.frozen
class HandshakeDeadline:
    """Names the timer of `initialize`."""


class ClaudeAdapter:
    """Implements `ProviderAdapter`."""

    def __init__(self, limits: AdapterLimits, hosted: HostedConversation) -> None:
        self._limits = limits
        self.hosted = hosted
        """What the process was started for."""
        self._reader = FrameReader(limits)
        self._requests = OpenRequests()
        self._questions = SideQuestions(self._requests)
        from_before = hosted.resumes and hosted.fork is None and is_kept(hosted)
        self._reconciling = Reconciling(hosted.session_id if from_before else None)
        self._changes = SettingChanges(self._requests, limits.initialize_timeout_seconds)
        self._attested = Attestation()
        self._held = launched_with(hosted)
        self._conversation: Conversation | None = None
        self._pending: StartTurn | None = None
        """A prompt that waits until what was chosen for it holds."""
        self._pending_cancel = False
        self._facts = ProviderFacts()
        """What was told in the handshake."""
        self._ready = False
        self._closed = False
        self._out = OutputBatch()

    # --- ProviderAdapter --------------------------------------------------------------------------------------

    def begin(self) -> Outputs:
        """Open the handshake."""
        request: dict[str, Json] = {"subtype": "initialize", "hooks": None}
        if self.hosted.fork is not None:
            request["appendSystemPrompt"] = side_rules(self.hosted.fork.instructions)
        self._requests.send(request, self._initialized, self._out)
        self._out.add(StartTimer(HandshakeDeadline(), self._limits.initialize_timeout_seconds))
        return self._out.take()

    def command(self, command: ConnectionCommand) -> Outputs:
        """The scope wants something."""
        if not self._closed and self._questions.has(command.scope):
            self._questions.command(command, self._out)
        elif not self._closed:
            match command:
                case OpenThread():
                    self._open(command)
                case OpenSide():
                    self._open_side(command)
                case StartTurn():
                    self._start_turn(command)
                case ApplySettings():
                    self._apply_settings(command)
                case CancelTurn():
                    self._cancel(command)
                case AnswerInteraction():
                    self._answer(command)
                case RefuseAsk():
                    self._refuse_ask(command)
                case GuideTurn():
                    self._guide(command)
                case ReconcileTurn():
                    self._reconciling.ask(self._conversation, command, self._out)
                case EndBackground():
                    self._out.add(Diagnostic("background.unknown", str(command.scope)))
                case ForChild(_, wanted):
                    self._for_child(wanted)
                case DropChild(root, child_id):
                    self._stop_child(Scope("session", root.workspace_id, child_id))
                case Inquire():
                    self._out.add(Learned(answered(self._facts, command.subjects), command.scope))
                case CloseThread():
                    self._close()
        return self._out.take()

    def receive(self, data: bytes) -> Outputs:
        """Bytes of Claude Code."""
        self._heard(self._reader.receive(data))
        return self._out.take()

    def end_of_input(self) -> Outputs:
        """Claude Code closed its side; a last line without its newline still counts."""
        self._heard(self._reader.end_of_input())
        return self._out.take()

    def written(self, token: object) -> Outputs:
        """An answer is out whole: it is delivered."""
        if isinstance(token, AnswerToken) and self._conversation is not None and not self._closed:
            task = self._conversation.children.of_scope(token.scope)
            asks = self._conversation.asks if task is None else task.asks
            asks.written(token.request_id, self._out)
        return self._out.take()

    def timer(self, token: object) -> Outputs:
        """A deadline passed."""
        if isinstance(token, HandshakeDeadline) and not self._ready:
            self._give_up(provider_error("provider.timeout"))
        elif isinstance(token, ChangesDeadline) and not self._closed:
            self._changes.timed_out(token, self._out)
        return self._out.take()

    def lost(self, error: TurnError) -> Outputs:
        """The process is gone."""
        self._closed = True
        self._out.take()
        for scope in self._questions.lost():
            self._out.deliver(scope, ConnectionLost(error))
        if self._conversation is not None:
            self._out.deliver(self._conversation.scope, ConnectionLost(error))
            self._conversation = None
        return self._out.take()

    # --- the way in -------------------------------------------------------------------------------------------

    def _heard(self, frames: list[Read]) -> None:
        for frame in frames:
            if self._closed:
                return
            match frame:
                case GiveUp(error):
                    self._give_up(error)
                case Diagnostic():
                    self._out.add(frame)
                case Skipped(sizes):
                    self._skipped(sizes)
                case _:
                    self._frame(frame)

    def _frame(self, frame: Members) -> None:
        if not self._ready and frame.get("type") == "result":
            # A process that cannot serve its conversation says so in place of an answer, and ends.
            self._give_up(start_failure(frame))
            return
        subtype = frame.get("subtype") if frame.get("type") == "system" else None
        fork = self.hosted.fork
        if subtype == "init" and fork is not None and frame.get("session_id") != fork.fork_id:
            self._give_up(provider_error("provider.protocol", NOT_THE_FORK_TEXT))
        elif subtype == "control_request_progress":
            self._questions.progressed(frame, self._out)
        elif self._conversation is not None:
            content.take(self._conversation, self._requests, frame, self._out)
        elif frame.get("type") == "control_response":
            self._requests.settle(frame, self._out)
        elif frame.get("type") == "control_request":
            content.refuse_request(frame, self._out)

    def _skipped(self, sizes: str) -> None:
        self._out.add(Diagnostic("line.discarded", sizes))
        turn = self._conversation.running if self._conversation is not None else None
        if self._conversation is not None and turn is not None:
            text = f"A message of Claude Code was too large and was skipped ({sizes})."
            notice = turn.normalizer.notice(_SKIPPED_CODE, "warning", text)
            self._conversation.tell_all(notice, self._out)

    def _give_up(self, error: TurnError) -> None:
        if not self._closed:
            self._closed = True
            self._out.add(GiveUp(error))

    def _initialized(self, answer: ControlAnswer, out: OutputBatch) -> None:
        out.add(StopTimer(HandshakeDeadline()))
        version = text_of(answer.body.get("claude_code_version"))
        self._attested = attest(version)
        if not answer.accepted:
            self._give_up(provider_error("provider.protocol"))
        elif not self._attested.usable:
            self._give_up(provider_error("provider.unavailable", NOT_ATTESTED_TEXT, retryable=False))
        else:
            self._ready = True
            self._held = self._held.heard(None, text_of(answer.body.get("current_permission_mode")))
            self._facts = read_facts(answer.body)
            out.add(HandshakeDone(AGENT_NAME, version))
            if self._facts != ProviderFacts():
                out.add(Learned(self._facts))

    # --- commands ---------------------------------------------------------------------------------------------

    def _open(self, command: OpenThread) -> None:
        wanted = self.hosted.session_id if self.hosted.resumes else None
        if self._conversation is not None or command.provider_session_id != wanted or self.hosted.fork:
            error = runtime_error("internal", "This process was started for another conversation.")
            self._out.deliver(command.scope, ThreadOpenFailed(error))
            return
        self._begin_conversation(command.scope, command.settings)

    def _open_side(self, command: OpenSide) -> None:
        fork, source = self.hosted.fork, self.hosted.session_id
        if Ability.SIDE not in self._attested.abilities:
            refused = ThreadOpenFailed(runtime_error("capability.unsupported"))
            self._out.deliver(command.scope, refused)
        elif fork is None:
            self._questions.open(command, self._conversation, source, self._out)
        elif self._conversation is not None or command.source_session_id != source:
            error = runtime_error("internal", "This process was started for another fork.")
            self._out.deliver(command.scope, ThreadOpenFailed(error))
        else:
            narrowest = launched_with(self.hosted).mode
            self._begin_conversation(command.scope, {**command.settings, "permissionMode": narrowest})

    def _begin_conversation(self, scope: Scope, settings: Settings) -> None:
        self._conversation = conversation = Conversation(scope, self._requests, self._held)
        conversation.usage.whole = not self.hosted.resumes
        if self.hosted.fork is not None:
            conversation.boundary = BOUNDARY
        changes = changes_towards(self._held, settings)
        opened = partial(self._opened, conversation, settings)
        self._changes.make(conversation, changes, opened, self._out)

    def _opened(
        self,
        conversation: Conversation,
        settings: Settings,
        failure: SettingFailure | None,
        out: OutputBatch,
    ) -> None:
        error = failure.error if failure is not None else None
        if error is None and wider(conversation.held.mode, mode_of(settings)):
            error = provider_error("settings.invalid")
        if error is not None:
            conversation.phase = "closed"
            self._conversation = None
            out.deliver(conversation.scope, ThreadOpenFailed(error))
            return
        told, source, fork = conversation.opened(), self.hosted.session_id, self.hosted.fork
        if fork is not None:
            # What it inherited is not repeated, and nothing of it is written: `launching` says so to the process.
            forked = SideForked(fork.fork_id, source, ephemeral=True, shown_turns=0, settings=told)
            out.deliver(conversation.scope, forked)
            return
        capabilities = self._attested.capabilities(kept=is_kept(self.hosted))
        out.deliver(conversation.scope, ThreadOpened(source, self.hosted.resumes, capabilities, told))

    def _start_turn(self, command: StartTurn) -> None:
        conversation = self._conversation
        if conversation is None or conversation.phase != "open":
            self._reject(command, runtime_error("provider.unavailable"))
        elif conversation.turn is not None or self._pending is not None:
            self._reject(command, runtime_error("session.busy"))
        else:
            self._pending, self._pending_cancel = command, False
            settings = command.settings
            changes = changes_towards(conversation.held, settings) if settings is not None else []
            prepared = partial(self._prepared, conversation, command)
            self._changes.make(conversation, changes, prepared, self._out)

    def _prepared(
        self,
        conversation: Conversation,
        command: StartTurn,
        failure: SettingFailure | None,
        out: OutputBatch,
    ) -> None:
        self._pending = None
        conversation.hold(conversation.held, out)
        if failure is not None:
            self._reject(command, failure.error)
            return
        conversation.begin(command, out)
        if self._pending_cancel and conversation.turn is not None:
            conversation.stop(conversation.turn, out)

    def _reject(self, command: StartTurn, error: TurnError) -> None:
        self._out.deliver(command.scope, TurnRejected(command.turn_id, error))

    def _cancel(self, command: CancelTurn) -> None:
        conversation = self._conversation
        if self._pending is not None and self._pending.turn_id == command.turn_id:
            self._pending_cancel = True
            return
        turn = conversation.find(command.turn_id) if conversation is not None else None
        if conversation is None or turn is None:
            # Nothing goes to Claude Code for a turn that is over: it would stop the next one (FC-43).
            self._out.add(Diagnostic("cancel.not_open", str(command.scope)))
        elif not turn.cancel_asked:
            conversation.stop(turn, self._out)

    def _for_child(self, wanted: ChildCommand) -> None:
        """What the session of a sub-agent wants of it."""
        task = self._conversation.children.of_scope(wanted.scope) if self._conversation is not None else None
        if isinstance(wanted, CancelTurn):
            if task is not None and task.turn_id == wanted.turn_id:
                self._stop_child(wanted.scope)
        elif task is None:
            self._out.add(Diagnostic("child.unknown", str(wanted.scope)))
        elif isinstance(wanted, AnswerInteraction):
            task.asks.answer(wanted, self._out)
        else:
            task.asks.refuse(wanted, self._out)

    def _stop_child(self, scope: Scope) -> None:
        """End what it does; one that has ended, or was never told, has nothing to end."""
        task = self._conversation.children.of_scope(scope) if self._conversation is not None else None
        if self._conversation is not None and task is not None:
            self._conversation.children.stop(task, self._out)

    def _refuse_ask(self, command: RefuseAsk) -> None:
        if self._conversation is not None:
            self._conversation.asks.refuse(command, self._out)

    def _answer(self, command: AnswerInteraction) -> None:
        if self._conversation is not None:
            self._conversation.asks.answer(command, self._out)
            return
        error = runtime_error("interaction.not_pending")
        self._out.deliver(command.scope, AnswerFailed(command.turn_id, command.request_id, error))

    def _guide(self, command: GuideTurn) -> None:
        if Ability.GUIDANCE not in self._attested.abilities:
            guidance.refuse(command.scope, command, runtime_error("capability.unsupported"), self._out)
        elif self._conversation is None:
            guidance.refuse(command.scope, command, runtime_error("provider.unavailable"), self._out)
        else:
            guidance.guide(self._conversation, self._requests, command, self._out)

    def _apply_settings(self, command: ApplySettings) -> None:
        conversation = self._conversation
        unknown = next((key for key in command.settings if key not in ("permissionMode", "model")), None)
        if conversation is None or conversation.phase != "open":
            refused = SettingsRefused(command.update_id, runtime_error("provider.unavailable"))
            self._out.deliver(command.scope, refused)
        elif unknown is not None:
            refused = SettingsRefused(command.update_id, provider_error("settings.invalid"), unknown)
            self._out.deliver(command.scope, refused)
        else:
            changes = [
                SettingChange(key, value if isinstance(value, str) else None)
                for key, value in command.settings.items()
            ]
            applied = partial(self._applied, conversation, command)
            self._changes.make(conversation, changes, applied, self._out)

    def _applied(
        self,
        conversation: Conversation,
        command: ApplySettings,
        failure: SettingFailure | None,
        out: OutputBatch,
    ) -> None:
        told = conversation.settings_now_told()
        if failure is None:
            out.deliver(command.scope, SettingsApplied(command.update_id, told))
        else:
            refused = SettingsRefused(command.update_id, failure.error, failure.key or None, told)
            out.deliver(command.scope, refused)

    def _close(self) -> None:
        conversation, self._conversation, self._pending = self._conversation, None, None
        self._changes.forget(self._out)
        if conversation is not None:
            self._held = conversation.held
            conversation.closed(self._out)
