"""Launches: what makes two of them alike, and what never leaves one."""

import json

import attrs
import pytest

from tests.doubles.line_provider import launch


def test_equal_launches_share_a_fingerprint_whatever_the_order_of_variables():
    first = attrs.evolve(launch(), environment={"A": "1", "B": "2"})
    second = attrs.evolve(launch(), environment={"B": "2", "A": "1"})
    assert first.fingerprint == second.fingerprint
    assert len(first.fingerprint) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"provider": "other"},
        {"argv": ("/opt/line-agent", "serve", "")},
        {"environment": {"PATH": "/sbin"}},
        {"cwd": "/srv"},
        {"shared_key": "target-2"},
    ],
)
def test_what_is_launched_differently_is_never_shared(change):
    assert attrs.evolve(launch(), **change).fingerprint != launch().fingerprint


def test_a_dedicated_process_shares_the_crash_memory_of_its_program():
    assert launch(dedicated=True).fingerprint == launch().fingerprint


def test_text_that_is_no_unicode_still_has_a_fingerprint():
    assert launch(NAME="\udcff").fingerprint != launch(NAME="\udcfe").fingerprint


def test_arguments_and_variables_show_nowhere():
    specification = attrs.evolve(launch(API_KEY="hunter2hunter2"), argv=("/opt/a/agent", "--key=tok-999"))
    shown = repr(specification) + specification.request().label + specification.fingerprint
    assert "hunter2" not in shown
    assert "tok-999" not in shown
    assert "/opt" not in shown
    assert specification.program == "agent"


def test_the_request_carries_everything_to_the_guard():
    request = launch(X="1").request()
    assert request.argv == ("/opt/line-agent", "serve")
    assert json.dumps(request.environment) == '{"PATH": "/bin", "X": "1"}'
    assert request.cwd == "/"
