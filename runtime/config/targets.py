"""Which targets there are when nobody configured any: the known agents whose programs are found (`contract §1`).

Owns the list of programs worth looking for. Looking is a port (`ProgramFinder`). The built-in demo agent is added by
the composition root, which alone knows how it is launched.
"""

import shutil
from collections.abc import Iterator
from typing import Protocol

import attrs

from runtime.config.model import Provider, TargetConfiguration

DEMO_TARGET_ID = "demo"
"""Taken by the built-in agent as long as `demo` is true."""


class ProgramFinder(Protocol):
    """Where programs are: PATH, as far as the configuration needs it."""

    def find(self, program: str) -> str | None:
        """The absolute path of an executable file: of a name on PATH, or the path itself; None when there is none."""


@attrs.frozen
class ProgramsOnPath:
    """Implements `ProgramFinder` on the PATH of this process, which is also the one agents inherit."""

    search_path: str | None = None
    """In place of the PATH of this process."""

    def find(self, program: str) -> str | None:
        """See `ProgramFinder`."""
        return shutil.which(program, path=self.search_path)


@attrs.frozen
class KnownAgent:
    """An agent that can be driven without any configuration."""

    id: str
    name: str
    command: tuple[str, ...]
    provider: Provider = "acp"


# docs/providers/ says how each of them behaves. The first one found is the command line's default.
KNOWN_AGENTS = (
    KnownAgent("codex", "Codex", ("codex", "app-server"), provider="codex"),
    KnownAgent("claude", "Claude Code", ("claude",), provider="claude"),
    KnownAgent("codex-acp", "Codex (ACP)", ("codex-acp",)),
    KnownAgent("claude-agent-acp", "Claude Code (ACP)", ("claude-agent-acp",)),
    KnownAgent("opencode", "OpenCode", ("opencode", "acp")),
    KnownAgent("gemini", "Gemini CLI", ("gemini", "--acp")),
    KnownAgent("qwen", "Qwen Code", ("qwen", "--acp")),
)


def found_targets(programs: ProgramFinder) -> Iterator[TargetConfiguration]:
    """A target for every known agent whose program is there (`contract §1`)."""
    for agent in KNOWN_AGENTS:
        if programs.find(agent.command[0]) is not None:
            yield TargetConfiguration(
                id=agent.id, provider=agent.provider, name=agent.name, command=agent.command
            )
