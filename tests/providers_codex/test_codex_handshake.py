"""The handshake with an app-server: what it is told, its version, and a configuration it could not read."""

import pytest

from runtime.providers.codex.adapter import HandshakeDeadline
from runtime.providers.normalized import ConnectionLost
from runtime.providers.port import Diagnostic, GiveUp, HandshakeDone, StartTimer, StopTimer
from store.canonical.common import TurnError
from tests.providers.adapter_playbook import Sent
from tests.providers_codex.codex_playbook import (
    CORE,
    USER_AGENT,
    A,
    CodexPlaybook,
    frame,
    notice,
    unknown_method,
)


def test_ready_once_a_first_request_is_answered_with_the_version_out_of_the_user_agent() -> None:
    book = CodexPlaybook().begin()
    initialize = book.frames[0]
    assert "jsonrpc" not in initialize
    assert initialize["params"]["clientInfo"] == {"name": "greenroom", "title": "Greenroom", "version": "7"}
    assert initialize["params"]["capabilities"]["experimentalApi"] is True
    book.expect(Sent(initialize), StartTimer(HandshakeDeadline(), 60.0))
    book.reply("initialize", result={"userAgent": USER_AGENT, "codexHome": "/h"})
    book.expect(
        Sent({"method": "initialized", "params": {}}),
        Sent({"id": 2, "method": "thread/loaded/list", "params": {}}),
    )
    book.reply("thread/loaded/list", result={"data": []})
    book.expect(StopTimer(HandshakeDeadline()), HandshakeDone("codex", "0.171.0"))


@pytest.mark.parametrize("user_agent", [None, "", "somebody/1.2 x", 7, "greenroom/next"])
def test_a_version_that_cannot_be_read_is_noted_and_its_methods_speak_for_it(user_agent: object) -> None:
    book = CodexPlaybook().begin()
    book.reply("initialize", result={"userAgent": user_agent})
    book.reply("greenroom/methods", error=unknown_method(*CORE))
    book.reply("thread/loaded/list", error={"code": -32600, "message": "no"})
    assert book.outputs[-1] == HandshakeDone("codex", None)
    assert book.diagnostics() == ["agent.version_unknown", "agent.not_tested"]


def test_a_configuration_that_was_not_read_ends_the_connection_before_anybody_uses_it() -> None:
    book = CodexPlaybook().begin().reply("initialize", result={"userAgent": USER_AGENT}).skip()
    book.receive(
        notice("configWarning", None, summary="Invalid configuration; using defaults.", details="line 1"),
        frame(id=2, result={"data": []}),
    )
    assert isinstance(book.outputs[-1], GiveUp)
    assert book.outputs[-1].error.code == "provider.unavailable"
    assert not [output for output in book.everything if isinstance(output, HandshakeDone)]


def test_a_harmless_warning_about_the_configuration_is_noted() -> None:
    book = CodexPlaybook().ready()
    book.receive(notice("configWarning", None, summary="Codex could not find bubblewrap on PATH."))
    book.expect(Diagnostic("config.warning", "Codex could not find bubblewrap on PATH."))


@pytest.mark.parametrize("method", ["initialize", "timer"])
def test_a_handshake_that_is_refused_or_never_answered_ends_the_connection(method: str) -> None:
    book = CodexPlaybook().begin().skip()
    if method == "timer":
        book.timer(HandshakeDeadline())
    else:
        book.reply("initialize", error={"code": -32600, "message": "Already initialized"})
    (ended,) = [output for output in book.outputs if isinstance(output, GiveUp)]
    assert ended.error.code == ("provider.timeout" if method == "timer" else "provider.protocol")
    assert book.skip().timer(HandshakeDeadline()).outputs == [], "nothing is heard any more"


def test_a_deadline_that_passes_after_the_handshake_means_nothing() -> None:
    assert CodexPlaybook().ready().timer(HandshakeDeadline()).outputs == []


def test_loss_is_told_to_every_scope_once() -> None:
    book = CodexPlaybook().opened()
    error = TurnError("provider.lost", "gone", "provider")
    book._note(book.adapter.lost(error))
    book.expect(ConnectionLost(error))
    book._note(book.adapter.lost(error))
    assert book.outputs == []
    assert book.events(A)[-1] == ConnectionLost(error)
