"""The targets that every behaviour scenario runs against, and the words in which each is told what to do.

Owns what differs between them outside of what a scenario is about: how they are started, and how a prompt makes them
stream, wait, ask and remember. What they do then is the scenarios' to say.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import attrs
import pytest

from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.doubles.scripted_codex import scripted_target
from tests.end_to_end.client import Json
from tests.end_to_end.talk import Talk, text_of
from tests.providers_real.app_server.codex_server import ASKING, codex_server
from tests.providers_real.claude_code.real_claude import claude_environment, claude_target
from tests.providers_real.codex_acp import codex_target
from tools.real_agent import (
    INSTALLED,
    MORE_INSTALLED,
    claude_agent_acp_below,
    claude_below,
    codex_below,
    node_below,
    program_below,
)


class Words(Protocol):
    """How a prompt says what is to happen."""

    def says(self, text: str) -> str:
        """It streams this text."""

    def says_and_waits(self, text: str) -> str:
        """It streams this text, and then nothing until it is stopped."""

    def asks(self, made: Path) -> str:
        """It asks before it makes this file in its directory; then it says `Done.`."""

    async def remembers(self, talk: Talk, earlier: str) -> bool:
        """Whether an earlier prompt is known to it."""


class Directives:
    """Implements `Words` for scripted agents."""

    def says(self, text: str) -> str:
        return f"[[say {text}]]"

    def says_and_waits(self, text: str) -> str:
        return f"[[say {text}]] [[hang]]"

    def asks(self, made: Path) -> str:
        return "[[ask allow_once,reject_once]] [[say Done.]]"

    async def remembers(self, talk: Talk, earlier: str) -> bool:
        turn = await talk.say("[[recall]]")
        rows = [row for row in await talk.messages() if row["turnId"] == turn["turnId"]]
        return any(earlier in text_of(row) for row in rows if row["role"] == "assistant")


@attrs.define(eq=False)
class ScriptedModel:
    """Implements `Words` for real agents with a scripted model behind them."""

    model: ModelServer
    tool: str
    argument: str
    count: int = 0

    def says(self, text: str) -> str:
        return script([text])

    def says_and_waits(self, text: str) -> str:
        return script([text, hold("never released")])

    def asks(self, made: Path) -> str:
        given = {self.argument: f"touch {made.name}"}
        if self.argument == "command":
            given["description"] = "make a file"
        return script([call(self.tool, **given)], ["Done."])

    async def remembers(self, talk: Talk, earlier: str) -> bool:
        self.count += 1
        words = f"What was said before {self.count} in {talk.session_id}?"
        await talk.say(f"{words} " + script(["That."]))
        return self.model.asked(words)[-1].knows("user", earlier)


@attrs.frozen
class Kind:
    """One target."""

    name: str
    target_id: str
    configure: Callable[[Path, ModelServer], list[Json]]
    """Its `[[targets]]` entries, with folders of its own."""
    tool: tuple[str, str] | None = None
    """The shell tool of a real agent, and the argument that holds the command."""
    settings: Json = attrs.field(factory=dict)
    """What a session that asks has to choose."""

    def words(self, model: ModelServer) -> Words:
        """Its language."""
        return Directives() if self.tool is None else ScriptedModel(model, *self.tool)


def _program(path: Path, target: str) -> str:
    if not os.access(path, os.X_OK):
        pytest.fail(f"there is no {path}. Try `make {target}`.", pytrace=False)
    return str(path)


def _demo(folder: Path, model: ModelServer) -> list[Json]:
    return []


def _scripted_codex(folder: Path, model: ModelServer) -> list[Json]:
    return [scripted_target(folder / "codex")]


def _codex(folder: Path, model: ModelServer) -> list[Json]:
    return [codex_server(_program(codex_below(INSTALLED), "test-providers"), folder / "codex", model)]


def _claude(folder: Path, model: ModelServer) -> list[Json]:
    return [claude_target([_program(claude_below(INSTALLED), "test-providers")], folder / "claude", model)]


def _codex_acp(folder: Path, model: ModelServer) -> list[Json]:
    return [codex_target(_program(program_below(INSTALLED), "test-providers"), folder / "codex", model)]


def _claude_agent_acp(folder: Path, model: ModelServer) -> list[Json]:
    node = _program(node_below(MORE_INSTALLED), "test-providers-all")
    command = [node, str(claude_agent_acp_below(MORE_INSTALLED))]
    environment = claude_environment(folder / "claude", model)
    return [{"id": "claude-agent-acp", "provider": "acp", "command": command, "env": environment}]


_REAL = pytest.mark.real_agent
_MORE = pytest.mark.more_agents
_KINDS = (
    (Kind("demo", "demo", _demo), ()),
    (Kind("scripted Codex", "codex", _scripted_codex), ()),
    (Kind("Codex", "codex", _codex, ("exec_command", "cmd"), ASKING), (_REAL,)),
    (Kind("Claude Code", "claude", _claude, ("Bash", "command")), (_REAL,)),
    (Kind("codex-acp", "codex-acp", _codex_acp, ("exec_command", "cmd")), (_REAL,)),
    (Kind("claude-agent-acp", "claude-agent-acp", _claude_agent_acp, ("Bash", "command")), (_MORE,)),
)
KINDS = [pytest.param(kind, id=kind.name.replace(" ", "-"), marks=marks) for kind, marks in _KINDS]
PATIENT_KINDS = [
    pytest.param(kind, id=kind.name.replace(" ", "-"), marks=marks or (pytest.mark.thorough,))
    for kind, marks in _KINDS
]
"""For scenarios that start several daemons."""
