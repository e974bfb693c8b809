"""What a name of a machine means: the rules shared by `Host` headers, addresses to listen on and configuration. Pure."""

import ipaddress


def host_name(host: str) -> str | None:
    """The name of a `Host` header without its port; None when it is malformed."""
    if host.startswith("["):
        name, bracket, rest = host[1:].partition("]")
        colon, port = rest[:1], rest[1:]
    else:
        name, colon, port = host.partition(":")
        bracket = "]"
    well_formed = (
        name and bracket and colon in ("", ":") and (not port or (port.isascii() and port.isdigit()))
    )
    return name if well_formed else None


def is_loopback(name: str) -> bool:
    """Whether `name` can only mean this machine: `localhost` or a numeric loopback address."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
