"""Frames are bytes with one shared part: what is sent must read back as exactly the event or reply meant."""

import orjson
import pytest

from runtime.refusal import Refusal
from runtime.wire import encoding, events, replies
from runtime.wire.converter import structure_params, unstructure
from runtime.wire.errors import INVALID_REQUEST
from runtime.wire.methods import METHODS
from store.canonical.identifiers import SessionKey
from store.canonical.interaction import ApprovalInput, Interaction
from store.canonical.message import Message, TextBlock
from store.canonical.session import Session
from store.canonical.turn import Turn

SESSION = Session("w", "s", "codex", "codex", "/srv", created_at=1, updated_at=2)
TURN = Turn("w", "s", "t", 1, submitted_at=5)
FIRST = Message("w", "s", "m1", 1, 1, "user", "text", created_at=5, content=(TextBlock("é\u0000\U0001f600"),))
SECOND = Message("w", "s", "m2", 2, 2, "assistant", "text", created_at=6)
INTERACTION = Interaction("w", "s", "t", "r", "approval", ApprovalInput("c", "t", "edit"), created_at=7)


def event_of(body, subscription_id=7):
    """The frame one subscriber receives, parsed."""
    frame = encoding.event_prefix(subscription_id) + body
    assert frame.startswith(b'{"jsonrpc":"2.0","method":"event","params":{"subscriptionId":7,"topic":')
    parsed = orjson.loads(frame)
    assert parsed.keys() == {"jsonrpc", "method", "params"}
    assert parsed["params"].pop("subscriptionId") == subscription_id
    return parsed["params"]


def plain(model):
    """What a client reads of a model."""
    return orjson.loads(orjson.dumps(unstructure(model)))


@pytest.mark.parametrize("row", [SESSION, TURN, FIRST, INTERACTION])
def test_a_row_is_one_json_object(row):
    assert orjson.loads(encoding.encode_row(row)) == plain(row)


def test_a_commit_shows_complete_rows_in_the_order_of_publication():
    body = encoding.encode_commit(2**53 - 1, [INTERACTION, SECOND, TURN, FIRST, SESSION])
    assert event_of(body) == plain(
        events.Commit(
            commit_seq=2**53 - 1,
            changes=(
                events.SessionChange(SESSION),
                events.TurnChange(TURN),
                events.MessageChange(FIRST),
                events.MessageChange(SECOND),
                events.InteractionChange(INTERACTION),
            ),
        )
    )


@pytest.mark.rule("AP-012")
@pytest.mark.parametrize("text", ["plain", ' "quoted" \\ \n', "é\U0001f600", "\u2028</script>"])
def test_a_delta_reads_back_as_the_event_it_stands_for(text):
    body = encoding.encode_delta(SessionKey("w", "s"), "t", "m", "text", "text", 0, text)
    assert event_of(body) == plain(
        events.MessageDelta(
            workspace_id="w",
            agent_session_id="s",
            turn_id="t",
            message_id="m",
            kind="text",
            field="text",
            delta_seq=0,
            text=text,
        )
    )


def test_a_snapshot_shows_the_whole_message():
    assert event_of(encoding.encode_snapshot(SECOND)) == plain(events.MessageSnapshot(message=SECOND))


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            events.Checkpoint(commit_seq=5),
            {"topic": "agent.activity.updated", "type": "checkpoint", "commitSeq": 5},
        ),
        (events.Resync(commit_seq=5), {"topic": "agent.activity.updated", "type": "resync", "commitSeq": 5}),
        (
            events.SessionReset(commit_seq=5, workspace_id="w", agent_session_id="s", message_version=3),
            {
                "topic": "agent.activity.updated",
                "type": "session_reset",
                "commitSeq": 5,
                "workspaceId": "w",
                "agentSessionId": "s",
                "messageVersion": 3,
            },
        ),
        (
            events.StreamGap(workspace_id="w", agent_session_id="s", message_id="m"),
            {
                "topic": "agent.activity.updated",
                "type": "stream_gap",
                "workspaceId": "w",
                "agentSessionId": "s",
                "messageId": "m",
            },
        ),
        (
            events.RuntimeActivity(
                workspace_id="w",
                agent_session_id="s",
                runtime_state="live",
                activity="running",
                last_activity_at=None,
                occurred_at=9,
            ),
            {
                "topic": "agent.activity.updated",
                "type": "runtime_activity",
                "workspaceId": "w",
                "agentSessionId": "s",
                "runtimeState": "live",
                "activity": "running",
                "lastActivityAt": None,
                "occurredAt": 9,
            },
        ),
        (
            events.SideUpdated(
                workspace_id="w",
                source_agent_session_id="s",
                side_agent_session_id="x",
                sequence=3,
                payload=events.SideError(code="provider.lost"),
            ),
            {
                "topic": "agent.side.updated",
                "type": "side",
                "workspaceId": "w",
                "sourceAgentSessionId": "s",
                "sideAgentSessionId": "x",
                "sequence": 3,
                "payload": {"type": "error", "code": "provider.lost"},
            },
        ),
        (events.HostHint(type="health"), {"topic": "host.updated", "type": "health"}),
        (
            events.HostShutdown(grace_seconds=10.0),
            {"topic": "host.updated", "type": "shutdown", "graceSeconds": 10.0},
        ),
    ],
)
def test_any_other_event_is_written_from_its_object(event, expected):
    assert event_of(encoding.encode_event(event)) == expected


