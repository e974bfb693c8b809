"""Rows to SQL and back: the one codec between the canonical vocabulary and the columns of the schema.

Pure. A scalar field is a column of its own; a nested value is one column of JSON text. Vocabularies are closed in
both directions: an unknown word, a missing value or a value of the wrong type is a `RowError`, never widened and
never stored (ST-001). It knows no statement and no connection.
"""

from collections.abc import Callable, Sequence
from types import NoneType, UnionType
from typing import Any, Final, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs
import cattrs
import orjson

from store.canonical.change import StreamPiece
from store.canonical.claim import SubmitClaim
from store.canonical.common import Json
from store.canonical.interaction import Interaction
from store.canonical.message import Message
from store.canonical.operation import Operation
from store.canonical.session import Session
from store.canonical.turn import Turn
from store.canonical.worktree import Worktree
from store.errors import RowError
from store.nested_values import nested_converter

SqlValue = None | int | float | str | bytes
Translation = Callable[[Any], Any]
RowT = TypeVar("RowT", Session, Turn, Message, Interaction, Operation, SubmitClaim, StreamPiece, Worktree)

_CONVERTER: Final = nested_converter()
_DECODE_FAULTS: Final = (
    cattrs.BaseValidationError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


@attrs.frozen
class _Column:
    name: str
    encode: Translation
    decode: Translation | None
    """None where the column's own type says enough: the tables are STRICT."""


class RowCodec(Generic[RowT]):
    """Translates one row class. `identity` fields are columns of the session a row belongs to and are read by a
    join; `unstored` fields are live observations and keep their default."""

    def __init__(
        self, row_type: type[RowT], *, identity: tuple[str, ...] = (), unstored: tuple[str, ...] = ()
    ) -> None:
        hints = get_type_hints(row_type)
        columns: dict[str, _Column] = {
            field.name: _column(field.name, Json if field.type == Json else hints[field.name])
            for field in attrs.fields(row_type)
            if field.name not in unstored
        }
        self.identity = identity
        self._row_type: Callable[..., RowT] = row_type
        self._row_name: str = row_type.__name__
        self._stored: list[_Column] = [column for name, column in columns.items() if name not in identity]
        read = [*(columns[name] for name in identity), *self._stored]
        self._read_names = [column.name for column in read]
        self._decoders = [
            (position, column.decode) for position, column in enumerate(read) if column.decode is not None
        ]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the row's own table, in the order of `to_sql`."""
        return tuple(column.name for column in self._stored)

    def to_sql(self, row: RowT) -> tuple[SqlValue, ...]:
        """The values of `columns`. Raises `RowError` when a value is outside its vocabulary."""
        try:
            return tuple([column.encode(getattr(row, column.name)) for column in self._stored])
        except _DECODE_FAULTS as error:
            raise RowError(f"{self._row_name} cannot be stored: {error!r}") from error

    def from_sql(self, values: Sequence[SqlValue]) -> RowT:
        """The row, from identity and `columns`. Raises `RowError` when what is stored does not fit."""
        decoded = list(values)
        try:
            for position, decode in self._decoders:
                decoded[position] = decode(decoded[position])
            return self._row_type(**dict(zip(self._read_names, decoded, strict=True)))
        except _DECODE_FAULTS as error:
            raise RowError(f"stored {self._row_name} cannot be read: {error!r}") from error


def _column(name: str, hint: Any) -> _Column:
    """A column for one field: by its type, and by whether it may be null."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = tuple(member for member in members if member is not NoneType)
    encode, decode = _translations(kinds)
    if len(kinds) == len(members):
        return _Column(name, encode, decode)
    return _Column(name, _or_none(encode), None if decode is None else _or_none(decode))


def _translations(kinds: tuple[Any, ...]) -> tuple[Translation, Translation | None]:
    if not kinds:
        return _only_none, _only_none
    if kinds == (Json,):
        return _or_none(_plain_json_text), _or_none(orjson.loads)
    kind = kinds[0] if len(kinds) == 1 else Union[kinds]  # noqa: UP007 - the members are known at run time only
    kind = getattr(kind, "__supertype__", kind)
    if get_origin(kind) is Literal:
        known = {word: word for word in get_args(kind)}.__getitem__
        return known, known
    if kind is bool:
        return _exactly(bool, int), {0: False, 1: True}.__getitem__
    if kind is str or kind is int:
        return _exactly(kind, kind), None
    return _json_text(kind), _json_value(kind)


def _or_none(translate: Translation) -> Translation:
    return lambda value: None if value is None else translate(value)


def _only_none(value: Any) -> None:
    if value is not None:
        raise ValueError(f"{value!r} where this version stores nothing")


def _exactly(kind: type, stored_as: type) -> Translation:
    """Passes values of exactly this type: `True` is no number, and no subclass of `str` slips in."""

    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"{value!r} is no {kind.__name__}")
        return value if stored_as is kind else stored_as(value)

    return check


def _plain_json_text(value: Any) -> str:
    return orjson.dumps(value).decode()


def _json_text(kind: Any) -> Translation:
    unstructure = _CONVERTER.get_unstructure_hook(kind)
    return lambda value: orjson.dumps(unstructure(value)).decode()


def _json_value(kind: Any) -> Translation:
    structure = _CONVERTER.get_structure_hook(kind)
    return lambda text: structure(orjson.loads(text), kind)


_OF_SESSION: Final = ("workspace_id", "agent_session_id")

SESSION: Final = RowCodec(Session, unstored=("runtime",))
TURN: Final = RowCodec(Turn, identity=_OF_SESSION)
MESSAGE: Final = RowCodec(Message, identity=_OF_SESSION)
INTERACTION: Final = RowCodec(Interaction, identity=_OF_SESSION)
CLAIM: Final = RowCodec(SubmitClaim, identity=_OF_SESSION)
OPERATION: Final = RowCodec(Operation, identity=_OF_SESSION)
WORKTREE: Final = RowCodec(Worktree)
PIECE: Final = RowCodec(StreamPiece, identity=(*_OF_SESSION, "message_id"))
