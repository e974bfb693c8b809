"""What an ACP agent offers in its sessions, told of the agent: models to choose from, and commands.

Owns the reading of `configOptions`, of the older `models` block and of `availableCommands`. The protocol has no request that
tells either without a session, so none is made for them.
"""

from collections.abc import Iterator
from typing import Final

from runtime.providers.acp.settings import read_options
from runtime.providers.catalogue import (
    EffortOffer,
    ModelOffer,
    ProviderFacts,
    SkillOffer,
    Subject,
    as_text,
    as_word,
    first_of_each,
    skills_once,
)
from runtime.providers.jsonrpc.members import Members, list_of, object_of
from store.canonical.common import Json, TurnError

UNSUPPORTED: Final = TurnError(
    "capability.unsupported", "This agent tells of itself within its sessions only.", "runtime"
)


def offered_models(result: Json, *, is_new: bool) -> tuple[ModelOffer, ...]:
    """The models that the result of opening a session offers; none when it lists none.

    What holds in a new session is the agent's own choice, so that one is its default. Degrees of reasoning are those of the
    model that holds.
    """
    members = object_of(result)
    by_key = dict(reversed([(option.key, raw) for option, raw in read_options(members.get("configOptions"))]))
    offered = by_key.get("model")
    if offered is not None:
        current, listed = offered.get("currentValue"), list(_values(offered.get("options")))
    else:
        block = object_of(members.get("models"))
        current, listed = block.get("currentModelId"), list(_block_models(block))
    efforts = _efforts(by_key.get("reasoningEffort"))
    return first_of_each(
        ModelOffer(
            model=model,
            label=label,
            description=description,
            is_default=is_new and model == current,
            efforts=efforts if model == current else None,
        )
        for model, label, description in listed
    )


def inquiry_answer(subjects: frozenset[Subject]) -> ProviderFacts:
    """To an inquiry there is nothing to say."""
    return ProviderFacts(failures=dict.fromkeys(subjects, UNSUPPORTED))


def read_commands(commands: Json) -> tuple[SkillOffer, ...]:
    """The commands of `available_commands_update`."""
    return skills_once(
        SkillOffer(name, as_text(members.get("description")))
        for members in map(object_of, list_of(commands))
        if (name := as_word(members.get("name"))) is not None
    )


_Listed = tuple[str, str, str | None]


def _values(options: Json) -> Iterator[_Listed]:
    """The values of an option, which may stand in groups."""
    for members in map(object_of, list_of(options)):
        if (value := as_word(members.get("value"))) is not None:
            yield value, as_word(members.get("name")) or value, as_text(members.get("description"))
        yield from _values(members.get("options")) if "options" in members and value is None else ()


def _block_models(block: Members) -> Iterator[_Listed]:
    for members in map(object_of, list_of(block.get("availableModels"))):
        if (model := as_word(members.get("modelId"))) is not None:
            yield model, as_word(members.get("name")) or model, as_text(members.get("description"))


def _efforts(option: Members | None) -> tuple[EffortOffer, ...] | None:
    if option is None:
        return None
    offered = [EffortOffer(value, description) for value, _, description in _values(option.get("options"))]
    return tuple(offered) or None
