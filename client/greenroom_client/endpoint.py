"""Where a daemon is and what opens it, looked up anew for each attempt: a restarted daemon may have moved.

Owns the forms of an address (`contract §1`) and the way to a running daemon through `daemon.json`. Opens nothing.
"""

import os
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

import anyio
import attrs
import orjson
import platformdirs

from greenroom_client.errors import AccessRefused, DaemonUnreachable

WEBSOCKET_PATH: Final = "/v1/ws"
ANNOUNCEMENT_FILE: Final = "daemon.json"
LOOPBACK_HOST: Final = "localhost"
"""A name every daemon takes, whatever it listens on (`contract §2`)."""
_UNIX_SCHEME: Final = "ws+unix:"
_TOKEN_BYTES_MAX: Final = 4096
_REACHABLE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 -- recognised, not bound


@attrs.frozen
class Endpoint:
    """One address with its token."""

    token: str = attrs.field(repr=False)
    resource: str = WEBSOCKET_PATH
    host: str = LOOPBACK_HOST
    port: int = 0
    unix_path: str | None = None
    """A socket in the file system, in place of host and port."""
    host_header: str = LOOPBACK_HOST
    ssl_context: ssl.SSLContext | None = None
    """For TLS; None for a plain connection."""

    def __str__(self) -> str:
        return self.unix_path or f"{self.host}:{self.port}"


@attrs.frozen
class Announcement:
    """What `daemon.json` says of a daemon that may still be there."""

    pid: int
    url: str
    token_file: str

    @property
    def alive(self) -> bool:
        """Whether a process of this id exists, ours or not."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except (PermissionError, OverflowError):
            return True
        return True


def announcement_of(data: bytes) -> Announcement:
    """The content of `daemon.json`. Raises ValueError when it is not what a daemon writes."""
    try:
        ready = orjson.loads(data)
        return Announcement(int(ready["pid"]), str(ready["url"]), str(ready["tokenFile"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("this is not what a daemon writes") from error


EndpointSource: TypeAlias = Callable[[], Awaitable[Endpoint]]
"""Asked before each attempt. Raises `DaemonUnreachable` when there is none right now."""


def endpoint_of(url: str, token: str, ssl_context: ssl.SSLContext | None = None) -> Endpoint:
    """The endpoint of a URL as the ready line names it: `ws://`, `wss://` or `ws+unix:PATH:/v1/ws`.

    Raises ValueError for any other.
    """
    if url.startswith(_UNIX_SCHEME):
        path, _, resource = url.removeprefix(_UNIX_SCHEME).rpartition(":")
        return Endpoint(token, resource or WEBSOCKET_PATH, unix_path=path)
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise ValueError(f"{url!r} is no address of a daemon: ws://HOST:PORT{WEBSOCKET_PATH} is meant")
    encrypted = parts.scheme == "wss"
    reachable = _REACHABLE.get(parts.hostname)
    return Endpoint(
        token,
        parts.path or WEBSOCKET_PATH,
        host=reachable or parts.hostname,
        port=parts.port or (443 if encrypted else 80),
        host_header=LOOPBACK_HOST if reachable else parts.netloc.rpartition("@")[2],
        ssl_context=(ssl_context or ssl.create_default_context()) if encrypted else None,
    )


def always(endpoint: Endpoint) -> EndpointSource:
    """A source that never changes."""

    async def source() -> Endpoint:
        return endpoint

    return source


def running_daemon(data_dir: str | Path | None, certificate: str | Path | None = None) -> EndpointSource:
    """The daemon that runs on a data directory; None is the platform's, as `greenroom serve` takes it.

    `certificate` is the very one that a daemon with TLS shows.
    """
    folder = platformdirs.user_data_path("greenroom") if data_dir is None else Path(data_dir)
    context = None if certificate is None else pinned_certificate(certificate)

    async def source() -> Endpoint:
        file = anyio.Path(folder) / ANNOUNCEMENT_FILE
        try:
            found = announcement_of(await file.read_bytes())
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DaemonUnreachable(f"no daemon runs on {folder}: start it with `greenroom serve`") from error
        except ValueError as error:
            raise DaemonUnreachable(f"{file} is not what a daemon writes") from error
        except OSError as error:
            raise AccessRefused(f"{file}: cannot be read ({error.strerror})") from error
        # The token goes to nobody but the process that was announced: its port may be another program's by now.
        if not found.alive:
            raise DaemonUnreachable(f"the daemon of {folder} has ended without a word: start it again")
        return endpoint_of(found.url, await _token(anyio.Path(found.token_file)), context)

    return source


def pinned_certificate(certificate: str | Path) -> ssl.SSLContext:
    """TLS with one's own daemon: not the name but the certificate itself is what is known of it."""
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


async def _token(path: anyio.Path) -> str:
    try:
        async with await path.open("rb") as file:
            content = await file.read(_TOKEN_BYTES_MAX)
        return content.decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds no token"
        raise AccessRefused(f"token file {path}: cannot be read ({reason})") from error
