"""The language of the demo agent: directives in double square brackets inside a prompt. Pure, standard library only.

Owns the reading of a prompt into steps; what a step does is `turn`'s. A prompt without any directive is a plain
one; text around directives is ignored. The language is described in docs/demo-agent.md.
"""

import re
from typing import NamedTuple

_DIRECTIVE = re.compile(r"\[\[\s*([a-z][a-z0-9-]*)\s*(.*?)\]\]", re.DOTALL)
_OPTION = re.compile(r"(?:^|\s)([a-z][a-z_]*)=(\"[^\"]*\"|\S+)")

_TAKES_TEXT = frozenset(("garbage", "plan", "say", "title"))


class Step(NamedTuple):
    """One directive: its word, what stands after it, and the `key=value` options taken out of that."""

    word: str
    text: str = ""
    options: dict[str, str] = {}  # noqa: RUF012 - a NamedTuple's default, never written to

    def number(self, name: str, default: int) -> int:
        """An option as a whole number."""
        return _whole(self.options.get(name), default)

    def first_number(self, default: int) -> int:
        """The first word after the directive as a whole number."""
        words = self.text.split()
        return _whole(words[0] if words else None, default)

    def flag(self, name: str) -> bool:
        """Whether `name` stands among the words after the directive."""
        return name in self.text.split()


def read_prompt(text: str) -> list[Step]:
    """The steps of a prompt, in order; empty for a plain one. Whether there is such a word is not judged here."""
    return [_step(match.group(1), match.group(2).strip()) for match in _DIRECTIVE.finditer(text)]


def _step(word: str, rest: str) -> Step:
    if word in _TAKES_TEXT:
        return Step(word, rest)
    options = {match.group(1): match.group(2).strip('"') for match in _OPTION.finditer(rest)}
    return Step(word, " ".join(_OPTION.sub(" ", rest).split()), options)


def _whole(text: str | None, default: int) -> int:
    try:
        return int(text) if text is not None else default
    except ValueError:
        return default
