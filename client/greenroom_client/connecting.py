"""The ways to a client: by URL, by Unix socket, or to the daemon that runs on a data directory."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from greenroom_client.client import Client, ClientOptions
from greenroom_client.connection import Link, LinkSource
from greenroom_client.endpoint import (
    WEBSOCKET_PATH,
    Endpoint,
    EndpointSource,
    always,
    endpoint_of,
    running_daemon,
)
from greenroom_client.websocket import open_websocket


@asynccontextmanager
async def connect(
    url: str,
    *,
    token: str,
    options: ClientOptions | None = None,
    ssl_context: ssl.SSLContext | None = None,
) -> AsyncIterator[Client]:
    """A client of the daemon at `url` (`ws://`, `wss://` or `ws+unix:`, as its ready line names it).

    Raises `DaemonUnreachable`, `AccessRefused` (token, TLS, no daemon), `GreenroomError` with
    `protocol.unsupported`; ValueError for an address of another kind.
    """
    async with open_client(websocket_links(always(endpoint_of(url, token, ssl_context))), options) as client:
        yield client


@asynccontextmanager
async def connect_unix(
    path: str | Path, *, token: str, options: ClientOptions | None = None
) -> AsyncIterator[Client]:
    """A client of the daemon that listens on a Unix socket. Raises as `connect` does."""
    endpoint = Endpoint(token, WEBSOCKET_PATH, unix_path=str(path))
    async with open_client(websocket_links(always(endpoint)), options) as client:
        yield client


@asynccontextmanager
async def connect_to_daemon(
    data_dir: str | Path | None = None,
    *,
    options: ClientOptions | None = None,
    certificate: str | Path | None = None,
) -> AsyncIterator[Client]:
    """A client of the daemon that runs on a data directory (None: the platform's), with its own token.

    `daemon.json` is read for each attempt, so a daemon that was started again elsewhere is found. Needs the right to
    read its token file. Raises as `connect` does.
    """
    async with open_client(websocket_links(running_daemon(data_dir, certificate)), options) as client:
        yield client


@asynccontextmanager
async def open_client(links: LinkSource, options: ClientOptions | None = None) -> AsyncIterator[Client]:
    """A client on links of one's own: `websocket_links` of an endpoint that may move, or memory. Raises what they raise."""
    async with Client(links, options or ClientOptions()).running() as client:
        yield client


def websocket_links(endpoints: EndpointSource) -> LinkSource:
    """Links to whatever daemon `endpoints` names at each attempt."""

    async def source() -> Link:
        return await open_websocket(await endpoints())

    return source
