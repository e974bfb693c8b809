"""One attempt to open a thread: started or resumed, with every setting said and verified.

Owns the request, its deadline and the undo. A thread whose answer allows more than was asked is left again before
anybody could use it. A rollout that is gone is said once and not tried again (FC-07).
"""

import attrs

from runtime.providers.codex.asking import refuse
from runtime.providers.codex.conversation import Conversation
from runtime.providers.codex.directory import ThreadDirectory
from runtime.providers.codex.failures import open_failure, provider_error, runtime_error
from runtime.providers.codex.settings import ThreadSettings, open_params, verified_settings, wanted_settings
from runtime.providers.codex.turns import Frame
from runtime.providers.jsonrpc.calls import Answer, OpenCalls
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.jsonrpc.peer import ErrorResponse, JsonRpcPeer, Request
from runtime.providers.normalized import ThreadOpened, ThreadOpenFailed
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Diagnostic, OpenThread, Scope, StartTimer, StopTimer
from store.canonical.common import TurnError
from store.canonical.session import SessionCapabilities


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
        calls: OpenCalls,
        peer: JsonRpcPeer,
        directory: ThreadDirectory,
        seconds: float,
        capabilities: SessionCapabilities,
    ) -> None:
        self.over = False
        self._command = command
        self._conversation = conversation
        self._calls = calls
        self._peer = peer
        self._directory = directory
        self._seconds = seconds
        self._capabilities = capabilities
        self._deadline = OpenDeadline(command.scope)
        self._wanted = ThreadSettings()

    def begin(self, out: OutputBatch) -> None:
        """Send the request."""
        wanted = wanted_settings(self._command.settings)
        thread_id = self._command.provider_session_id
        if isinstance(wanted, TurnError):
            self._fail(wanted, False, out)
            return
        if thread_id is None:
            self._directory.expect_new()
        elif not self._directory.bind(thread_id, self._conversation):
            # Two users of one conversation lose each other's turns (FC-52).
            text = "This conversation is already open on this connection."
            self._fail(runtime_error("provider.rejected", text), False, out)
            return
        self._wanted = wanted
        method = "thread/start" if thread_id is None else "thread/resume"
        out.add(StartTimer(self._deadline, self._seconds))
        self._calls.send(method, open_params(self._command.cwd, wanted, thread_id), self._answered, out)

    def leave(self, out: OutputBatch) -> None:
        """The scope does not want it any more."""
        self._undo(out)

    def timed_out(self, out: OutputBatch) -> None:
        """The deadline passed."""
        if not self.over:
            self._fail(provider_error("provider.timeout"), False, out)

    def _answered(self, answer: Answer, out: OutputBatch) -> None:
        resuming = self._command.provider_session_id is not None
        result = object_of(answer.result) if not isinstance(answer, ErrorResponse) else {}
        thread_id = text_of(object_of(result.get("thread")).get("id"))
        early = self._directory.claim_early(thread_id) if thread_id is not None and not resuming else []
        if not resuming:
            self._drop(self._directory.expected_came(), out)
        if self.over:
            # Nobody waits for it any more, and Codex would go on telling of it.
            self._drop(early, out)
            self._leave_on_wire(thread_id, out)
        elif isinstance(answer, ErrorResponse):
            error, gone = open_failure(answer, resuming)
            self._fail(error, gone, out)
        elif thread_id is None or not self._directory.bind(thread_id, self._conversation):
            self._drop(early, out)
            self._fail(provider_error("provider.protocol"), False, out)
        else:
            for frame in early:
                self._conversation.frame(frame, out)
            self._verify(thread_id, result, out)

    def _verify(self, thread_id: str, result: Members, out: OutputBatch) -> None:
        wanted_id = self._command.provider_session_id
        held = verified_settings(result, self._command.cwd, self._wanted)
        if isinstance(held, TurnError) or thread_id != (wanted_id or thread_id):
            error = held if isinstance(held, TurnError) else provider_error("provider.protocol")
            self._fail(error, False, out)
            self._leave_on_wire(thread_id, out)
            return
        self.over = True
        out.add(StopTimer(self._deadline))
        self._conversation.held = held
        opened = ThreadOpened(thread_id, wanted_id is not None, self._capabilities, held.told())
        out.deliver(self._command.scope, opened)
        status = text_of(object_of(object_of(result.get("thread")).get("status")).get("type"))
        self._conversation.opened(fresh=wanted_id is None, busy=status == "active", out=out)

    def _fail(self, error: TurnError, gone: bool, out: OutputBatch) -> None:
        self._undo(out)
        out.deliver(self._command.scope, ThreadOpenFailed(error, not_resumable=gone))

    def _undo(self, out: OutputBatch) -> None:
        self.over = True
        out.add(StopTimer(self._deadline))
        self._conversation.not_opened(out)
        self._directory.remove(self._conversation)

    def _leave_on_wire(self, thread_id: str | None, out: OutputBatch) -> None:
        """Unless somebody else has it meanwhile."""
        if thread_id is not None and self._directory.of_thread(thread_id) is None:
            self._conversation.calls.leave(thread_id, out)

    def _drop(self, frames: list[Frame], out: OutputBatch) -> None:
        """Nobody's: counted, and asked in vain."""
        for frame in frames:
            out.add(Diagnostic("thread.stray", "before its name"))
            if isinstance(frame, Request):
                refuse(self._peer, frame, "decline", out)
