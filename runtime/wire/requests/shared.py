"""Pieces of what a client may send that several methods take: identities, pages, bounded texts and content."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import attrs

from runtime.wire.constraints import AtLeast, CappedAt, Characters, Items, Members, SaysSomething
from store.canonical.identifiers import SessionId, SessionKey, TurnId, WorkspaceId
from store.canonical.message import ImageBlock, ResourceLinkBlock, TextBlock
from store.canonical.session import TITLE_CHARACTERS_MAX

PROTOCOL_VERSION = 1
"""The one version spoken."""
PAGE_ITEMS_DEFAULT = 50
PAGE_ITEMS_MAX = 200
TREES_MAX = 200
"""Sessions named in one delete, restore or purge."""

PageLimit: TypeAlias = Annotated[int, AtLeast(1), CappedAt(PAGE_ITEMS_MAX)]
ShortText: TypeAlias = Annotated[str, Characters(1, 200)]
Title: TypeAlias = Annotated[str, Characters(0, TITLE_CHARACTERS_MAX)]
FilePath: TypeAlias = Annotated[str, Characters(1, 4096)]
PromptBlock: TypeAlias = TextBlock | ImageBlock | ResourceLinkBlock
Content: TypeAlias = Annotated[tuple[PromptBlock, ...], Items(1, 1000), SaysSomething()]
SettingText: TypeAlias = Annotated[str, Characters(0, 1000)]
SettingsParam: TypeAlias = Annotated[Mapping[str, SettingText | bool], Members(100)]
SettingChanges: TypeAlias = Annotated[Mapping[str, SettingText | bool | None], Members(100)]

SessionIds: TypeAlias = Annotated[tuple[SessionId, ...], Items(0, 10_000)]

Topic = Literal["agent.activity.updated", "agent.side.updated", "host.updated"]
TOPICS: tuple[Topic, ...] = ("agent.activity.updated", "agent.side.updated", "host.updated")


@attrs.frozen(kw_only=True)
class WorkspaceParams:
    """Params of a method that belongs to a workspace."""

    workspace_id: WorkspaceId


@attrs.frozen(kw_only=True)
class SessionParams(WorkspaceParams):
    """Params that name a session."""

    agent_session_id: SessionId

    @property
    def session_key(self) -> SessionKey:
        """The whole identity of the session named."""
        return SessionKey(self.workspace_id, self.agent_session_id)


@attrs.frozen(kw_only=True)
class TurnParams(SessionParams):
    """Params that name a turn of a session."""

    turn_id: TurnId


# Without slots, so that it can stand beside another base.
@attrs.frozen(kw_only=True, slots=False)
class PageParams:
    """Params of a list."""

    cursor: Annotated[str, Characters(1, 1000)] | None = None
    """`nextCursor` of the page before; without it, the first page."""
    limit: PageLimit = PAGE_ITEMS_DEFAULT
