"""The methods as an OpenRPC document: params by name, results, and the refusals of each."""

from typing import Any

from runtime.wire.errors import ERRORS
from runtime.wire.json_schema import Schema, SchemaWriter
from runtime.wire.members import fields_of, optional_members, wire_name
from runtime.wire.method import Method
from runtime.wire.methods import (
    METHODS,
    RESERVED_METHODS,
    RESERVED_PREFIXES,
    UNBUILT_METHODS,
    all_refusals,
)

OPENRPC_VERSION = "1.3.2"


def openrpc_document(title: str, version: str) -> dict[str, Any]:
    """The whole document, as JSON values."""
    writer = SchemaWriter("#/components/schemas/")
    methods = [_method(method, writer) for method in METHODS.values()]
    return {
        "openrpc": OPENRPC_VERSION,
        "info": {
            "title": title,
            "version": version,
            "description": "JSON-RPC 2.0 over WebSocket: one request in each text frame, no batches. "
            "`initialize` comes first.",
        },
        "methods": methods,
        "x-unsupported": sorted(UNBUILT_METHODS | RESERVED_METHODS)
        + sorted(f"{it}*" for it in RESERVED_PREFIXES),
        "components": {
            "schemas": writer.definitions(),
            "errors": {code: _error(code) for code in ERRORS},
        },
    }


def _method(method: Method, writer: SchemaWriter) -> dict[str, Any]:
    # Defines the params class whole, beside the list of its members that OpenRPC asks for.
    writer.schema(method.params)
    definition = writer.definitions()[method.params.__name__]
    optional = optional_members(method.params)
    return {
        "name": method.name,
        "summary": method.summary,
        "paramStructure": "by-name",
        "params": [
            _descriptor(
                wire_name(field.name),
                definition["properties"][wire_name(field.name)],
                required=field.name not in optional,
            )
            for field in fields_of(method.params)
        ],
        "result": {"name": method.result.__name__, "schema": writer.schema(method.result)},
        "errors": [{"$ref": f"#/components/errors/{code}"} for code in all_refusals(method)],
        "x-params": {"$ref": f"#/components/schemas/{method.params.__name__}"},
        "x-scope": method.scope,
    }


def _descriptor(name: str, schema: Schema, required: bool) -> dict[str, Any]:
    return {"name": name, "required": required, "schema": schema}


def _error(code: str) -> dict[str, Any]:
    entry = ERRORS[code]
    return {
        "code": entry.number,
        "message": entry.message,
        "data": {"code": code, "retryable": entry.retryable},
    }
