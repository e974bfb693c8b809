"""What a configuration must keep to beyond types: rules over several keys, forms of values, limits above zero.

Pure. Each check raises `ConfigurationInvalid` for the first thing wrong. Reading token files and certificates is left
to those who use them.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

import attrs

from runtime.api.host_names import host_name
from runtime.api.listen_address import (
    AddressForbidden,
    AddressInvalid,
    ListenAddress,
    UnixAddress,
    check_reach,
    parse_listen_address,
)
from runtime.config.document import Document
from runtime.config.problem import invalid
from runtime.config.target_checks import VARIABLE, VARIABLE_PROBLEM, check_target
from runtime.wire.limits import Limits, NotNegative, RestartLimit
from runtime.wire.members import fields_of, wire_name

UNIX_PATH_BYTES_MAX: Final = 107
"""What fits into a socket address on Linux."""

_PROVIDERS: Final = ("codex", "claude", "acp")


def check_document(document: Document, source: str) -> None:
    """Everything that can be told from the file alone."""
    _check_unique(source, "targets", "id", [target.id for target in document.targets or ()])
    for index, target in enumerate(document.targets or ()):
        check_target(source, f"targets[{index}]", target, demo=document.demo)
    _check_unique(source, "tokens", "name", [token.name for token in document.tokens])
    for index, name in enumerate(document.inherit_env):
        if not VARIABLE.fullmatch(name):
            raise invalid(source, f"inheritEnv[{index}]", VARIABLE_PROBLEM)
    for index, origin in enumerate(document.allowed_origins):
        _check_origin(source, f"allowedOrigins[{index}]", origin)
    for index, host in enumerate(document.allowed_hosts):
        if host_name(host) is None:
            raise invalid(source, f"allowedHosts[{index}]", "must be a host name, with a port or without")
    _check_encryption(source, document)
    check_limits(document.limits, source)


def parse_listen(text: str, source: str, key: str) -> ListenAddress:
    """The address in `text`, as `runtime.api.listen_address` reads it."""
    try:
        address = parse_listen_address(text)
    except AddressInvalid as error:
        raise invalid(source, key, _reason(error)) from error
    if isinstance(address, UnixAddress) and len(address.path.encode()) > UNIX_PATH_BYTES_MAX:
        raise invalid(
            source, key, f"the path of a socket must not be longer than {UNIX_PATH_BYTES_MAX} bytes"
        )
    return address


def check_listen_reach(address: ListenAddress, source: str, key: str, *, allow_remote: bool) -> None:
    """Refuses an address other machines can reach, unless that was allowed; TLS is checked with `allowRemote`."""
    try:
        check_reach(address, allow_remote=allow_remote, encrypted=allow_remote)
    except AddressForbidden as error:
        problem = f"{_reason(error)}, tlsCertificate and tlsKey"
        raise invalid(source, key, problem, example="127.0.0.1:4517") from error


def check_limits(limits: Limits, source: str) -> None:
    """Every limit is above zero, but for those that say otherwise by their type; shares name known providers."""
    for name, value, may_be_zero in _figures(limits):
        if value == 0 and not may_be_zero:
            raise invalid(source, f"limits.{name}", "must be above 0")
    for provider in limits.sessions_per_connection:
        if provider not in _PROVIDERS:
            raise invalid(
                source,
                f"limits.sessionsPerConnection.{provider}",
                f"is unknown; providers are {', '.join(_PROVIDERS)}",
                example="",
            )


def with_all_providers(limits: Limits) -> Limits:
    """The limits, with the default share of every provider that `sessionsPerConnection` does not name."""
    shares = {**Limits().sessions_per_connection, **limits.sessions_per_connection}
    return attrs.evolve(limits, sessions_per_connection=shares)


def _check_unique(source: str, table: str, key: str, values: Iterable[str]) -> None:
    seen: dict[str, int] = {}
    for index, value in enumerate(values):
        if value in seen:
            raise invalid(
                source,
                f"{table}[{index}].{key}",
                f"is that of {table}[{seen[value]}] too; each needs its own",
                "",
            )
        seen[value] = index


def _check_origin(source: str, path: str, origin: str) -> None:
    try:
        parts = urlsplit(origin)
        exact = f"{parts.scheme}://{parts.netloc}" == origin and parts.port != 0
    except ValueError:
        exact = False
    if not exact or parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise invalid(source, path, "must be scheme://host or scheme://host:port, without a path")


def _check_encryption(source: str, document: Document) -> None:
    certificate, key = document.tls_certificate, document.tls_key
    if (certificate is None) != (key is None):
        missing = "tlsKey" if key is None else "tlsCertificate"
        other = "tlsCertificate" if key is None else "tlsKey"
        raise invalid(source, missing, f"is missing; {other} is set and needs it")
    if document.allow_remote and certificate is None:
        raise invalid(
            source, "allowRemote", "needs tlsCertificate and tlsKey; set both, or allowRemote = false", ""
        )


def _figures(limits: Limits) -> Iterable[tuple[str, float, bool]]:
    for field in fields_of(Limits):
        name, value = wire_name(field.name), getattr(limits, field.name)
        if isinstance(value, RestartLimit):
            yield f"{name}.periodSeconds", value.period_seconds, False
        elif isinstance(value, Mapping):
            for member, share in value.items():
                yield f"{name}.{member}", share, False
        else:
            yield name, value, field.type == NotNegative


def _reason(error: Exception) -> str:
    """What an address error says, without the address it begins with."""
    return str(error).rpartition(": ")[2]
