"""Whatever a client sends, the wire answers with a value: no input raises, none takes the connection with it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runtime.refusal import Refusal
from runtime.wire.converter import structure_params
from runtime.wire.encoding import encode_error
from runtime.wire.jsonrpc_frame import BadFrame, ClientRequest, read_frame
from runtime.wire.members import fields_of, wire_name
from runtime.wire.methods import METHODS

EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True, database=None)
NAMES = st.sampled_from(["type", "text", "optionId", "answersByQuestionId", "entries", "x", ""])
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.rule("AP-002")
@pytest.mark.parametrize("name", METHODS)
@EXAMPLES
@given(data=st.data())
def test_any_params_are_taken_or_refused(name, data):
    method = METHODS[name]
    names = st.sampled_from([*(wire_name(field.name) for field in fields_of(method.params)), "extra"])
    params = data.draw(st.dictionaries(names, ANY_JSON))
    result = structure_params(method, params)
    assert isinstance(result, (method.params, Refusal))
    if isinstance(result, Refusal):
        assert result.details["path"].startswith("params")
        assert encode_error(1, result)


@EXAMPLES
@given(st.text() | st.binary())
@example("\x00")
@example('{"jsonrpc":"2.0","id":{"a":[[[]]]},"method":[]}')
@example("[" * 200_000)
@example('{"a":' * 2000 + "1" + "}" * 2000)
@example("9" * 5000)
@example('"' + "\\u0000" * 50 + '"')
def test_any_frame_is_a_request_or_gets_a_reply(frame):
    result = read_frame(frame)
    assert isinstance(result, (ClientRequest, BadFrame))