def test_a_reply_carries_the_id_it_was_asked_with():
    frame = encoding.encode_reply("a-1", replies.TurnReply(turn=TURN, commit_seq=4))
    assert orjson.loads(frame) == {
        "jsonrpc": "2.0",
        "id": "a-1",
        "result": {"turn": plain(TURN), "commitSeq": 4},
    }


@pytest.mark.parametrize("turn", [None, TURN])
def test_a_created_session_shows_a_turn_only_where_there_is_one(turn):
    frame = encoding.encode_reply(1, replies.SessionCreateReply(session=SESSION, turn=turn, commit_seq=4))
    assert ("turn" in orjson.loads(frame)["result"]) == (turn is not None)


def test_rows_encoded_before_are_put_into_a_reply_as_they_are():
    items = [encoding.row_fragment(encoding.encode_row(TURN))]
    frame = encoding.encode_reply(1, {"items": items, "nextCursor": None, "commitSeq": 4})
    assert frame == encoding.encode_reply(
        1, replies.TurnListReply(items=(TURN,), next_cursor=None, commit_seq=4)
    )


def test_a_refusal_says_its_code_delivery_and_details():
    refusal = Refusal("provider.timeout", "unknown", {"limit": "respondTimeoutSeconds"}, 250)
    assert orjson.loads(encoding.encode_error(3, refusal)) == {
        "jsonrpc": "2.0",
        "id": 3,
        "error": {
            "code": -32000,
            "message": "The provider did not answer in time.",
            "data": {
                "code": "provider.timeout",
                "retryable": True,
                "delivery": "unknown",
                "retryAfterMs": 250,
                "details": {"limit": "respondTimeoutSeconds"},
            },
        },
    }


def test_a_refusal_without_details_has_an_empty_object_and_no_retry_time():
    data = orjson.loads(encoding.encode_error(None, Refusal("session.busy")))["error"]["data"]
    assert data == {
        "code": "session.busy",
        "retryable": True,
        "delivery": "not_dispatched",
        "details": {},
    }


def test_a_row_may_stand_in_the_details_of_a_refusal():
    refusal = Refusal("interaction.not_pending", details={"interaction": INTERACTION})
    details = orjson.loads(encoding.encode_error(1, refusal))["error"]["data"]["details"]
    assert details == {"interaction": plain(INTERACTION)}


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("request.invalid", -32602),
        ("request.unknown_method", -32601),
        ("internal", -32603),
        ("capability.unsupported", -32000),
    ],
)
def test_error_numbers_follow_json_rpc(code, number):
    assert orjson.loads(encoding.encode_error(1, Refusal(code)))["error"]["code"] == number
    enveloped = encoding.encode_error(1, Refusal(code), INVALID_REQUEST)
    assert orjson.loads(enveloped)["error"]["code"] == -32600


@pytest.mark.rule("RT-037")
def test_the_same_request_has_one_canonical_spelling():
    def canonical(params):
        return encoding.canonical_json(structure_params(METHODS["session/create"], params))

    plain_request = {"workspaceId": "w", "agentTargetId": "codex", "clientSubmitId": "c", "cwd": "/a"}
    reordered = dict(reversed(plain_request.items())) | {"title": None}
    assert canonical(plain_request) == canonical(reordered)
    assert canonical(plain_request) != canonical(plain_request | {"cwd": "/b"})
