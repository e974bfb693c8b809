"""Redaction: what of an environment is a secret, and that it is gone from what a process says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.providers.diagnostics import StderrTail
from runtime.providers.redaction import SECRET_BYTES_MAX, Redactor, hide_tokens, secrets_in
from tests.doubles.secret_kinds import HIDDEN, PLACES, SAID, found_in


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("OPENAI_API_KEY", "abcdef-123", ["abcdef-123"]),
        ("github_token", "abcdef", ["abcdef"]),
        ("DB_PASSWORD", "correct horse", ["correct horse"]),
        ("PGPASS", "letmein", ["letmein"]),
        ("PASS_COUNT_OF_TESTS", "123456", ["123456"]),
        ("NORMAL", "sk-0123456789abcdef", ["sk-0123456789abcdef"]),
        ("HTTPS_PROXY", "http://user:s3cr3t!@proxy:3128", ["s3cr3t!"]),
        ("GIT_AUTHOR_NAME", "Jane Roe", []),
        ("PATH", "/usr/bin:/bin", []),
        ("PASSENGER", "somebody", []),
        ("API_KEY", "short", []),
        ("API_KEY", "x" * (SECRET_BYTES_MAX + 1), []),
    ],
)
def test_which_values_are_secrets(name, value, secrets):
    assert list(secrets_in(name, value)) == secrets


def test_a_private_key_is_covered_line_by_line_too():
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n"
    redactor = Redactor.for_environment({"SOMETHING": key})
    assert redactor.redact(b"leaked: MIIEpAIBAAKCAQEA!") == b"leaked: [redacted]!"
    assert redactor.redact(b"all: " + key.encode()) == b"all: [redacted]"


def test_the_longest_of_overlapping_secrets_goes_first():
    redactor = Redactor(["secret", "secret-and-more"])
    assert redactor.redact(b"secret-and-more secret") == b"[redacted] [redacted]"


def test_nothing_to_hide_changes_nothing():
    redactor = Redactor.for_environment({"PATH": "/bin"})
    assert redactor.redact(b"\xff/bin", 1) == b"/bin"
    assert redactor.redact_text("a\ud800b") == "a?b"


@given(
    secret=st.text("abc", min_size=6, max_size=8),
    before=st.binary(max_size=12),
    behind=st.binary(max_size=12),
    start=st.integers(0, 32),
)
def test_no_cut_lets_a_secret_or_the_end_of_one_through(secret, before, behind, start):
    data = before + secret.encode() + behind
    start = min(start, len(data))
    shown = Redactor([secret]).redact(data, start)
    assert secret.encode() not in shown
    if len(before) < start < len(before) + len(secret) and secret.encode() not in before + behind:
        assert shown.startswith(b"[redacted]")
    if start >= len(before) + len(secret):
        assert shown == Redactor([secret]).redact(data[start:])


@pytest.mark.rule("PR-024")
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted]"),
        ("used sk-proj-0123456789abcdef here", "used [redacted] here"),
        ("at https://me:words@host/v1", "at https://[redacted]@host/v1"),
        ("task-12345678901 of bearer of news", "task-12345678901 of bearer of news"),
        ("http://host:80/a@b", "http://host:80/a@b"),
    ],
)
def test_what_has_the_shape_of_a_token_is_hidden_in_words_of_a_provider(said, shown):
    assert hide_tokens(said) == shown
    assert Redactor(()).redact_text(said) == shown


@pytest.mark.rule("PR-024")
@pytest.mark.parametrize("kind", SAID)
def test_each_kind_of_secret_is_hidden_in_words_an_agent_lets_out_and_the_rest_stays(kind):
    said = SAID[kind]
    assert found_in(said) == [kind]
    shown = Redactor(()).redact_words(said.encode())
    assert found_in(shown) == []
    assert shown.split()[:2] == said.split()[:2]
    if kind not in PLACES:
        assert found_in(hide_tokens(said)) == []
        assert found_in(Redactor(()).redact_text(f"before {said} behind")) == []


def test_there_are_fifty_kinds_and_no_fewer():
    assert len(SAID) >= 50


@pytest.mark.parametrize("kind", [kind for kind in SAID if kind not in PLACES])
def test_no_cut_through_the_end_of_a_noisy_stream_lets_one_through(kind):
    said = SAID[kind]
    for kept_bytes in range(1, len(said), 11):
        tail = StderrTail(kept_bytes, Redactor(()))
        tail.feed(b"x\n" * 200 + said.encode())
        secret = HIDDEN[kind]
        assert not any(secret[at:] in tail.text() for at in range(len(secret) - 7))


@pytest.mark.parametrize(
    "innocent",
    [
        "max_tokens: 4096000 of inputTokens=123456789",
        "error: Unexpected token: expression in src/sk-learn.py",
        "the key = value pairs of task-12345678901",
        "npm_config_registry and npm_lifecycle_event",
        "application/json at https://host/v1/models and 1/2 of and/or",
        "thread 019a7f3e-0000-7000-8000-000000000001 has no turn",
        "AC power, SK hynix, EAA, SG.",
    ],
)
def test_innocent_words_stay(innocent):
    assert hide_tokens(innocent) == innocent
    assert Redactor(()).redact_words(innocent.encode()) == innocent
