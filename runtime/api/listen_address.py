"""Where the daemon listens, as text and as data. Pure: parsing, the loopback rule and the URLs of contract §1."""

import ipaddress

import attrs

from runtime.api.host_names import is_loopback

_UNIX_PREFIX = "unix:"


class AddressInvalid(Exception):
    """Raised for a `--listen` value that names no address (exit code 2). Not for one that is taken or forbidden."""


class AddressForbidden(Exception):
    """Raised for an address other machines can reach, unless `allowRemote` is set and TLS is (contract §2, exit 2)."""


@attrs.frozen
class TcpAddress:
    """A numeric host and a port; port 0 is any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@attrs.frozen
class UnixAddress:
    """A socket in the file system."""

    path: str

    def __str__(self) -> str:
        return f"{_UNIX_PREFIX}{self.path}"


ListenAddress = TcpAddress | UnixAddress


def parse_listen_address(text: str) -> ListenAddress:
    """`127.0.0.1:PORT`, `[::1]:PORT`, `localhost:PORT` or `unix:PATH`; raises `AddressInvalid`."""
    if text.startswith(_UNIX_PREFIX):
        path = text.removeprefix(_UNIX_PREFIX)
        if not path or "\0" in path:
            raise AddressInvalid(f"listen {text!r}: a unix socket needs a path")
        return UnixAddress(path)
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise AddressInvalid(f"listen {text!r}: must be HOST:PORT or unix:PATH")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if host.lower() == "localhost":
        host = "127.0.0.1"
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise AddressInvalid(f"listen {text!r}: the host must be a numeric address or localhost") from error
    return TcpAddress(host, int(port))


def check_reach(address: ListenAddress, *, allow_remote: bool, encrypted: bool) -> None:
    """Raises `AddressForbidden` for an address beyond this machine without `allowRemote` and TLS (FC-36)."""
    if isinstance(address, UnixAddress) or is_loopback(address.host) or (allow_remote and encrypted):
        return
    missing = "tlsCertificate and tlsKey" if allow_remote else "allowRemote = true"
    raise AddressForbidden(f"listen {address}: other machines could connect; needs {missing}")


def websocket_url(address: ListenAddress, path: str, *, encrypted: bool) -> str:
    """`ws://HOST:PORT/v1/ws`, `wss://…` with TLS, `ws+unix:PATH:/v1/ws` for a socket file."""
    if isinstance(address, UnixAddress):
        return f"ws+unix:{address.path}:{path}"
    return f"{'wss' if encrypted else 'ws'}://{address}{path}"


def console_url(address: ListenAddress, *, encrypted: bool) -> str | None:
    """`http://HOST:PORT/`; None for a socket file, which no browser can open."""
    if isinstance(address, UnixAddress):
        return None
    return f"{'https' if encrypted else 'http'}://{address}/"
