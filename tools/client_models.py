"""Writes the client's models and methods from the documents in contract/: TypedDicts and one typed call a method.

Owns how a JSON Schema reads in Python. What the server sends is open: further members are kept, and an enum may hold
a word nobody here knows, so its type says `| str`; discriminators (`type`, `topic`) stay exact so that type checkers
can tell events apart. What the client sends is closed, as the contract is.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.files import ROOT

CONTRACT = ROOT / "contract"
NOT_CALLED = ("initialize", "events/subscribe", "events/unsubscribe", "events/update")
"""Methods that the connection and its subscriptions speak by themselves."""

_DISCRIMINATORS = ("type", "topic")
_FRAMES = ("RequestFrame", "ReplyFrame", "ErrorFrame", "EventFrame")
_PRIMITIVES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

Schema = Mapping[str, Any]


def client_files() -> dict[str, str]:
    """File name to content of the client's package `contract`."""
    definitions = json.loads((CONTRACT / "schema.json").read_text(encoding="utf-8"))["$defs"]
    methods = json.loads((CONTRACT / "greenroom.openrpc.json").read_text(encoding="utf-8"))["methods"]
    errors = json.loads((CONTRACT / "errors.json").read_text(encoding="utf-8"))
    return {
        "__init__.py": _formatted(
            '"""Generated from contract/ by tools/client_models.py: what travels."""\n'
        ),
        "models.py": _formatted(models_module(definitions)),
        "methods.py": _formatted(methods_module(methods, definitions)),
        "error_codes.py": _formatted(error_codes_module(errors)),
    }


# --- models -----------------------------------------------------------------------------------------------------


def models_module(definitions: Mapping[str, Schema]) -> str:
    """The TypedDicts of every definition, then the unions of them."""
    shapes = {name: schema for name, schema in definitions.items() if name not in _FRAMES}
    classes = [_class(name, schema) for name, schema in shapes.items() if "properties" in schema]
    simple = [name for name, schema in shapes.items() if "properties" not in schema and "type" in schema]
    unions = [name for name, schema in shapes.items() if "properties" not in schema and "type" not in schema]
    closed_unions = {name for name in unions if _is_closed(definitions[name], definitions)}
    return "\n".join(
        (
            '"""What travels, as TypedDicts: JSON objects as they are. Generated from contract/schema.json; do not edit.',
            "",
            "Members the server adds later are kept. A word of an enum that is not listed here is to be taken as",
            '"other"; an event, change or content block of an unknown `type` as nothing to act on.',
            '"""',
            "",
            "from __future__ import annotations",
            "",
            "from collections.abc import Mapping, Sequence",
            "from typing import Any, Literal, NotRequired, TypeAlias",
            "",
            "from typing_extensions import TypedDict",
            "",
            *(f"{name}: TypeAlias = {_type(shapes[name], closed=False)}" for name in simple),
            "",
            *classes,
            *(
                f"{name}: TypeAlias = {_type(shapes[name], closed=name in closed_unions)}"
                for name in _dependencies_first(unions, shapes)
            ),
            "",
        )
    )


def _class(name: str, schema: Schema) -> str:
    closed = schema.get("additionalProperties") is False
    required = set(schema.get("required", ()))
    lines = [
        "",
        "",
        f"class {name}(TypedDict):",
        f"    {_docstring(schema.get('description', name + '.'))}",
        "",
    ]
    for member, shape in schema["properties"].items():
        assert member.isidentifier(), f"{name}.{member} is no Python name"
        written = _type(shape, closed=closed or member in _DISCRIMINATORS)
        lines.append(f"    {member}: {written if member in required else f'NotRequired[{written}]'}")
        if description := shape.get("description"):
            lines.append(f"    {_docstring(description)}")
    return "\n".join(lines)


