"""The way from a command to a daemon: the one that runs on the data directory, else one of our own for as long.

A daemon that runs is found by the client library, through `daemon.json` (`contract §1`). A file left by a dead one is
passed over; whether the data directory is free is decided by its lock, when the embedded controller takes it.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import attrs

from greenroom_client import (
    NEVER,
    Announcement,
    Client,
    ClientOptions,
    ConnectionState,
    DaemonUnreachable,
    Reconnect,
    announcement_of,
    connect_to_daemon,
)
from runtime.cli.commands import start_failure
from runtime.cli.failures import CommandFailed
from runtime.cli.version import program_version
from runtime.config import Configuration

ANNOUNCEMENT_NAME: Final = "daemon.json"
CLIENT_NAME: Final = "greenroom-cli"


@attrs.frozen
class Daemon:
    """A daemon to talk to."""

    client: Client
    embedded: bool
    """Whether it is ours, and ends with the command."""


@attrs.frozen(kw_only=True)
class Access:
    """How a command wants to reach a daemon."""

    may_embed: bool = True
    """Whether one of our own does when none runs; not for commands about what runs at this moment."""
    reconnect: Reconnect = NEVER
    on_state: Callable[[ConnectionState], None] | None = None
    """Told of each change of the connection."""

    @property
    def options(self) -> ClientOptions:
        """The same for the client."""
        return ClientOptions(
            name=CLIENT_NAME, version=program_version(), reconnect=self.reconnect, on_state=self.on_state
        )


EMBEDDING: Final = Access()
RUNNING: Final = Access(may_embed=False)


def read_announcement(data_dir: Path) -> Announcement | None:
    """What the data directory says; None where no daemon was announced, or the file is not one of ours."""
    try:
        return announcement_of((data_dir / ANNOUNCEMENT_NAME).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise CommandFailed(
            f"{data_dir / ANNOUNCEMENT_NAME}: cannot be read ({error.strerror})",
            "run the command as the user who runs the daemon, or name another --data-dir",
        ) from error


@asynccontextmanager
async def open_daemon(configuration: Configuration, access: Access = EMBEDDING) -> AsyncIterator[Daemon]:
    """A client of the running daemon, or of an embedded one on the same data directory.

    Raises `CommandFailed` when none runs and none may be embedded, and what the client raises.
    """
    async with AsyncExitStack() as stack:
        client = await _connected(stack, configuration, access)
        if client is not None:
            yield Daemon(client, embedded=False)
        elif access.may_embed:
            yield Daemon(await stack.enter_async_context(_embedded(configuration, access)), embedded=True)
        else:
            where = configuration.data_dir
            raise CommandFailed(f"no daemon runs on {where}", f"start it: greenroom serve --data-dir {where}")


async def _connected(stack: AsyncExitStack, configuration: Configuration, access: Access) -> Client | None:
    connecting = connect_to_daemon(
        configuration.data_dir, options=access.options, certificate=configuration.tls_certificate
    )
    try:
        return await stack.enter_async_context(connecting)
    except DaemonUnreachable:
        return None  # it never ran, or died since it was announced


@asynccontextmanager
async def _embedded(configuration: Configuration, access: Access) -> AsyncIterator[Client]:
    """The same controller `greenroom serve` runs, in this process and reached in memory, until the body ends."""
    from runtime.observability.logging import configure_logging
    from runtime.service import StartRefused
    from runtime.service.embedding import embed

    configure_logging(os.environ, level="warning")
    async with AsyncExitStack() as stack:
        embedding = embed(attrs.evolve(configuration, enable_faults=False))
        try:
            controller = await stack.enter_async_context(embedding)
        except StartRefused as refused:
            raise start_failure(refused) from refused
        options = attrs.evolve(access.options, reconnect=NEVER)
        yield await stack.enter_async_context(controller.connect(options=options))
