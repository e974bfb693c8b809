"""Puts column lists into SQL texts, once, when a module is imported. Values never enter a text: they are bound."""

from string import Template
from typing import Any

from store.rows import RowCodec


def compose(text: str, **parts: str) -> str:
    """`text` with its `$names` replaced; an unknown or missing name is an error at import."""
    return Template(text).substitute(parts)


def marks(codec: RowCodec[Any]) -> str:
    """One `?` for each column of the codec."""
    return ", ".join("?" * len(codec.columns))


def names(codec: RowCodec[Any]) -> str:
    """The codec's columns, as an INSERT lists them."""
    return ", ".join(codec.columns)


def updates(codec: RowCodec[Any], *, fixed: tuple[str, ...]) -> str:
    """The SET list of an upsert: every column but the `fixed` ones, which keep what the first insert said."""
    return ", ".join(f"{column} = excluded.{column}" for column in codec.columns if column not in fixed)


def selected(codec: RowCodec[Any], alias: str, session_alias: str = "s") -> str:
    """What `codec.from_sql` reads: identity from the session, the rest from the row's own table."""
    identity = (f"{session_alias}.{column}" for column in codec.identity)
    own = (f"{alias}.{column}" for column in codec.columns)
    return ", ".join((*identity, *own))
