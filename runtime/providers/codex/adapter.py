"""The Codex adapter: one app-server, any number of threads on it, bytes and commands in, outputs out.

Owns the handshake and the way of every command to its thread; frames find theirs through `inbound`. Frames are taken
strictly in wire order, so a turn's end never overtakes its last words. Nothing Codex sends raises.
"""

from functools import partial

import attrs

from runtime.providers.codex.asks import AnswerToken
from runtime.providers.codex.attestation import Ability, Attestation, attest, listed_methods
from runtime.providers.codex.child_threads import ChildThreads
from runtime.providers.codex.conversation import Conversation
from runtime.providers.codex.directory import ThreadDirectory
from runtime.providers.codex.failures import provider_error, runtime_error
from runtime.providers.codex.handshake import (
    AGENT_NAME,
    FIRST_REQUEST,
    METHODS_REQUEST,
    initialize_params,
    read_version,
)
from runtime.providers.codex.inbound import Inbound
from runtime.providers.codex.inquiries import Inquiry
from runtime.providers.codex.opening import OpenDeadline, Opening
from runtime.providers.codex.reconcile import reconcile
from runtime.providers.codex.settings import ThreadSettings, turn_params, wanted_settings
from runtime.providers.codex.side_forks import SideForks
from runtime.providers.codex.thread_calls import ThreadCalls
from runtime.providers.codex.turns import PendingStart
from runtime.providers.jsonrpc.calls import Answer, OpenCalls
from runtime.providers.jsonrpc.peer import ErrorResponse, JsonRpcPeer
from runtime.providers.normalized import (
    AnswerFailed,
    ConnectionLost,
    GuideAccepted,
    GuideRefused,
    SettingsRefused,
    ThreadOpenFailed,
    TurnReconciled,
    TurnRejected,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    ApplySettings,
    CancelTurn,
    CloseThread,
    ConnectionCommand,
    Diagnostic,
    DropChild,
    EndBackground,
    ForChild,
    GuideTurn,
    HandshakeDone,
    Inquire,
    OpenSide,
    OpenThread,
    Outputs,
    ReconcileTurn,
    RefuseAsk,
    Scope,
    StartTimer,
    StartTurn,
    StopTimer,
    Write,
)
from runtime.providers.programs import ProgramReport
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId


@attrs.frozen
class HandshakeDeadline:
    """Names the timer of the handshake."""


NOT_ATTESTED_TEXT = "This version of Codex does not show that it can do what is needed of it."


