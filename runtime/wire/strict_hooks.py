"""How one JSON value becomes one value of a type, with nothing guessed: the hooks of the converter.

cattrs alone is lenient (`5` becomes `"5"`, `"false"` becomes true, a string becomes a tuple of characters); these
hooks refuse instead. Every hook raises InvalidValue and nothing else for anything a client can send, with the
steps from the value to the culprit.
"""

from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

import attrs
from cattrs import Converter

from runtime.wire.constraints import INTEGER_MAX, InvalidValue, bare, constraints_of
from runtime.wire.members import fields_of, wire_name

Hook: TypeAlias = Callable[[Any, Any], Any]


def strict_string(value: object, _: object) -> str:
    """A JSON string."""
    if type(value) is not str:
        raise InvalidValue(f"must be a string, not {kind_of(value)}")
    return value


def strict_boolean(value: object, _: object) -> bool:
    """true or false."""
    if type(value) is not bool:
        raise InvalidValue(f"must be a boolean, not {kind_of(value)}")
    return value


def strict_integer(value: object, _: object) -> int:
    """An integer every JSON implementation holds exactly; `1.0` is none."""
    if type(value) is not int:
        raise InvalidValue(f"must be an integer, not {kind_of(value)}")
    if abs(value) > INTEGER_MAX:
        raise InvalidValue("must be an integer below 2^53")
    return value


def strict_float(value: object, _: object) -> float:
    """Any JSON number."""
    if type(value) is not float and type(value) is not int:
        raise InvalidValue(f"must be a number, not {kind_of(value)}")
    return float(value)


def strict_null(value: object, _: object) -> None:
    """null."""
    if value is not None:
        raise InvalidValue(f"must be null, not {kind_of(value)}")


def literal_hook(shape: Any) -> Hook:
    """One of a closed set of values; `true` is not 1."""
    choices = get_args(shape)
    problem = f"must be one of {', '.join(str(choice) for choice in choices)}"

    def admit(value: object, _: object) -> object:
        for choice in choices:
            if value == choice and type(value) is type(choice):
                return choice
        raise InvalidValue(problem)

    return admit


def constrained_hook(shape: Any, converter: Converter) -> Hook:
    """The type below, then its constraints."""
    below = bare(shape)
    inner = converter.get_structure_hook(below)
    constraints = constraints_of(shape)

    def admit(value: object, _: object) -> object:
        result = inner(value, below)
        for constraint in constraints:
            result = constraint.admit(result)
        return result

    return admit


def array_hook(shape: Any, converter: Converter) -> Hook:
    """A JSON array as a tuple."""
    item_shape = get_args(shape)[0]
    inner = converter.get_structure_hook(item_shape)

    def admit(value: object, _: object) -> tuple[object, ...]:
        if type(value) is not list:
            raise InvalidValue(f"must be an array, not {kind_of(value)}")
        items: list[object] = []
        for index, item in enumerate(value):
            try:
                items.append(inner(item, item_shape))
            except InvalidValue as error:
                raise InvalidValue(error.problem, index, *error.steps)
        return tuple(items)

    return admit


def mapping_hook(shape: Any, converter: Converter) -> Hook:
    """A JSON object with free member names."""
    item_shape = get_args(shape)[1]
    inner = converter.get_structure_hook(item_shape)

    def admit(value: object, _: object) -> dict[str, object]:
        if type(value) is not dict:
            raise InvalidValue(f"must be an object, not {kind_of(value)}")
        members: dict[str, object] = {}
        for name, item in value.items():
            try:
                members[name] = inner(item, item_shape)
            except InvalidValue as error:
                raise InvalidValue(error.problem, name, *error.steps)
        return members

    return admit


