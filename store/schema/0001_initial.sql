-- The first schema. A migration that has been released is never edited; a change is a file with the next number.
--
-- `sessions.id` stands for the pair (workspace_id, agent_session_id) inside this file only; every other table refers
-- to it. Nested values are JSON text, made and read by store/rows.py. Times are milliseconds since the epoch.

PRAGMA application_id = 0x4752524D; -- "GRRM"

CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    store_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    commit_seq INTEGER NOT NULL, -- the newest number given to a unit
    log_trimmed_through INTEGER NOT NULL -- the newest number that retention removed from the commit log
) STRICT;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    agent_session_id TEXT NOT NULL,
    agent_target_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    cwd TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    provider_session_id TEXT,
    title TEXT,
    title_source TEXT NOT NULL,
    settings TEXT NOT NULL,
    settings_source TEXT NOT NULL,
    isolation TEXT,
    rail_section_key TEXT,
    pinned INTEGER NOT NULL,
    goal TEXT,
    active_turn_id TEXT,
    capabilities TEXT,
    lifecycle_capabilities TEXT NOT NULL,
    lineage TEXT,
    parent TEXT,
    resumability TEXT NOT NULL,
    usage TEXT,
    history_revision INTEGER NOT NULL,
    message_version INTEGER NOT NULL,
    deleted_at INTEGER,

    -- Beside the row, never shown.
    root_agent_session_id TEXT NOT NULL,
    parent_agent_session_id TEXT,
    turn_sequence INTEGER NOT NULL DEFAULT 0,
    message_sequence INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER NOT NULL, -- when the newest turn was submitted, else creation
    pinned_at INTEGER, -- when it was pinned: pinned sessions keep their order whatever they do
    recent_rank INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(pinned_at, started_at)) VIRTUAL,
    created_rank INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(pinned_at, created_at)) VIRTUAL,
    UNIQUE (workspace_id, agent_session_id)
) STRICT;

CREATE INDEX sessions_recent ON sessions (workspace_id, pinned, recent_rank, id)
WHERE parent_agent_session_id IS NULL AND deleted_at IS NULL;

CREATE INDEX sessions_created ON sessions (workspace_id, pinned, created_rank, id)
WHERE parent_agent_session_id IS NULL AND deleted_at IS NULL;

CREATE INDEX sessions_tree ON sessions (workspace_id, root_agent_session_id);

CREATE INDEX sessions_children ON sessions (workspace_id, parent_agent_session_id)
WHERE parent_agent_session_id IS NOT NULL;

CREATE INDEX sessions_active ON sessions (id) WHERE active_turn_id IS NOT NULL;

CREATE INDEX sessions_deleted ON sessions (workspace_id, deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    session_ref INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    submitted_at INTEGER NOT NULL,
    phase TEXT NOT NULL,
    outcome TEXT,
    delivery TEXT NOT NULL,
    origin TEXT NOT NULL,
    client_submit_id TEXT,
    provider_turn_id TEXT,
    cancel_requested_at INTEGER,
    cancel_confirmed_at INTEGER,
    stop_reason TEXT,
    forkable INTEGER NOT NULL,
    usage TEXT,
    timings TEXT NOT NULL,
    error TEXT,
    started_at INTEGER,
    settled_at INTEGER,
    retracted_at INTEGER,
    UNIQUE (session_ref, turn_id),
    UNIQUE (session_ref, sequence)
) STRICT;

CREATE INDEX turns_unfinished ON turns (session_ref, sequence) WHERE phase <> 'settled';

CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    session_ref INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    version INTEGER NOT NULL,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    turn_id TEXT,
    status TEXT NOT NULL,
    content TEXT NOT NULL,
    tool_call TEXT,
    delta_seq INTEGER,
    truncated INTEGER NOT NULL,
    client_submit_id TEXT,
    display_prompt TEXT,
    UNIQUE (session_ref, message_id),
    UNIQUE (session_ref, sequence),
    UNIQUE (session_ref, version),
    FOREIGN KEY (session_ref, turn_id) REFERENCES turns (session_ref, turn_id) ON DELETE CASCADE
) STRICT;

CREATE INDEX messages_of_turn ON messages (session_ref, turn_id);

CREATE INDEX messages_streaming ON messages (session_ref, sequence) WHERE status = 'streaming';

CREATE TABLE message_pieces (
    message_ref INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    first_delta_seq INTEGER NOT NULL,
    deltas INTEGER NOT NULL,
    field TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (message_ref, first_delta_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE interactions (
    id INTEGER PRIMARY KEY,
    session_ref INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    workspace_id TEXT NOT NULL, -- repeated here so that one index pages over a whole workspace
    turn_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    input TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    options TEXT NOT NULL,
    status TEXT NOT NULL,
    answer TEXT,
    answer_delivery TEXT,
    resolved_at INTEGER,
    UNIQUE (session_ref, turn_id, request_id),
    FOREIGN KEY (session_ref, turn_id) REFERENCES turns (session_ref, turn_id) ON DELETE CASCADE
) STRICT;

CREATE INDEX interactions_listed ON interactions (workspace_id, id);

CREATE INDEX interactions_pending ON interactions (session_ref) WHERE status = 'pending';

CREATE INDEX interactions_pending_listed ON interactions (workspace_id, id) WHERE status = 'pending';

CREATE INDEX interactions_delivering ON interactions (session_ref) WHERE answer_delivery = 'dispatching';

CREATE TABLE submit_claims (
    id INTEGER PRIMARY KEY,
    session_ref INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    workspace_id TEXT NOT NULL, -- repeated here for the claims that belong to the workspace
    scope TEXT NOT NULL,
    client_submit_id TEXT NOT NULL,
    method TEXT NOT NULL,
    digest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    turn_id TEXT,
    content TEXT,
    UNIQUE (session_ref, scope, client_submit_id)
) STRICT;

CREATE UNIQUE INDEX submit_claims_of_workspace ON submit_claims (workspace_id, client_submit_id)
WHERE scope = 'workspace';

CREATE TABLE operations (
    id INTEGER PRIMARY KEY,
    session_ref INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    operation_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    plan TEXT NOT NULL, -- what was frozen when the operation was prepared
    error TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    UNIQUE (session_ref, operation_id)
) STRICT;

CREATE INDEX operations_unfinished ON operations (session_ref) WHERE finished_at IS NULL;

CREATE TABLE attachments (
    id INTEGER PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    attachment_id TEXT NOT NULL,
    media_type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (workspace_id, attachment_id)
) STRICT;

CREATE TABLE attachment_uses (
    attachment_ref INTEGER NOT NULL REFERENCES attachments (id) ON DELETE CASCADE,
    session_ref INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    PRIMARY KEY (attachment_ref, session_ref)
) STRICT, WITHOUT ROWID;

CREATE INDEX attachment_uses_of_session ON attachment_uses (session_ref);

CREATE TABLE commit_log (
    commit_seq INTEGER PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    agent_session_id TEXT NOT NULL,
    root_agent_session_id TEXT NOT NULL,
    committed_at INTEGER NOT NULL,
    -- Running totals up to and including this entry, so that retention needs no count over the table.
    entries_through INTEGER NOT NULL,
    bytes_through INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
