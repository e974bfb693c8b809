"""One attempt to open a conversation: new, resumed or loaded, then its settings one by one.

Owns the order of those requests, their deadline and the undo. `session/resume` is preferred to `session/load`; what
an agent replays while it loads is no new output (FC-26). A setting that was asked for and is refused fails the
attempt, since going on with another model or mode would be a silent change.
"""

import attrs

from runtime.providers.acp.conversation import Conversation
from runtime.providers.acp.directory import SessionDirectory
from runtime.providers.acp.failures import open_failure_of, provider_error, runtime_error
from runtime.providers.acp.negotiation import AgentFacts, open_params
from runtime.providers.acp.offers import offered_models
from runtime.providers.acp.setting_steps import SettingFailure, SettingSteps
from runtime.providers.catalogue import ProviderFacts
from runtime.providers.jsonrpc.calls import Answer, OpenCalls, ignore_answer
from runtime.providers.jsonrpc.members import object_of, text_of
from runtime.providers.jsonrpc.peer import METHOD_NOT_FOUND, ErrorResponse
from runtime.providers.normalized import ThreadOpened, ThreadOpenFailed
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Learned, OpenThread, Scope, StartTimer, StopTimer
from store.canonical.common import TurnError

REPLAY_EXTENSIONS_MAX = 4
"""How often the deadline is given again because a long history kept coming."""


@attrs.frozen
class OpenDeadline:
    """Names the timer of an attempt."""

    scope: Scope


class Opening:
    """An attempt in the making; `over` once it has opened, failed or been left."""

    def __init__(
        self,
        command: OpenThread,
        conversation: Conversation,
        facts: AgentFacts,
        calls: OpenCalls,
        directory: SessionDirectory,
        seconds: float,
    ) -> None:
        self.over = False
        self._command = command
        self._conversation = conversation
        self._facts = facts
        self._calls = calls
        self._directory = directory
        self._seconds = seconds
        self._deadline = OpenDeadline(command.scope)
        self._steps: SettingSteps | None = None
        self._method = "session/new"
        self._answered_once = False
        self._extensions = 0
        self._signs_seen = 0

    def begin(self, out: OutputBatch) -> None:
        """Send the first request."""
        wanted = self._command.provider_session_id
        if wanted is None:
            self._directory.expect_new()
        elif not (self._facts.can_resume or self._facts.can_load):
            self._fail(provider_error("session.not_resumable"), True, out)
            return
        elif not self._directory.bind(wanted, self._conversation):
            # Two users of one conversation lose each other's turns (FC-52).
            text = "This conversation is already open on this connection."
            self._fail(runtime_error("provider.rejected", text), False, out)
            return
        else:
            self._method = "session/resume" if self._facts.can_resume else "session/load"
        out.add(StartTimer(self._deadline, self._seconds))
        self._send_open(out)

    def leave(self, out: OutputBatch) -> None:
        """The scope does not want it any more."""
        self._undo(out)

    def timed_out(self, out: OutputBatch) -> None:
        """The deadline passed; while a history keeps coming it is given again, a few times."""
        if self.over:
            return
        signs = self._conversation.signs_of_life
        if signs > self._signs_seen and self._extensions < REPLAY_EXTENSIONS_MAX:
            self._extensions += 1
            self._signs_seen = signs
            out.add(StartTimer(self._deadline, self._seconds))
            return
        self._fail(provider_error("provider.timeout"), False, out)

    def _send_open(self, out: OutputBatch) -> None:
        params = open_params(self._command.cwd, self._command.provider_session_id)
        self._calls.send(self._method, params, self._opened, out)

    def _opened(self, answer: Answer, out: OutputBatch) -> None:
        self._answered_once = True
        resuming = self._command.provider_session_id is not None
        if isinstance(answer, ErrorResponse):
            if not resuming:
                self._directory.expected_came()
            if self.over:
                return
            if self._method == "session/resume" and answer.code == METHOD_NOT_FOUND and self._facts.can_load:
                self._method = "session/load"
                self._send_open(out)
                return
            error, gone = open_failure_of(answer, resuming)
            self._fail(error, gone, out)
            return
        session_id = text_of(object_of(answer.result).get("sessionId")) or self._command.provider_session_id
        early = self._directory.claim_early(session_id) if session_id and not resuming else []
        if not resuming:
            self._directory.expected_came()
        if self.over:
            # Nobody waits for it any more, and the agent holds a session for nobody.
            self._close_on_wire(session_id, out)
            return
        if session_id is None or not self._directory.bind(session_id, self._conversation):
            self._fail(provider_error("provider.protocol"), False, out)
            return
        for update in early:
            self._conversation.update(update, out)
        models = offered_models(answer.result, is_new=not resuming)
        if models:
            out.add(Learned(ProviderFacts(models=models)))
        settings = self._conversation.settings
        settings.report(answer.result)
        settings.begin()
        wanted = settings.in_order(self._command.settings)
        self._steps = SettingSteps(self._conversation, self._calls, wanted, self._settled)
        self._steps.next(out)

    def _settled(self, failure: SettingFailure | None, out: OutputBatch) -> None:
        if failure is not None:
            self._fail(failure.error, False, out)
            return
        self.over = True
        out.add(StopTimer(self._deadline))
        assert self._conversation.session_id is not None
        opened = ThreadOpened(
            self._conversation.session_id,
            resumed=self._command.provider_session_id is not None,
            capabilities=self._facts.session_capabilities(),
            settings=self._conversation.settings.current(),
        )
        out.deliver(self._command.scope, opened)
        self._conversation.opened(out)

    def _fail(self, error: TurnError, gone: bool, out: OutputBatch) -> None:
        self._undo(out)
        out.deliver(self._command.scope, ThreadOpenFailed(error, not_resumable=gone))

    def _undo(self, out: OutputBatch) -> None:
        self.over = True
        if self._steps is not None:
            self._steps.leave()
        out.add(StopTimer(self._deadline))
        self._directory.remove(self._conversation)
        if self._answered_once:
            self._close_on_wire(self._conversation.session_id, out)

    def _close_on_wire(self, session_id: str | None, out: OutputBatch) -> None:
        taken = session_id is not None and self._directory.of_session(session_id) is not None
        if session_id is not None and not taken and self._facts.can_close:
            self._calls.send("session/close", {"sessionId": session_id}, ignore_answer, out)
