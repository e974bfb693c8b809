"""Each error code that a served method or a turn can end with, and the test that shows it given.

The table is checked: the test exists and names the code. What cannot be given yet says why.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

from runtime.wire.methods import METHODS, all_refusals
from tests.end_to_end.shapes import CODES

TESTS = Path(__file__).parent.parent

SHOWN_BY = {
    "request.invalid": "api_methods/test_transport_errors.py::answered",
    "request.unknown_method": "api_methods/test_unbuilt_methods.py::test_any_other_name_is_unknown",
    "request.too_large": "api_methods/test_session_create_refusals.py::test_a_prompt_longer_than_a_message_may_be_is_too_large",
    "auth.forbidden": "api_methods/test_session_create_refusals.py::test_a_token_with_roots_works_below_them_alone",
    "protocol.uninitialized": "api_methods/test_initialize.py::test_nothing_is_answered_before_it",
    "protocol.unsupported": "api_methods/test_initialize.py::test_another_version_is_refused_with_those_that_are_spoken",
    "session.not_found": "api_methods/test_session_get.py::test_what_is_not_there_is_not_found",
    "session.exists": "api_methods/test_session_create_again.py::test_the_known_submit_id_is_looked_at_before_the_session_id",
    "session.busy": "api_methods/test_session_send.py::test_a_second_prompt_while_a_turn_runs_is_busy_and_frees_its_id",
    "session.deleted": "api_methods/test_session_delete.py::test_every_method_on_a_deleted_session_says_so",
    "session.not_resumable": (
        "api_methods/test_session_resume.py::test_a_conversation_that_is_gone_is_said_and_begun_anew_only_when_asked"
    ),
    "session.quarantined": "end_to_end/test_disk_trouble.py::test_a_session_whose_rows_cannot_be_read_is_set_aside_alone",
    "session.cwd_missing": (
        "end_to_end/test_isolation.py::test_a_working_directory_that_went_away_is_named_and_may_come_back"
    ),
    "isolation.refused": "api_methods/test_session_isolation.py::test_what_has_no_checkout_says_why_and_what_to_do",
    "turn.not_found": "api_methods/test_turn_cancel.py::test_what_is_not_there_is_not_found_and_stops_nothing",
    "turn.mismatch": (
        "api_methods/test_turn_guide.py::test_what_the_agent_refuses_is_typed_changes_nothing_and_frees_the_id"
    ),
    "turn.settled": (
        "api_methods/test_turn_guide.py::test_a_turn_that_is_over_or_unknown_is_not_guided_and_the_id_stays_free"
    ),
    "submit.delivery_unknown": (
        "api_methods/test_turn_guide.py::test_a_silent_agent_leaves_the_delivery_unknown_and_the_id_bound"
    ),
    "interaction.not_found": "api_methods/test_interaction_respond.py::test_wrong_scopes_and_options_leave_it_pending",
    "interaction.not_pending": "api_methods/test_interaction_respond.py::test_a_cancel_that_came_first_makes_the_answer_late",
    "interaction.unsupported_answer": (
        "api_methods/test_interaction_respond.py::test_wrong_scopes_and_options_leave_it_pending"
    ),
    "operation.not_found": "api_methods/test_operation_get.py::test_an_operation_that_is_not_there_says_so",
    "submit.conflict": "api_methods/test_session_send.py::test_the_same_id_for_something_else_is_a_conflict",
    "target.not_found": "api_methods/test_session_create_again.py::test_a_refused_create_leaves_nothing_and_frees_its_id",
    "target.disabled": "api_methods/test_session_create_refusals.py::test_what_cannot_be_is_refused_before_anything_exists",
    "provider.unavailable": "api_methods/test_session_resume.py::test_an_agent_that_cannot_start_is_a_typed_refusal",
    "provider.auth_required": "api_methods/test_session_resume.py::test_an_agent_that_cannot_start_is_a_typed_refusal",
    "provider.rejected": "api_methods/test_session_send.py::test_each_end_has_its_outcome_and_the_next_prompt_works",
    "provider.timeout": "end_to_end/test_isolation.py::test_commands_end_within_their_deadlines",
    "provider.lost": "api_methods/test_session_send.py::test_each_end_has_its_outcome_and_the_next_prompt_works",
    "provider.protocol": "end_to_end/test_isolation.py::test_an_endless_line_costs_its_own_connection_alone",
    "provider.context_full": "api_methods/test_session_send.py::test_each_end_has_its_outcome_and_the_next_prompt_works",
    "provider.refused": "api_methods/test_session_send.py::test_each_end_has_its_outcome_and_the_next_prompt_works",
    "provider.stopped": "api_methods/test_session_send.py::test_each_end_has_its_outcome_and_the_next_prompt_works",
    "capability.unsupported": (
        "api_methods/test_unbuilt_methods.py::test_a_name_of_the_contract_that_is_not_served_says_so"
    ),
    "settings.launch_only": (
        "api_methods/test_session_update_settings.py::test_a_launch_setting_changes_before_the_launch_alone"
    ),
    "provider.model_unavailable": (
        "api_methods/test_session_update_settings.py::test_a_chosen_model_the_agent_does_not_take_fails_the_turn_and_is_never_replaced"
    ),
    "settings.invalid": "api_methods/test_session_create_again.py::test_a_refused_create_leaves_nothing_and_frees_its_id",
    "side.not_found": "api_methods/test_side_refusals.py::test_what_is_not_there_is_not_found",
    "side.expired": (
        "providers_codex/hosted/test_hosted_sides.py::test_a_side_whose_process_is_killed_expires_and_its_source_goes_on"
    ),
    "side.exists": (
        "providers_codex/hosted/test_hosted_sides.py::test_opening_again_finds_the_side_and_submits_are_its_own"
    ),
    "attachment.unsupported": "api_methods/test_session_send.py::test_what_the_target_cannot_take_is_refused_whole",
    "attachment.not_found": "api_methods/test_attachments.py::test_another_workspace_or_session_does_not_find_it",
    "limit.exceeded": "end_to_end/test_admission.py::test_no_more_sessions_than_allowed_and_repeats_still_work",
    "overloaded": "api_methods/test_transport_errors.py::test_too_many_requests_in_flight_are_overloaded",
    "store.unavailable": (
        "end_to_end/test_disk_trouble.py::test_without_a_writable_disk_nothing_is_acknowledged_and_reads_go_on"
    ),
    "shutdown.in_progress": (
        "end_to_end/test_restart.py::test_a_stopping_daemon_refuses_commands_and_still_answers_reads"
    ),
    "internal": "operations/test_operation_outcomes.py::test_an_error_is_the_callers_answer_and_nobody_elses",
}
NOT_GIVEN_YET = {
    "store.full": "shown by the store's own tests, on a disk that is full: tests/store",
}


@cache
def functions_of(path: Path) -> dict[str, str]:
    """The functions of a test file by name, with all of their text."""
    source = path.read_text(encoding="utf-8")
    return {
        node.name: "\n".join(source.splitlines()[_first_line(node) - 1 : node.end_lineno])
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


@pytest.mark.parametrize("code", sorted(SHOWN_BY))
def test_the_test_that_shows_a_code_exists_and_names_it(code: str) -> None:
    path, _, name = SHOWN_BY[code].partition("::")
    assert f'"{code}"' in functions_of(TESTS / path)[name]


def test_every_code_a_served_method_can_give_is_shown_or_excused() -> None:
    given = {code for method in METHODS.values() for code in all_refusals(method)}
    assert given <= CODES
    assert given - SHOWN_BY.keys() - NOT_GIVEN_YET.keys() == set()
    assert SHOWN_BY.keys() & NOT_GIVEN_YET.keys() == set()
