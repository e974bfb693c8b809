-- Attachments are stored once by their content, and go when nothing has used them for a while.

ALTER TABLE attachments ADD COLUMN digest TEXT NOT NULL DEFAULT ''; -- SHA-256 of `data`
ALTER TABLE attachments ADD COLUMN used INTEGER NOT NULL DEFAULT 0; -- whether a session shows it

CREATE UNIQUE INDEX attachments_of_content ON attachments (workspace_id, media_type, digest) WHERE digest <> '';

CREATE INDEX attachments_unused ON attachments (created_at, octet_length(data)) WHERE used = 0;

CREATE TRIGGER attachment_uses_insert AFTER INSERT ON attachment_uses
BEGIN
    UPDATE attachments SET used = 1 WHERE id = new.attachment_ref;
END;

CREATE TRIGGER attachment_uses_delete AFTER DELETE ON attachment_uses
BEGIN
    UPDATE attachments SET used = EXISTS (
        SELECT 1 FROM attachment_uses WHERE attachment_ref = old.attachment_ref
    )
    WHERE id = old.attachment_ref;
END;
