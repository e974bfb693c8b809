"""Collects what the service logs during a run: part of what a run shows, and not for stderr.

Owns structlog's configuration while a run lasts. Loggers that were bound before keep nothing: they ask again.
"""

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog

TakeEntry = Callable[[str, str, MutableMapping[str, Any]], None]
"""Level, message and the rest of one entry."""


@contextmanager
def collected_logs(take: TakeEntry) -> Iterator[None]:
    """Within this every entry goes to `take` and nowhere else."""

    def collect(_: object, level: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        take(level, str(entry.pop("event", "")), entry)
        raise structlog.DropEvent

    was_configured, before = structlog.is_configured(), structlog.get_config()
    structlog.reset_defaults()
    structlog.configure(processors=[collect], cache_logger_on_first_use=False)
    try:
        yield
    finally:
        structlog.reset_defaults()
        if was_configured:
            structlog.configure(**before)
