"""A typed client of Greenroom for asyncio and trio.

    async with greenroom_client.connect(url, token=token) as client:
        created = await client.session_create(workspace_id="default", agent_target_id="demo", ...)

`connecting` opens a client, `client` talks, `subscription` listens, `following` puts both together. Replies, rows and
events are JSON objects as the contract words them, typed by `contract.models`.
"""

from greenroom_client.client import Client, ClientOptions, ConnectionState
from greenroom_client.connecting import connect, connect_to_daemon, connect_unix, open_client, websocket_links
from greenroom_client.connection import Link, LinkSource
from greenroom_client.endpoint import (
    Announcement,
    Endpoint,
    EndpointSource,
    announcement_of,
    endpoint_of,
    pinned_certificate,
    running_daemon,
)
from greenroom_client.errors import (
    AccessRefused,
    ClientError,
    ConnectionLost,
    DaemonUnreachable,
    GreenroomError,
)
from greenroom_client.events import Gap, SubscriptionEvent, facts_are_missing
from greenroom_client.following import (
    FollowedSession,
    TurnStream,
    answer_option,
    follow_session,
    new_submit_id,
    prompt,
    repeat_until_answered,
    send_and_stream,
    stream_turn,
    wait_for_turn,
)
from greenroom_client.messages import MessageAssembler, message_key, text_of
from greenroom_client.prompt_queue import PromptQueue, QueuedPrompt, QueueFull
from greenroom_client.reconnect import FOREVER, NEVER, Reconnect
from greenroom_client.session_view import SessionView, interaction_key
from greenroom_client.subscription import BufferLimits, Position, Subscription
from greenroom_client.turn_view import (
    Asked,
    NoLongerAsked,
    NoticePiece,
    Piece,
    PlanPiece,
    ReadAgain,
    TextPiece,
    ToolPiece,
    TurnView,
)

__all__ = [
    "FOREVER",
    "NEVER",
    "AccessRefused",
    "Announcement",
    "Asked",
    "BufferLimits",
    "Client",
    "ClientError",
    "ClientOptions",
    "ConnectionLost",
    "ConnectionState",
    "DaemonUnreachable",
    "Endpoint",
    "EndpointSource",
    "FollowedSession",
    "Gap",
    "GreenroomError",
    "Link",
    "LinkSource",
    "MessageAssembler",
    "NoLongerAsked",
    "NoticePiece",
    "Piece",
    "PlanPiece",
    "Position",
    "PromptQueue",
    "QueueFull",
    "QueuedPrompt",
    "ReadAgain",
    "Reconnect",
    "SessionView",
    "Subscription",
    "SubscriptionEvent",
    "TextPiece",
    "ToolPiece",
    "TurnStream",
    "TurnView",
    "announcement_of",
    "answer_option",
    "connect",
    "connect_to_daemon",
    "connect_unix",
    "endpoint_of",
    "facts_are_missing",
    "follow_session",
    "interaction_key",
    "message_key",
    "new_submit_id",
    "open_client",
    "pinned_certificate",
    "prompt",
    "repeat_until_answered",
    "running_daemon",
    "send_and_stream",
    "stream_turn",
    "text_of",
    "wait_for_turn",
    "websocket_links",
]
