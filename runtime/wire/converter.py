"""The one converter between JSON values and the models: strict on the way in, exact on the way out.

On the way in, anything that does not fit is one refusal `request.invalid` with the path and the problem, in words
of ours. On the way out, names become camelCase and optional members without a value are left out; null stays null
everywhere else (`runtime.wire.members`). Bytes are the business of `runtime.wire.encoding`.
"""

import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from cattrs import Converter
from cattrs.errors import AttributeValidationNote, ClassValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from runtime.refusal import Refusal
from runtime.wire import strict_hooks
from runtime.wire.constraints import InvalidValue, constraints_of
from runtime.wire.members import Choice, choice_of, fields_of, is_params, optional_members, wire_name
from runtime.wire.method import Method
from runtime.wire.strict_hooks import Hook, kind_of
from store.canonical.message import ToolCall

T = TypeVar("T")

NAME_CHARACTERS_SHOWN_MAX = 64
"""How much of a member name that a client made up is repeated to it."""

JSON_SHAPE = {field.name: field for field in fields_of(ToolCall)}["input"].type
"""The annotation of a free JSON value, as it looks once resolved."""


def structure(shape: type[T], value: object, root: str) -> T | Refusal:
    """`value`, as parsed from JSON, as an instance of `shape`; or request.invalid naming the culprit's path.

    `root` is how the value itself is called in that path.
    """
    try:
        return CONVERTER.structure(value, shape)
    except InvalidValue as error:
        path = root + "".join(_shown(step) for step in error.steps)
        return Refusal("request.invalid", details={"path": path, "problem": error.problem})


def structure_params(method: Method, params: Mapping[str, object]) -> Any | Refusal:
    """The params of a request as an instance of the method's params class, or request.invalid (AP-002)."""
    return structure(method.params, params, "params")


def unstructure(model: object) -> dict[str, Any]:
    """A model as it is shown: names in camelCase, ready for a JSON encoder."""
    return cast("dict[str, Any]", CONVERTER.unstructure(model))


def _shown(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", step):
        return f".{step}"
    return f"[{step[:NAME_CHARACTERS_SHOWN_MAX]!r}]"


# --- the hooks of the models ------------------------------------------------------------------------------------


def _overrides(shape: type) -> dict[str, Any]:
    optional = optional_members(shape)
    return {
        field.name: override(rename=wire_name(field.name), omit_if_default=field.name in optional)
        for field in fields_of(shape)
    }


def _model_structure_hook(shape: type, converter: Converter) -> Hook:
    inner: Hook = make_dict_structure_fn(
        shape,
        converter,
        _cattrs_forbid_extra_keys=True,
        _cattrs_detailed_validation=True,
        **_overrides(shape),
    )
    choice = choice_of(shape)
    # A client may write null for a param it does not give.
    nullable = {wire_name(name) for name in optional_members(shape)} if is_params(shape) else set()

    def admit(value: object, _: object) -> object:
        if type(value) is not dict:
            raise InvalidValue(f"must be an object, not {kind_of(value)}")
        if nullable:
            value = {name: item for name, item in value.items() if item is not None or name not in nullable}
        try:
            model = inner(value, shape)
        except ClassValidationError as group:
            raise _first_problem(group)
        if choice is not None:
            _check_choice(model, choice)
        return model

    return admit


def _model_unstructure_hook(shape: type, converter: Converter) -> Any:
    return make_dict_unstructure_fn(shape, converter, **_overrides(shape))


def _first_problem(group: ClassValidationError) -> InvalidValue:
    """The first thing wrong with an object, as one InvalidValue with the whole way to it."""
    problem = group.exceptions[0]
    if isinstance(problem, ForbiddenExtraKeysError):
        return InvalidValue("is unknown", min(problem.extra_fields))
    step = next(
        wire_name(note.name)
        for note in getattr(problem, "__notes__", ())
        if isinstance(note, AttributeValidationNote)
    )
    if isinstance(problem, InvalidValue):
        return InvalidValue(problem.problem, step, *problem.steps)
    if isinstance(problem, KeyError):
        return InvalidValue("is missing", step)
    raise problem


def _check_choice(model: object, choice: Choice) -> None:
    given = sum(getattr(model, name) is not None for name in choice.members)
    names = ", ".join(wire_name(name) for name in choice.members)
    if given > 1 or (given == 0 and choice.kind == "exactly_one"):
        many = "exactly" if choice.kind == "exactly_one" else "at most"
        raise InvalidValue(f"must have {many} one of {names}")


def _keep(value: object, _: object = None) -> object:
    return value


def make_converter() -> Converter:
    """A converter with every hook of the contract; later registrations win in cattrs."""
    converter = Converter(detailed_validation=True)
    converter.register_structure_hook_factory(strict_hooks.is_array, strict_hooks.array_hook)
    converter.register_structure_hook_factory(strict_hooks.is_mapping, strict_hooks.mapping_hook)
    converter.register_structure_hook_factory(strict_hooks.is_literal, strict_hooks.literal_hook)
    converter.register_structure_hook_factory(strict_hooks.is_union, strict_hooks.union_hook)
    converter.register_structure_hook_factory(strict_hooks.is_model, _model_structure_hook)
    converter.register_structure_hook_factory(
        lambda shape: bool(constraints_of(shape)), strict_hooks.constrained_hook
    )
    converter.register_structure_hook(str, strict_hooks.strict_string)
    converter.register_structure_hook(bool, strict_hooks.strict_boolean)
    converter.register_structure_hook(int, strict_hooks.strict_integer)
    converter.register_structure_hook(float, strict_hooks.strict_float)
    converter.register_structure_hook(type(None), strict_hooks.strict_null)
    converter.register_structure_hook_func(lambda shape: shape == JSON_SHAPE or shape is Any, _keep)
    converter.register_unstructure_hook_factory(strict_hooks.is_model, _model_unstructure_hook)
    converter.register_unstructure_hook_func(lambda shape: shape == JSON_SHAPE, _keep)
    return converter


CONVERTER = make_converter()
