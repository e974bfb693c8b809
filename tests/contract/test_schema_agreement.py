"""Schemas and converter keep the same rules: what one takes, the other takes, in both directions."""

import functools
import types
from typing import Any, Literal, Union, get_args, get_origin

import jsonschema
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.refusal import Refusal
from runtime.wire import constraints, events, replies, rows
from runtime.wire.converter import JSON_SHAPE, structure, unstructure
from runtime.wire.documents import schema_document
from runtime.wire.encoding import encode_error, encode_event, encode_reply, event_prefix
from runtime.wire.errors import ERRORS
from runtime.wire.members import choice_of, fields_of, is_params, optional_members
from runtime.wire.methods import METHODS
from runtime.wire.strict_hooks import is_model

DOCUMENT = schema_document()
DEFINITIONS = DOCUMENT["$defs"]
INTEGERS = st.integers(1 - 2**53, 2**53 - 1)
TEXT = st.text(max_size=8)
FREE_JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=3,
)

# The same values in every run: a failure can be repeated and needs no database of examples.
EXAMPLES = settings(max_examples=12, deadline=None, derandomize=True, database=None)
MANY_EXAMPLES = settings(EXAMPLES, max_examples=40)

SHAPES = sorted(
    {
        *(method.params for method in METHODS.values()),
        *(method.result for method in METHODS.values()),
        *get_args(events.Event),
        *(rows.Session, rows.Turn, rows.Message, rows.Interaction, rows.Goal, rows.Operation, rows.Side),
    },
    key=lambda shape: shape.__name__,
)


@functools.cache
def validator(name):
    schema = {"$ref": f"#/$defs/{name}", "$defs": DEFINITIONS}
    return jsonschema.Draft202012Validator(schema)


# --- models at random, from their types --------------------------------------------------------------------------


def values_of(shape):
    """Instances of any type the models use, by the types and constraints alone: no schema is looked at."""
    admit = functools.partial(functools.reduce, lambda value, limit: limit.admit(value))
    limits = constraints.constraints_of(shape)
    if limits:
        below = constraints.bare(shape)
        candidates = _candidates(below, limits)
        return candidates.filter(lambda value: _admitted(limits, value)).map(
            lambda value: admit(limits, value)
        )
    shape = constraints.bare(shape)
    if shape is Any or shape == JSON_SHAPE:
        return FREE_JSON
    if is_model(shape):
        return _models(shape)
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is not None:
        return st.dictionaries(TEXT, values_of(arguments[1]), max_size=2)
    return {
        str: TEXT,
        bool: st.booleans(),
        int: INTEGERS,
        float: st.floats(0, 1e9),
        type(None): st.none(),
    }[shape]


def _candidates(shape, limits):
    for limit in limits:
        if isinstance(limit, constraints.Matching):
            return st.from_regex(limit.pattern, fullmatch=True)
        if isinstance(limit, constraints.Characters):
            return st.text(min_size=limit.minimum, max_size=limit.minimum + 3)
        if isinstance(limit, constraints.AtLeast):
            return st.floats(limit.minimum, 1e9) if shape is float else st.integers(limit.minimum, 2**53 - 1)
        if isinstance(limit, constraints.Items):
            items = values_of(get_args(shape)[0])
            return st.lists(items, min_size=limit.minimum, max_size=limit.minimum + 1).map(tuple)
    return values_of(shape)


def _admitted(limits, value):
    try:
        for limit in limits:
            value = limit.admit(value)
    except constraints.InvalidValue:
        return False
    return True


def _models(shape):
    fields = fields_of(shape)
    arguments = {field.name: values_of(field.type) for field in fields}
    choice = choice_of(shape)
    if choice is None:
        return st.builds(shape, **arguments)
    given_names = [*choice.members] + ([None] if choice.kind == "at_most_one" else [])

    @st.composite
    def chosen(draw):
        name = draw(st.sampled_from(given_names))
        values = {}
        for key, strategy in arguments.items():
            if key == name:
                values[key] = draw(strategy.filter(lambda value: value is not None))
            else:
                values[key] = None if key in choice.members else draw(strategy)
        return shape(**values)

    return chosen()


# --- JSON at random, from the schemas ----------------------------------------------------------------------------


def json_of(schema):
    """JSON values by the keywords the generated schemas use; what only a validator can judge is filtered."""
    if "$ref" in schema:
        return st.deferred(lambda: json_of(DEFINITIONS[schema["$ref"].rpartition("/")[2]]))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema and "properties" not in schema:
            return st.one_of([json_of(member) for member in schema[keyword]])
    match schema.get("type"):
        case None:
            return FREE_JSON
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", 1 - 2**53), schema.get("maximum", 2**53 - 1))
        case "number":
            return st.floats(schema.get("minimum", -1e9), 1e9) | st.integers(0, 10)
        case "string":
            return _strings(schema)
        case "array":
            fewest = schema.get("minItems", 0)
            items = st.lists(json_of(schema["items"]), min_size=fewest, max_size=fewest + 1)
            return _judged(items, schema) if "contains" in schema else items
        case "object":
            return _objects(schema)
    raise AssertionError(schema)


