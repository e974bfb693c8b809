"""Lines that begin with a slash, read. Pure."""

from typing import Final, TypeAlias

import attrs

COMMANDS: Final = {
    "help": "this list",
    "stop": "stop the turn that runs (or Ctrl-C)",
    "new": "begin another session with the next prompt",
    "rename": "TITLE: give the session a title",
    "model": "[MODEL]: show the models, or choose one",
    "settings": "[KEY=VALUE …]: show the settings, or change some",
    "sessions": "list the sessions of the workspace",
    "side": "QUESTION: ask beside the conversation, while a turn runs too",
    "quit": "leave; the session lives on (or Ctrl-D)",
}
_ALIASES: Final = {"exit": "quit", "q": "quit", "?": "help"}


@attrs.frozen
class Slash:
    """A command with the rest of its line."""

    name: str
    rest: str = ""


@attrs.frozen
class Unknown:
    """A word nobody here knows; nothing is sent for it."""

    name: str


@attrs.frozen
class Prompt:
    """Something for the agent."""

    text: str


Read: TypeAlias = Slash | Unknown | Prompt


def read(line: str) -> Read:
    """What a line is. Two slashes send the agent a line that begins with one; a pasted text of several is a prompt."""
    stripped = line.strip()
    if not stripped.startswith("/"):
        return Prompt(line)
    if stripped.startswith("//"):
        return Prompt(stripped[1:])
    word, *more = stripped[1:].split(maxsplit=1) or [""]
    rest = more[0] if more else ""
    name = _ALIASES.get(word.lower(), word.lower())
    if name == "side":
        return Slash(name, rest)  # of several lines too: a question beside never goes to the conversation
    if "/" in word or "\n" in stripped:
        return Prompt(line)  # a path, or more than a command
    return Slash(name, rest) if name in COMMANDS else Unknown(word)
