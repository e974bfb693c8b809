"""The ACP adapter: one connection to one agent, any number of conversations on it, bytes and commands in, outputs out.

Owns the handshake and the way of every frame and command to its conversation; what is decided there is decided in
`conversation`, `opening` and `asks`. Frames are taken strictly in wire order, answers included, so a turn's end
never overtakes its last words. Nothing an agent sends raises.
"""

from collections.abc import Mapping
from functools import partial

import attrs

from runtime.providers.acp.asks import AnswerToken
from runtime.providers.acp.conversation import Conversation, PromptToken
from runtime.providers.acp.directory import SessionDirectory
from runtime.providers.acp.failures import (
    REQUEST_CANCELLED,
    Ending,
    ending_of,
    failure_of,
    provider_error,
    runtime_error,
)
from runtime.providers.acp.inbound import Inbound
from runtime.providers.acp.negotiation import (
    AgentFacts,
    initialize_params,
    prompt_params,
    read_initialize,
    read_prompt_result,
)
from runtime.providers.acp.offers import inquiry_answer
from runtime.providers.acp.opening import OpenDeadline, Opening
from runtime.providers.acp.preparing import PreparedTurns, SettingsDeadline
from runtime.providers.acp.rest import Rest, RestOver
from runtime.providers.catalogue import NOTHING_TOLD, CatalogueAbilities
from runtime.providers.hosting import HostedConversation
from runtime.providers.jsonrpc.calls import Answer, OpenCalls, ignore_answer
from runtime.providers.jsonrpc.peer import ErrorResponse, JsonRpcPeer, Response
from runtime.providers.normalized import (
    AnswerFailed,
    ConnectionLost,
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
    ImageData,
    Inquire,
    Learned,
    OpenSide,
    OpenThread,
    Outputs,
    ReconcileTurn,
    RefuseAsk,
    Scope,
    SettingDescription,
    StartTimer,
    StartTurn,
    StopTimer,
    Write,
)
from runtime.providers.programs import ProgramReport
from runtime.providers.side_facts import SideFacts
from store.canonical.common import Json, TurnError
from store.canonical.identifiers import TurnId


@attrs.frozen
class HandshakeDeadline:
    """Names the timer of `initialize`."""


