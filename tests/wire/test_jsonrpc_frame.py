"""A text frame is one request, or gets the error reply the contract names; the connection lives either way."""

import orjson
import pytest

from runtime.wire.jsonrpc_frame import (
    NESTING_MAX,
    BadFrame,
    ClientRequest,
    nests_deeper_than,
    read_frame,
    refuse_binary_frame,
)

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "session/get", "params": {"a": 1}}


def frame(**changes):
    return orjson.dumps(REQUEST | changes)


def frame_without(name):
    return orjson.dumps({key: value for key, value in REQUEST.items() if key != name})


def deep_frame(levels, opening="[", closing="]"):
    """A request whose containers stand `levels` deep, the request and its params being the first two."""
    inner = opening * (levels - 2) + closing * (levels - 2)
    return f'{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"x":{inner}}}}}'


def error_of(result):
    assert isinstance(result, BadFrame)
    reply = orjson.loads(result.reply)
    assert reply.keys() == {"jsonrpc", "id", "error"}
    assert reply["error"]["data"]["code"] == result.refusal.code == "request.invalid"
    assert reply["error"]["data"]["delivery"] == "not_dispatched"
    return reply["id"], reply["error"]["code"]


def test_a_request_is_taken_as_it_is():
    assert read_frame(frame()) == ClientRequest(1, "session/get", {"a": 1})


def test_text_and_bytes_read_alike():
    assert read_frame(frame().decode()) == read_frame(frame())


def test_params_may_be_left_out():
    assert read_frame(frame_without("params")) == ClientRequest(1, "session/get", {})


@pytest.mark.parametrize("request_id", ["", "a" * 128, "é" * 128, 0, -1, 2**53 - 1, 1 - 2**53])
def test_ids_are_short_strings_or_exact_integers(request_id):
    request = read_frame(frame(id=request_id))
    assert isinstance(request, ClientRequest)
    assert request.id == request_id


@pytest.mark.parametrize(
    "request_id", ["a" * 129, 2**53, -(2**53), 2**63, 1.0, 1.5, True, False, None, [], {}, ["a"]]
)
def test_other_ids_are_refused_without_being_repeated(request_id):
    assert error_of(read_frame(frame(id=request_id))) == (None, -32600)


def test_an_integer_beyond_any_word_size_is_no_id():
    huge = b'{"jsonrpc":"2.0","id":1' + b"0" * 400 + b',"method":"m"}'
    assert error_of(read_frame(huge))[0] is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "{",
        "nonsense",
        '{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":NaN}}',
        '{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":Infinity}}',
        '{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":-Infinity}}',
        '{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":1e999}}',
        '{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"\\ud800"}}',
        '{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"\\udc00\\ud800"}}',
        '{"jsonrpc":"2.0","id":1,"method":"m","params":{"\\ud83d":1}}',
        '{"jsonrpc":"2.0","id":1,"method":"m"} {}',
        '{"jsonrpc":"2.0","id":1,"method":"m",}',
        "{'jsonrpc':'2.0'}",
        '\ufeff{"jsonrpc":"2.0","id":1,"method":"m"}',
        '"a\nb"',
        "\ud800",
        b'"\xff"',
        b'"\xed\xa0\x80"',
    ],
)
@pytest.mark.case("FC-19")
def test_what_is_not_json_is_a_parse_error(text):
    assert error_of(read_frame(text)) == (None, -32700)


@pytest.mark.parametrize("text", ["[]", "[1]", f"[{frame().decode()}]", "null", "5", '"text"', "true"])
def test_a_batch_or_a_bare_value_is_no_request(text):
    assert error_of(read_frame(text)) == (None, -32600)


@pytest.mark.parametrize("opening_closing", [("[", "]"), ('{"k":', "}")])
def test_nesting_is_taken_to_the_bound_and_refused_above(opening_closing):
    opening, closing = opening_closing
    at_bound = deep_frame(NESTING_MAX, opening, closing).replace(":}", ":1}")
    above = deep_frame(NESTING_MAX + 1, opening, closing).replace(":}", ":1}")
    assert isinstance(read_frame(at_bound), ClientRequest)
    assert error_of(read_frame(above)) == (None, -32700)


@pytest.mark.parametrize("levels", [1000, 1025, 100_000])
def test_absurd_nesting_is_refused_without_recursion(levels):
    assert error_of(read_frame(deep_frame(levels))) == (None, -32700)
    assert error_of(read_frame("[" * levels)) == (None, -32700)


def test_many_brackets_side_by_side_are_not_deep():
    wide = f'{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"x":[{",".join(["[]"] * 1000)}],"y":"[[{{"}}}}'
    request = read_frame(wide)
    assert isinstance(request, ClientRequest)
    assert len(request.params["x"]) == 1000


def test_depth_counts_the_containers_inside_each_other():
    assert not nests_deeper_than({"a": [1, {"b": []}]}, 4)
    assert nests_deeper_than({"a": [1, {"b": []}]}, 3)
    assert not nests_deeper_than("text", 0)
    assert nests_deeper_than([], 0)


@pytest.mark.parametrize(
    ("text", "request_id"),
    [
        (frame(jsonrpc="1.0"), 1),
        (frame(jsonrpc=2.0), 1),
        (frame_without("jsonrpc"), 1),
        (frame_without("method"), 1),
        (frame(method=5), 1),
        (frame(method=None), 1),
        (frame(params=[]), 1),
        (frame(params="x"), 1),
        (frame(params=None), 1),
        (frame(extra=1), 1),
        (frame(id="mine", result={}), "mine"),
        (frame_without("id"), None),
    ],
)
def test_an_ill_formed_envelope_is_answered_with_its_id_where_it_can_be_told(text, request_id):
    assert error_of(read_frame(text)) == (request_id, -32600)


def test_of_a_member_given_twice_the_last_one_counts():
    twice = b'{"jsonrpc":"2.0","id":1,"id":2,"method":"m","params":{"a":1,"a":2}}'
    assert read_frame(twice) == ClientRequest(2, "m", {"a": 2})


def test_a_binary_frame_is_an_invalid_request_without_id():
    assert error_of(refuse_binary_frame()) == (None, -32600)
