"""The handshake: when a process is ready, for what, and how it is given up."""

import pytest

from runtime.providers.claude_code.adapter import AGENT_NAME, HandshakeDeadline
from runtime.providers.claude_code.attestation import TESTED, Ability, attest
from runtime.providers.claude_code.descriptor import ClaudeDescriptor
from runtime.providers.claude_code.examination import ClaudeExamination
from runtime.providers.hosting import ConversationLaunch, HostedConversation
from runtime.providers.normalized import ThreadOpened, ThreadOpenFailed
from runtime.providers.port import (
    AdapterLimits,
    GiveUp,
    HandshakeDone,
    OpenThread,
    StartTimer,
    StopTimer,
)
from runtime.providers.programs import ProgramReport
from tests.providers_claude.claude_playbook import (
    CWD,
    SESSION,
    VERSION,
    A,
    ClaudePlaybook,
    frame,
    initialized,
    refusal,
)


def given_up(book: ClaudePlaybook) -> list[str]:
    return [output.error.code for output in book.everything if isinstance(output, GiveUp)]


def test_the_answer_to_initialize_makes_it_ready():
    book = ClaudePlaybook().begin()
    (sent,) = book.frames
    assert sent["request"] == {"subtype": "initialize", "hooks": None}
    assert StartTimer(HandshakeDeadline(), 60.0) in book.everything
    book.skip().receive(initialized())
    book.expect(StopTimer(HandshakeDeadline()), HandshakeDone(AGENT_NAME, VERSION))


@pytest.mark.parametrize("resumes", [False, True])
def test_opening_costs_no_request_since_the_process_was_started_for_it(resumes: bool):
    book = ClaudePlaybook(resumes=resumes).begin().receive(initialized()).skip()
    book.command(OpenThread(A, CWD, {}, SESSION if resumes else None))
    assert book.written_frames() == []
    (opened,) = book.events()
    assert isinstance(opened, ThreadOpened)
    assert (opened.provider_session_id, opened.resumed) == (SESSION, resumes)
    assert opened.settings == {"permissionMode": "default"}
    assert opened.capabilities is not None
    assert (opened.capabilities.load, opened.capabilities.guidance) == (True, True)


def test_a_process_never_serves_another_conversation_than_its_own():
    book = ClaudePlaybook(resumes=True).begin().receive(initialized())
    book.command(OpenThread(A, CWD, {}, "another"))
    (failed,) = book.events()
    assert isinstance(failed, ThreadOpenFailed)
    assert failed.error.code == "internal"


@pytest.mark.case("FC-07")
def test_a_result_in_place_of_the_answer_says_that_the_conversation_is_gone():
    book = ClaudePlaybook(resumes=True).begin()
    errors = [f"No conversation found with session ID: {SESSION}"]
    book.receive(frame("result", subtype="error_during_execution", is_error=True, errors=errors))
    assert given_up(book) == ["session.not_resumable"]


def test_any_other_result_in_place_of_the_answer_is_a_failure():
    book = ClaudePlaybook().begin()
    book.receive(frame("result", subtype="error_during_execution", is_error=True, errors=["odd"]))
    assert given_up(book) == ["provider.rejected"]


@pytest.mark.rule("RT-090")
@pytest.mark.parametrize("version", ["2.1.197", "1.0.0", "3.0.0", "", "odd"])
def test_a_version_that_nobody_attests_is_given_up(version: str):
    assert given_up(ClaudePlaybook().begin().receive(initialized(version))) == ["provider.unavailable"]


@pytest.mark.rule("RT-090", "RT-109")
def test_a_newer_version_is_used_without_what_was_not_seen_of_it():
    book = ClaudePlaybook().opened("2.1.400")
    (opened,) = book.events()
    assert isinstance(opened, ThreadOpened)
    assert opened.capabilities is not None
    assert (opened.capabilities.load, opened.capabilities.guidance) == (True, False)
    assert attest("2.1.400").basis == "newer"
    assert attest(VERSION).abilities == TESTED[VERSION] == frozenset(Ability)


def test_a_refused_handshake_and_one_that_hangs_are_given_up():
    assert given_up(ClaudePlaybook().begin().receive(refusal("greenroom-1"))) == ["provider.protocol"]
    book = ClaudePlaybook().begin().timer(HandshakeDeadline())
    assert given_up(book) == ["provider.timeout"]
    ready = ClaudePlaybook().opened().timer(HandshakeDeadline())
    assert given_up(ready) == []


@pytest.mark.case("FC-08", "FC-20")
def test_noise_is_counted_and_a_flood_of_it_given_up():
    limits = AdapterLimits(max_provider_noise_bytes=100, max_provider_line_bytes=1000)
    book = ClaudePlaybook(limits=limits).begin().receive(b"\n", b"x" * 60 + b"\n")
    assert given_up(book) == []
    book.receive(b"x" * 60 + b"\n")
    assert given_up(book) == ["provider.protocol"]


@pytest.mark.case("FC-31")
def test_requests_before_the_conversation_are_refused_at_once():
    book = ClaudePlaybook().begin().skip()
    book.receive(frame("control_request", request_id="r1", request={"subtype": "mcp_message"}))
    (sent,) = book.written_frames()
    response = sent["response"]
    assert isinstance(response, dict)
    assert (response["subtype"], response["request_id"]) == ("error", "r1")


@pytest.mark.parametrize(
    ("conversation", "arguments"),
    [
        (HostedConversation("s", False, {}), ("--session-id=s", "--permission-mode=default")),
        (
            HostedConversation(
                "s", True, {"model": "opus", "permissionMode": "plan", "reasoningEffort": "high"}
            ),
            ("--resume=s", "--permission-mode=plan", "--model=opus", "--effort=high"),
        ),
    ],
)
def test_a_process_is_told_its_conversation_when_it_starts(conversation, arguments):
    assert ClaudeDescriptor().conversation_launch(conversation) == ConversationLaunch(arguments)


def test_a_process_for_nothing_is_refused():
    with pytest.raises(ValueError, match="one conversation"):
        ClaudeDescriptor().adapter(AdapterLimits())


def test_a_program_is_asked_for_its_version_alone():
    examination = ClaudeExamination()
    assert examination.version_command(("claude",)) == ("claude", "--version")
    assert examination.version_command(("wrapper", "claude")) is None
    assert examination.documents_command(("claude",), "/x") is None
    report = examination.report(b"2.1.332 (Claude Code)\n", {})
    assert report == ProgramReport("2.1.332")
    capabilities = examination.capabilities(report)
    assert capabilities is not None
    assert capabilities.guidance
    assert examination.abilities(report) == {"conversation": True, "guidance": True, "side": True}
    assert examination.report(b"something else", {}).version is None
    assert examination.capabilities(ProgramReport()) is None
