"""The disk side of examining programs: which file a program is, a folder for its documents, and the kept reports.

An adapter, and nothing of what a report means. The file of reports is a cache: it may be removed at any time, and one
that cannot be read counts as none.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs
import structlog

from runtime.providers.programs import Program, ProgramFile, ProgramReport, ScratchFolder

REPORTS_FILE_NAME = "programs.json"
_FORMAT = 1
_FILE_BYTES_MAX = 4 * 1024 * 1024

log = structlog.get_logger(__name__)


@attrs.frozen
class DiskScratchFolder:
    """Implements `ScratchFolder`."""

    path: str

    def read(self, name: str, bytes_max: int) -> bytes | None:
        """See `ScratchFolder`."""
        try:
            with (Path(self.path) / name).open("rb") as file:
                content = file.read(bytes_max + 1)
        except OSError:
            return None
        return content if len(content) <= bytes_max else None


@attrs.frozen
class DiskProgramFiles:
    """Implements `ProgramFiles` with the reports in one file, which is left as it is unless it `keeps` them."""

    reports: Path
    keeps: bool = True

    def identify(self, program: Program) -> ProgramFile | None:
        """See `ProgramFiles`."""
        found = shutil.which(program.command[0], path=program.environment.get("PATH", os.defpath))
        if found is None:
            return None
        try:
            path = Path(found).resolve()
            figures = path.stat()
        except OSError:
            return None
        return ProgramFile(str(path), figures.st_size, figures.st_mtime_ns, figures.st_ctime_ns)

    @contextmanager
    def scratch(self) -> Iterator[ScratchFolder]:
        """See `ProgramFiles`."""
        with tempfile.TemporaryDirectory(prefix="greenroom-", ignore_cleanup_errors=True) as folder:
            yield DiskScratchFolder(folder)

    def load(self) -> Mapping[str, ProgramReport]:
        """See `ProgramFiles`."""
        try:
            with self.reports.open("rb") as file:
                return _read(json.loads(file.read(_FILE_BYTES_MAX)))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
            log.warning("kept reports of programs not read", fault=type(fault).__name__)
            return {}

    def save(self, reports: Mapping[str, ProgramReport]) -> None:
        """See `ProgramFiles`. Written beside it first, so that a crash leaves the old file or the new one."""
        if not self.keeps:
            return
        draft = self.reports.with_name(f".{self.reports.name}.{os.getpid()}")
        try:
            draft.write_text(json.dumps({"format": _FORMAT, "programs": _written(reports)}, indent=1))
            draft.replace(self.reports)
        except OSError as fault:
            log.warning("reports of programs not kept", fault=fault.strerror)
            draft.unlink(missing_ok=True)


def _written(reports: Mapping[str, ProgramReport]) -> dict[str, object]:
    return {
        key: {
            "version": report.version,
            "facts": sorted(report.facts) if report.facts is not None else None,
        }
        for key, report in reports.items()
    }


def _read(content: dict[str, object]) -> dict[str, ProgramReport]:
    if content["format"] != _FORMAT:
        return {}
    programs = content["programs"]
    if not isinstance(programs, dict):
        raise TypeError("programs")
    return {key: _report(kept) for key, kept in programs.items()}


def _report(kept: dict[str, object]) -> ProgramReport:
    version, facts = kept["version"], kept["facts"]
    if not isinstance(version, str) or not (facts is None or isinstance(facts, list)):
        raise TypeError("report")
    return ProgramReport(version, frozenset(map(str, facts)) if facts is not None else None)
