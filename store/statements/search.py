"""SQL of the search: sessions whose title, or any ended text of which, holds all words of a query (AP-027).

Owns the expression: words are quoted, so nothing a person types is read as syntax. Titles come first, then messages from
the newest on; a session is found once. One call looks at a bounded number of matches and says where to go on.
"""

import re
from collections.abc import Iterator
from typing import Final

import apsw
import attrs

from store.canonical.identifiers import MessageId, TurnId, WorkspaceId
from store.canonical.session import Session
from store.errors import RowError
from store.port import SearchHit
from store.rows import SESSION
from store.statements.composition import compose, selected
from store.statements.sessions import stored_session

MATCHES_A_CALL: Final = 4096
"""Matches looked at in one call, those of other workspaces and of deleted sessions included: some milliseconds."""

_WORDS_MAX: Final = 32
_PREFIX_CHARACTERS_MIN: Final = 3
"""From this length on a word finds the words that begin with it; shorter ones would find half of everything."""
_WORD: Final = re.compile(r"[^\W_]+")

_TITLES = """
    SELECT rowid, '', NULL, rowid, 0 FROM title_search WHERE title_search MATCH ?1 AND rowid < ?2
    ORDER BY rowid DESC LIMIT ?3
"""
_MESSAGES = """
    SELECT f.rowid, m.message_id, m.turn_id, m.session_ref, EXISTS (
        SELECT 1 FROM turns AS t
        WHERE t.session_ref = m.session_ref AND t.turn_id = m.turn_id AND t.retracted_at IS NOT NULL
    )
    FROM (
        SELECT rowid FROM message_search WHERE message_search MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3
    ) AS f CROSS JOIN messages AS m ON m.id = f.rowid
"""
_VISIBLE = "SELECT deleted_at IS NULL AND workspace_id = ? FROM sessions WHERE id = ?"
_TITLE_MATCHES = "SELECT 1 FROM title_search WHERE title_search MATCH ? AND rowid = ?"
_NEWER_MATCH = "SELECT 1 FROM message_search WHERE message_search MATCH ? AND rowid >= ? LIMIT 1"
_SNIPPET = """
    SELECT snippet(message_search, 1, '', '', '…', 24) FROM message_search WHERE message_search MATCH ? AND rowid = ?
"""
_SESSION = compose(
    "SELECT s.id, s.turn_sequence, s.message_sequence, $selected FROM sessions AS s WHERE s.id = ?",
    selected=selected(SESSION, "s"),
)


@attrs.frozen(order=True)
class SearchPlace:
    """How far a search has come: titles are part 0, messages part 1, each from its newest row on."""

    part: int
    row: int


TOP: Final = SearchPlace(0, 2**62)


def expression_of(query: str) -> str | None:
    """The words of a query as an expression of the index; None when there is none in it."""
    words = _WORD.findall(query)[:_WORDS_MAX]
    if not words:
        return None
    return " AND ".join(f'"{word}"{"*" if len(word) >= _PREFIX_CHARACTERS_MIN else ""}' for word in words)


@attrs.define
class Search:
    """One call's walk over the matches. Make it inside a read transaction."""

    connection: apsw.Connection
    workspace_id: WorkspaceId
    expression: str
    after: SearchPlace
    _place: SearchPlace = attrs.field(init=False, default=TOP)
    _seen: set[int] = attrs.field(init=False, factory=set)
    _complete: bool = attrs.field(init=False, default=False)

    def page(self, limit: int) -> tuple[tuple[SearchHit, ...], SearchPlace | None]:
        """Up to `limit` sessions, and where the next page begins; None when there is nothing more."""
        self._place = self.after
        hits: list[SearchHit] = []
        for hit in self._hits():
            hits.append(hit)
            if len(hits) == limit:
                break
        return tuple(hits), None if self._complete else self._place

    def _hits(self) -> Iterator[SearchHit]:
        left = MATCHES_A_CALL
        for part in range(self.after.part, 2):
            start = self.after.row if part == self.after.part else TOP.row
            found = 0
            for row, message_id, turn_id, reference, retracted in self._matches(part, start, left):
                found += 1
                self._place = SearchPlace(part, row)
                if not retracted and self._is_new(part, reference):
                    yield from self._hit(part, row, message_id, turn_id, reference)
            left -= found
            if left <= 0:
                return
        self._complete = True

    def _matches(self, part: int, before: int, limit: int) -> Iterator[tuple[int, str, str | None, int, int]]:
        statement, expression = (
            (_TITLES, self.expression) if part == 0 else (_MESSAGES, f"text : ({self.expression})")
        )
        yield from self.connection.execute(statement, (expression, before, limit))

    def _is_new(self, part: int, reference: int) -> bool:
        """Whether this session can be shown and was not found on this page or one before."""
        if reference in self._seen:
            return False
        self._seen.add(reference)
        if not self.connection.execute(_VISIBLE, (self.workspace_id, reference)).get:
            return False
        if part == 0:
            return True
        if self.connection.execute(_TITLE_MATCHES, (self.expression, reference)).get:
            return False
        if self.after.part == 0:
            return True
        of_session = f"session : s{reference} AND text : ({self.expression})"
        return not self.connection.execute(_NEWER_MATCH, (of_session, self.after.row)).get

    def _hit(
        self, part: int, row: int, message_id: str, turn_id: str | None, reference: int
    ) -> Iterator[SearchHit]:
        session = self._session(reference)
        if session is None:
            return
        if part == 0:
            yield SearchHit(session, session.title or "")
        else:
            snippet = self.connection.execute(_SNIPPET, (f"text : ({self.expression})", row)).get
            turn = None if turn_id is None else TurnId(turn_id)
            yield SearchHit(session, str(snippet), MessageId(message_id), turn)

    def _session(self, reference: int) -> Session | None:
        """None when its row cannot be read: it hides no other (FC-40)."""
        values = self.connection.execute(_SESSION, (reference,)).fetchone()
        assert values is not None, "an index holds nothing that its table does not"
        try:
            return stored_session(values).session
        except RowError:
            return None
