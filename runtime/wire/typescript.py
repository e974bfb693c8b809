"""TypeScript types of the contract, written from its JSON Schema: what the web console and other clients compile against.

Owns how each keyword of the schema is said in TypeScript. Bounds (lengths, ranges) have no counterpart there and are
left to the schema.
"""

import json
from collections.abc import Iterable, Iterator

from runtime.wire.errors import ERRORS
from runtime.wire.json_schema import Schema
from runtime.wire.methods import METHODS

_HEADER = """\
// Greenroom contract, version {version}: types generated from the models in runtime/wire by `make contract`.
// What the server sends may gain members, events, change types and enum values within this version: ignore what you
// do not know and take an unknown enum value for an other. What a client sends is closed."""
_PRIMITIVES = {
    "string": "string",
    "boolean": "boolean",
    "integer": "number",
    "number": "number",
    "null": "null",
}


def typescript_document(schema: Schema, version: str) -> str:
    """Every definition of `schema` as an exported type, the table of methods, and the error codes."""
    blocks = [_HEADER.format(version=version)]
    blocks += ["\n".join(_definition(name, definition)) for name, definition in schema["$defs"].items()]
    blocks += ["\n".join(_methods()), "\n".join(_error_codes())]
    return "\n\n".join(blocks) + "\n"


def _definition(name: str, schema: Schema) -> Iterator[str]:
    yield from _comment(schema.get("description"), "")
    if "properties" in schema:
        yield f"export interface {name} {{"
        yield from _members(schema, "  ")
        yield "}"
    else:
        yield f"export type {name} = {_type(schema)};"


def _members(schema: Schema, indent: str) -> Iterator[str]:
    required = schema.get("required", ())
    for name, member in schema["properties"].items():
        yield from _comment(member.get("description"), indent)
        yield f"{indent}readonly {name}{'' if name in required else '?'}: {_type(member)};"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return _union(json.dumps(value) for value in schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        # A choice between members of one object (`required` alternatives) is a rule, not a type.
        if keyword in schema and "properties" not in schema:
            return _union(_type(member) for member in schema[keyword])
    if "allOf" in schema and "properties" not in schema:
        return " & ".join(f"({_type(member)})" for member in schema["allOf"])
    match schema.get("type"):
        case "array":
            return f"ReadonlyArray<{_type(schema.get('items', {}))}>"
        case "object":
            return _object(schema)
        case None if "properties" in schema:
            return _object(schema)
        case str() as primitive:
            return _PRIMITIVES[primitive]
        case _:
            return "unknown"


def _object(schema: Schema) -> str:
    if "properties" in schema:
        members = (line.strip() for line in _members(schema, "") if not line.startswith("/**"))
        return f"{{ {' '.join(members)} }}"
    values = schema.get("additionalProperties")
    return f"Readonly<Record<string, {_type(values) if isinstance(values, dict) else 'unknown'}>>"


def _union(members: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(members))


def _comment(text: str | None, indent: str) -> Iterator[str]:
    if text:
        yield f"{indent}/** {' '.join(text.replace('*/', '* /').split())} */"


def _methods() -> Iterator[str]:
    yield "/** The methods served: what each takes and answers with. */"
    yield "export interface Methods {"
    for method in METHODS.values():
        yield from _comment(method.summary, "  ")
        yield f"  readonly {json.dumps(method.name)}: {{ params: {method.params.__name__}; result: {method.result.__name__} }};"
    yield "}"


def _error_codes() -> Iterator[str]:
    yield "/** `data.code` of an error reply, and `error.code` of a failed turn; a newer server may give others. */"
    yield "export type ErrorCode ="
    codes = [json.dumps(code) for code in ERRORS]
    yield from (f"  | {code}" for code in codes[:-1])
    yield f"  | {codes[-1]};"