class AcpAdapter:
    """Implements `ProviderAdapter`."""

    def __init__(self, limits: AdapterLimits, client_version: str = "0") -> None:
        self._limits = limits
        self._client_version = client_version
        self._peer = JsonRpcPeer(limits.max_provider_noise_bytes)
        self._calls = OpenCalls(self._peer)
        self._directory = SessionDirectory()
        self._openings: dict[Scope, Opening] = {}
        self._prepared = PreparedTurns(self._calls, limits.initialize_timeout_seconds, self._send_prompt)
        self._facts = AgentFacts()
        self._ready = False
        self._out = OutputBatch()
        self._inbound = Inbound(limits, self._peer, self._calls, self._directory, self._out)

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
                    # The protocol has no fork that is hidden, ephemeral and bounded.
                    error = runtime_error("capability.unsupported")
                    self._out.deliver(command.scope, ThreadOpenFailed(error))
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
                    self._refuse_guidance(command)
                case ReconcileTurn():
                    # The protocol has no word by which to ask for a turn.
                    self._out.deliver(command.scope, TurnReconciled(command.turn_id, "unknown"))
                case ForChild() | DropChild() | EndBackground():
                    # The protocol shows neither sub-agents nor what goes on after a turn (RT-133).
                    self._out.add(Diagnostic("child.unknown", str(command.scope)))
                case Inquire():
                    self._out.add(Learned(inquiry_answer(command.subjects), command.scope))
                case CloseThread():
                    self._close(command)
        return self._out.take()

    def receive(self, data: bytes) -> Outputs:
        """Bytes of the agent."""
        self._inbound.receive(data)
        return self._out.take()

    def end_of_input(self) -> Outputs:
        """The agent closed its side; a last line without its newline still counts."""
        self._inbound.end_of_input()
        return self._out.take()

    def written(self, token: object) -> Outputs:
        """A frame is out whole: a prompt is accepted, an answer delivered."""
        if isinstance(token, PromptToken | AnswerToken) and not self._inbound.closed:
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
        elif isinstance(token, RestOver) and not self._inbound.closed:
            self._rested(token.scope)
        elif isinstance(token, SettingsDeadline) and not self._inbound.closed:
            self._prepared.timed_out(token.scope, self._out)
        return self._out.take()

    def lost(self, error: TurnError) -> Outputs:
        """The connection is gone, for every conversation on it at once."""
        self._inbound.closed = True
        self._out.take()
        for conversation in self._directory:
            self._out.deliver(conversation.scope, ConnectionLost(error))
            self._directory.remove(conversation)
        return self._out.take()

    # --- commands ---------------------------------------------------------------------------------------------

    def _open(self, command: OpenThread) -> None:
        if self._directory.of_scope(command.scope) is not None:
            error = runtime_error("internal", "The conversation is already open or opening.")
            self._out.deliver(command.scope, ThreadOpenFailed(error))
            return
        conversation = Conversation(command.scope, self._peer)
        self._directory.add(conversation)
        opening = Opening(
            command,
            conversation,
            self._facts,
            self._calls,
            self._directory,
            self._limits.initialize_timeout_seconds,
        )
        self._openings = {scope: each for scope, each in self._openings.items() if not each.over}
        self._openings[command.scope] = opening
        opening.begin(self._out)

    def _start_turn(self, command: StartTurn) -> None:
        conversation = self._directory.of_scope(command.scope)
        if conversation is None or conversation.phase != "open" or conversation.session_id is None:
            self._reject(command, runtime_error("provider.unavailable"))
        elif conversation.turn or conversation.rest.waiting or conversation.scope in self._prepared:
            # Agents queue, merge, fail or lose a second prompt: there is never one (wire order has no turn id).
            self._reject(command, runtime_error("session.busy"))
        elif not self._facts.takes_images and any(isinstance(b, ImageData) for b in command.content):
            self._reject(command, runtime_error("attachment.unsupported"))
        elif conversation.rest.active:
            conversation.rest.waiting = command
        else:
            self._prepared.begin(conversation, command, self._out)

    def _send_prompt(self, conversation: Conversation, command: StartTurn, cancel_asked: bool) -> None:
        assert conversation.session_id is not None
        conversation.begin(command.turn_id)
        self._calls.send(
            "session/prompt",
            prompt_params(conversation.session_id, command.content),
            partial(self._prompt_answered, conversation, command.turn_id),
            self._out,
            PromptToken(command.scope, command.turn_id),
        )
        if cancel_asked:
            self._cancel(CancelTurn(command.scope, command.turn_id))

    def _rest(self, conversation: Conversation) -> None:
        seconds = self._facts.quirks.rest_after_failure_seconds
        if seconds > 0:
            conversation.rest.active = True
            self._out.add(StartTimer(RestOver(conversation.scope), seconds))

    def _rested(self, scope: Scope) -> None:
        conversation = self._directory.of_scope(scope)
        if conversation is None or conversation.session_id is None:
            return
        rest, conversation.rest = conversation.rest, Rest()
        if rest.waiting is not None:
            self._prepared.begin(conversation, rest.waiting, self._out)
            if rest.cancel_asked:
                self._cancel(CancelTurn(scope, rest.waiting.turn_id))

    def _reject(self, command: StartTurn, error: TurnError) -> None:
        self._out.deliver(command.scope, TurnRejected(command.turn_id, error))

    def _cancel(self, command: CancelTurn) -> None:
        conversation = self._directory.of_scope(command.scope)
        if conversation is not None and conversation.rest.cancel(command.turn_id):
            return
        if self._prepared.cancel(command.scope, command.turn_id):
            return
        turn = conversation.turn if conversation is not None else None
        if conversation is None or turn is None or turn.turn_id != command.turn_id:
            # Nothing goes to the agent for a turn that is over: it would stop the next one (FC-43).
            self._out.add(Diagnostic("cancel.not_open", str(command.scope)))
        elif not turn.cancel_asked:
            turn.cancel_asked = True
            params: Json = {"sessionId": conversation.session_id}
            self._out.add(Write(self._peer.notify("session/cancel", params)))
            conversation.asks.withdraw_all(self._out)

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

    def _apply_settings(self, command: ApplySettings) -> None:
        conversation = self._directory.of_scope(command.scope)
        if conversation is None or conversation.phase != "open":
            refused = SettingsRefused(command.update_id, runtime_error("provider.unavailable"))
            self._out.deliver(command.scope, refused)
            return
        self._prepared.apply(conversation, command, self._out)

    def _refuse_guidance(self, command: GuideTurn) -> None:
        error = runtime_error("capability.unsupported", "This agent takes no guidance within a turn.")
        self._out.deliver(command.scope, GuideRefused(command.turn_id, command.guide_id, error))

    def _close(self, command: CloseThread) -> None:
        conversation = self._directory.of_scope(command.scope)
        opening = self._openings.pop(command.scope, None)
        if conversation is None:
            return
        if opening is not None and not opening.over:
            opening.leave(self._out)
            return
        params: Json = {"sessionId": conversation.session_id}
        if conversation.turn is not None and not conversation.turn.cancel_asked:
            self._out.add(Write(self._peer.notify("session/cancel", params)))
        if conversation.rest.active:
            self._out.add(StopTimer(RestOver(command.scope)))
        self._prepared.leave(command.scope, self._out)
        conversation.closed(self._out)
        self._directory.remove(conversation)
        if self._facts.can_close:
            self._calls.send("session/close", params, ignore_answer, self._out)

    # --- answers ----------------------------------------------------------------------------------------------

    def _initialized(self, answer: Answer, out: OutputBatch) -> None:
        out.add(StopTimer(HandshakeDeadline()))
        if isinstance(answer, ErrorResponse):
            failure = failure_of(answer)
            signed_out = failure.code == "provider.auth_required"
            self._inbound.give_up(failure if signed_out else provider_error("provider.protocol"))
            return
        self._facts = read_initialize(answer.result)
        if self._facts.speaks_our_version:
            self._ready = True
            out.add(HandshakeDone(self._facts.name, self._facts.version))
        else:
            text = "The agent does not speak version 1 of the Agent Client Protocol."
            self._inbound.give_up(provider_error("provider.protocol", text))

    def _prompt_answered(
        self, conversation: Conversation, turn_id: TurnId, answer: Answer, out: OutputBatch
    ) -> None:
        turn = conversation.turn
        if turn is None or turn.turn_id != turn_id:
            out.add(Diagnostic("answer.after_close", str(conversation.scope)))
            return
        if isinstance(answer, Response):
            result = read_prompt_result(answer.result)
            conversation.ended(ending_of(result.stop_reason), result.usage, out)
            return
        self._rest(conversation)
        if turn.cancel_asked or answer.code == REQUEST_CANCELLED:
            # Some agents answer a cancelled prompt with the error of their aborted model call.
            conversation.ended(Ending("canceled"), None, out)
        elif turn.heard:
            conversation.ended(Ending("failed", error=failure_of(answer)), None, out)
        else:
            conversation.rejected(failure_of(answer), out)


@attrs.frozen
class AcpDescriptor:
    """The ACP family as the registry knows it; implements `ProviderDescriptor`."""

    client_version: str = "0"
    """Our version, as agents are told it."""
    key: str = "acp"
    sessions_per_connection: int = 1
    launch_arguments: tuple[str, ...] = ()
    side: SideFacts = attrs.field(default=SideFacts())
    side_unkept: SideFacts = attrs.field(default=SideFacts())
    launch_environment: Mapping[str, str] = attrs.field(factory=dict)
    conversation_launch: None = None
    settings: tuple[SettingDescription, ...] = (
        SettingDescription("model", "next_turn"),
        SettingDescription("mode", "now"),
        SettingDescription("reasoningEffort", "next_turn"),
    )

    listens: bool = False
    catalogue: CatalogueAbilities = NOTHING_TOLD
    examination: None = None

    def adapter(
        self,
        limits: AdapterLimits,
        report: ProgramReport | None = None,
        conversation: HostedConversation | None = None,
    ) -> AcpAdapter:
        """A fresh adapter for a fresh connection. An agent says itself what it can, in its handshake."""
        return AcpAdapter(limits, self.client_version)
