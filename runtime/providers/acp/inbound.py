"""What an agent's frames mean for one connection: each goes to the conversation or the call it belongs to.

Owns the way in: framing, the peer, unknown sessions and methods, and when to give the connection up. Requests that
nobody here can answer are refused at once, so that no agent waits for ever (FC-24, FC-31).
"""

from runtime.providers.acp.directory import SessionDirectory
from runtime.providers.acp.failures import provider_error
from runtime.providers.acp.reading import read_permission, read_update
from runtime.providers.jsonrpc.calls import OpenCalls
from runtime.providers.jsonrpc.framing import Frame, LineEndless, LineFramer, LineTooLong
from runtime.providers.jsonrpc.members import object_of, text_of
from runtime.providers.jsonrpc.peer import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ErrorResponse,
    Ignored,
    JsonRpcPeer,
    Noise,
    Notification,
    Received,
    Request,
    Response,
    request_key,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import AdapterLimits, Diagnostic, GiveUp, Write
from store.canonical.common import Json, TurnError


class Inbound:
    """Takes the agent's bytes; what is to be performed goes into `out`. Once `closed` nothing is heard."""

    def __init__(
        self,
        limits: AdapterLimits,
        peer: JsonRpcPeer,
        calls: OpenCalls,
        directory: SessionDirectory,
        out: OutputBatch,
    ) -> None:
        self.closed = False
        self._framer = LineFramer(limits.max_provider_line_bytes, limits.max_provider_discard_bytes)
        self._peer = peer
        self._calls = calls
        self._directory = directory
        self._out = out

    def receive(self, data: bytes) -> None:
        """Bytes of one read."""
        self._frames(self._framer.receive(data))

    def end_of_input(self) -> None:
        """No more bytes come; a last line without its newline still counts."""
        self._frames(self._framer.end_of_input())

    def give_up(self, error: TurnError) -> None:
        """This connection cannot go on."""
        self.closed = True
        self._out.add(GiveUp(error))

    def _frames(self, frames: list[Frame]) -> None:
        for frame in frames:
            if self.closed:
                return
            if isinstance(frame, bytes):
                self._received(self._peer.receive(frame))
            elif isinstance(frame, LineTooLong):
                self._line_discarded(frame)
            else:
                self._line_endless(frame)

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
                    text = "The agent's output is no protocol: too much of it came without one valid message."
                    self.give_up(provider_error("provider.protocol", text))

    def _notified(self, message: Notification) -> None:
        if message.method == "session/update":
            self._updated(message.params)
        elif message.method == "$/cancel_request":
            key = request_key(object_of(message.params).get("requestId"))
            for conversation in self._directory:
                conversation.asks.withdraw(key, self._out)
        else:
            self._out.add(Diagnostic("notification.ignored", message.method[:80]))

    def _updated(self, params: Json) -> None:
        members = object_of(params)
        session_id, update = text_of(members.get("sessionId")), members.get("update")
        if session_id is None or not isinstance(update, dict):
            self._out.add(Diagnostic("update.malformed", "no session or no update"))
            return
        conversation = self._directory.of_session(session_id)
        if conversation is not None:
            conversation.update(read_update(update), self._out)
        elif not self._directory.keep_early(session_id, read_update(update)):
            self._out.add(Diagnostic("update.stray_session", session_id[:80]))

    def _asked(self, request: Request) -> None:
        if request.method != "session/request_permission":
            # At once: one agent stalls its turn for two seconds on each unanswered extension (FC-31).
            self._refuse(request, METHOD_NOT_FOUND, "Method not found", "request.refused")
            return
        permission = read_permission(request.params)
        conversation = self._directory.of_session(permission.session_id) if permission is not None else None
        if permission is None or conversation is None:
            self._refuse(request, INVALID_PARAMS, "Unknown session", "ask.stray_session")
        else:
            conversation.ask(request, permission, self._out)

    def _refuse(self, request: Request, code: int, message: str, kind: str) -> None:
        self._out.add(Write(self._peer.refuse(request.id, code, message)))
        self._out.add(Diagnostic(kind, request.method[:80]))

    def _line_discarded(self, frame: LineTooLong) -> None:
        sizes = f"{frame.size_bytes} bytes, the limit is {frame.limit_bytes}"
        self._out.add(Diagnostic("line.discarded", sizes))
        for conversation in self._directory:
            text = f"A message of the agent was too large and was skipped ({sizes})."
            conversation.notice("provider.message_skipped", text, self._out)

    def _line_endless(self, frame: LineEndless) -> None:
        size_bytes = frame.limit_bytes + frame.discard_bytes
        text = (
            f"A message of the agent did not end within {size_bytes} bytes; the limit is {frame.limit_bytes}."
        )
        self.give_up(provider_error("provider.protocol", text))
