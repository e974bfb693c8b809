"""Generates `contract/`: JSON Schema, OpenRPC, AsyncAPI, TypeScript and the table of error codes, from the models alone.

The same models give the same bytes. `python -m runtime.wire.documents --out DIRECTORY` writes them.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from runtime.wire import events, rows
from runtime.wire.asyncapi import asyncapi_document, event_frame
from runtime.wire.constraints import INTEGER_MAX
from runtime.wire.errors import ERRORS, ErrorCode, ErrorData
from runtime.wire.json_schema import Schema, SchemaWriter
from runtime.wire.jsonrpc_frame import ID_CHARACTERS_MAX
from runtime.wire.methods import METHODS
from runtime.wire.openrpc import openrpc_document
from runtime.wire.requests import PROTOCOL_VERSION
from runtime.wire.typescript import typescript_document

_TITLE = "Greenroom"
_VERSION = f"{PROTOCOL_VERSION}"
_IDENTITY: Schema = {
    "anyOf": [
        {"type": "string", "maxLength": ID_CHARACTERS_MAX},
        {"type": "integer", "minimum": -INTEGER_MAX, "maximum": INTEGER_MAX},
    ]
}


def documents() -> Mapping[str, bytes]:
    """File name to content of every document."""
    schema = schema_document()
    return {
        "schema.json": _json(schema),
        "greenroom.ts": typescript_document(schema, _VERSION).encode(),
        "greenroom.openrpc.json": _json(openrpc_document(_TITLE, _VERSION)),
        "events.asyncapi.json": _json(asyncapi_document(_TITLE, _VERSION)),
        "errors.json": _json([_error(entry) for entry in ERRORS.values()]),
        "errors.md": "".join(f"{line}\n" for line in _error_table()).encode(),
    }


def write_documents(directory: Path) -> None:
    """Write every document into `directory`, which is made where it is missing."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in documents().items():
        (directory / name).write_bytes(content)


def schema_document() -> Schema:
    """Every definition of the contract, and the four kinds of frames."""
    writer = SchemaWriter("#/$defs/")
    for method in METHODS.values():
        writer.schema(method.params)
        writer.schema(method.result)
    for row in (
        rows.Session,
        rows.Turn,
        rows.Message,
        rows.Interaction,
        rows.Goal,
        rows.Operation,
        rows.Side,
    ):
        writer.schema(row)
    event = event_frame(writer.schema(events.Event))
    error = _error_frame(writer)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:greenroom:contract:v{PROTOCOL_VERSION}",
        "title": f"{_TITLE} contract, version {PROTOCOL_VERSION}",
        "description": "What the server sends may gain members, events, change types and enum values within this "
        "version: ignore what you do not know and take an unknown enum value for an other. What a client sends is "
        "closed: the server refuses unknown members.",
        "$defs": writer.definitions()
        | {"RequestFrame": _request_frame(), "ReplyFrame": _reply_frame()}
        | {"ErrorFrame": error, "EventFrame": event},
    }


def _request_frame() -> Schema:
    properties: Schema = {
        "jsonrpc": {"const": "2.0"},
        "id": _IDENTITY,
        "method": {"type": "string"},
        "params": {"type": "object"},
    }
    by_method = [
        {
            "if": {"properties": {"method": {"const": method.name}}},
            "then": {"properties": {"params": {"$ref": f"#/$defs/{method.params.__name__}"}}},
        }
        for method in METHODS.values()
    ]
    return {
        "description": "A request of a client.",
        "type": "object",
        "properties": properties,
        "required": ["jsonrpc", "id", "method"],
        "additionalProperties": False,
        "allOf": by_method,
    }


def _reply_frame() -> Schema:
    return {
        "description": "The result of a request; which class it is depends on the method.",
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, "id": _IDENTITY, "result": {"type": "object"}},
        "required": ["jsonrpc", "id", "result"],
    }


def _error_frame(writer: SchemaWriter) -> Schema:
    return {
        "description": "The refusal of a request. `id` is null where it cannot be told.",
        "type": "object",
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "id": {"anyOf": [_IDENTITY, {"type": "null"}]},
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "integer"},
                    "message": {"type": "string"},
                    "data": writer.schema(ErrorData),
                },
                "required": ["code", "message", "data"],
            },
        },
        "required": ["jsonrpc", "id", "error"],
    }


def _error(entry: ErrorCode) -> dict[str, Any]:
    return {
        "code": entry.code,
        "message": entry.message,
        "when": entry.when,
        "retryable": entry.retryable,
        "numbers": [entry.number, *entry.other_numbers],
    }


def _error_table() -> Iterator[str]:
    yield "# Error codes"
    yield ""
    yield "`data.code` of an error reply, and `error.code` of a failed turn. *Retryable*: the same request with the"
    yield "same ids may succeed later, without another request in between. *Number*: the JSON-RPC error number."
    yield ""
    yield "| code | when it is given | retryable | number |"
    yield "| --- | --- | --- | --- |"
    for entry in ERRORS.values():
        numbers = ", ".join(str(number) for number in (entry.number, *entry.other_numbers))
        yield f"| `{entry.code}` | {entry.when} | {'yes' if entry.retryable else 'no'} | {numbers} |"


def _json(document: object) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def main(arguments: Sequence[str]) -> int:
    """Write the documents into the directory given."""
    parser = argparse.ArgumentParser(prog="python -m runtime.wire.documents")
    parser.add_argument("--out", type=Path, required=True, help="the directory to write into")
    write_documents(parser.parse_args(arguments).out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
