"""What the agent asks, in words, and what a typed line means as an answer. Pure (`contract §3`, Interaction).

Owns the choice of the answer when nobody can be asked: refuse, in the mildest way offered. Reading the terminal and
sending the answer is `runtime.cli.interactions`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from greenroom_client.contract.models import OptionAnswerInput

Json: TypeAlias = Mapping[str, Any]

REFUSALS: Final = ("reject_once", "stop", "reject_always")
"""The options that refuse, the mildest first."""


def described(interaction: Json) -> Iterator[str]:
    """The lines that say what is asked."""
    asked = interaction["input"]
    match interaction["kind"]:
        case "approval":
            yield f"The agent asks for permission: {asked['kind']}: {asked['title']}"
            for name in ("command", "cwd", "url", "reason", "prompt"):
                if asked.get(name):
                    yield f"  {name}: {asked[name]}"
            for change in asked.get("changes") or ():
                yield f"  {change['kind']}: {change['path']}"
        case "plan":
            yield "The agent asks whether to go on with this plan:"
            yield from (f"  {line}" for line in (asked.get("markdown") or "").splitlines())
            yield from (f"  - {entry['text']}" for entry in asked.get("entries") or ())
        case _:
            yield "The agent asks:"


def asked_lines(interaction: Json) -> Iterator[str]:
    """All of it: what is asked, its questions, what is offered."""
    yield from described(interaction)
    for question in questions_of(interaction):
        yield from question_lines(question)
    yield from offered(interaction)


def offered(interaction: Json) -> Iterator[str]:
    """The options, numbered from 1."""
    for number, option in enumerate(interaction["options"], start=1):
        yield f"  {number}) {option['label']}"


def chosen_option(line: str, options: Sequence[Json]) -> OptionAnswerInput | None:
    """The answer a line stands for: an option's number, its label, or its id; None when it is none of them."""
    word = line.strip().lower()
    for number, option in enumerate(options, start=1):
        if word in (str(number), option["label"].lower(), option["optionId"].lower()):
            return {"optionId": option["optionId"]}
    return None


def refusing_answer(interaction: Json) -> OptionAnswerInput | None:
    """The answer that refuses; None where none was offered, and only cancelling the turn is left."""
    for kind in REFUSALS:
        for option in interaction["options"]:
            if option["kind"] == kind:
                return {"optionId": option["optionId"]}
    return None


def questions_of(interaction: Json) -> Sequence[Json]:
    """The questions of an Interaction; none unless it is one of that kind."""
    return interaction["input"].get("questions") or ()


def question_lines(question: Json) -> Iterator[str]:
    """One question with what it offers, numbered from 1."""
    header = f"{question['header']}: " if question.get("header") else ""
    yield f"  {header}{question['question']}"
    for number, option in enumerate(question.get("options") or (), start=1):
        description = f": {option['description']}" if option.get("description") else ""
        yield f"    {number}) {option['label']}{description}"


def question_answer(line: str, question: Json) -> str | list[str] | None:
    """What a line answers: offered labels by number or name, several with commas, or free text; None for neither."""
    line = line.strip()
    labels = [option["label"] for option in question.get("options") or ()]
    words = [word.strip() for word in line.split(",")] if question["multiSelect"] else [line]
    picked = [_label(word, labels) for word in words]
    if line and all(label is not None for label in picked):
        found = [label for label in picked if label is not None]
        return found if question["multiSelect"] else found[0]
    if line and (question["freeText"] or not labels):
        return [line] if question["multiSelect"] else line
    return None


def _label(word: str, labels: Sequence[str]) -> str | None:
    if word.isdecimal() and 1 <= int(word) <= len(labels):
        return labels[int(word) - 1]
    return next((label for label in labels if label.lower() == word.lower()), None)
