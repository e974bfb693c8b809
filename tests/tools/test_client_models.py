"""The client's models say what the contract says: open where the daemon writes, closed where the client does."""

import pytest

from tools.client_models import error_codes_module, methods_module, models_module, python_name

DEFINITIONS = {
    "Word": {"type": "string", "pattern": "x"},
    "Row": {
        "type": "object",
        "description": "A row.",
        "properties": {
            "type": {"const": "row"},
            "phase": {"enum": ["a", "b"]},
            "items": {"type": "array", "items": {"$ref": "#/$defs/Word"}},
            "more": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "Some more."},
        },
        "required": ["type", "phase", "items"],
    },
    "Block": {
        "type": "object",
        "properties": {"kind": {"enum": ["a"]}, "names": {"type": "array", "items": {"type": "string"}}},
        "required": ["kind"],
        "additionalProperties": False,
    },
    "Either": {"oneOf": [{"$ref": "#/$defs/Row"}, {"$ref": "#/$defs/Both"}]},
    "Both": {"anyOf": [{"$ref": "#/$defs/Block"}, {"type": "null"}]},
    "AskParams": {
        "type": "object",
        "properties": {
            "agentSessionId": {"$ref": "#/$defs/Word"},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "How many."},
        },
        "required": ["agentSessionId"],
        "additionalProperties": False,
    },
}
METHOD = {
    "name": "session/askOften",
    "summary": "Ask.",
    "x-params": {"$ref": "#/components/schemas/AskParams"},
    "x-scope": "read",
    "result": {"schema": {"$ref": "#/components/schemas/Row"}},
    "errors": [{"$ref": "#/components/errors/session.not_found"}],
}


@pytest.mark.rule("AP-001")
def test_what_the_daemon_writes_may_hold_words_and_members_nobody_knows():
    written = models_module(DEFINITIONS)
    assert "Word: TypeAlias = str" in written
    assert "    type: Literal['row']" in written
    assert "    phase: Literal['a', 'b'] | str" in written
    assert "    items: list[Word]" in written
    assert '    more: NotRequired[int | None]\n    """Some more."""' in written


@pytest.mark.rule("AP-001", "AP-002")
def test_what_the_client_writes_is_closed():
    written = models_module(DEFINITIONS)
    assert "    kind: Literal['a']\n" in written
    assert "    names: NotRequired[Sequence[str]]" in written


def test_a_union_stands_after_its_parts():
    written = models_module(DEFINITIONS)
    assert written.index("Both: TypeAlias") < written.index("Either: TypeAlias = Row | Both")


@pytest.mark.rule("AP-001")
def test_a_method_is_a_call_whose_required_params_come_first():
    written = methods_module([METHOD], DEFINITIONS)
    assert (
        "async def session_ask_often(\n        self, *, agent_session_id: Word, limit: int | None = None"
        in written
    )
    assert "-> Row:" in written
    assert "limit: How many." in written
    assert "session.not_found." in written
    assert "READ_METHODS = frozenset(['session/askOften'])" in written


def test_a_method_the_connection_speaks_by_itself_is_no_call():
    assert "async def events_subscribe" not in methods_module(
        [{**METHOD, "name": "events/subscribe"}], DEFINITIONS
    )


@pytest.mark.parametrize(
    ("name", "python"), [("agentSessionId", "agent_session_id"), ("editRetry/recover", "edit_retry_recover")]
)
def test_names_are_spelled_as_python_does(name: str, python: str):
    assert python_name(name) == python


def test_error_codes_are_one_literal():
    assert "ErrorCode: TypeAlias = Literal['a.b', 'c']" in error_codes_module(
        [{"code": "a.b"}, {"code": "c"}]
    )
