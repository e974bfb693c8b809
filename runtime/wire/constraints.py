"""Bounds on single values, said once: the converter enforces them and the generated schemas show them.

A constraint hangs on a type, as `Annotated[str, Characters(1, 200)]`, or belongs to an identifier of
`store.canonical.identifiers` by the table at the end. What concerns several members of one object is in
`runtime.wire.members`.
"""

import re
from collections.abc import Mapping, Sized
from typing import Annotated, Any, Protocol, cast, get_args, get_origin

import attrs

from store.canonical import identifiers
from store.canonical.common import Json
from store.canonical.message import TextBlock

INTEGER_MAX = 2**53 - 1
"""The largest integer every JSON implementation holds exactly (`contract §2`)."""


class InvalidValue(ValueError):
    """A JSON value is not what the contract asks for. Never leaves this package: the converter answers with it.

    `steps` lead from the value in hand to the culprit, member names and indices, outermost first; the problem is
    in words of ours and repeats nothing of the value.
    """

    def __init__(self, problem: str, *steps: str | int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.steps: tuple[str | int, ...] = steps


class Constraint(Protocol):
    """What a value must keep to, beyond its type."""

    def admit(self, value: Any) -> Any:
        """The value as the service takes it; raises InvalidValue."""

    def keywords(self) -> Mapping[str, Json]:
        """The same as keywords of JSON Schema."""


@attrs.frozen
class Characters:
    """A string of so many characters (code points); `maximum` None leaves that to the bound on frames."""

    minimum: int
    maximum: int | None = None

    def admit(self, value: str) -> str:
        if len(value) < self.minimum:
            raise InvalidValue(f"must have at least {self.minimum} characters")
        if self.maximum is not None and len(value) > self.maximum:
            raise InvalidValue(f"must have at most {self.maximum} characters")
        return value

    def keywords(self) -> Mapping[str, Json]:
        bounds = {"minLength": self.minimum or None, "maxLength": self.maximum}
        return {keyword: bound for keyword, bound in bounds.items() if bound is not None}


@attrs.frozen
class Matching:
    """A string that matches a pattern as a whole."""

    pattern: str
    words: str

    def admit(self, value: str) -> str:
        if re.fullmatch(self.pattern, value) is None:
            raise InvalidValue(f"must be {self.words}")
        return value

    def keywords(self) -> Mapping[str, Json]:
        return {"pattern": f"^{self.pattern}$"}


@attrs.frozen
class AtLeast:
    """An integer not below `minimum`."""

    minimum: int

    def admit(self, value: int) -> int:
        if value < self.minimum:
            raise InvalidValue(f"must not be below {self.minimum}")
        return value

    def keywords(self) -> Mapping[str, Json]:
        return {"minimum": self.minimum}


@attrs.frozen
class CappedAt:
    """A larger number is taken as `maximum`, not refused."""

    maximum: int

    def admit(self, value: int) -> int:
        return min(value, self.maximum)

    def keywords(self) -> Mapping[str, Json]:
        return {"description": f"Capped at {self.maximum}: a larger number is taken as {self.maximum}."}


@attrs.frozen
class Items:
    """An array of so many items."""

    minimum: int
    maximum: int

    def admit(self, value: Sized) -> Sized:
        if not self.minimum <= len(value) <= self.maximum:
            raise InvalidValue(f"must have {self.minimum} to {self.maximum} items")
        return value

    def keywords(self) -> Mapping[str, Json]:
        return {"minItems": self.minimum, "maxItems": self.maximum}


@attrs.frozen
class Members:
    """An object of at most so many members."""

    maximum: int

    def admit(self, value: Sized) -> Sized:
        if len(value) > self.maximum:
            raise InvalidValue(f"must not have more than {self.maximum} members")
        return value

    def keywords(self) -> Mapping[str, Json]:
        return {"maxProperties": self.maximum}


@attrs.frozen
class SaysSomething:
    """A prompt that is more than empty text blocks: providers refuse those."""

    def admit(self, value: tuple[object, ...]) -> tuple[object, ...]:
        if all(isinstance(block, TextBlock) and not block.text for block in value):
            raise InvalidValue("must hold something besides empty text")
        return value

    def keywords(self) -> Mapping[str, Json]:
        empty: Json = {"properties": {"type": {"const": "text"}, "text": {"const": ""}}}
        return {"contains": {"not": empty}}


_IDENTIFIER = Matching(identifiers.IDENTIFIER_PATTERN, "1 to 128 characters of A-Z a-z 0-9 . _ : -")
_SUBMIT_ID = Matching(
    rf"[^\u0000-\u001f\u007f-\u009f]{{1,{identifiers.SUBMIT_ID_CHARACTERS_MAX}}}",
    f"1 to {identifiers.SUBMIT_ID_CHARACTERS_MAX} characters, none of them a control character",
)

# A request id and a call id are the provider's word, so no pattern may be asked of them; only request ids come
# back from clients.
_OF_IDENTIFIERS: Mapping[object, Constraint] = {
    identifiers.WorkspaceId: _IDENTIFIER,
    identifiers.SessionId: _IDENTIFIER,
    identifiers.TurnId: _IDENTIFIER,
    identifiers.MessageId: _IDENTIFIER,
    identifiers.TargetId: _IDENTIFIER,
    identifiers.RequestId: Characters(1, 1000),
    identifiers.ClientSubmitId: _SUBMIT_ID,
}


def constraints_of(shape: object) -> tuple[Constraint, ...]:
    """The constraints that hang directly on a type, in the order they apply."""
    if get_origin(shape) is Annotated:
        return cast("tuple[Constraint, ...]", get_args(shape)[1:])
    of_identifier = _OF_IDENTIFIERS.get(shape)
    return (of_identifier,) if of_identifier else ()


def bare(shape: object) -> Any:
    """The type without its constraints: what is below an Annotated or an identifier type."""
    if get_origin(shape) is Annotated:
        return get_args(shape)[0]
    return getattr(shape, "__supertype__", shape)
