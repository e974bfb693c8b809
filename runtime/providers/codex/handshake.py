"""What is settled once with an app-server: `initialize`, its version, and whether it reads its configuration.

Owns the params we send and the reading of what comes back. The process is ready once a first request after the
handshake has been answered: warnings about the configuration come before that answer, and one that says that Codex
goes on with defaults means another model provider and another sandbox than the ones configured. A Codex of which
nothing else is known is asked for its methods before, by calling one that none has.
"""

import re
from typing import Final

from runtime.providers.jsonrpc.members import object_of, text_of
from store.canonical.common import Json

CLIENT_NAME: Final = "greenroom"
AGENT_NAME: Final = "codex"
FIRST_REQUEST: Final = "thread/loaded/list"
"""Cheap, without effect, and in every version: what was to be said of the start has been said before its answer."""

METHODS_REQUEST: Final = "greenroom/methods"
"""A method no Codex has: the refusal lists those it has."""

UNWANTED: Final = (
    "account/rateLimits/updated",
    "deprecationNotice",
    "remoteControl/status/changed",
    "thread/readState/changed",
    "thread/settings/updated",
    "turn/diff/updated",
)
"""Notifications that nothing here makes use of: Codex is asked to leave them out."""

_VERSION: Final = re.compile(rf"{CLIENT_NAME}/(\d\S*)")
_DEFAULTS: Final = re.compile(r"using defaults", re.IGNORECASE)


def initialize_params(client_version: str) -> Json:
    """Params of `initialize`."""
    return {
        "clientInfo": {"name": CLIENT_NAME, "title": "Greenroom", "version": client_version},
        "capabilities": {
            "experimentalApi": True,
            "requestAttestation": False,
            "optOutNotificationMethods": list(UNWANTED),
        },
    }


def read_version(result: Json) -> str | None:
    """The server's version: it stands nowhere but in `userAgent`, behind our own name."""
    found = _VERSION.match(text_of(object_of(result).get("userAgent")) or "")
    return found.group(1) if found else None


def means_defaults(params: Json) -> bool:
    """Whether a `configWarning` says that the configuration was not read."""
    return _DEFAULTS.search(text_of(object_of(params).get("summary")) or "") is not None
