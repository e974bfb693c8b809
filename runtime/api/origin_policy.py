"""Which web pages and host names may reach the local port. Pure (contract §2, FC-36).

A browser sends a page's `Origin` and the name it looked up as `Host`: the first stops a foreign page, the second
one whose name was rebound to the loopback address. Both are judged for every request, before any token.
"""

from collections.abc import Iterable

import attrs

from runtime.api.host_names import host_name, is_loopback
from runtime.api.http_exchange import RequestHead


def _lowered(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


@attrs.frozen
class OriginPolicy:
    """`allowedOrigins` (`https://host[:port]`) and `allowedHosts` (`host` or `host:port`) of the configuration."""

    allowed_origins: frozenset[str] = attrs.field(default=frozenset(), converter=_lowered)
    allowed_hosts: frozenset[str] = attrs.field(default=frozenset(), converter=_lowered)
    scheme: str = "http"
    """Under which our own pages are served: `https` with TLS."""

    def admits(self, head: RequestHead) -> bool:
        """Whether both `Host` and `Origin` may be served. No `Origin` at all is a client that is no web page."""
        host = (head.value(b"host") or "").lower()
        if not self._admits_host(host):
            return False
        origins = head.values(b"origin")
        if not origins:
            return True
        # Our own page has the very host it talks to; another loopback port, or name, is another server's page.
        own = f"{self.scheme}://{host}"
        return len(origins) == 1 and origins[0].lower() in {own, *self.allowed_origins}

    def _admits_host(self, host: str) -> bool:
        name = host_name(host)
        if name is None:
            return False
        return is_loopback(name) or name in self.allowed_hosts or host in self.allowed_hosts
