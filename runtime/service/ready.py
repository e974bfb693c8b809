"""How others learn that the daemon runs: the ready line, `daemon.json`, and the refusal to start (`contract §1`)."""

import os
from pathlib import Path

import attrs
import orjson
import structlog

log = structlog.get_logger(__name__)

ANNOUNCEMENT_FILE = "daemon.json"
_MODE = 0o600

EXIT_CONFIGURATION = 2
EXIT_IN_USE = 3
EXIT_DATABASE = 4
EXIT_ADDRESS = 5
"""Exit codes of `greenroom serve` (`contract §1`)."""


class StartRefused(Exception):
    """The daemon does not start: the exit code of `contract §1`, and one line that says why and what to do.

    Raised before the listener takes clients, never after.
    """

    def __init__(self, exit_code: int, line: str) -> None:
        super().__init__(line)
        self.exit_code = exit_code
        self.line = line


@attrs.frozen
class ReadyLine:
    """What `greenroom serve` prints once when clients may connect."""

    pid: int
    url: str
    console: str | None
    token_file: str
    data_dir: str

    def encode(self) -> bytes:
        """The line, as printed and as kept in `daemon.json`."""
        return orjson.dumps(
            {
                "event": "ready",
                "pid": self.pid,
                "url": self.url,
                "console": self.console,
                "tokenFile": self.token_file,
                "dataDir": self.data_dir,
            }
        )


def announce(line: ReadyLine, data_dir: Path) -> None:
    """Put `daemon.json` into the data directory, whole or not at all, for its owner only. Raises StartRefused."""
    draft = data_dir / f".{ANNOUNCEMENT_FILE}.{line.pid}"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(line.encode() + b"\n")
        draft.replace(data_dir / ANNOUNCEMENT_FILE)
    except OSError as error:
        _remove(draft)
        what = f"{data_dir / ANNOUNCEMENT_FILE}: cannot be written ({error.strerror})"
        raise StartRefused(EXIT_CONFIGURATION, what) from error


def withdraw(data_dir: Path) -> None:
    """The daemon is no longer there to be found. What cannot be removed names a process that has ended."""
    _remove(data_dir / ANNOUNCEMENT_FILE)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("a file could not be removed", path=str(path), reason=error.strerror)
