"""The events as an AsyncAPI document: one channel, one message for each event, grouped by topic."""

import re
from typing import Any, get_args

from runtime.wire import events
from runtime.wire.descriptions import description_of
from runtime.wire.json_schema import SchemaWriter
from runtime.wire.strict_hooks import tags_of

ASYNCAPI_VERSION = "3.0.0"

_TOPICS = {
    "agent.activity.updated": get_args(events.ActivityEvent),
    "agent.side.updated": get_args(events.SideEvent),
    "host.updated": get_args(events.HostEvent),
}


def asyncapi_document(title: str, version: str) -> dict[str, Any]:
    """The whole document, as JSON values."""
    writer = SchemaWriter("#/components/schemas/")
    messages = {
        event.__name__: _message(event, topic, writer)
        for topic, shapes in _TOPICS.items()
        for event in shapes
    }
    return {
        "asyncapi": ASYNCAPI_VERSION,
        "info": {
            "title": title,
            "version": version,
            "description": "What a connection is sent after `events/subscribe`. Ignore members, events and change "
            "types you do not know: they may be added.",
        },
        "defaultContentType": "application/json",
        "channels": {
            "connection": {
                "address": "/v1/ws",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
            }
        },
        "operations": {
            _operation_name(topic): {
                "action": "send",
                "channel": {"$ref": "#/channels/connection"},
                "title": topic,
                "messages": [
                    {"$ref": f"#/channels/connection/messages/{shape.__name__}"} for shape in shapes
                ],
            }
            for topic, shapes in _TOPICS.items()
        },
        "components": {"messages": messages, "schemas": writer.definitions()},
    }


def _message(event: type, topic: str, writer: SchemaWriter) -> dict[str, Any]:
    return {
        "name": event.__name__,
        "title": f"{topic}: {' | '.join(tags_of(event))}",
        "summary": description_of(event),
        "payload": event_frame(writer.schema(event)),
    }


def event_frame(event: dict[str, Any]) -> dict[str, Any]:
    """The schema of a frame that carries this event."""
    return {
        "type": "object",
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "method": {"const": "event"},
            "params": {
                "type": "object",
                "allOf": [
                    {
                        "properties": {"subscriptionId": {"type": "integer", "minimum": 0}},
                        "required": ["subscriptionId"],
                    },
                    event,
                ],
            },
        },
        "required": ["jsonrpc", "method", "params"],
    }


def _operation_name(topic: str) -> str:
    return re.sub(r"\W+(\w)", lambda match: match.group(1).upper(), topic)