def _strings(schema):
    if "pattern" in schema:
        return st.from_regex(schema["pattern"].removeprefix("^").removesuffix("$"), fullmatch=True)
    shortest = schema.get("minLength", 0)
    return st.text(min_size=shortest, max_size=min(shortest + 3, schema.get("maxLength", 10)))


def _objects(schema):
    if "properties" not in schema:
        return st.dictionaries(TEXT, json_of(schema["additionalProperties"]), max_size=2)
    required = set(schema.get("required", ()))
    members = {name: json_of(member) for name, member in schema["properties"].items()}
    objects = st.fixed_dictionaries(
        {name: strategy for name, strategy in members.items() if name in required},
        optional={name: strategy for name, strategy in members.items() if name not in required},
    )
    if "oneOf" in schema:
        # One of the members that exclude each other is kept, or a filter would refuse nearly all.
        groups = [branch["required"][0] for branch in schema["oneOf"]]
        keep = st.sampled_from(groups)
        objects = st.builds(
            lambda value, kept: {k: v for k, v in value.items() if k == kept or k not in groups},
            objects,
            keep,
        )
    return _judged(objects, schema) if {"oneOf", "not"} & schema.keys() else objects


def _judged(strategy, schema):
    judge = jsonschema.Draft202012Validator(schema | {"$defs": DEFINITIONS})
    return strategy.filter(judge.is_valid)


# --- the properties -----------------------------------------------------------------------------------------------


def on_the_wire(model):
    return orjson.loads(orjson.dumps(unstructure(model)))


@pytest.mark.rule("AP-001")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@EXAMPLES
@given(data=st.data())
def test_every_model_validates_and_structures_back(shape, data):
    model = data.draw(values_of(shape))
    shown = on_the_wire(model)
    validator(shape.__name__).validate(shown)
    assert structure(shape, shown, "value") == model


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@EXAMPLES
@given(data=st.data())
def test_everything_the_schema_takes_the_converter_takes(shape, data):
    value = data.draw(json_of(DEFINITIONS[shape.__name__]))
    model = structure(shape, value, "value")
    assert isinstance(model, shape), model
    validator(shape.__name__).validate(on_the_wire(model))


@pytest.mark.parametrize(
    "shape", [shape for shape in SHAPES if is_params(shape)], ids=lambda shape: shape.__name__
)
@MANY_EXAMPLES
@given(data=st.data())
def test_a_damaged_request_is_judged_alike_by_schema_and_converter(shape, data):
    value = data.draw(json_of(DEFINITIONS[shape.__name__]))
    damaged = _damage(data, value)
    refused = isinstance(structure(shape, damaged, "value"), Refusal)
    assert refused == (not validator(shape.__name__).is_valid(damaged))


def _damage(data, value):
    """The request with one member replaced, removed or added, at any depth."""
    value = orjson.loads(orjson.dumps(value))
    places = list(_containers(value))
    place = data.draw(st.sampled_from(places))
    # Whole floats are left out: JSON Schema takes 1.0 for an integer, the service does not.
    wrong = st.sampled_from([None, True, 0, -1, 2**53, 1.5, "", "*", "a b", [], {}, ["x"], {"type": "text"}])
    if isinstance(place, list):
        place.append(data.draw(wrong))
        return value
    name = data.draw(st.sampled_from([*place, "extra"]))
    if name in place and data.draw(st.booleans()):
        del place[name]
    else:
        place[name] = data.draw(wrong)
    return value


def _containers(value):
    if isinstance(value, (dict, list)):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _containers(item)


@MANY_EXAMPLES
@given(event=st.one_of([values_of(event) for event in get_args(events.Event)]))
def test_every_event_frame_validates(event):
    frame = orjson.loads(event_prefix(3) + encode_event(event))
    jsonschema.Draft202012Validator(DEFINITIONS["EventFrame"] | {"$defs": DEFINITIONS}).validate(frame)


@pytest.mark.parametrize("code", ERRORS)
def test_every_error_frame_validates(code):
    frame = orjson.loads(encode_error(None, Refusal(code, retry_after_ms=5)))
    jsonschema.Draft202012Validator(DEFINITIONS["ErrorFrame"] | {"$defs": DEFINITIONS}).validate(frame)


def test_a_request_frame_is_judged_by_its_method():
    judge = jsonschema.Draft202012Validator(DEFINITIONS["RequestFrame"] | {"$defs": DEFINITIONS})
    frame = {"jsonrpc": "2.0", "id": 1, "method": "turn/list"}
    params = {"workspaceId": "w", "agentSessionId": "s"}
    assert judge.is_valid(frame | {"params": params})
    assert not judge.is_valid(frame | {"params": params | {"turn": 1}})
    assert judge.is_valid(frame | {"method": "later/added", "params": {"turn": 1}})
    assert not judge.is_valid(frame | {"id": 2**53})


def test_a_reply_frame_validates():
    frame = orjson.loads(encode_reply(1, replies.VoidReply(commit_seq=1)))
    jsonschema.Draft202012Validator(DEFINITIONS["ReplyFrame"] | {"$defs": DEFINITIONS}).validate(frame)


def test_optional_members_are_the_only_ones_a_schema_does_not_require():
    for shape in SHAPES:
        definition = DEFINITIONS[shape.__name__]
        missing = definition["properties"].keys() - set(definition.get("required", ()))
        assert len(missing) == len(optional_members(shape)), shape.__name__
