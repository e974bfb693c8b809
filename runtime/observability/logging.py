"""Sets structlog up: text on a terminal, JSON lines otherwise, always on stderr, never with a secret (`contract §1`).

Owns the chain every line passes and the writing. A stderr that nobody reads must not stop the service: lines that
would have to wait are dropped and counted. Who logs what is everybody's own business.
"""

import logging
import os
import select
from collections.abc import Callable, Mapping, MutableMapping
from types import TracebackType
from typing import Any, Literal, TypeAlias

import attrs
import orjson
import structlog

from runtime.observability.secrets import SecretFilter

Level: TypeAlias = Literal["debug", "info", "warning", "error"]

LEVEL_VARIABLE = "GREENROOM_LOG_LEVEL"
LINE_BYTES_MAX = 64 * 1024
_CHUNK_BYTES = 4096
"""A pipe that polls as writable takes this much without blocking (PIPE_BUF)."""
_DROPPED_EVENT = "log lines were dropped: nobody read them in time"


@attrs.define
class LineWriter:
    """Writes lines to a descriptor as long as it takes them without waiting; drops and counts the others."""

    descriptor: int
    dropped: int = 0
    torn: bool = False
    """Whether the last line went out in part, so that the next has to begin on a line of its own."""
    write: Callable[[int, bytes], int] = os.write

    def put(self, line: bytes) -> bool:
        """Whether the line, its newline included, went out whole. Never waits, never raises."""
        if len(line) > LINE_BYTES_MAX:
            line = line[:LINE_BYTES_MAX] + b" [cut]\n"
        rest = whole = memoryview(b"\n" + line if self.torn else line)
        while rest and self._is_writable():
            try:
                rest = rest[self.write(self.descriptor, rest[:_CHUNK_BYTES].tobytes()) :]
            except OSError:
                break  # closed by whoever started us: there is nobody left to tell
        if len(rest) < len(whole):
            self.torn = bool(rest)
        self.dropped += bool(rest)
        return not rest

    def _is_writable(self) -> bool:
        poll = select.poll()
        poll.register(self.descriptor, select.POLLOUT)
        return any(events & select.POLLOUT for _, events in poll.poll(0))


@attrs.frozen
class StreamLogger:
    """The end of the chain: what structlog calls with a finished line, under the name of each level."""

    writer: LineWriter
    name: str
    as_json: bool

    def msg(self, line: str) -> None:
        """Write one line, and before it how many were lost."""
        dropped = self.writer.dropped
        if dropped and self.writer.put(self._dropped_line(dropped)):
            self.writer.dropped = 0
        self.writer.put(line.encode(errors="backslashreplace") + b"\n")

    debug = info = warning = error = critical = exception = fatal = log = warn = msg

    def _dropped_line(self, lines: int) -> bytes:
        if self.as_json:
            return orjson.dumps({"level": "warning", "event": _DROPPED_EVENT, "lines": lines}) + b"\n"
        return f"{_DROPPED_EVENT}: {lines}\n".encode()


def configure_logging(
    environment: Mapping[str, str],
    *,
    as_json: bool | None = None,
    level: Level | None = None,
    descriptor: int = 2,
) -> None:
    """Route structlog, and warnings of libraries that use the standard library's logging, to `descriptor`.

    Args:
        environment: of this process; what looks secret in it never appears in a line, `GREENROOM_LOG_LEVEL` is the
            level where none is given.
        as_json: None decides by whether the descriptor is a terminal.
        level: the lowest level shown.
    """
    if as_json is None:
        as_json = not os.isatty(descriptor)
    writer = LineWriter(descriptor)
    text = structlog.dev.ConsoleRenderer(
        colors=os.isatty(descriptor), exception_formatter=structlog.dev.plain_traceback
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _add_name,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            SecretFilter.for_environment(environment),
            _json_line if as_json else text,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            _level_number(level or environment.get(LEVEL_VARIABLE))
        ),
        logger_factory=lambda *names: StreamLogger(writer, names[0] if names else "", bool(as_json)),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [_ToStructlog(logging.WARNING)]
    root.setLevel(logging.WARNING)


def _level_number(name: str | None) -> int:
    return {"debug": logging.DEBUG, "warning": logging.WARNING, "error": logging.ERROR}.get(
        name or "", logging.INFO
    )


def _add_name(logger: StreamLogger, _: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if logger.name:
        event["logger"] = logger.name
    return event


def _json_line(_: object, __: str, event: MutableMapping[str, Any]) -> str:
    return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


class _ToStructlog(logging.Handler):
    """Libraries' warnings go the same way as our own lines."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).log(record.levelno, record.getMessage(), exc_info=record.exc_info)


def log_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A `sys.excepthook`: what nobody caught ends the process, and is logged like everything else."""
    structlog.get_logger("greenroom").critical("the daemon crashed", exc_info=(kind, error, trace))
