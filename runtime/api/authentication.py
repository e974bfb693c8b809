"""Who a client is: bearer tokens and the principals they stand for (contract §2, FC-36).

Pure but for the file port handed in. Owns the comparison, the rules of a token file and the making of the first
token; which scope a method needs is the dispatcher's table. A token never stands in a repr, a log line or an error.
"""

import base64
import hmac
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Literal, Protocol

import attrs

from runtime.effects import Effect

Scope = Literal["read", "control", "admin"]

_SCOPE_RANKS: dict[Scope, int] = {"read": 0, "control": 1, "admin": 2}
TOKEN_FILE_MODE = 0o600
TOKEN_RANDOM_BYTES = 32
TOKEN_CHARACTERS_MAX = 512
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+={0,2}")


@attrs.frozen
class Principal:
    """What one token allows. Equal only when the token and every right are equal, so a changed right revokes."""

    name: str
    scope: Scope
    workspaces: frozenset[str] | None = None
    """The only workspaces it may name; None is all of them."""
    roots: tuple[str, ...] | None = None
    """The only directories its sessions may work in or below; None is any."""
    max_effect: Effect | None = None
    """The widest effect its settings may have; None is any."""
    max_sessions: int | None = None
    """`session/create` is refused while the workspaces it may name hold so many sessions; None is no such bound."""
    max_live_turns: int | None = None
    """No turn is begun by it while the workspaces it may name have so many unsettled turns; None is no such bound."""
    max_connections: int | None = None
    """Connections it may have at a time; None is as many as anybody."""
    requests_per_second: float | None = None
    """Of all its connections together, with bursts of one second's worth; None is no such bound."""
    token_digest: bytes = attrs.field(default=b"", repr=False)
    """SHA-256 of the token: tells a rotated token from the old one and keeps the token itself out of memory."""

    @property
    def limited(self) -> bool:
        """Whether it is bound by more than its scope and its workspaces."""
        bounds = (self.roots, self.max_effect, self.max_sessions, self.max_live_turns)
        return any(bound is not None for bound in bounds)

    def allows(self, needed: Scope) -> bool:
        """Whether its scope is `needed` or wider."""
        return _SCOPE_RANKS[self.scope] >= _SCOPE_RANKS[needed]


class Authenticator(Protocol):
    """What the front asks about a token."""

    def authenticate(self, token: str | None) -> Principal | None:
        """The principal of `token`; None for a missing or wrong one."""
        ...

    def revoked(self, principal: Principal) -> bool:
        """Whether `principal` no longer stands as it was when it connected."""
        ...


class TokenRefused(Exception):
    """Raised for a token or a token file that cannot be used: a configuration error, one line, without the token."""


class TokenStore:
    """The tokens in force. `replace` is how a re-read configuration takes effect (SIGHUP)."""

    def __init__(self, principals: Iterable[Principal]) -> None:
        self._principals: tuple[Principal, ...] = ()
        self.replace(principals)

    def replace(self, principals: Iterable[Principal]) -> None:
        """Takes `principals` in place of those before; raises `TokenRefused` when two share one token."""
        replaced = tuple(principals)
        if len({principal.token_digest for principal in replaced}) != len(replaced):
            raise TokenRefused("two [[tokens]] entries hold the same token")
        self._principals = replaced

    def authenticate(self, token: str | None) -> Principal | None:
        """The principal of `token`, compared in constant time with every token there is (FC-36)."""
        digest = token_digest(token or "")
        found = None
        for principal in self._principals:
            if hmac.compare_digest(digest, principal.token_digest):
                found = principal
        return found

    def revoked(self, principal: Principal) -> bool:
        """Whether `principal` no longer stands: token removed, rotated, or other rights than it connected with."""
        return principal not in self._principals


def token_digest(token: str) -> bytes:
    """What is kept and compared in place of a token."""
    return sha256(token.encode()).digest()


@attrs.frozen
class SecretFile:
    """A file as the port read it: its text and its permission bits."""

    text: str = attrs.field(repr=False)
    mode: int


class SecretFiles(Protocol):
    """The disk, as far as tokens need it. Errors of the disk come out as `OSError`."""

    def read(self, path: str) -> SecretFile | None:
        """The file at `path`, or None when there is none."""
        ...

    def create(self, path: str, text: str) -> None:
        """Makes the file with mode 0600, whole or not at all; raises `FileExistsError` when there is one."""
        ...


def read_token(files: SecretFiles, path: str) -> str:
    """The token in the file at `path`, white space around it ignored; raises `TokenRefused` (contract §2)."""
    token = _read_if_there(files, path)
    if token is None:
        raise TokenRefused(f"tokenFile {path}: no such file")
    return token


def read_or_create_token(files: SecretFiles, path: str, random_bytes: Callable[[int], bytes]) -> str:
    """The token of the first, admin, token file; made at the first start. Raises `TokenRefused`.

    `random_bytes(count)` comes from the randomness port. Another process that made the file meanwhile wins.
    """
    token = _read_if_there(files, path)
    if token is not None:
        return token
    made = base64.urlsafe_b64encode(random_bytes(TOKEN_RANDOM_BYTES)).rstrip(b"=").decode()
    try:
        files.create(path, made + "\n")
    except FileExistsError:
        return read_token(files, path)
    except OSError as error:
        raise TokenRefused(f"tokenFile {path}: cannot be written ({error.strerror})") from error
    return made


def _read_if_there(files: SecretFiles, path: str) -> str | None:
    try:
        found = files.read(path)
    except OSError as error:
        raise TokenRefused(f"tokenFile {path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise TokenRefused(f"tokenFile {path}: holds no base64url token") from error
    if found is None:
        return None
    if found.mode != TOKEN_FILE_MODE:
        raise TokenRefused(f"tokenFile {path}: mode is {found.mode:04o}, must be 0600")
    token = found.text.strip()
    if len(token) > TOKEN_CHARACTERS_MAX or not _BASE64URL.fullmatch(token):
        raise TokenRefused(f"tokenFile {path}: holds no base64url token")
    return token
