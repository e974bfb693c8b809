"""What the wire does not tell about an agent, attested by its own name and version. Data only.

An entry is written when a behaviour was seen, and holds for the range of versions it was seen in; an agent without
an entry has the defaults, which assume nothing in its favour. Agents are recognised by `agentInfo`, never by the
name of a command.
"""

import re
from typing import Final, TypeAlias

import attrs

Version: TypeAlias = tuple[int, ...]


@attrs.frozen
class Quirks:
    """Behaviour of one agent. The defaults are those of an agent nobody has looked at."""

    load_is_reliable: bool = True
    """A conversation it once had can be loaded again; false where most tries fail with the file on disk."""
    parallel_sessions: int = 1
    """How many sessions of one process were seen working side by side."""
    rest_after_failure_seconds: float = 0.0
    """How long the next prompt has to wait after one that failed; sent at once, it was seen to be lost unanswered."""


@attrs.frozen
class Attestation:
    """Quirks of one agent from version `since` up to, not including, `before`."""

    agent_name: str
    since: Version
    before: Version
    quirks: Quirks


ATTESTED: Final = (
    Attestation("OpenCode", (1, 18), (1, 19), Quirks(parallel_sessions=2)),
    Attestation("qwen-code", (0, 24), (0, 25), Quirks(parallel_sessions=2)),
    Attestation("gemini-cli", (0, 61), (0, 62), Quirks(parallel_sessions=2, load_is_reliable=False)),
    Attestation("@agentclientprotocol/claude-agent-acp", (0, 101), (0, 102), Quirks(parallel_sessions=2)),
    Attestation("codex-acp", (0, 16), (0, 17), Quirks(parallel_sessions=2, rest_after_failure_seconds=0.25)),
    Attestation("greenroom-demo", (1,), (2,), Quirks(parallel_sessions=64)),
)


def quirks_of(agent_name: str | None, agent_version: str | None) -> Quirks:
    """The attested behaviour of this agent, or the defaults."""
    version = _parse(agent_version)
    for entry in ATTESTED:
        if entry.agent_name == agent_name and entry.since <= version < entry.before:
            return entry.quirks
    return Quirks()


def _parse(text: str | None) -> Version:
    """The leading numbers of a version: `0.61.0-nightly` is (0, 61, 0); nothing readable is ()."""
    match = re.match(r"v?(\d{1,9}(?:\.\d{1,9})*)", text or "")
    return tuple(int(part) for part in match.group(1).split(".")) if match else ()
