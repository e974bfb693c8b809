-- What `session/search` finds: titles, prompts as they are shown, and what agents said, once it has ended. Both indexes
-- keep no text of their own; triggers keep them with the rows, so that no writer can forget them.
--
-- The column `session` holds one word for each session. It makes one session's matches as cheap to find as all.

CREATE VIEW searched_messages (id, session, text) AS
SELECT
    m.id,
    's' || m.session_ref,
    substr(coalesce(m.display_prompt, (
        SELECT group_concat(b.value ->> 'text', char(10)) FROM json_each(m.content) AS b
        WHERE b.value ->> 'type' = 'text'
    ), ''), 1, 65536)
FROM messages AS m
WHERE m.kind = 'text' AND m.status <> 'streaming';

CREATE VIRTUAL TABLE message_search USING fts5 (
    session, text, content = 'searched_messages', content_rowid = 'id', columnsize = 0,
    tokenize = "unicode61 remove_diacritics 2"
);

CREATE VIRTUAL TABLE title_search USING fts5 (
    title, content = 'sessions', content_rowid = 'id', columnsize = 0,
    tokenize = "unicode61 remove_diacritics 2"
);

CREATE TRIGGER messages_searched_insert AFTER INSERT ON messages
WHEN new.kind = 'text' AND new.status <> 'streaming'
BEGIN
    INSERT INTO message_search (rowid, session, text)
    SELECT id, session, text FROM searched_messages WHERE id = new.id;
END;

-- An index without text of its own is told what it holds when that is to go. One trigger for both, because the order of
-- two is nobody's promise.
CREATE TRIGGER messages_searched_update AFTER UPDATE OF content, display_prompt, status ON messages
WHEN
    new.kind = 'text' AND (
        old.content IS NOT new.content OR old.display_prompt IS NOT new.display_prompt
        OR (old.status = 'streaming') <> (new.status = 'streaming')
    )
BEGIN
    INSERT INTO message_search (message_search, rowid, session, text)
    SELECT 'delete', old.id, 's' || old.session_ref, substr(coalesce(old.display_prompt, (
        SELECT group_concat(b.value ->> 'text', char(10)) FROM json_each(old.content) AS b
        WHERE b.value ->> 'type' = 'text'
    ), ''), 1, 65536)
    WHERE old.status <> 'streaming';
    INSERT INTO message_search (rowid, session, text)
    SELECT id, session, text FROM searched_messages WHERE id = new.id;
END;

CREATE TRIGGER messages_searched_delete AFTER DELETE ON messages
WHEN old.kind = 'text' AND old.status <> 'streaming'
BEGIN
    INSERT INTO message_search (message_search, rowid, session, text)
    VALUES ('delete', old.id, 's' || old.session_ref, substr(coalesce(old.display_prompt, (
        SELECT group_concat(b.value ->> 'text', char(10)) FROM json_each(old.content) AS b
        WHERE b.value ->> 'type' = 'text'
    ), ''), 1, 65536));
END;

CREATE TRIGGER sessions_searched_insert AFTER INSERT ON sessions WHEN new.title IS NOT NULL
BEGIN
    INSERT INTO title_search (rowid, title) VALUES (new.id, new.title);
END;

CREATE TRIGGER sessions_searched_update AFTER UPDATE OF title ON sessions WHEN old.title IS NOT new.title
BEGIN
    INSERT INTO title_search (title_search, rowid, title)
    SELECT 'delete', old.id, old.title WHERE old.title IS NOT NULL;
    INSERT INTO title_search (rowid, title) SELECT new.id, new.title WHERE new.title IS NOT NULL;
END;

CREATE TRIGGER sessions_searched_delete AFTER DELETE ON sessions WHEN old.title IS NOT NULL
BEGIN
    INSERT INTO title_search (title_search, rowid, title) VALUES ('delete', old.id, old.title);
END;

INSERT INTO title_search (rowid, title) SELECT id, title FROM sessions WHERE title IS NOT NULL;
INSERT INTO message_search (rowid, session, text) SELECT id, session, text FROM searched_messages;
