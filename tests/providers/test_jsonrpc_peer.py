"""The JSON-RPC peer: who an answer belongs to, what is noise, and that nothing inbound raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.providers.jsonrpc.peer import (
    METHOD_NOT_FOUND,
    ErrorResponse,
    Ignored,
    JsonRpcPeer,
    Noise,
    Notification,
    Received,
    Request,
    Response,
    request_key,
)


def peer() -> JsonRpcPeer:
    return JsonRpcPeer(max_noise_bytes=10_000)


def line(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def test_calls_are_numbered_and_framed() -> None:
    subject = peer()
    assert subject.request("a", {"x": 1}) == (1, b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}\n')
    assert subject.request("b", {})[0] == 2
    assert subject.notify("c", {}) == b'{"jsonrpc":"2.0","method":"c","params":{}}\n'
    assert subject.respond("0", None) == b'{"jsonrpc":"2.0","id":"0","result":null}\n'
    assert json.loads(subject.refuse(0, METHOD_NOT_FOUND, "no")) == {
        "jsonrpc": "2.0",
        "id": 0,
        "error": {"code": -32601, "message": "no"},
    }


def test_version_member_can_be_left_out_for_providers_that_have_none() -> None:
    subject = JsonRpcPeer(max_noise_bytes=1000, version_member=False)
    assert subject.request("a", {}) == (1, b'{"id":1,"method":"a","params":{}}\n')
    assert subject.receive(b'{"id":1,"result":5}') == Response(1, 5)


def test_requests_notifications_and_answers_are_told_apart() -> None:
    subject = peer()
    subject.request("a", {})
    assert subject.receive(line(id=0, method="ask", params={"p": 1})) == Request(0, "ask", {"p": 1})
    assert subject.receive(line(method="tell")) == Notification("tell", None)
    assert subject.receive(line(id=1, result={"r": 1})) == Response(1, {"r": 1})
    subject.request("b", {})
    assert subject.receive(line(id=2, error={"code": 400, "message": "m", "data": [1]})) == ErrorResponse(
        2, 400, "m", [1]
    )


@pytest.mark.case("FC-54")
def test_inbound_ids_of_every_json_type_are_kept_apart_and_given_back() -> None:
    ids: list[object] = [0, "0", False, 0.0, "", [], {}, [0], {"a": 0}]
    keys = set()
    for request_id in ids:
        received = peer().receive(line(id=request_id, method="ask"))
        assert isinstance(received, Request)
        keys.add(received.key)
        assert json.loads(peer().respond(received.id, 1))["id"] == request_id
    assert len(keys) == len(ids)
    assert request_key(0) == request_key(0)


@pytest.mark.case("FC-54")
def test_unknown_wrong_typed_and_second_answers_are_ignored_and_counted() -> None:
    subject = peer()
    subject.request("a", {})
    for wrong in (999, "1", True, 1.0, 0, -1, [1]):
        assert subject.receive(line(id=wrong, result=0)) == Ignored(
            "unknown_response", json.dumps(wrong).replace(" ", "")
        )
    assert subject.receive(line(id=1, result=1)) == Response(1, 1)
    assert subject.receive(line(id=1, result=2)) == Ignored("second_response", "1")
    assert subject.receive(line(id=1, error={"code": 1})) == Ignored("second_response", "1")
    assert subject.ignored == 9


@pytest.mark.case("FC-54")
def test_malformed_answers_never_settle_another_call_and_the_connection_lives() -> None:
    subject = peer()
    subject.request("a", {})
    subject.request("b", {})
    assert isinstance(subject.receive(b'[{"jsonrpc":"2.0","id":1,"result":0}]'), Noise)
    assert subject.receive(line(id=None, result=0)) == Ignored("unaddressed_error", "null")
    assert subject.receive(line(error={"code": -32700, "message": "Parse error"})) == Ignored(
        "unaddressed_error", '{"code":-32700,"message":"Parse error"}'
    )
    assert subject.receive(line(id=1, result=5, error={"code": 7, "message": "both"})) == ErrorResponse(
        1, 7, "both"
    )
    assert subject.receive(line(id=2, result=5, error=None)) == Response(2, 5)


def test_answers_with_odd_errors_still_end_their_call() -> None:
    subject = peer()
    for _ in range(4):
        subject.request("a", {})
    assert subject.receive(line(id=1, error="no")) == ErrorResponse(1, 0, "no")
    assert subject.receive(line(id=2, error={"code": "x", "message": 5})) == ErrorResponse(2, 0, "")
    assert subject.receive(line(id=3, error=None)) == ErrorResponse(3, 0, "")
    assert subject.receive(line(id=4, result=None)) == Response(4, None)


def test_null_id_call_is_taken_as_told() -> None:
    assert peer().receive(line(id=None, method="ask")) == Notification("ask", None)


@pytest.mark.case("FC-17")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"Welcome back", "not JSON"),
        (b"", "blank line"),
        (b"  \t", "blank line"),
        (b"\x1b[31mred\x1b[0m", "not JSON"),
        (b"5", "no object"),
        (b"[]", "a batch"),
        (b"{}", "no JSON-RPC message"),
        (b'{"method":5,"id":1}', "no JSON-RPC message"),
        (b'{"id":1}', "no JSON-RPC message"),
    ],
)
def test_lines_that_are_no_frame_are_noise_with_a_reason(text: bytes, reason: str) -> None:
    noise = peer().receive(text)
    assert isinstance(noise, Noise)
    assert (noise.reason, noise.flood) == (reason, False)


@pytest.mark.case("FC-20")
def test_frame_with_invalid_utf8_is_malformed_and_the_next_one_is_fine() -> None:
    subject = peer()
    noise = subject.receive(b'{"jsonrpc":"2.0","method":"tell","params":"\xff"}')
    assert isinstance(noise, Noise)
    assert noise.reason == "invalid UTF-8"
    assert subject.receive(line(method="tell")) == Notification("tell", None)


@pytest.mark.case("FC-17")
def test_flood_is_called_after_a_thousand_lines_or_the_byte_limit_without_a_valid_frame() -> None:
    subject = peer()
    verdicts = [subject.receive(b"x") for _ in range(999)]
    assert not any(isinstance(v, Noise) and v.flood for v in verdicts)
    subject.receive(line(method="tell"))
    last: Received = subject.receive(b"x")
    for _ in range(999):
        assert last == Noise("not JSON", "x")
        last = subject.receive(b"x")
    assert last == Noise("not JSON", "x", flood=True)
    bytes_flood = peer().receive(b"y" * 10_000)
    assert bytes_flood == Noise("not JSON", "y" * 200, flood=True)


FRAMES = [
    line(id=1, result={"stopReason": "end_turn"}),
    line(id=0, method="session/request_permission", params={"sessionId": "s", "options": []}),
    line(method="session/update", params={"sessionId": "s", "update": {"content": {"text": "\ud99c"}}}),
    line(id=1, error={"code": -32603, "message": "m", "data": {}}),
]


@given(st.sampled_from(FRAMES), st.lists(st.tuples(st.integers(0, 300), st.binary(max_size=4)), max_size=6))
def test_mutated_frames_never_raise(frame: bytes, edits: list[tuple[int, bytes]]) -> None:
    for place, new in edits:
        frame = frame[: place % len(frame)] + new + frame[place % len(frame) + len(new) :] or b"x"
    subject = peer()
    subject.request("a", {})
    subject.receive(frame)
    subject.request("b", {})
    assert subject.receive(line(id=2, result=0)) == Response(2, 0)
