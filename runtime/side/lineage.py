"""Whether what a provider forked is the Side that was asked for, and whether one may be asked for at all.

Owns both judgements. The adapter has compared its wire already; this is the second look, at its own word, without any
knowledge of the provider (RT-109, RT-112).
"""

from typing import Literal, TypeAlias

import attrs

from runtime.providers.normalized import SideForked
from runtime.providers.side_facts import SideFacts
from store.canonical.session import Session

Unsupported: TypeAlias = Literal["provider", "program", "conversation", "child"]
"""Why there is no Side: the provider's kind cannot, its program was not attested, there is nothing to fork, or the
session is its provider's."""


@attrs.frozen
class SideSupport:
    """What is known, and what follows."""

    facts: SideFacts
    reason: Unsupported | None = None

    @property
    def supported(self) -> bool:
        """Whether `side/open` may be tried."""
        return self.reason is None


def resolve_support(session: Session, family: SideFacts) -> SideSupport:
    """From the session's own attestation, live or stored, and what its provider family shows of such sessions.

    Nothing is started. A session that never was live has no attestation, and a null is no yes (RT-109, RT-110).
    """
    if not family.sufficient:
        return SideSupport(family, "provider")
    if session.parent is not None:
        return SideSupport(family, "child")
    if session.provider_session_id is None:
        return SideSupport(SideFacts(), "conversation")
    if not session.lifecycle_capabilities.side:
        return SideSupport(SideFacts(), "program")
    return SideSupport(family)


def is_side_of(forked: SideForked, source_session_id: str) -> bool:
    """Whether this is a fork of that conversation, kept nowhere, and showing nothing of what it inherited."""
    return (
        forked.source_session_id == source_session_id
        and forked.provider_session_id != source_session_id
        and forked.ephemeral
        and forked.shown_turns == 0
    )