def _type(schema: Schema, *, closed: bool) -> str:
    """The Python type of a schema; `closed` where the client writes it, so nothing unknown can stand there."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        words = f"Literal[{', '.join(repr(word) for word in schema['enum'])}]"
        return words if closed else f"{words} | str"
    for union in ("anyOf", "oneOf"):
        if union in schema and "properties" not in schema:
            members = [_type(member, closed=closed) for member in schema[union]]
            return " | ".join(dict.fromkeys(members))
    match schema.get("type"):
        case "array":
            items = _type(schema.get("items", {}), closed=closed)
            return f"Sequence[{items}]" if closed else f"list[{items}]"
        case "object":
            values = schema.get("additionalProperties", {})
            inner = "Any" if isinstance(values, bool) else _type(values, closed=closed)
            return f"Mapping[str, {inner}]" if closed else f"dict[str, {inner}]"
        case str() as primitive:
            return _PRIMITIVES[primitive]
        case _:
            return "Any"


def _is_closed(schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    names = _references(schema)
    return bool(names) and all(definitions[name].get("additionalProperties") is False for name in names)


def _references(schema: Any) -> set[str]:
    if isinstance(schema, Mapping):
        own = {str(schema["$ref"]).rpartition("/")[2]} if "$ref" in schema else set()
        return own.union(*(_references(value) for value in schema.values()))
    return set().union(*(_references(item) for item in schema)) if isinstance(schema, list) else set()


def _dependencies_first(names: Iterable[str], shapes: Mapping[str, Schema]) -> Iterator[str]:
    """Unions of unions come after their parts: an alias is evaluated where it stands."""
    left = list(names)
    while left:
        ready = [name for name in left if not _references(shapes[name]) & set(left)]
        assert ready, f"aliases that contain each other: {left}"
        yield from ready
        left = [name for name in left if name not in ready]


# --- methods ----------------------------------------------------------------------------------------------------


def methods_module(methods: list[Schema], definitions: Mapping[str, Schema]) -> str:
    """One class with a typed call for each method served."""
    called = [method for method in methods if method["name"] not in NOT_CALLED]
    calls = [_call(method, definitions) for method in called]
    body = "\n".join(calls)
    names = sorted(name for name in definitions if re.search(rf"\b{name}\b", body))
    reads = sorted(method["name"] for method in methods if method["x-scope"] == "read")
    return "\n".join(
        (
            '"""One typed call for each method. Generated from contract/greenroom.openrpc.json; do not edit.',
            "",
            "A param that is left out, or None, is not sent: the server's default holds.",
            '"""',
            "",
            "from abc import ABC, abstractmethod",
            "from collections.abc import Mapping, Sequence",
            "from typing import Any, Literal",
            "",
            f"from greenroom_client.contract.models import {', '.join(names)}",
            "",
            f"READ_METHODS = frozenset({reads!r})",
            '"""Methods that change nothing: asking again is always safe."""',
            "",
            "",
            "class Methods(ABC):",
            '    """The methods of the contract as calls; each raises what `request` raises."""',
            "",
            "    @abstractmethod",
            "    async def request(self, method: str, params: Mapping[str, Any]) -> Any:",
            '        """The result of one request."""',
            "",
            body,
            "",
            "",
            "def _given(**params: Any) -> dict[str, Any]:",
            '    """The params that were given, by their names on the wire."""',
            "    return {_wire_name(name): value for name, value in params.items() if value is not None}",
            "",
            "",
            "def _wire_name(name: str) -> str:",
            '    first, *rest = name.split("_")',
            '    return first + "".join(word.capitalize() for word in rest)',
            "",
        )
    )


def _call(method: Schema, definitions: Mapping[str, Schema]) -> str:
    params = definitions[str(method["x-params"]["$ref"]).rpartition("/")[2]]
    required = set(params.get("required", ()))
    result = str(method["result"]["schema"]["$ref"]).rpartition("/")[2]
    ordered = sorted(params["properties"], key=lambda name: name not in required)
    arguments = [_argument(name, params["properties"][name], name in required) for name in ordered]
    names = [python_name(name) for name in ordered]
    given = ", ".join(f"{name}={name}" for name in names)
    codes = [str(error["$ref"]).rpartition("/")[2] for error in method["errors"]]
    notes = [
        f"{python_name(name)}: {schema['description']}"
        for name, schema in params["properties"].items()
        if "description" in schema
    ]
    lines = [
        f"    async def {python_name(method['name'])}(",
        f"        self{', *, ' + ', '.join(arguments) if arguments else ''}",
        f"    ) -> {result}:",
        f'        """{method["summary"]}',
        "",
        *(f"        {line}" for note in notes for line in _wrapped(note)),
        *([""] if notes else ()),
        f"        Needs a token of scope `{method['x-scope']}`. Raises `GreenroomError` with one of:",
        *(f"        {line}" for line in _wrapped(", ".join(codes) + ".")),
        '        """',
        f'        result: {result} = await self.request("{method["name"]}", _given({given}))',
        "        return result",
        "",
    ]
    return "\n".join(lines)


def _argument(name: str, schema: Schema, required: bool) -> str:
    written = _type(schema, closed=True)
    if required:
        return f"{python_name(name)}: {written}"
    return f"{python_name(name)}: {written if written.endswith('| None') else written + ' | None'} = None"


def python_name(name: str) -> str:
    """`agentSessionId` and `session/updateSettings` as Python spells them."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("/", "_").lower()


# --- error codes ------------------------------------------------------------------------------------------------


def error_codes_module(errors: Any) -> str:
    """The codes of the contract as one Literal, for those who match on them."""
    entries = errors if isinstance(errors, list) else errors["errors"]
    codes = ", ".join(repr(entry["code"]) for entry in entries)
    return (
        '"""The error codes of the contract. Generated from contract/errors.json; do not edit."""\n\n'
        "from typing import Literal, TypeAlias\n\n"
        f"ErrorCode: TypeAlias = Literal[{codes}]\n"
    )


# --- text -------------------------------------------------------------------------------------------------------


def _docstring(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{escaped}"""'


def _wrapped(text: str, width: int = 100) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _formatted(source: str) -> str:
    """As the formatter leaves it; imports that nothing uses are dropped, so the text above need not count them."""
    ruff = str(Path(sys.executable).parent / "ruff")
    name = ["--stdin-filename", "client/greenroom_client/contract/generated.py"]
    for command in (
        [ruff, "check", "--quiet", "--fix-only", "--select", "F401,I", *name, "-"],
        [ruff, "format", "--quiet", *name, "-"],
    ):
        source = subprocess.run(
            command, input=source, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return source
