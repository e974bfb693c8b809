"""Rows and stores for the tests of the store: short to write, complete to read."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from store.canonical.change import Committed, Row, SessionState, StreamPiece, Unit
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import (
    ClientSubmitId,
    MessageId,
    RequestId,
    SessionId,
    SessionKey,
    TargetId,
    TurnId,
    WorkspaceId,
)
from store.canonical.interaction import ApprovalInput, Interaction
from store.canonical.message import Message, TextBlock
from store.canonical.session import Session, SessionCounters, SessionParent
from store.canonical.turn import Turn
from store.files import LocalFiles
from store.group import GroupResult, PiecesJob, UnitJob
from store.open import DATABASE_FILE_NAME, Store, StoreOptions, open_store

W = WorkspaceId("w")


class Clock:
    """A wall clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


def encode(commit_seq: int, rows: Sequence[Row]) -> bytes:
    """Stands for the encoder of the wire: enough to see which rows were published under which number."""
    names = ",".join(type(row).__name__ for row in rows)
    return f"{commit_seq}:{names}".encode()


def options(**changes: Any) -> StoreOptions:
    given = {"clock_ms": Clock(), "new_store_id": lambda: "store-1", "encode": encode, **changes}
    return StoreOptions(**given)


def open_in(folder: Path, *, reserve_bytes: int = 0, **changes: Any) -> Store:
    return open_store(LocalFiles(folder / DATABASE_FILE_NAME, reserve_bytes), options(**changes))


def key(session: str, workspace: str = "w") -> SessionKey:
    return SessionKey(WorkspaceId(workspace), SessionId(session))


def session_row(name: str, **changes: Any) -> Session:
    row = Session(
        workspace_id=W,
        agent_session_id=SessionId(name),
        agent_target_id=TargetId("demo"),
        provider="acp",
        cwd="/srv/work",
        created_at=1_000,
        updated_at=1_000,
    )
    return attrs.evolve(row, **changes)


def child_of(name: str, parent: str, root: str, **changes: Any) -> Session:
    lineage = SessionParent(SessionId(root), TurnId("t1"), SessionId(parent), TurnId("t1"))
    return session_row(name, parent=lineage, **changes)


def turn_row(session: str, turn: str = "t1", sequence: int = 1, **changes: Any) -> Turn:
    row = Turn(W, SessionId(session), TurnId(turn), sequence, submitted_at=1_000 + sequence)
    return attrs.evolve(row, **changes)


def message_row(
    session: str, message: str, sequence: int, version: int, text: str = "text", **changes: Any
) -> Message:
    row = Message(
        workspace_id=W,
        agent_session_id=SessionId(session),
        message_id=MessageId(message),
        sequence=sequence,
        version=version,
        role="assistant",
        kind="text",
        created_at=1_000,
        content=(TextBlock(text),),
    )
    return attrs.evolve(row, **changes)


def interaction_row(session: str, request: str = "r1", turn: str = "t1", **changes: Any) -> Interaction:
    row = Interaction(
        workspace_id=W,
        agent_session_id=SessionId(session),
        turn_id=TurnId(turn),
        request_id=RequestId(request),
        kind="approval",
        input=ApprovalInput("c1", "Run it", "execute"),
        created_at=1_000,
    )
    return attrs.evolve(row, **changes)


def claim_row(session: str, submit_id: str, **changes: Any) -> SubmitClaim:
    row = SubmitClaim(
        scope="session",
        workspace_id=W,
        agent_session_id=SessionId(session),
        client_submit_id=ClientSubmitId(submit_id),
        method="session/send",
        digest="d" * 64,
        created_at=1_000,
    )
    return attrs.evolve(row, **changes)


def piece(session: str, message: str, first: int, text: str, **changes: Any) -> StreamPiece:
    row = StreamPiece(W, SessionId(session), MessageId(message), first, len(text), "text", text)
    return attrs.evolve(row, **changes)


def unit(
    session: str,
    *rows: Row,
    version: int = 0,
    counters: SessionCounters | None = None,
    updated_at: int = 1_000,
    **changes: Any,
) -> Unit:
    """A unit of `session`; its version is the highest one named."""
    versions = [row.version for row in rows if isinstance(row, Message)]
    version = max([version, *versions])
    fitted = tuple(
        attrs.evolve(row, message_version=version)
        if isinstance(row, Session) and row.agent_session_id == session
        else row
        for row in rows
    )
    root = next((row.root_agent_session_id for row in rows if isinstance(row, Session)), session)
    state = SessionState(version, updated_at, counters or SessionCounters())
    return Unit(key(session), SessionId(root), fitted, state, **changes)


def ignore(_outcome: object) -> None:
    """For a test that looks at the result instead."""


def write(store: Store, *units: Unit) -> GroupResult:
    """Write units as one group, the way both writers do."""
    return store.committer.commit([UnitJob(one, ignore) for one in units])


def written(store: Store, *units: Unit) -> list[Committed]:
    """Write units that must all be kept."""
    outcomes = list(write(store, *units).outcomes)
    assert all(isinstance(outcome, Committed) for outcome in outcomes), outcomes
    return outcomes  # type: ignore[return-value]


def write_pieces(store: Store, *pieces: StreamPiece) -> bool:
    (outcome,) = store.committer.commit([PiecesJob(pieces, ignore)]).outcomes
    assert isinstance(outcome, bool)
    return outcome


def running_session(name: str, **changes: Any) -> Unit:
    """A session in the middle of a turn: a prompt, an answer that streams, an approval that waits."""
    return unit(
        name,
        session_row(name, active_turn_id="t1"),
        turn_row(name, phase="waiting", delivery="accepted", **changes),
        message_row(name, "m1", 1, 1, "prompt", role="user", turn_id="t1"),
        message_row(name, "m2", 2, 2, "", turn_id="t1", status="streaming", delta_seq=0),
        interaction_row(name),
        counters=SessionCounters(1, 2),
    )


Recorded = list[Any]


def recorder(told: Recorded) -> Callable[[Any], None]:
    return told.append
