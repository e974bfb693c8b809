-- Checkouts made for sessions. A row is there before its checkout is, and until nothing of that is left; it belongs to no
-- session by reference, since it outlives the purge of its own.

CREATE TABLE worktrees (
    workspace_id TEXT NOT NULL,
    agent_session_id TEXT NOT NULL,
    repository TEXT NOT NULL,
    relative_path TEXT NOT NULL,
    path TEXT NOT NULL,
    branch TEXT NOT NULL,
    base_commit TEXT NOT NULL,
    store_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    kept_because TEXT,
    purged INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, agent_session_id)
) STRICT, WITHOUT ROWID;
