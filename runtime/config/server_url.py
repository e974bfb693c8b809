"""Where a provider listens that runs already: the `url` of a target, taken apart and held to its rules.

Pure. Nothing secret may stand in an address, since addresses are shown: account, query and fragment are refused, and a
token has a file. Without encryption it has to be this machine, unless that was allowed.
"""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

import attrs

_PORTS: Final = {"ws": 80, "wss": 443}


class ServerUrlInvalid(Exception):
    """Not such an address; the text says what it must be."""


@attrs.frozen
class ServerUrl:
    """A WebSocket address without anything secret."""

    host: str
    port: int
    path: str
    encrypted: bool

    @property
    def is_loopback(self) -> bool:
        """Whether it surely is this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_server_url(text: str, *, allow_unencrypted: bool) -> ServerUrl:
    """The address in `text`. Raises `ServerUrlInvalid`."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ServerUrlInvalid("must be ws://HOST:PORT or wss://HOST:PORT") from error
    plain = text.isascii() and text.isprintable() and " " not in text
    if parts.scheme not in _PORTS or not host or port == 0 or not plain:
        raise ServerUrlInvalid("must be ws://HOST:PORT or wss://HOST:PORT")
    if "@" in parts.netloc or "?" in text or "#" in text:
        raise ServerUrlInvalid("must hold no account, query or fragment; a token goes into tokenFile")
    url = ServerUrl(host, port or _PORTS[parts.scheme], parts.path or "/", parts.scheme == "wss")
    if not (url.encrypted or url.is_loopback or allow_unencrypted):
        raise ServerUrlInvalid("is another machine: needs wss://, or allowUnencrypted = true")
    return url
