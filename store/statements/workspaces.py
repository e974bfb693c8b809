"""SQL of the list of workspaces. A workspace is a label of sessions, so what is listed is derived from theirs."""

from collections.abc import Iterator

import apsw
import orjson

from store.canonical.identifiers import WorkspaceId
from store.port import ListedWorkspace

# The conditions are those of the partial index of roots, which alone is read; unsettled and pending are few.
_PAGE = """
    SELECT r.workspace_id, count(*),
        (SELECT count(*) FROM sessions AS a
            WHERE a.active_turn_id IS NOT NULL AND a.workspace_id = r.workspace_id),
        (SELECT count(*) FROM interactions AS i JOIN sessions AS s ON s.id = i.session_ref
            WHERE i.workspace_id = r.workspace_id AND i.status = 'pending' AND s.deleted_at IS NULL)
    FROM sessions AS r
    WHERE r.parent_agent_session_id IS NULL AND r.deleted_at IS NULL AND r.workspace_id > ?1
        AND (?2 IS NULL OR r.workspace_id IN (SELECT value FROM json_each(?2)))
    GROUP BY r.workspace_id
    ORDER BY r.workspace_id
    LIMIT ?3
"""


def page(
    connection: apsw.Connection, only: frozenset[str] | None, after: str, limit: int
) -> Iterator[ListedWorkspace]:
    """Workspaces whose id sorts behind `after`."""
    named = None if only is None else orjson.dumps(sorted(only)).decode()
    for name, sessions, turns, interactions in connection.execute(_PAGE, (after, named, limit)):
        assert isinstance(sessions, int)
        assert isinstance(turns, int)
        assert isinstance(interactions, int)
        yield ListedWorkspace(WorkspaceId(str(name)), sessions, turns, interactions)
