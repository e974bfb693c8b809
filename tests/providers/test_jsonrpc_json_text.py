"""JSON at the provider's edge: poison becomes harmless or is refused, and what is written is always valid."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.providers.jsonrpc.json_text import NESTING_MAX, MalformedJsonError, decode, encode, well_formed

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.case("FC-19")
@pytest.mark.parametrize(
    ("line", "text"),
    [
        (rb'"\ud99c"', "\ufffd"),
        (rb'"a\udc00b"', "a\ufffdb"),
        (rb'"\ud83d\ude42"', "\U0001f642"),
        (rb'"\ud83d \ude42"', "\ufffd \ufffd"),
        (rb'"\u0000"', "\x00"),
        ('"\uffff"'.encode(), "\uffff"),
    ],
)
def test_lone_surrogates_become_replacement_characters_and_other_poison_stays(line: bytes, text: str) -> None:
    assert decode(line) == text
    assert decode(encode(decode(line))) == text


@pytest.mark.case("FC-19")
def test_surrogates_are_replaced_in_member_names_and_deep_inside() -> None:
    assert decode(rb'{"\ud800":[{"a":"\ud99cx"}],"n":1}') == {"\ufffd": [{"a": "\ufffdx"}], "n": 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"NaN", "not JSON"),
        (b'{"a":Infinity,"b":"\\ud800"}', "Infinity is no JSON number"),
        (b'{"a":1e999}', "not JSON"),
        (b'{"a":1e999,"b":"\\ud800"}', "number out of range"),
        (b"Welcome back", "not JSON"),
        (b'{"a":', "not JSON"),
        (b'{"a":"\xff"}', "invalid UTF-8"),
        (b'{"a":"\xff\\ud800"}', "invalid UTF-8"),
        (b"[" * 5000 + b"]" * 5000, "not JSON"),
        (b"[" * 900 + b"]" * 900, "nested too deep"),
        (b"[" * 900 + rb'"\ud800"' + b"]" * 900, "nested too deep"),
        (b"[" * 5000 + rb'"\ud800"' + b"]" * 5000, "nested too deep"),
        (b'["\\ud800", 1' + b"0" * 400 + b"]", "not JSON"),
        (b'["\\ud800", 1' + b"0" * 5000 + b"]", "not JSON"),
    ],
)
def test_what_is_no_acceptable_json_is_refused_with_a_reason(line: bytes, reason: str) -> None:
    with pytest.raises(MalformedJsonError) as caught:
        decode(line)
    assert str(caught.value) == reason


def test_nesting_limit_is_exact_and_brackets_inside_text_do_not_count() -> None:
    assert decode(b"[" * NESTING_MAX + b"]" * NESTING_MAX)
    with pytest.raises(MalformedJsonError):
        decode(b"[" * (NESTING_MAX + 1) + b"]" * (NESTING_MAX + 1))
    assert decode(encode("[" * 1000)) == "[" * 1000
    assert decode(b"[" + b",".join([b"[]"] * 1000) + b"]") == [[]] * 1000


def test_last_of_members_with_the_same_name_counts_for_both_readers() -> None:
    assert decode(b'{"a":1,"a":2}') == {"a": 2}
    assert decode(rb'{"a":"\ud800","a":2}') == {"a": 2}


def test_integers_beyond_64_bits_become_floats_for_both_readers() -> None:
    assert decode(b"[18446744073709551616]") == [2.0**64]
    assert decode(rb'[18446744073709551616,"\ud800"]') == [2.0**64, "\ufffd"]


@pytest.mark.case("FC-19")
@given(json_values)
def test_encode_never_refuses_and_gives_valid_utf8_json(value: object) -> None:
    data = encode(value)  # type: ignore[arg-type]
    assert orjson.loads(data) == orjson.loads(orjson.dumps(well_formed(value)))  # type: ignore[arg-type]


@pytest.mark.case("FC-19")
@given(st.text(st.characters(codec="utf-16", exclude_categories=()), max_size=30))
def test_any_string_escaped_by_an_agent_is_read_without_surrogates(text: str) -> None:
    read = decode(json.dumps([text, "\ud800"]).encode())
    assert isinstance(read, list)
    assert all(not 0xD800 <= ord(character) <= 0xDFFF for item in read for character in str(item))


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_the_one_error(data: bytes) -> None:
    try:
        decode(data)
    except MalformedJsonError:
        pass
