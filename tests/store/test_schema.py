"""The tables agree with the rows: the codec leaves to STRICT columns what their declaration already says."""

from types import NoneType
from typing import get_args, get_type_hints

import attrs
import pytest

from store.canonical.change import StreamPiece
from store.canonical.claim import SubmitClaim
from store.canonical.common import Json
from store.canonical.interaction import Interaction
from store.canonical.message import Message
from store.canonical.session import Session
from store.canonical.turn import Turn
from store.open import Store
from store.rows import CLAIM, INTERACTION, MESSAGE, PIECE, SESSION, TURN
from tests.store.builders import claim_row, piece, running_session, unit, write_pieces, written


@pytest.mark.parametrize(
    ("table", "codec", "row_type"),
    [
        ("sessions", SESSION, Session),
        ("turns", TURN, Turn),
        ("messages", MESSAGE, Message),
        ("interactions", INTERACTION, Interaction),
        ("submit_claims", CLAIM, SubmitClaim),
        ("message_pieces", PIECE, StreamPiece),
    ],
)
def test_a_column_may_be_null_where_its_field_may(store: Store, table, codec, row_type):
    declared = {
        name: (kind, bool(not_null))
        for _, name, kind, not_null, *_ in store.committer.connection.execute(f"PRAGMA table_info({table})")
    }
    hints = get_type_hints(row_type)
    raw = {field.name: field.type for field in attrs.fields(row_type)}
    for name in codec.columns:
        kind, not_null = declared[name]
        nullable = hints[name] is NoneType or NoneType in get_args(hints[name]) or raw[name] == Json
        assert not_null != nullable, name
        base = getattr(hints[name], "__supertype__", hints[name])
        wanted = {str: "TEXT", int: "INTEGER", bool: "INTEGER"}.get(base)
        assert wanted in (None, kind), name


def test_every_table_is_strict_and_no_reference_dangles(store: Store):
    connection = store.committer.connection
    tables = list(connection.execute("PRAGMA table_list"))
    # What SQLite makes for itself, and what stands behind its search index, is none of our making.
    ours = [
        row
        for row in tables
        if row[0] == "main" and row[2] == "table" and not str(row[1]).startswith("sqlite_")
    ]
    assert ours
    assert all(strict for *_, strict in ours)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert connection.pragma("synchronous") == 2
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("foreign_keys") == 1
    assert connection.pragma("wal_autocheckpoint") == 0


def test_purging_a_session_leaves_nothing_of_it(store: Store):
    """The references cascade: one DELETE is enough."""
    written(store, running_session("s"), running_session("t"))
    written(store, unit("s", claims_added=(claim_row("s", "x"),), version=2))
    write_pieces(store, piece("s", "m2", 0, "text"))
    connection = store.committer.connection
    connection.execute("DELETE FROM sessions WHERE agent_session_id = 's'")
    counts = {
        table: connection.execute(f"SELECT count(*) FROM {table}").get
        for table in ("sessions", "turns", "messages", "message_pieces", "interactions", "submit_claims")
    }
    assert counts == {
        "sessions": 1,
        "turns": 1,
        "messages": 2,
        "message_pieces": 0,
        "interactions": 1,
        "submit_claims": 0,
    }