def union_hook(shape: Any, converter: Converter) -> Hook:
    """A closed union. JSON's own type tells the member; objects are told apart by `type`, or by what they hold.

    A string that fits no literal is tried as the other kind of string, so `"*" | WorkspaceId` reads as it should.
    """
    by_kind: dict[str, list[Any]] = {}
    for member in get_args(shape):
        by_kind.setdefault(_kind_of_shape(member), []).append(member)
    hooks = {kind: _member_hook(kind, members, converter) for kind, members in by_kind.items()}
    # JSON has one number: a float member takes integers too.
    if "a number" in hooks:
        hooks.setdefault("an integer", hooks["a number"])
    expected = " or ".join(kind for kind in by_kind if kind != "null")

    def admit(value: object, _: object) -> object:
        hook = hooks.get(kind_of(value))
        if hook is None:
            raise InvalidValue(f"must be {expected}, not {kind_of(value)}")
        return hook(value, shape)

    return admit


def is_model(shape: object) -> bool:
    """Whether this is one of the attrs classes."""
    return isinstance(shape, type) and attrs.has(shape)


def is_union(shape: object) -> bool:
    """Whether this is `A | B` or Optional."""
    return get_origin(shape) in (Union, UnionType)


def is_literal(shape: object) -> bool:
    """Whether this is a Literal."""
    return get_origin(shape) is Literal


def is_array(shape: object) -> bool:
    """Whether this is `tuple[X, ...]`."""
    return get_origin(shape) is tuple


def is_mapping(shape: object) -> bool:
    """Whether this is `Mapping[str, X]`."""
    origin = get_origin(shape)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def tags_of(shape: type) -> tuple[str, ...]:
    """The values of the member `type` that name this class; empty for a class without such a tag."""
    for field in fields_of(shape):
        if field.name == "type" and is_literal(field.type):
            return get_args(field.type)
    return ()


def kind_of(value: object) -> str:
    """What a JSON value is, in words for a client."""
    return _KINDS.get(type(value), "an object")


_KINDS: Mapping[type, str] = {
    NoneType: "null",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def _kind_of_shape(shape: Any) -> str:
    below = bare(shape)
    if is_literal(below):
        return kind_of(get_args(below)[0])
    if is_array(below):
        return "an array"
    return _KINDS.get(below, "an object")


def _member_hook(kind: str, members: list[Any], converter: Converter) -> Hook:
    if len(members) == 1:
        return converter.get_structure_hook(members[0])
    if kind == "an object":
        return _tagged_hook(members, converter) if tags_of(members[0]) else _untagged_hook(members, converter)
    # Literals first: they say exactly what they take.
    members = sorted(members, key=lambda member: not is_literal(member))
    return _first_fitting_hook([converter.get_structure_hook(member) for member in members])


def _first_fitting_hook(hooks: list[Hook]) -> Hook:
    def admit(value: object, shape: object) -> object:
        for hook in hooks[:-1]:
            try:
                return hook(value, shape)
            except InvalidValue:
                continue
        return hooks[-1](value, shape)

    return admit


def _tagged_hook(members: list[type], converter: Converter) -> Hook:
    hooks = {tag: converter.get_structure_hook(member) for member in members for tag in tags_of(member)}
    problem = f"must be one of {', '.join(hooks)}"

    def admit(value: dict[str, object], shape: object) -> object:
        if "type" not in value:
            raise InvalidValue("is missing", "type")
        tag = value["type"]
        hook = hooks.get(tag) if type(tag) is str else None
        if hook is None:
            raise InvalidValue(problem, "type")
        return hook(value, shape)

    return admit


def _untagged_hook(members: list[type], converter: Converter) -> Hook:
    """Classes told apart by a member that only one of them has: the first class any of whose own is there."""
    names = {member: [wire_name(field.name) for field in fields_of(member)] for member in members}
    choices = []
    for member in members:
        others = {name for other in members if other is not member for name in names[other]}
        own = [name for name in names[member] if name not in others]
        choices.append((own, converter.get_structure_hook(member)))
    problem = f"must have {' or '.join(own[0] for own, _ in choices)}"

    def admit(value: dict[str, object], shape: object) -> object:
        for own, hook in choices:
            if not value.keys().isdisjoint(own):
                return hook(value, shape)
        raise InvalidValue(problem)

    return admit
