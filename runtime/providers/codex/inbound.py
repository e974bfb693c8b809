"""What Codex's frames mean for one connection: each goes to the thread or the call it belongs to.

Owns the way in: framing, the peer, threads that are nobody's, and when to give the connection up. Requests that nobody
here can answer are refused at once, so that no turn waits for ever (FC-24, FC-31).
"""

from runtime.providers.codex.asking import KNOWN, refuse
from runtime.providers.codex.child_threads import ChildThreads
from runtime.providers.codex.directory import ThreadDirectory
from runtime.providers.codex.failures import provider_error
from runtime.providers.codex.handshake import means_defaults
from runtime.providers.codex.quiet import QUIET
from runtime.providers.codex.requests import UNSUPPORTED_CODE, UNSUPPORTED_TEXT
from runtime.providers.jsonrpc.calls import OpenCalls
from runtime.providers.jsonrpc.framing import Frame as Line
from runtime.providers.jsonrpc.framing import LineEndless, LineFramer, LineTooLong
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.jsonrpc.peer import (
    ErrorResponse,
    Ignored,
    JsonRpcPeer,
    Noise,
    Notification,
    Received,
    Request,
    Response,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import AdapterLimits, Diagnostic, GiveUp
from store.canonical.common import TurnError

DEFAULTS_TEXT = "Codex cannot read its configuration and would go on with defaults instead."


class Inbound:
    """Takes the bytes of Codex; what is to be performed goes into `out`. Once `closed` nothing is heard."""

    def __init__(
        self,
        limits: AdapterLimits,
        peer: JsonRpcPeer,
        calls: OpenCalls,
        directory: ThreadDirectory,
        children: ChildThreads,
        out: OutputBatch,
    ) -> None:
        self.closed = False
        self._framer = LineFramer(limits.max_provider_line_bytes, limits.max_provider_discard_bytes)
        self._peer = peer
        self._calls = calls
        self._directory = directory
        self._children = children
        self._out = out

    def receive(self, data: bytes) -> None:
        """Bytes of one read."""
        self._lines(self._framer.receive(data))

    def end_of_input(self) -> None:
        """No more bytes come; a last line without its newline still counts."""
        self._lines(self._framer.end_of_input())

    def give_up(self, error: TurnError) -> None:
        """This connection cannot go on."""
        self.closed = True
        self._out.add(GiveUp(error))

    def _lines(self, lines: list[Line]) -> None:
        for line in lines:
            if self.closed:
                return
            if isinstance(line, bytes):
                self._received(self._peer.receive(line))
            elif isinstance(line, LineTooLong):
                self._line_discarded(line)
            else:
                self._line_endless(line)

    def _received(self, message: Received) -> None:
        match message:
            case Notification():
                self._notified(message)
            case Response() | ErrorResponse():
                self._calls.settle(message, self._out)
            case Request():
                self._asked(message)
            case Ignored():
                self._out.add(Diagnostic(f"answer.{message.reason}", message.detail))
            case Noise():
                self._out.add(Diagnostic("line.noise", f"{message.reason}: {message.sample}"))
                if message.flood:
                    text = "Codex's output is no protocol: too much of it came without one valid message."
                    self.give_up(provider_error("provider.protocol", text))

    def _notified(self, message: Notification) -> None:
        params = object_of(message.params)
        if message.method == "thread/started":
            self._note_child(object_of(params.get("thread")))
        thread_id = _thread_id_of(params)
        if thread_id is None:
            self._connection_said(message, params)
            return
        conversation = self._directory.of_thread(thread_id)
        if conversation is not None:
            conversation.frame(message, self._out)
        elif not (self._directory.keep_early(thread_id, message) or self._children.hold(thread_id, message)):
            kind = "thread.left" if self._directory.has_left(thread_id) else "thread.stray"
            self._out.add(Diagnostic(kind, message.method[:80]))

    def _connection_said(self, message: Notification, params: Members) -> None:
        if message.method == "configWarning":
            self._out.add(Diagnostic("config.warning", text_of(params.get("summary")) or ""))
            if means_defaults(message.params):
                self.give_up(provider_error("provider.unavailable", DEFAULTS_TEXT, retryable=False))
        elif message.method == "warning":
            self._out.add(Diagnostic("warning", text_of(params.get("message")) or ""))
        elif message.method not in QUIET:
            self._out.add(Diagnostic("notification.unknown", message.method[:80]))

    def _note_child(self, thread: Members) -> None:
        thread_id, parent_id = text_of(thread.get("id")), text_of(thread.get("parentThreadId"))
        if thread_id is not None and parent_id is not None:
            self._directory.note_child(thread_id, parent_id)

    def _asked(self, request: Request) -> None:
        params = object_of(request.params)
        thread_id = _thread_id_of(params)
        conversation = self._directory.of_thread(thread_id) if thread_id is not None else None
        if conversation is not None:
            conversation.frame(request, self._out)
            return
        if thread_id is not None and self._directory.keep_early(thread_id, request):
            return
        left = thread_id is not None and self._directory.has_left(thread_id)
        refuse(self._peer, request, "cancel" if left else "decline", self._out)
        kind = "ask.stray_thread" if request.method in KNOWN else "request.unknown"
        self._out.add(Diagnostic(kind, request.method[:80]))
        if thread_id is not None and not left:
            self._tell_ancestor(thread_id)

    def _tell_ancestor(self, thread_id: str) -> None:
        """What a sub-agent asks cannot be answered here; its refusal shows in the turn it works for."""
        conversation = self._directory.ancestor_of(thread_id)
        if conversation is not None and conversation.turn is not None:
            notice = conversation.turn.normalizer.notice(UNSUPPORTED_CODE, "warning", UNSUPPORTED_TEXT)
            conversation.tell(notice, self._out)

    def _line_discarded(self, line: LineTooLong) -> None:
        sizes = f"{line.size_bytes} bytes, the limit is {line.limit_bytes}"
        self._out.add(Diagnostic("line.discarded", sizes))
        for conversation in self._directory:
            if conversation.turn is not None:
                text = f"A message of Codex was too large and was skipped ({sizes})."
                notice = conversation.turn.normalizer.notice("provider.message_skipped", "warning", text)
                conversation.tell(notice, self._out)

    def _line_endless(self, line: LineEndless) -> None:
        size_bytes = line.limit_bytes + line.discard_bytes
        text = f"A message of Codex did not end within {size_bytes} bytes; the limit is {line.limit_bytes}."
        self.give_up(provider_error("provider.protocol", text))


def _thread_id_of(params: Members) -> str | None:
    return (
        text_of(params.get("threadId"))
        or text_of(object_of(params.get("thread")).get("id"))
        or text_of(params.get("conversationId"))
    )
