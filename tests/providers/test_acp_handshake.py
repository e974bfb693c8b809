"""The ACP handshake: version 1 exactly, nothing offered, every failure typed, and the end of a connection."""

import pytest

from runtime.providers.acp.adapter import AcpDescriptor, HandshakeDeadline
from runtime.providers.acp.failures import provider_error
from runtime.providers.acp.quirks import ATTESTED, quirks_of
from runtime.providers.normalized import ConnectionLost, TextChunk, ThreadOpened
from runtime.providers.port import (
    AdapterLimits,
    Deliver,
    Diagnostic,
    GiveUp,
    HandshakeDone,
    OpenThread,
    StartTimer,
    StopTimer,
)
from store.canonical.common import TurnError
from store.canonical.session import SessionCapabilities
from tests.providers.adapter_playbook import T1, A, B, Playbook, Sent, chunk, frame

LOST = TurnError("provider.lost", "the agent ended (exit 0)", "provider")


def test_initialize_asks_for_version_1_and_offers_neither_files_nor_a_terminal() -> None:
    Playbook(AcpDescriptor("7.1").adapter(AdapterLimits())).begin().expect(
        Sent(
            {
                "id": 1,
                "method": "initialize",
                "params": {
                    "protocolVersion": 1,
                    "clientCapabilities": {
                        "fs": {"readTextFile": False, "writeTextFile": False},
                        "terminal": False,
                    },
                    "clientInfo": {"name": "greenroom", "title": "Greenroom", "version": "7.1"},
                },
            }
        ),
        StartTimer(HandshakeDeadline(), 60.0),
    )


def test_agent_of_version_1_is_ready_under_its_own_name() -> None:
    result = {"protocolVersion": 1, "agentInfo": {"name": "x", "version": "2"}, "agentCapabilities": None}
    Playbook().begin().skip().reply("initialize", result=result).expect(
        StopTimer(HandshakeDeadline()), HandshakeDone("x", "2")
    )
    Playbook().begin().skip().reply("initialize", result={"protocolVersion": 1}).expect(
        StopTimer(HandshakeDeadline()), HandshakeDone(None, None)
    )


@pytest.mark.parametrize("version", [2, 0, 99, "1", 1.0, True, None, [1]])
def test_any_other_version_gives_up(version: object) -> None:
    text = "The agent does not speak version 1 of the Agent Client Protocol."
    book = Playbook().begin().skip().reply("initialize", result={"protocolVersion": version})
    book.expect(StopTimer(HandshakeDeadline()), GiveUp(provider_error("provider.protocol", text)))
    book.receive(frame(id=5, method="session/request_permission", params={})).expect()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": -32000, "message": "Authentication required"}, "provider.auth_required"),
        ({"code": -32602, "message": "bad"}, "provider.protocol"),
        ("odd", "provider.protocol"),
    ],
)
def test_refused_handshake_gives_up_by_its_kind(error: object, code: str) -> None:
    Playbook().begin().skip().reply("initialize", error=error).expect(
        StopTimer(HandshakeDeadline()), GiveUp(provider_error(code))
    )


@pytest.mark.case("FC-50")
def test_silent_agent_is_given_up_when_the_deadline_passes() -> None:
    limits = AdapterLimits(initialize_timeout_seconds=7.0)
    book = Playbook(limits=limits).begin()
    assert StartTimer(HandshakeDeadline(), 7.0) in book.outputs
    book.skip().timer(HandshakeDeadline()).expect(GiveUp(provider_error("provider.timeout")))
    book.timer(HandshakeDeadline()).expect()
    book.reply("initialize", result={"protocolVersion": 1}).expect()


@pytest.mark.case("FC-17")
def test_banners_before_and_between_frames_are_skipped_and_counted() -> None:
    book = Playbook().begin().skip()
    book.receive(b"Welcome back\n\n\x1b[32mready\x1b[0m\n" + b"l" * 2_000_000 + b"\n")
    assert book.diagnostics() == ["line.noise"] * 4
    book.skip().reply("initialize", result={"protocolVersion": 1})
    book.expect(StopTimer(HandshakeDeadline()), HandshakeDone(None, None))


