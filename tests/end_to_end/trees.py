"""A database with a tree of sessions in it, as a provider with sub-agents of its own leaves one."""

from pathlib import Path

from runtime.api.commit_events import CommitEvents
from store.canonical.change import Committed, SessionState, Unit, UnitOutcome
from store.canonical.identifiers import SessionId, TargetId, TurnId, WorkspaceId
from store.canonical.session import Session, SessionCounters, SessionParent
from store.files import LocalFiles
from store.group import UnitJob
from store.open import DATABASE_FILE_NAME, StoreOptions, open_store


def seed_tree(data_dir: Path, workspace: str, *names: str) -> None:
    """Sessions of these names before the daemon's first start, each one below the one before it."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = StoreOptions(
        clock_ms=lambda: 1_000, new_store_id=lambda: "seeded", encode=CommitEvents(1 << 23).encode
    )
    store = open_store(LocalFiles(data_dir / DATABASE_FILE_NAME, 0), options)
    outcomes: list[UnitOutcome] = []
    for depth, name in enumerate(names):
        turn = TurnId("t1")
        parent = SessionParent(SessionId(names[0]), turn, SessionId(names[depth - 1]), turn)
        row = Session(
            workspace_id=WorkspaceId(workspace),
            agent_session_id=SessionId(name),
            agent_target_id=TargetId("demo"),
            provider="acp",
            cwd=str(data_dir),
            created_at=1_000,
            updated_at=1_000,
            parent=parent if depth else None,
        )
        state = SessionState(0, 1_000, SessionCounters())
        unit = Unit(row.key, row.root_agent_session_id, (row,), state)
        outcomes += store.committer.commit([UnitJob(unit, outcomes.append)]).outcomes  # type: ignore[arg-type]
    store.close()
    assert all(isinstance(outcome, Committed) for outcome in outcomes)
