"""How many files the daemon may have open: what its limits can come to, and raising the system's bound to that.

Agents do not inherit what is raised here: they are started by a process that was forked before.
"""

import structlog

from runtime.observability.process_figures import raise_open_files_limit
from runtime.wire.limits import Limits

FILES_OF_AN_AGENT = 8
"""Pipes and sockets of one agent process in the daemon, with room for one that ends while the next one starts."""
FILES_OF_THE_DAEMON = 128
"""Database, logs, listener, spawner, and what a read or a copy opens for a moment."""

log = structlog.get_logger(__name__)


def open_files_needed(limits: Limits) -> int:
    """The most files these limits can come to."""
    agents = limits.max_live_connections * FILES_OF_AN_AGENT
    return limits.max_client_connections + agents + FILES_OF_THE_DAEMON


def allow_open_files(limits: Limits) -> None:
    """Raise RLIMIT_NOFILE as far as needed and allowed; a bound below that is logged, and found out by `doctor`."""
    needed = open_files_needed(limits)
    allowed = raise_open_files_limit(needed)
    if 0 <= allowed < needed:
        log.warning("fewer files may be open than the limits can come to", allowed=allowed, needed=needed)
