"""SQL of submit claims: a submit id takes effect once in its scope (RT-034, RT-037)."""

import apsw

from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import ClientSubmitId, SessionKey, WorkspaceId
from store.errors import ClaimTaken
from store.rows import CLAIM
from store.statements.composition import compose, marks, names, selected

_INSERT = compose(
    "INSERT INTO submit_claims (session_ref, workspace_id, $columns) VALUES (?, ?, $marks)",
    columns=names(CLAIM),
    marks=marks(CLAIM),
)
_REMOVE_OF_SESSION = """
    DELETE FROM submit_claims WHERE session_ref = ? AND client_submit_id = ? AND scope = 'session'
"""
_REMOVE_OF_WORKSPACE = """
    DELETE FROM submit_claims WHERE workspace_id = ? AND client_submit_id = ? AND scope = 'workspace'
"""
_SELECT = compose(
    "SELECT $selected FROM submit_claims AS c JOIN sessions AS s ON s.id = c.session_ref",
    selected=selected(CLAIM, "c"),
)
_OF_WORKSPACE = compose(
    "$select WHERE c.workspace_id = ? AND c.client_submit_id = ? AND c.scope = 'workspace'", select=_SELECT
)
_OF_SESSION = compose(
    """
    $select WHERE s.workspace_id = ? AND s.agent_session_id = ? AND c.client_submit_id = ? AND c.scope = 'session'
    """,
    select=_SELECT,
)


def add(connection: apsw.Connection, reference: int, claim: SubmitClaim) -> None:
    """Bind the submit id. Raises `ClaimTaken` when it is bound already, whatever to."""
    bindings = (reference, claim.workspace_id, *CLAIM.to_sql(claim))
    try:
        connection.execute(_INSERT, bindings)
    except apsw.ConstraintError as error:
        raise ClaimTaken(f"{claim.client_submit_id} is bound in this {claim.scope}") from error


def remove(connection: apsw.Connection, reference: int, claim: SubmitClaim) -> None:
    """Free the submit id again (`contract §4`, a refusal with delivery not_dispatched)."""
    if claim.scope == "session":
        connection.execute(_REMOVE_OF_SESSION, (reference, claim.client_submit_id))
    else:
        connection.execute(_REMOVE_OF_WORKSPACE, (claim.workspace_id, claim.client_submit_id))


def of_workspace(
    connection: apsw.Connection, workspace_id: WorkspaceId, submit_id: ClientSubmitId
) -> SubmitClaim | None:
    """The create that this id is bound to."""
    values = connection.execute(_OF_WORKSPACE, (workspace_id, submit_id)).fetchone()
    return None if values is None else CLAIM.from_sql(values)


def of_session(connection: apsw.Connection, key: SessionKey, submit_id: ClientSubmitId) -> SubmitClaim | None:
    """The send, guide or goal command of this session that the id is bound to."""
    bindings = (key.workspace_id, key.agent_session_id, submit_id)
    values = connection.execute(_OF_SESSION, bindings).fetchone()
    return None if values is None else CLAIM.from_sql(values)
