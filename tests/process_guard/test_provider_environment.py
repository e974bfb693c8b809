"""What a provider inherits: an allow-list, and never a marker or a secret of the daemon."""

import pytest

from supervisor.process_guard import provider_environment

MARKERS = frozenset({"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"})
DAEMON = {
    "PATH": "/bin",
    "HOME": "/home/a",
    "USER": "a",
    "SHELL": "/bin/sh",
    "LANG": "de_DE.UTF-8",
    "LC_ALL": "C.UTF-8",
    "LC_TIME": "C",
    "TZ": "Europe/Berlin",
    "TMPDIR": "/var/tmp/a",
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CODEX_SANDBOX": "seatbelt",
    "GREENROOM_TOKEN": "secret",
    "SOME_API_KEY": "secret",
    "LCD": "no locale",
}


def build(inherit: set[str] | None = None, target: dict[str, str] | None = None) -> dict[str, str]:
    return provider_environment(
        DAEMON, inherit_names=inherit or set(), target_environment=target or {}, nesting_markers=MARKERS
    )


@pytest.mark.case("FC-51")
def test_only_the_listed_names_pass() -> None:
    expected = {"PATH", "HOME", "USER", "SHELL", "LANG", "LC_ALL", "LC_TIME", "TZ", "TMPDIR"}
    assert build() == {name: DAEMON[name] for name in expected}


def test_named_variables_pass_and_missing_ones_are_not_made_up() -> None:
    environment = build({"SOME_API_KEY", "NOT_SET"})
    assert environment["SOME_API_KEY"] == "secret"
    assert "NOT_SET" not in environment


@pytest.mark.case("FC-51")
def test_markers_and_own_variables_do_not_pass_even_when_named() -> None:
    environment = build({"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "GREENROOM_TOKEN"})
    assert environment == build()


def test_the_target_wins_over_what_is_inherited() -> None:
    environment = build({"SOME_API_KEY"}, {"SOME_API_KEY": "of the target", "PATH": "/opt/bin", "NEW": "x"})
    assert environment["SOME_API_KEY"] == "of the target"
    assert environment["PATH"] == "/opt/bin"
    assert environment["NEW"] == "x"


def test_a_target_cannot_forge_a_mark() -> None:
    assert build(target={"GREENROOM_INSTANCE": "another"}) == build()
