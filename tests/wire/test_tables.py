"""The tables of methods and error codes name exactly what the contract names."""

import ast
from pathlib import Path

import pytest

import runtime
from runtime.refusal import Refusal
from runtime.wire import requests
from runtime.wire.errors import ERRORS, error_data
from runtime.wire.members import fields_of, optional_members
from runtime.wire.methods import (
    COMMON_REFUSALS,
    METHODS,
    RESERVED_METHODS,
    RESERVED_PREFIXES,
    UNBUILT_METHODS,
    all_refusals,
    find_method,
)

# contract §7, word by word.
CODES = """
request.invalid, request.unknown_method, request.too_large, auth.forbidden, protocol.uninitialized,
protocol.unsupported, session.not_found, session.exists, session.busy, session.deleted, session.not_resumable,
session.quarantined, session.cwd_missing, isolation.refused, turn.not_found, turn.mismatch, turn.settled, interaction.not_found,
interaction.not_pending, interaction.unsupported_answer, submit.conflict, submit.delivery_unknown,
target.not_found, target.disabled, provider.unavailable, provider.auth_required, provider.rejected,
provider.timeout, provider.lost, provider.protocol, provider.rate_limited, provider.quota, provider.context_full,
provider.model_unavailable, provider.refused, provider.stopped, capability.unsupported, settings.launch_only,
settings.invalid, goal.conflict, fork.not_eligible, fork.unknown, history.revision_conflict, history.fenced,
side.not_found, side.expired, side.exists, attachment.unsupported, attachment.not_found, operation.not_found,
limit.exceeded, overloaded, store.full, store.unavailable, recording.conflict, recording.invalid,
shutdown.in_progress, internal
"""

# contract §4: the rows of the table, and those it lets go without a workspace.
NAMED = """
session/create session/get session/list session/messages turn/get turn/list interaction/list session/send turn/guide
turn/cancel interaction/respond session/resume session/close session/rename session/pin session/updateSettings
session/delete session/restore session/purge session/listDeleted session/search session/fork turn/editRetry
editRetry/recover goal/control goal/get operation/get attachment/put attachment/get side/capabilities side/open
side/send side/cancel side/respond side/close side/get side/list surface/dispose surface/attach target/list
provider/status provider/models provider/skills provider/usage workspace/list events/subscribe events/update
events/unsubscribe health/read metrics/read debug/session fault/inject fault/list fault/clear
"""
WITHOUT_WORKSPACE = {
    "provider/status",
    "provider/models",
    "provider/skills",
    "provider/usage",
    "initialize",
    "events/update",
    "events/unsubscribe",
    "health/read",
    "metrics/read",
    "fault/inject",
    "fault/list",
    "fault/clear",
    "target/list",
    "workspace/list",
}
CONTROL = {
    "session/create",
    "session/send",
    "session/close",
    "session/resume",
    "turn/guide",
    "session/rename",
    "session/pin",
    "session/updateSettings",
    "session/delete",
    "session/restore",
    "attachment/put",
    "side/open",
    "side/send",
    "side/cancel",
    "side/respond",
    "side/close",
    "surface/dispose",
    "surface/attach",
    "turn/cancel",
    "interaction/respond",
}
FAULTS = {"fault/inject", "fault/list", "fault/clear"}
ADMIN = {"session/purge", "metrics/read", "debug/session", *FAULTS}


@pytest.mark.rule("AP-036")
def test_the_error_table_is_exactly_the_contracts():
    assert list(ERRORS) == CODES.replace(",", " ").split()


def test_every_code_says_when_it_is_given_and_what_the_client_reads():
    for entry in ERRORS.values():
        assert entry.when.endswith(".")
        assert entry.message.endswith(".")
        assert len(entry.message) < 60


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        ("session.busy", True),
        ("overloaded", True),
        ("store.full", True),
        ("shutdown.in_progress", True),
        ("request.invalid", False),
        ("submit.conflict", False),
        ("submit.delivery_unknown", False),
        ("session.deleted", False),
        ("interaction.not_pending", False),
    ],
)
def test_retryable_means_that_time_alone_may_help(code, retryable):
    assert error_data(Refusal(code)).retryable is retryable


def test_served_and_unserved_methods_together_are_exactly_the_contracts():
    assert METHODS.keys() & UNBUILT_METHODS == set()
    assert METHODS.keys() | UNBUILT_METHODS == {"initialize", *NAMED.split()}


def test_reserved_names_are_the_contracts():
    assert {
        "host/observationGap",
        "host/interactionReadiness",
        "session/sections",
        "target/setEnabled",
    } == RESERVED_METHODS
    assert set(RESERVED_PREFIXES) == {"project/", "prompt/", "preference/", "recording/", "replay/"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("turn/editRetry", "capability.unsupported"),
        ("fault/inject", "capability.unsupported"),
        ("session/sections", "capability.unsupported"),
        ("project/list", "capability.unsupported"),
        ("session/explode", "request.unknown_method"),
        ("project", "request.unknown_method"),
        ("Session/Get", "request.unknown_method"),
        ("", "request.unknown_method"),
    ],
)
def test_a_named_method_is_unsupported_and_any_other_unknown(name, code):
    assert find_method(name, faults_enabled=False) == Refusal(code)


def test_a_served_method_is_found_by_its_name():
    assert find_method("session/get", faults_enabled=False) is METHODS["session/get"]


def test_all_but_the_named_exceptions_require_a_workspace():
    for method in METHODS.values():
        required = {field.name for field in fields_of(method.params)} - optional_members(method.params)
        assert method.needs_workspace == (method.name not in WITHOUT_WORKSPACE)
        assert method.needs_workspace == ("workspace_id" in required), method.name


def test_a_method_is_addressed_to_a_session_when_it_has_to_name_one():
    for method in METHODS.values():
        assert method.session_addressed == issubclass(method.params, requests.SessionParams), method.name


def test_only_what_changes_something_needs_the_control_scope_and_insides_the_admin_scope():
    assert {method.name for method in METHODS.values() if method.scope == "control"} == CONTROL
    assert {method.name for method in METHODS.values() if method.scope == "admin"} == ADMIN


def test_methods_refuse_with_codes_of_the_table_each_named_once():
    for method in METHODS.values():
        listed = list(all_refusals(method))
        assert set(listed) <= ERRORS.keys(), method.name
        assert len(listed) == len(set(listed)), method.name
        assert not set(method.refusals) & set(COMMON_REFUSALS), method.name


def test_every_result_but_that_of_initialize_carries_its_commit_seq():
    for method in METHODS.values():
        names = {field.name for field in fields_of(method.result)}
        assert ("commit_seq" in names) == (method.name != "initialize"), method.name


def test_no_refusal_in_the_sources_names_a_code_outside_the_table():
    root = Path(runtime.__file__).parent
    unknown = [
        f"{path.relative_to(root)}:{call.lineno}: {code}"
        for path in sorted(root.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("Refusal", "TurnError")
        for code in _constant_codes(call)
        if code not in ERRORS
    ]
    assert unknown == []


def _constant_codes(call):
    first = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "code")]
    return [node.value for node in first if isinstance(node, ast.Constant)]
