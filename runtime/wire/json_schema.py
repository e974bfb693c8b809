"""JSON Schema 2020-12 of the models: the same rules the converter keeps, written down for others.

What a client sends is *closed*: unknown members are refused, and a param that may be left out may be null. What
the server sends is *open*: members may be added within v1. A class that travels both ways has two definitions, the
closed one named `...Input`.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, TypeAlias, get_args

import attrs

from runtime.wire import events, requests, rows
from runtime.wire.constraints import INTEGER_MAX, bare, constraints_of
from runtime.wire.converter import JSON_SHAPE
from runtime.wire.descriptions import attribute_descriptions, description_of
from runtime.wire.members import Choice, choice_of, fields_of, is_params, optional_members, wire_name
from runtime.wire.strict_hooks import is_array, is_literal, is_mapping, is_model, is_union, tags_of
from store.canonical.interaction import StoredAnswer

Schema: TypeAlias = dict[str, Any]

NULL: Schema = {"type": "null"}

_PRIMITIVES: Mapping[object, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): NULL,
}

# Unions worth a name of their own; Python forgets the names of type aliases.
_NAMED_UNIONS: Mapping[object, str] = {
    rows.ContentBlock: "ContentBlock",
    rows.InteractionInput: "InteractionInput",
    StoredAnswer: "StoredAnswer",
    rows.Answer: "Answer",
    requests.PromptBlock: "PromptBlock",
    events.Change: "Change",
    events.SidePayload: "SidePayload",
    events.Event: "Event",
    events.ActivityEvent: "ActivityEvent",
    events.SideEvent: "SideEvent",
    events.HostEvent: "HostEvent",
}


class SchemaWriter:
    """Collects the definitions of every class asked for, under one prefix such as `#/$defs/`."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._definitions: dict[str, Schema] = {}

    def definitions(self) -> dict[str, Schema]:
        """Everything defined so far, by name."""
        return dict(sorted(self._definitions.items()))

    def schema(self, shape: Any, closed: bool = False) -> Schema:
        """The schema of any type of the models; classes and identifiers become references."""
        if is_model(shape):
            return self._model_reference(shape, closed or is_params(shape))
        if shape in _NAMED_UNIONS:
            return self._defined(_NAMED_UNIONS[shape], lambda: self._union(shape, closed))
        if constraints_of(shape):
            return self._constrained(shape, closed)
        shape = bare(shape)
        if shape is Any or shape == JSON_SHAPE:
            return {}
        if is_literal(shape):
            return _literal(get_args(shape))
        if is_array(shape):
            return {"type": "array", "items": self.schema(get_args(shape)[0], closed)}
        if is_mapping(shape):
            return {"type": "object", "additionalProperties": self.schema(get_args(shape)[1], closed)}
        if is_union(shape):
            return self._union(shape, closed)
        # What the server sends keeps to the bound by itself; a client has to be told.
        bounds = {"minimum": -INTEGER_MAX, "maximum": INTEGER_MAX} if closed and shape is int else {}
        return _PRIMITIVES[shape] | bounds

    def _constrained(self, shape: Any, closed: bool) -> Schema:
        def write() -> Schema:
            schema = self.schema(bare(shape), closed)
            for constraint in constraints_of(shape):
                schema |= constraint.keywords()
            return schema

        is_identifier = hasattr(shape, "__supertype__")
        return self._defined(shape.__name__, write) if is_identifier else write()

    def _union(self, shape: Any, closed: bool) -> Schema:
        members = get_args(shape)
        tagged = all(is_model(member) and tags_of(member) for member in members)
        return {"oneOf" if tagged else "anyOf": [self.schema(member, closed) for member in members]}

    def _model_reference(self, shape: type, closed: bool) -> Schema:
        travels_both_ways = closed and not is_params(shape)
        name = shape.__name__ + ("Input" if travels_both_ways else "")
        return self._defined(name, lambda: self._model(shape, closed))

    def _defined(self, name: str, write: Any) -> Schema:
        if name not in self._definitions:
            self._definitions[name] = {}  # so that a class may contain itself
            self._definitions[name] = write()
        return {"$ref": f"{self._prefix}{name}"}

    def _model(self, shape: type, closed: bool) -> Schema:
        optional = optional_members(shape)
        prose = attribute_descriptions(shape)
        schema: Schema = {"type": "object"}
        if description := description_of(shape):
            schema["description"] = description
        schema["properties"] = {
            wire_name(field.name): self._member(shape, field, prose.get(field.name), closed)
            for field in fields_of(shape)
        }
        required = [wire_name(field.name) for field in fields_of(shape) if field.name not in optional]
        if required:
            schema["required"] = required
        if choice := choice_of(shape):
            schema |= _choice(choice, nullable=closed)
        if closed:
            schema["additionalProperties"] = False
        return schema

    def _member(
        self, shape: type, field: "attrs.Attribute[Any]", description: str | None, closed: bool
    ) -> Schema:
        member: Any = field.type
        optional = field.name in optional_members(shape)
        if optional and is_union(member):
            schema = self._without_null(member, closed)
        else:
            schema = self.schema(member, closed)
        if optional and closed:
            schema = _nullable(schema)
            if isinstance(field.default, (str, bool, int)):
                schema["default"] = field.default
        if description:
            schema["description"] = " ".join(filter(None, (description, schema.get("description"))))
        return schema

    def _without_null(self, shape: Any, closed: bool) -> Schema:
        members = [member for member in get_args(shape) if member is not type(None)]
        if len(members) == 1:
            return self.schema(members[0], closed)
        rest = members[0]
        for member in members[1:]:
            rest = rest | member
        return self.schema(rest, closed)


def _nullable(schema: Schema) -> Schema:
    members = schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]
    return {"anyOf": [*members, NULL]}


def _literal(choices: Iterable[object]) -> Schema:
    listed = list(choices)
    return {"const": listed[0]} if len(listed) == 1 else {"enum": listed}


def _choice(choice: Choice, nullable: bool) -> Schema:
    given = [_given(wire_name(name), nullable) for name in choice.members]
    if choice.kind == "exactly_one":
        return {"oneOf": given}
    return {"not": {"anyOf": [{"allOf": list(pair)} for pair in combinations(given, 2)]}}


def _given(name: str, nullable: bool) -> Schema:
    required: Schema = {"required": [name]}
    return required | {"properties": {name: {"not": NULL}}} if nullable else required
