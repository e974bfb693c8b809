"""What a process is started for, where its family has to say so at the start: one conversation, or one fork of it.

Owns these values alone. Where `OpenThread` and `OpenSide` open conversations by themselves, nothing here is used.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs

from store.canonical.common import Settings


@attrs.frozen
class HostedFork:
    """An ephemeral fork is all the process is for: it never writes the conversation it was made from (RT-120)."""

    fork_id: str
    """The provider's name for the fork, never used before."""
    held: Settings
    """What the source is known to hold: the fork may do no more than that, nor more than was chosen for its source."""
    instructions: str | None = None
    """Rules of the host, as in `OpenSide`: a process may have to know them before it is told anything."""


@attrs.frozen
class HostedConversation:
    """The one conversation a process is started for.

    `session_id` is the provider's name for it: the one to find again when `resumes`, else a new one, never used before.
    With a `fork`, it is the conversation that is forked.
    """

    session_id: str
    resumes: bool
    settings: Settings
    fork: HostedFork | None = None
    command: tuple[str, ...] = ()
    """The target's own words, among which may be what this conversation cannot do."""


@attrs.frozen
class ConversationLaunch:
    """What is put behind a target's command, and into its environment, for one conversation."""

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = attrs.field(factory=dict)


LaunchConversation: TypeAlias = Callable[[HostedConversation], ConversationLaunch]