class CodexAdapter:
    """Implements `ProviderAdapter`."""

    def __init__(
        self, limits: AdapterLimits, client_version: str = "0", report: ProgramReport | None = None
    ) -> None:
        self._limits = limits
        self._client_version = client_version
        self._report = report or ProgramReport()
        self._attested = Attestation()
        self._peer = JsonRpcPeer(limits.max_provider_noise_bytes, version_member=False)
        self._calls = OpenCalls(self._peer)
        self._thread_calls = ThreadCalls(self._calls)
        self._directory = ThreadDirectory()
        self._openings: dict[Scope, Opening] = {}
        self._forks = SideForks(self._calls, self._thread_calls, self._peer, self._directory)
        self._ready = False
        self._out = OutputBatch()
        self._children = ChildThreads(self._peer, self._thread_calls, self._directory)
        self._inbound = Inbound(limits, self._peer, self._calls, self._directory, self._children, self._out)

    # --- ProviderAdapter --------------------------------------------------------------------------------------

    def begin(self) -> Outputs:
        """Open the handshake."""
        self._calls.send("initialize", initialize_params(self._client_version), self._initialized, self._out)
        self._out.add(StartTimer(HandshakeDeadline(), self._limits.initialize_timeout_seconds))
        return self._out.take()

    def command(self, command: ConnectionCommand) -> Outputs:
        """A scope wants something."""
        if not self._inbound.closed:
            match command:
                case OpenThread():
                    self._open(command)
                case OpenSide():
                    self._forks.open(command, self._out)
                case StartTurn():
                    self._start_turn(command)
                case ApplySettings():
                    self._refuse_settings(command)
                case CancelTurn():
                    self._cancel(command)
                case AnswerInteraction():
                    self._answer(command)
                case RefuseAsk():
                    self._refuse_ask(command)
                case GuideTurn():
                    self._guide(command)
                case ReconcileTurn():
                    self._reconcile(command)
                case EndBackground():
                    self._end_background(command)
                case ForChild(_, wanted):
                    return self.command(wanted)  # a conversation like any other
                case DropChild(root, child_id):
                    self._children.drop(root, child_id, self._out)
                case Inquire():
                    Inquiry(command, self._calls).begin(self._out)
                case CloseThread():
                    self._close(command)
        return self._out.take()

    def receive(self, data: bytes) -> Outputs:
        """Bytes of Codex."""
        self._inbound.receive(data)
        return self._out.take()

    def end_of_input(self) -> Outputs:
        """Codex closed its side; a last line without its newline still counts."""
        self._inbound.end_of_input()
        return self._out.take()

    def written(self, token: object) -> Outputs:
        """An answer is out whole. A prompt is not accepted by that: Codex says so itself."""
        if isinstance(token, AnswerToken) and not self._inbound.closed:
            conversation = self._directory.of_scope(token.scope)
            if conversation is not None:
                conversation.written(token, self._out)
        return self._out.take()

    def timer(self, token: object) -> Outputs:
        """A deadline passed."""
        if isinstance(token, HandshakeDeadline) and not self._ready and not self._inbound.closed:
            self._inbound.give_up(provider_error("provider.timeout"))
        elif isinstance(token, OpenDeadline) and not self._inbound.closed and token.scope in self._openings:
            self._openings[token.scope].timed_out(self._out)
        return self._out.take()

    def lost(self, error: TurnError) -> Outputs:
        """The connection is gone, for every thread on it at once."""
        self._inbound.closed = True
        self._out.take()
        for conversation in self._directory:
            if conversation.scope not in self._children:  # a root tells its own
                self._out.deliver(conversation.scope, ConnectionLost(error))
            self._directory.remove(conversation)
        return self._out.take()

    # --- commands ---------------------------------------------------------------------------------------------

    def _open(self, command: OpenThread) -> None:
        if self._directory.of_scope(command.scope) is not None:
            error = runtime_error("provider.rejected", "The conversation is already open or opening.")
            self._out.deliver(command.scope, ThreadOpenFailed(error))
            return
        conversation = Conversation(command.scope, self._peer, self._thread_calls, self._directory.remove)
        conversation.on_child = self._children.began
        self._directory.add(conversation)
        opening = Opening(
            command,
            conversation,
            self._calls,
            self._peer,
            self._directory,
            self._limits.initialize_timeout_seconds,
            self._attested.capabilities(),
        )
        self._openings = {scope: each for scope, each in self._openings.items() if not each.over}
        self._openings[command.scope] = opening
        opening.begin(self._out)

    def _start_turn(self, command: StartTurn) -> None:
        conversation = self._directory.of_scope(command.scope)
        if conversation is None or conversation.phase != "open":
            error = runtime_error("provider.unavailable")
            self._out.deliver(command.scope, TurnRejected(command.turn_id, error))
        elif conversation.turn is not None or conversation.pending is not None:
            # Codex takes a second prompt for a steer of the first, without a word (FC-28).
            self._out.deliver(command.scope, TurnRejected(command.turn_id, runtime_error("session.busy")))
        else:
            settings = command.settings
            wanted = wanted_settings(settings) if settings is not None else conversation.held
            if not isinstance(wanted, TurnError) and not self._can_change(conversation.held, wanted):
                wanted = runtime_error("capability.unsupported")
            if isinstance(wanted, TurnError):
                self._out.deliver(command.scope, TurnRejected(command.turn_id, wanted))
                return
            conversation.pending = PendingStart(command, wanted)
            if not conversation.busy_elsewhere:
                self._thread_calls.start(conversation, conversation.pending, self._out)

    def _can_change(self, held: ThreadSettings, wanted: ThreadSettings) -> bool:
        return Ability.TURN_SETTINGS in self._attested.abilities or not turn_params(held, wanted)

    def _cancel(self, command: CancelTurn) -> None:
        conversation = self._directory.of_scope(command.scope)
        pending = conversation.pending if conversation is not None else None
        turn = conversation.turn if conversation is not None else None
        if conversation is not None and pending is not None and pending.command.turn_id == command.turn_id:
            conversation.stop_pending(pending, self._out)
        elif conversation is None or turn is None or turn.turn_id != command.turn_id:
            # Nothing goes to Codex for a turn that is over: it would stop the next one (FC-43, RT-007).
            self._out.add(Diagnostic("cancel.not_open", str(command.scope)))
        elif not turn.cancel_asked:
            conversation.stop(turn, self._out)

    def _refuse_ask(self, command: RefuseAsk) -> None:
        conversation = self._directory.of_scope(command.scope)
        if conversation is not None:
            conversation.asks.refuse(command, self._out)

    def _answer(self, command: AnswerInteraction) -> None:
        conversation = self._directory.of_scope(command.scope)
        if conversation is not None:
            conversation.asks.answer(command, self._out)
            return
        error = runtime_error("interaction.not_pending")
        self._out.deliver(command.scope, AnswerFailed(command.turn_id, command.request_id, error))

    def _guide(self, command: GuideTurn) -> None:
        conversation = self._directory.of_scope(command.scope)
        turn = conversation.turn if conversation is not None else None
        pending = conversation.pending if conversation is not None else None
        coming = pending is not None and pending.command.turn_id == command.turn_id
        if conversation is not None and pending is None and self._goes_on(conversation, command.turn_id):
            self._continue(conversation, command)
            return
        if conversation is None or turn is None or turn.turn_id != command.turn_id or turn.cancel_asked:
            # Told from our own books, without a call: a wrong turn would be steered otherwise (RT-079).
            taken_later = coming or (turn is not None and turn.turn_id == command.turn_id)
            error = runtime_error("turn.mismatch" if taken_later else "turn.settled")
            self._out.deliver(command.scope, GuideRefused(command.turn_id, command.guide_id, error))
            return
        if Ability.GUIDANCE not in self._attested.abilities:
            error = runtime_error("capability.unsupported")
            self._out.deliver(command.scope, GuideRefused(command.turn_id, command.guide_id, error))
            return
        steered = partial(self._guided, command)
        self._thread_calls.steer(conversation, turn, command.content, command.guide_id, steered, self._out)

    def _goes_on(self, conversation: Conversation, turn_id: TurnId) -> bool:
        """Whether this turn's response has ended while its sub-agents still work (PR-013)."""
        return (
            conversation.phase == "open"
            and conversation.turn is None
            and conversation.ended_last == turn_id
            and self._children.works_for(conversation.scope)
        )

    def _continue(self, conversation: Conversation, command: GuideTurn) -> None:
        start = StartTurn(command.scope, command.turn_id, command.content)
        conversation.pending = PendingStart(start, conversation.held, command.guide_id)
        self._thread_calls.start(conversation, conversation.pending, self._out)

    def _guided(self, command: GuideTurn, error: TurnError | None, out: OutputBatch) -> None:
        if self._directory.of_scope(command.scope) is None:
            out.add(Diagnostic("guide.after_close", str(command.scope)))
        elif error is None:
            out.deliver(command.scope, GuideAccepted(command.turn_id, command.guide_id))
        else:
            out.deliver(command.scope, GuideRefused(command.turn_id, command.guide_id, error))

    def _refuse_settings(self, command: ApplySettings) -> None:
        """No setting of Codex changes at once: each is sent with the next turn."""
        error = runtime_error("capability.unsupported", "This agent changes its settings between turns.")
        self._out.deliver(command.scope, SettingsRefused(command.update_id, error))

    def _reconcile(self, command: ReconcileTurn) -> None:
        conversation = self._directory.of_scope(command.scope)
        if conversation is None or conversation.phase != "open":
            unknown = TurnReconciled(command.turn_id, "unknown", command.provider_turn_id)
            self._out.deliver(command.scope, unknown)
            return
        reconcile(conversation, command.turn_id, command.provider_turn_id, self._out, answered=True)

    def _end_background(self, command: EndBackground) -> None:
        conversation = self._directory.of_scope(command.scope)
        if conversation is not None and conversation.phase == "open":
            conversation.end_background(command.turn_id, self._out)

    def _close(self, command: CloseThread) -> None:
        conversation = self._directory.of_scope(command.scope)
        self._children.leave(command.scope, self._out)
        opening = self._openings.pop(command.scope, None)
        if conversation is None or self._forks.leave(command.scope, self._out):
            return
        if opening is not None and not opening.over:
            opening.leave(self._out)
            return
        conversation.closed(self._out)
        self._directory.remove(conversation)

    # --- the handshake ----------------------------------------------------------------------------------------

    def _initialized(self, answer: Answer, out: OutputBatch) -> None:
        if isinstance(answer, ErrorResponse):
            out.add(StopTimer(HandshakeDeadline()))
            self._inbound.give_up(provider_error("provider.protocol"))
            return
        version = read_version(answer.result)
        if version is None:
            out.add(Diagnostic("agent.version_unknown", "no version in userAgent"))
        out.add(Write(self._peer.notify("initialized", {})))
        # A file that was replaced since is another program: what its documents said is nobody's any more.
        facts = self._report.facts if version is not None and self._report.version == version else None
        attested = attest(version, facts)
        if attested.basis == "nothing":
            self._calls.send(METHODS_REQUEST, {}, partial(self._methods_listed, version), out)
        else:
            self._attest(attested, version, out)

    def _methods_listed(self, version: str | None, answer: Answer, out: OutputBatch) -> None:
        listed = listed_methods(answer.message) if isinstance(answer, ErrorResponse) else frozenset()
        self._attest(attest(version, None, listed), version, out)

    def _attest(self, attested: Attestation, version: str | None, out: OutputBatch) -> None:
        self._attested = attested
        self._thread_calls.abilities = attested.abilities
        if attested.basis != "tested":
            out.add(Diagnostic("agent.not_tested", f"{version}: by {attested.basis}"))
        if attested.usable:
            self._calls.send(FIRST_REQUEST, {}, partial(self._begun, version), out)
        else:
            out.add(StopTimer(HandshakeDeadline()))
            self._inbound.give_up(provider_error("provider.unavailable", NOT_ATTESTED_TEXT, retryable=False))

    def _begun(self, version: str | None, answer: Answer, out: OutputBatch) -> None:
        """Whatever the answer is: what Codex had to say of its start has been said before it."""
        self._ready = True
        out.add(StopTimer(HandshakeDeadline()))
        out.add(HandshakeDone(AGENT_NAME, version))
