"""The web console over HTTP: its few files, each with its type, an ETag and headers that leave a page nothing to load
from elsewhere (`contract §2`).

Owns the answers, not the files: those are built from `console/` and read by the composition root. The pages hold no
secret, so they need no token; what they show comes over the WebSocket, which does.
"""

import hashlib
from collections.abc import Mapping

from runtime.api.front import HttpRoute
from runtime.api.http_exchange import HttpResponse, RequestHead, refusal

INDEX = "index.html"
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # No script of ours makes markup from text, and none may.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = (
    ("Content-Security-Policy", _POLICY),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)


def console_route(files: Mapping[str, bytes]) -> HttpRoute:
    """The route `/` for `files`, by name; `/` itself is `index.html`. Raises KeyError for an ending without a type."""
    pages = {f"/{'' if name == INDEX else name}": _page(name, body) for name, body in files.items()}

    async def answer(head: RequestHead) -> HttpResponse:
        page = pages.get(head.path)
        if page is None:
            return refusal(404)
        etag = dict(page.headers)["ETag"]
        if etag in head.tokens(b"if-none-match"):
            return HttpResponse(304, headers=page.headers, cache_control=page.cache_control)
        return page

    return HttpRoute("/", answer)


def _page(name: str, body: bytes) -> HttpResponse:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return HttpResponse(
        200,
        body,
        content_type=_TYPES[name.rpartition(".")[2]],
        headers=(("ETag", etag), *_HEADERS),
        # Kept, but asked about each time: after an update no browser mixes an old script with a new page.
        cache_control="no-cache",
    )
