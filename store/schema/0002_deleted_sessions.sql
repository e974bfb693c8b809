-- What a deleted tree holds, for the budget of what is kept of deleted sessions; and the order they are purged in.

ALTER TABLE sessions ADD COLUMN deleted_bytes INTEGER NOT NULL DEFAULT 0;

CREATE INDEX sessions_deleted_of_all ON sessions (deleted_at, workspace_id, root_agent_session_id, deleted_bytes)
WHERE deleted_at IS NOT NULL;
