"""The way from a command to a daemon: the one that runs on the data directory, else one of our own for as long.

Finds a running daemon by `daemon.json` (`contract §1`). A file left by a dead one is passed over; whether the data
directory is free is decided by its lock, when the embedded daemon takes it.
"""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import orjson
import trio

from runtime.api.listen_address import TcpAddress
from runtime.cli.daemon_client import DaemonClient, DaemonUnreachable, Endpoint, open_client
from runtime.cli.failures import CommandFailed
from runtime.config import Configuration

ANNOUNCEMENT_NAME: Final = "daemon.json"
_TOKEN_BYTES_MAX: Final = 4096


@attrs.frozen
class Announcement:
    """What `daemon.json` says of a daemon that may still be there."""

    pid: int
    url: str
    token_file: Path


@attrs.frozen
class Daemon:
    """A daemon to talk to."""

    client: DaemonClient
    embedded: bool
    """Whether it is ours, and ends with the command."""


def read_announcement(data_dir: Path) -> Announcement | None:
    """What the data directory says; None where no daemon was announced, or the file is not one of ours."""
    try:
        ready = orjson.loads((data_dir / ANNOUNCEMENT_NAME).read_bytes())
        return Announcement(int(ready["pid"]), str(ready["url"]), Path(ready["tokenFile"]))
    except (FileNotFoundError, NotADirectoryError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None
    except OSError as error:
        raise CommandFailed(
            f"{data_dir / ANNOUNCEMENT_NAME}: cannot be read ({error.strerror})",
            "run the command as the user who runs the daemon, or name another --data-dir",
        ) from error


def is_alive(pid: int) -> bool:
    """Whether a process of this id exists, ours or not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def running_daemon(configuration: Configuration) -> Endpoint | None:
    """The daemon that runs on this data directory, as far as a file can tell."""
    found = read_announcement(configuration.data_dir)
    # Our token goes to nobody but the process that was announced: its port may be another program's by now.
    if found is None or not is_alive(found.pid):
        return None
    return Endpoint(found.url, _token(found.token_file), configuration.tls_certificate)


@asynccontextmanager
async def open_daemon(configuration: Configuration) -> AsyncIterator[Daemon]:
    """A connection to the running daemon, or to an embedded one on the same data directory.

    What goes wrong later than the first connection, and what the body raises, may leave in a group
    (`failures.leaf_errors`).
    """
    async with AsyncExitStack() as stack:
        client = await _connected(stack, configuration)
        if client is not None:
            yield Daemon(client, embedded=False)
        else:
            yield Daemon(await stack.enter_async_context(_embedded(configuration)), embedded=True)


async def _connected(stack: AsyncExitStack, configuration: Configuration) -> DaemonClient | None:
    endpoint = running_daemon(configuration)
    if endpoint is None:
        return None
    try:
        return await stack.enter_async_context(open_client(endpoint))
    except DaemonUnreachable:
        return None  # it died since it was announced


@asynccontextmanager
async def _embedded(configuration: Configuration) -> AsyncIterator[DaemonClient]:
    """The same daemon `greenroom serve` runs, in this process, on a free loopback port, until the body ends."""
    from runtime.observability.logging import configure_logging
    from runtime.service import ReadyLine, serve

    configure_logging(os.environ, level="warning")
    own = attrs.evolve(
        configuration,
        listen=TcpAddress("127.0.0.1", 0),
        allow_remote=False,
        tls_certificate=None,
        tls_key=None,
        enable_faults=False,
    )
    announced, announcement = trio.open_memory_channel[ReadyLine](1)
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(serve, own, ready=announced.send_nowait, stop=stop))
        line = await announcement.receive()
        async with open_client(Endpoint(line.url, _token(Path(line.token_file)))) as client:
            yield client
        stop.set()


def _token(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_TOKEN_BYTES_MAX).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds no token"
        raise CommandFailed(
            f"token file {path}: cannot be read ({reason})",
            "run the command as the user who runs the daemon; greenroom doctor tells more",
        ) from error
