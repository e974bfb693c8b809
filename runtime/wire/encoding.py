"""Models into the bytes that are sent: rows, events, replies and errors. Pure, and safe to call from any thread.

An event is written once for all its subscribers: `event_prefix` is each subscription's own beginning, a *body* is
everything after it up to the end of the frame. A commit's body is what the commit log keeps.

Rows reach this module clean: text without lone surrogates, free JSON values less than 250 levels deep. The
boundaries they come in by see to that; here a breach is a bug and raises TypeError.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import orjson

from runtime.refusal import Refusal
from runtime.wire.converter import CONVERTER, unstructure
from runtime.wire.errors import ERRORS, error_data
from runtime.wire.events import Event
from store.canonical.change import Row, SessionRemoved, SessionReread, SessionRestored, publication_order
from store.canonical.identifiers import MessageId, SessionKey, TurnId
from store.canonical.interaction import Interaction
from store.canonical.message import DeltaField, Message, MessageKind
from store.canonical.operation import Operation
from store.canonical.session import Session
from store.canonical.turn import Turn

JsonRpcId: TypeAlias = str | int | None

_ROW_DICTS = {
    shape: CONVERTER.get_unstructure_hook(shape) for shape in (Session, Turn, Message, Interaction, Operation)
}
_CHANGE_TYPES = {
    Session: "session",
    Turn: "turn",
    Message: "message",
    Interaction: "interaction",
    Operation: "operation",
    SessionRemoved: "session_removed",
    SessionRestored: "session_restored",
}
_DELTA_HEAD = b'"topic":"agent.activity.updated","type":"message_delta",'
_SNAPSHOT_HEAD = b'"topic":"agent.activity.updated","type":"message_snapshot","message":'


def encode_row(row: Row) -> bytes:
    """A row as one JSON object."""
    return orjson.dumps(_row_dict(row))


# --- events -----------------------------------------------------------------------------------------------------


def event_prefix(subscription_id: int) -> bytes:
    """How every event of a subscription begins; a body completes the frame."""
    return b'{"jsonrpc":"2.0","method":"event","params":{"subscriptionId":%d,' % subscription_id


def encode_commit(commit_seq: int, rows: Sequence[Row]) -> bytes:
    """The body of a `commit`: complete rows in the order of publication. This is the store's CommitEncoder."""
    changes = [{"type": _CHANGE_TYPES[type(row)], "row": _row_dict(row)} for row in publication_order(rows)]
    return b'"topic":"agent.activity.updated","type":"commit","commitSeq":%d,"changes":%b}}' % (
        commit_seq,
        orjson.dumps(changes),
    )


def _row_dict(row: Row) -> dict[str, Any]:
    if isinstance(row, SessionRemoved | SessionRestored | SessionReread):
        row = row.session
    shown: dict[str, Any] = _ROW_DICTS[type(row)](row)
    return shown


def encode_delta(
    session_key: SessionKey,
    turn_id: TurnId,
    message_id: MessageId,
    kind: MessageKind,
    field: DeltaField,
    delta_seq: int,
    text: str,
) -> bytes:
    """The body of a `message_delta`. The hottest line of the service: one dictionary, one dump."""
    body = orjson.dumps(
        {
            "workspaceId": session_key.workspace_id,
            "agentSessionId": session_key.agent_session_id,
            "turnId": turn_id,
            "messageId": message_id,
            "kind": kind,
            "field": field,
            "deltaSeq": delta_seq,
            "text": text,
        }
    )
    return _DELTA_HEAD + body[1:] + b"}"


def encode_snapshot(message: Message) -> bytes:
    """The body of a `message_snapshot`."""
    return _SNAPSHOT_HEAD + encode_row(message) + b"}}"


def encode_event(event: Event) -> bytes:
    """The body of any event that is given as an object."""
    return orjson.dumps(unstructure(event))[1:] + b"}"


# --- replies ----------------------------------------------------------------------------------------------------


def encode_reply(request_id: JsonRpcId, result: object) -> bytes:
    """The frame of a reply. `result` is a reply class of `runtime.wire.replies`, or a mapping in the names of the
    wire whose values are JSON, rows as `encode_row` made them (`row_fragment`), or models."""
    return orjson.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}, default=unstructure)


def row_fragment(encoded: bytes) -> orjson.Fragment:
    """A row that is encoded already, to be put into the result of a reply as it is."""
    return orjson.Fragment(encoded)


def encode_error(request_id: JsonRpcId, refusal: Refusal, number: int | None = None) -> bytes:
    """The frame of an error reply; `number` where the code's usual JSON-RPC number does not fit."""
    entry = ERRORS[refusal.code]
    error: dict[str, Any] = {
        "code": entry.number if number is None else number,
        "message": entry.message,
        "data": error_data(refusal),
    }
    return orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}, default=unstructure)


def canonical_json(model: object) -> bytes:
    """A model in one spelling: members sorted, defaults left out. Equal bytes mean the same request (RT-037)."""
    return orjson.dumps(unstructure(model), option=orjson.OPT_SORT_KEYS)
