"""One plain HTTP request to a daemon's port, as a browser or a scraper makes it."""

import http.client
from collections.abc import Mapping

import trio

from tests.end_to_end.daemon import Daemon


async def ask(
    daemon: Daemon, path: str, method: str = "GET", headers: Mapping[str, str] | None = None
) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of one request."""

    def blocking() -> tuple[int, Mapping[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=10)
        try:
            connection.request(method, path, headers=dict(headers or {}))
            response = connection.getresponse()
            body = b"" if response.status == 101 else response.read()
            return response.status, response.headers, body
        finally:
            connection.close()

    return await trio.to_thread.run_sync(blocking)
