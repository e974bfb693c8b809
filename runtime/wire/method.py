"""One method of the table: what it takes, answers and may refuse, and who may call it (`contract §4`).

Owns the shape of an entry and the groups of refusals that entries share. The entries stand in `session_methods`,
`turn_methods`, `side_methods` and `host_methods`; `methods` is the whole table.
"""

import attrs

from runtime.wire.replies import TokenScope

# Quarantined: commands are refused, and rows that cannot be read cannot be shown either.
SESSION_REFUSALS = ("session.not_found", "session.deleted", "session.quarantined")
COMMAND_REFUSALS = (*SESSION_REFUSALS, "store.full", "capability.unsupported")
TREES_REFUSALS = ("session.quarantined", "capability.unsupported", "store.full")
PROVIDER_REFUSALS = (
    "provider.unavailable",
    "provider.auth_required",
    "provider.rejected",
    "provider.timeout",
    "provider.lost",
    "provider.protocol",
)
SIDE_REFUSALS = ("side.not_found", "side.expired")
CONTENT_REFUSALS = ("request.too_large", "attachment.unsupported", "attachment.not_found")


@attrs.frozen
class Method:
    """One method served."""

    name: str
    summary: str
    params: type
    result: type
    scope: TokenScope
    """The least a token must have."""
    needs_workspace: bool = True
    """Whether `workspaceId` is required."""
    session_addressed: bool = False
    """Whether it names one session: such requests of one connection take effect in arrival order (`contract §2`)."""
    drives_agent: bool = False
    """Whether it makes a session's agent work or lets it go further: what a token's roots and `maxEffect` bound."""
    begins_turn: bool = False
    """Whether it begins a turn in a session that is there."""
    with_faults: bool = False
    """Whether it is served by a daemon alone that was started with `--enable-faults`."""
    refusals: tuple[str, ...] = ()
    """Codes it may be refused with besides the common ones."""