@pytest.mark.case("FC-17")
def test_flood_of_garbage_gives_up_with_a_reason() -> None:
    text = "The agent's output is no protocol: too much of it came without one valid message."
    book = Playbook().opened().receive(b"x\n" * 999)
    assert book.diagnostics() == ["line.noise"] * 999
    book.skip().receive(b"x\n" * 5)
    book.expect(Diagnostic("line.noise", "not JSON: x"), GiveUp(provider_error("provider.protocol", text)))
    by_size = Playbook(limits=AdapterLimits(max_provider_noise_bytes=1000)).opened()
    by_size.receive(b"y" * 1001 + b"\n")
    assert by_size.outputs[-1] == GiveUp(provider_error("provider.protocol", text))


@pytest.mark.case("FC-08")
def test_endless_line_gives_up_naming_size_and_limit() -> None:
    limits = AdapterLimits(max_provider_line_bytes=1000, max_provider_discard_bytes=500)
    book = Playbook(limits=limits).opened()
    for _ in range(15):
        book.receive(b"e" * 100).expect()
    text = "A message of the agent did not end within 1500 bytes; the limit is 1000."
    book.receive(b"e").expect(GiveUp(provider_error("provider.protocol", text)))
    book.receive(b"\n" + chunk("sa", "x")).expect()


@pytest.mark.case("FC-20")
def test_frame_with_invalid_utf8_is_reported_and_the_next_one_counts() -> None:
    book = Playbook().opened().prompted().receive(b'{"jsonrpc":"2.0","method":"\xff"}\n', chunk("sa", "x"))
    book.expect(
        Diagnostic("line.noise", 'invalid UTF-8: {"jsonrpc":"2.0","method":"\ufffd"}'),
        TextChunk(T1, "item-1", "text", "x"),
    )


@pytest.mark.case("FC-17")
def test_last_frame_without_a_newline_counts_before_the_end() -> None:
    book = Playbook().opened().prompted().receive(chunk("sa", "last").rstrip(b"\n")).expect()
    book._note(book.adapter.end_of_input()).expect(TextChunk(T1, "item-1", "text", "last"))


@pytest.mark.case("FC-10", "FC-11")
def test_loss_is_told_to_every_conversation_last_and_nothing_follows() -> None:
    book = Playbook().opened().opened(B, "sb").prompted(A, T1)
    book._note(book.adapter.lost(LOST)).expect(
        Deliver(A, ConnectionLost(LOST)), Deliver(B, ConnectionLost(LOST))
    )
    book._note(book.adapter.lost(LOST)).receive(chunk("sa", "x")).written().expect()
    book.command(OpenThread(A, "/w", {})).expect()


@pytest.mark.rule("PR-008")
def test_capabilities_are_a_complete_snapshot_of_what_was_advertised() -> None:
    every = {
        "promptCapabilities": {"image": True, "embeddedContext": True},
        "sessionCapabilities": {"resume": {}},
        "loadSession": False,
    }
    book = Playbook().opened(**every)
    assert book.events() == [
        ThreadOpened(
            "sa",
            resumed=False,
            capabilities=SessionCapabilities(
                load=True, image_prompts=True, embedded_context=True, interrupt=True
            ),
            settings={},
        )
    ]


@pytest.mark.rule("PR-002")
def test_quirks_hold_for_the_attested_name_and_versions_only() -> None:
    assert not quirks_of("gemini-cli", "0.61.0").load_is_reliable
    assert not quirks_of("gemini-cli", "v0.61.3-nightly").load_is_reliable
    for name, version in (("gemini-cli", "0.62.0"), ("gemini-cli", None), ("other", "0.61.0"), (None, "x")):
        assert quirks_of(name, version).load_is_reliable
        assert quirks_of(name, version).parallel_sessions == 1
    assert len({(entry.agent_name, entry.since) for entry in ATTESTED}) == len(ATTESTED)


def test_descriptor_is_the_family_of_its_key() -> None:
    assert (AcpDescriptor().key, AcpDescriptor().sessions_per_connection) == ("acp", 1)
