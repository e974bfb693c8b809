"""How nested values of a row become JSON: the one cattrs converter of the store.

Strict where cattrs is lenient: a number is no text, a word outside its vocabulary is refused when written and when
read (ST-001). Tags of unions are fixed here, so that a class can be renamed without touching stored rows.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args, get_origin

import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.strategies import configure_tagged_union

from store.canonical.common import SettingValue
from store.canonical.interaction import (
    ApprovalInput,
    InteractionInput,
    OptionAnswer,
    PlanInput,
    QuestionAnswer,
    QuestionInput,
    RedactedAnswer,
    StoredAnswer,
)
from store.canonical.message import (
    ContentBlock,
    ImageBlock,
    NoticeBlock,
    PlanBlock,
    ResourceLinkBlock,
    TextBlock,
    ToolCall,
)

_CONTENT_TAGS: Mapping[type, str] = {
    TextBlock: "text",
    ImageBlock: "image",
    ResourceLinkBlock: "resource_link",
    PlanBlock: "plan",
    NoticeBlock: "notice",
}
_INPUT_TAGS: Mapping[type, str] = {ApprovalInput: "approval", QuestionInput: "question", PlanInput: "plan"}
_ANSWER_TAGS: Mapping[type, str] = {
    OptionAnswer: "option",
    QuestionAnswer: "question",
    RedactedAnswer: "redacted",
}
_ONE_OR_MANY_TEXTS = str | tuple[str, ...]
_TEXT_OR_TRUTH = str | bool


def nested_converter() -> cattrs.Converter:
    """A converter for every nested value of the canonical rows."""
    converter = cattrs.Converter(detailed_validation=False, omit_if_default=True)
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _exactly)
        converter.register_unstructure_hook(kind, _exact_writer(kind))
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook_factory(_is_vocabulary, _word_reader)
    converter.register_unstructure_hook_factory(_is_vocabulary, _word_writer)
    converter.register_structure_hook_func(lambda kind: kind == _ONE_OR_MANY_TEXTS, _one_or_many_texts)
    converter.register_structure_hook_func(lambda kind: kind == _TEXT_OR_TRUTH, _setting_value)
    converter.register_unstructure_hook_func(lambda kind: kind == _TEXT_OR_TRUTH, _setting_value)
    _keep_json(converter)
    for union, tags, name in (
        (ContentBlock, _CONTENT_TAGS, "type"),
        (InteractionInput, _INPUT_TAGS, "of"),
        (StoredAnswer, _ANSWER_TAGS, "of"),
    ):
        configure_tagged_union(union, converter, tag_generator=tags.__getitem__, tag_name=name)
    return converter


def _keep_json(converter: cattrs.Converter) -> None:
    """A provider's own value is kept as it came: any JSON, untouched."""
    as_it_is = override(struct_hook=lambda value, _: value, unstruct_hook=lambda value: value)
    converter.register_structure_hook(ToolCall, make_dict_structure_fn(ToolCall, converter, input=as_it_is))
    converter.register_unstructure_hook(
        ToolCall,
        make_dict_unstructure_fn(ToolCall, converter, _cattrs_omit_if_default=True, input=as_it_is),
    )


def _is_vocabulary(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _word_reader(kind: Any) -> Any:
    words = frozenset(get_args(kind))

    def read(value: Any, _: Any) -> Any:
        return _known(value, words)

    return read


def _word_writer(kind: Any) -> Any:
    words = frozenset(get_args(kind))
    return lambda value: _known(value, words)


def _known(value: Any, words: frozenset[Any]) -> Any:
    if value not in words:
        raise ValueError(f"unknown word {value!r}")
    return value


def _exactly(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _exact_writer(kind: type) -> Callable[[Any], Any]:
    """Refuses on the way in what could not be read on the way out."""

    def write(value: Any) -> Any:
        return _exactly(value, kind)

    return write


def _number(value: Any, _: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _one_or_many_texts(value: Any, _: Any) -> str | tuple[str, ...]:
    if type(value) is str:
        return value
    if type(value) is list and all(type(text) is str for text in value):
        return tuple(value)
    raise TypeError(f"{value!r} is neither a text nor a list of texts")


def _setting_value(value: Any, _: Any = None) -> SettingValue:
    if type(value) is str or type(value) is bool:
        return value
    raise TypeError(f"{value!r} is neither a text nor a truth value")
