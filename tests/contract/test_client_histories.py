"""What clients of v1 were told once stays true: recorded conversations are judged by today's contract and had again.

They were recorded with `python -m tools.client_history`. Nobody edits or removes one: a change that makes this file
red breaks programs of others.
"""

import json
import signal
from typing import Any

import pytest

from runtime.refusal import Refusal
from runtime.wire.converter import structure
from runtime.wire.documents import schema_document
from runtime.wire.errors import ERRORS
from runtime.wire.methods import METHODS
from tests.contract.client_histories import (
    History,
    Line,
    asked_again,
    histories,
    judge,
    lasting,
    lasting_schema,
    owed,
    prepare,
)
from tests.contract.played_frames import Names, filled_in, place_after
from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon

HISTORIES = histories()
TODAY = judge("RequestFrame", schema_document())
each_history = pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)

NOT_RECORDED_METHODS: frozenset[str] = frozenset()
"""Served methods that nobody has recorded yet. To be emptied by recording, not to be filled."""
NOT_RECORDED_EVENTS = {
    "stream_gap": "comes to who is too slow for megabytes; tests/end_to_end/test_slow_readers.py",
    "resync": "comes to who is too slow for the log; tests/api/test_subscription_gaps.py",
    "side_gap": "comes to who is too slow for what is told of a Side",
    "health": "comes when the store fails; tests/end_to_end/test_disk_trouble.py",
}
NOT_RECORDED_CHANGES = {"goal"}
RECORDED_CODES_AT_LEAST = 35


# --- the records by today's contract ------------------------------------------------------------------------------


@pytest.mark.rule("AP-001")
@each_history
def test_every_recorded_request_is_still_taken(history: History) -> None:
    refused = {
        request["id"]
        for request, reply in history.replies()
        if reply.get("error", {}).get("data", {}).get("code", "").startswith("request.")
    }
    for request in history.requests():
        if request["id"] in refused or request["method"] not in METHODS:
            continue
        params = structure(METHODS[request["method"]].params, request["params"], "params")
        assert not isinstance(params, Refusal), (request, params)
        TODAY.validate(request)


@each_history
def test_every_recorded_reply_and_event_has_only_what_there_still_is(history: History) -> None:
    for request, reply in history.replies():
        if "error" in reply:
            judge("ErrorFrame").validate(reply)
            assert reply["error"]["data"]["code"] in ERRORS
        else:
            judge(METHODS[request["method"]].result.__name__).validate(reply["result"])
    for line in history.lines:
        if line.event is not None:
            event = {name: value for name, value in line.event.items() if name != "subscriptionId"}
            judge("Event").validate(event)


def test_together_they_have_each_method_each_kind_of_event_and_most_errors() -> None:
    answered, events, changes, codes = set(), set(), set(), set()
    for history in HISTORIES:
        for request, reply in history.replies():
            if "error" in reply:
                codes.add(reply["error"]["data"]["code"])
            else:
                answered.add(request["method"])
        for line in history.lines:
            if line.event is not None:
                events.add(line.event["type"])
                changes |= {change["type"] for change in line.event.get("changes", ())}
            codes |= set(_turn_errors(line))
    assert METHODS.keys() - answered == NOT_RECORDED_METHODS, "record them: docs/testing.md, Old clients"
    assert _tags("Event") - events == NOT_RECORDED_EVENTS.keys()
    assert _tags("Change") - changes == NOT_RECORDED_CHANGES
    assert len(codes) >= RECORDED_CODES_AT_LEAST, sorted(codes)


def _turn_errors(line: Line) -> list[str]:
    changes = (line.event or {}).get("changes", ())
    rows = [change["row"] for change in changes if change["type"] == "turn"]
    return [row["error"]["code"] for row in rows if row["error"]]


def _tags(union: str) -> set[str]:
    definitions = lasting_schema()["$defs"]
    tags: set[str] = set()
    for member in definitions[union]["anyOf"]:
        tag = definitions[member["$ref"].rpartition("/")[2]]["properties"]["type"]
        tags |= {tag["const"]} if "const" in tag else set(tag["enum"])
    return tags


# --- the conversations of today -----------------------------------------------------------------------------------


@each_history
async def test_the_same_requests_are_answered_with_all_that_was_said_then(
    history: History, make_daemon: MakeDaemon
) -> None:
    daemon = make_daemon(start=False)
    prepare(history.daemon, daemon)
    daemon.start()
    names: Names = {}
    due: dict[tuple[str, ...], Any] = {}
    async with connected(daemon, initialize=False) as client:
        for line in history.lines:
            if line.by == "server":
                due.update(owed(line))
                continue
            await _hear(client, due, names)
            await _say(client, daemon, line, names)
        await _hear(client, due, names)


async def _hear(client: Client, due: dict[tuple[str, ...], Any], names: Names) -> None:
    """Wait for all that had been said by then."""
    for expected in due.values():
        await place_after(client, expected, names, 0)
    due.clear()


async def _say(client: Client, daemon: Daemon, line: Line, names: Names) -> None:
    if line.by == "operator":
        daemon.signal(getattr(signal, line.said))
    elif isinstance(line.said, str):
        await client.send_text(line.said)
    else:
        await client.send_text(json.dumps(filled_in(asked_again(line.said, names), names)))


# --- that this would be seen --------------------------------------------------------------------------------------

ROW = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "state": {"enum": ["on", "off"]},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        "free": {"type": "object", "additionalProperties": {"type": "string"}},
        "added": {"type": "integer"},
    },
    "required": ["name", "state", "parts", "free", "added"],
}
PARTS = {
    "Part": {"oneOf": [{"$ref": "#/$defs/Text"}, {"$ref": "#/$defs/Picture"}]},
    "Text": {
        "type": "object",
        "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
        "required": ["type", "text"],
    },
    "Picture": {
        "type": "object",
        "properties": {"type": {"const": "picture"}, "bytes": {"type": "integer"}},
        "required": ["type", "bytes"],
    },
}
OLD = {"name": "a", "state": "on", "parts": [{"type": "text", "text": "x"}], "free": {"any": "y"}}


def test_what_was_added_since_may_be_missing() -> None:
    assert judge("Row", lasting({"$defs": {"Row": ROW, **PARTS}})).is_valid(OLD)


@pytest.mark.parametrize(
    "gone",
    [
        {"title": "a renamed or dropped member"},
        {"name": 1},
        {"state": "gone"},
        {"parts": [{"type": "text", "text": "x", "style": "a member of a part"}]},
        {"parts": [{"type": "gone", "text": "x"}]},
        {"free": {"any": 1}},
    ],
)
def test_what_was_renamed_dropped_or_narrowed_is_missed(gone: Any) -> None:
    assert not judge("Row", lasting({"$defs": {"Row": ROW, **PARTS}})).is_valid(OLD | gone)
