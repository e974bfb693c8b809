"""One HTTP request and its answer, as bytes: a pure wrapper of h11's server side.

Owns the size bound of a request head and the headers every answer carries. One exchange a connection: each answer
closes it, so nothing is kept alive and a body that was not asked for is never parsed.
"""

import attrs
import h11

HEAD_BYTES_MAX = 64 * 1024

_REASONS = {
    400: "bad request",
    401: "a valid token is needed",
    403: "forbidden",
    404: "not found",
    405: "method not allowed",
    408: "no request came in time",
    413: "request too large",
    426: "upgrade to websocket, version 13",
    429: "too many connections of this token",
    431: "request head too large",
    500: "internal error",
    501: "not implemented",
    503: "too many connections",
}


@attrs.frozen
class RequestHead:
    """A request line with its headers; what follows the head is in `trailing`."""

    method: str
    target: str = attrs.field(repr=False)
    headers: tuple[tuple[bytes, bytes], ...] = attrs.field(repr=False)
    """Names in lower case. Not in the repr: a header may hold a token."""
    http_version: str
    trailing: bytes = attrs.field(repr=False, default=b"")

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """What follows the first `?` of the target."""
        return self.target.partition("?")[2]

    def values(self, name: bytes) -> list[str]:
        """All values of the header `name` (lower case), in order."""
        return [value.decode("latin-1") for key, value in self.headers if key == name]

    def value(self, name: bytes) -> str | None:
        """The value of a header that may stand once; None when it is missing or repeated."""
        found = self.values(name)
        return found[0] if len(found) == 1 else None

    def tokens(self, name: bytes) -> list[str]:
        """The comma-separated members of all headers `name`."""
        members = (member.strip() for value in self.values(name) for member in value.split(","))
        return [member for member in members if member]


@attrs.frozen
class HttpResponse:
    """An answer. `headers` come on top of length, connection, type and the constant ones."""

    status: int
    body: bytes = attrs.field(repr=False, default=b"")
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    cache_control: str = "no-store"


def refusal(status: int, *headers: tuple[str, str]) -> HttpResponse:
    """The answer to a request that is not served: a constant text that tells nothing about the request or us."""
    return HttpResponse(status, f"{_REASONS[status]}\n".encode(), headers=headers)


class HttpExchange:
    """Bytes in until a head or a refusal comes out; then one answer."""

    def __init__(self) -> None:
        self._connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
        self._received_bytes = 0
        self._method = ""

    def receive_data(self, data: bytes | bytearray) -> RequestHead | HttpResponse | None:
        """A head, a refusal of what came instead, or None while more bytes are needed."""
        self._received_bytes += len(data)
        try:
            self._connection.receive_data(bytes(data))
            event = self._connection.next_event()
        except h11.RemoteProtocolError as error:
            return refusal(error.error_status_hint if error.error_status_hint in _REASONS else 400)
        if not isinstance(event, h11.Request):
            return None
        trailing = self._connection.trailing_data[0]
        if self._received_bytes - len(trailing) > HEAD_BYTES_MAX:
            return refusal(431)
        self._method = event.method.decode("ascii")
        return RequestHead(
            method=self._method,
            target=event.target.decode("ascii"),
            headers=tuple((name, value) for name, value in event.headers),
            http_version=event.http_version.decode("ascii"),
            trailing=trailing,
        )

    def respond(self, response: HttpResponse) -> bytes:
        """The answer as bytes. The caller closes the connection after it."""
        described = [
            ("Content-Type", response.content_type),
            ("Content-Length", str(len(response.body))),
        ]
        headers = [
            # "Not modified" has no body, and must not describe the one it stands for as empty.
            *([] if response.status == 304 else described),
            ("Connection", "close"),
            ("Cache-Control", response.cache_control),
            ("X-Content-Type-Options", "nosniff"),
            *response.headers,
        ]
        data = self._connection.send(h11.Response(status_code=response.status, headers=headers)) or b""
        if response.body and self._method != "HEAD":
            data += self._connection.send(h11.Data(data=response.body)) or b""
        return data
