"""The configuration file as it is written: its tables, its keys, and their types. Reading it is strict.

One TOML text becomes one `Document`, or `ConfigurationInvalid`. Types, unknown and missing keys are refused here by
the converter of the wire contract; what needs a look at several keys or at the machine is in `runtime.config.checks`.
"""

import datetime as dt
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, TypeAlias

import attrs

from runtime.api.authentication import Scope
from runtime.config.model import Provider, TimeoutAnswer, Transport
from runtime.config.problem import ConfigurationInvalid, invalid, unknown_key_problem
from runtime.effects import Effect
from runtime.refusal import Refusal
from runtime.wire.constraints import AtLeast, Characters, Items
from runtime.wire.converter import structure
from runtime.wire.limits import Limits, Positive, RestartLimit
from runtime.wire.members import fields_of, wire_name
from store.canonical.identifiers import TargetId, WorkspaceId

DOCUMENT_BYTES_MAX = 1024 * 1024

Name: TypeAlias = Annotated[str, Characters(1, 200)]
FilePath: TypeAlias = Annotated[str, Characters(1, 4096)]
Command: TypeAlias = Annotated[tuple[str, ...], Items(1, 1000)]


@attrs.frozen(kw_only=True)
class TargetTable:
    """`[[targets]]`."""

    id: TargetId
    provider: Provider
    command: Command | None = None
    url: FilePath | None = None
    token_file: FilePath | None = None
    allow_unencrypted: bool = False
    name: Name | None = None
    env: Mapping[str, str] = attrs.field(factory=dict)
    enabled: bool = True


@attrs.frozen(kw_only=True)
class TokenTable:
    """`[[tokens]]`."""

    name: Name
    token_file: FilePath
    scope: Scope
    workspaces: tuple[WorkspaceId, ...] | None = None
    roots: tuple[FilePath, ...] | None = None
    max_effect: Effect | None = None
    max_sessions: Positive | None = None
    max_live_turns: Positive | None = None
    max_connections: Positive | None = None
    requests_per_second: Annotated[float, AtLeast(0.001)] | None = None


@attrs.frozen(kw_only=True)
class Document:
    """The whole file; None is a key that was not written."""

    data_dir: FilePath | None = None
    work_root: FilePath | None = None
    listen: FilePath | None = None
    transport: Transport = "wsproto"
    console: bool = True
    demo: bool = True
    targets: tuple[TargetTable, ...] | None = None
    tokens: tuple[TokenTable, ...] = ()
    interaction_timeout_seconds: Annotated[float, AtLeast(0)] = 0.0
    interaction_timeout_answer: TimeoutAnswer = "stop"
    inherit_env: tuple[Name, ...] = ()
    allowed_origins: tuple[Name, ...] = ()
    allowed_hosts: tuple[Name, ...] = ()
    allow_remote: bool = False
    tls_certificate: FilePath | None = None
    tls_key: FilePath | None = None
    limits: Limits = attrs.field(factory=Limits)


_TABLES: Mapping[str, type] = {
    "": Document,
    "targets[]": TargetTable,
    "tokens[]": TokenTable,
    "limits": Limits,
    "limits.sessionRestarts": RestartLimit,
}
_LAST_STEP = re.compile(r"(?P<parent>.*)(?:\.(?P<plain>\w+)|\.?\['(?P<quoted>.*)'\])")


def parse_document(content: bytes, source: str) -> Document:
    """The document in `content`, UTF-8 encoded TOML. Raises `ConfigurationInvalid`, naming `source`."""
    if len(content) > DOCUMENT_BYTES_MAX:
        raise invalid(source, "", f"must not be larger than {DOCUMENT_BYTES_MAX} bytes")
    try:
        table = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise invalid(source, "", f"must be UTF-8; byte {error.start} is not") from error
    except tomllib.TOMLDecodeError as error:
        raise invalid(source, "", f"is not TOML: {error}") from error
    except RecursionError as error:
        raise invalid(source, "", "is not TOML: nested too deep") from error
    for path, value in _leaves(table, ""):
        _refuse_foreign_value(source, path, value)
    document = structure(Document, table, "")
    if isinstance(document, Refusal):
        raise _problem_of(source, document)
    return document


def _problem_of(source: str, refusal: Refusal) -> ConfigurationInvalid:
    path = str(refusal.details["path"]).removeprefix(".")
    # The converter speaks JSON, the file is TOML.
    problem = str(refusal.details["problem"]).replace("an object", "a table")
    if problem != "is unknown":
        return invalid(source, path, problem)
    step = _LAST_STEP.fullmatch(f".{path}")
    parent, name = (step["parent"], step["plain"] or step["quoted"]) if step else ("", path)
    shape = _TABLES.get(re.sub(r"\[\d+\]", "[]", parent.removeprefix(".")))
    known = [wire_name(field.name) for field in fields_of(shape)] if shape else ()
    return invalid(source, path, unknown_key_problem(name, known), example="")


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def _refuse_foreign_value(source: str, path: str, value: object) -> None:
    """TOML knows dates and numbers without a size, which no key takes and the converter has no words for."""
    if isinstance(value, (dt.date, dt.time)):
        raise invalid(source, path, "must not be a date or time")
    if isinstance(value, float) and not math.isfinite(value):
        raise invalid(source, path, "must be a finite number")
