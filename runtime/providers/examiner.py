"""Asks agents' programs what they are, once for each file, through the process port, within bounds.

Owns the reports, their cache and the short processes that make them. What is asked, and what the answers mean, is the
family's (`ProgramExamination`). An examination that fails leaves the program unknown, never refused: what may then be
done with it is its adapter's to say.
"""

import hashlib
import json
from collections.abc import Callable, Mapping

import attrs
import structlog
import trio

from runtime.providers.program_run import run_program
from runtime.providers.programs import (
    Program,
    ProgramExamination,
    ProgramFile,
    ProgramFiles,
    ProgramReport,
)
from runtime.providers.registry import ProviderRegistry, UnsupportedProvider
from supervisor.process_guard.port import (
    LaunchError,
    LaunchRequest,
    ProcessLauncher,
)

log = structlog.get_logger(__name__)


@attrs.frozen(kw_only=True)
class ExaminationLimits:
    """Bounds of one examination; seconds, bytes, counts."""

    timeout_seconds: float = 15.0
    """For all its commands together."""
    printed_bytes_max: int = 16 * 1024
    document_bytes_max: int = 16 * 1024 * 1024
    retry_seconds: float = 60.0
    """After an examination that failed; until then the program stays unknown."""
    reports_max: int = 64


class ProgramExaminer:
    """The reports of all programs. One examination at a time: they are short, and nobody is in a hurry.

    Args:
        on_report: told after each new report, in the step in which it is known.
    """

    def __init__(
        self,
        registry: ProviderRegistry,
        launcher: ProcessLauncher,
        files: ProgramFiles,
        limits: ExaminationLimits | None = None,
        on_report: Callable[[], None] = lambda: None,
    ) -> None:
        self._registry = registry
        self._launcher = launcher
        self._files = files
        self._limits = limits or ExaminationLimits()
        self._on_report = on_report
        self._turn = trio.Lock()
        self._reports: dict[str, ProgramReport] = dict(files.load())
        self._retry_at: dict[str, float] = {}

    def examination(self, program: Program) -> ProgramExamination | None:
        """The questions of its family; None when it has none."""
        try:
            return self._registry.descriptor(program.provider).examination
        except UnsupportedProvider:
            return None

    def known(self, program: Program) -> ProgramReport | None:
        """What is known of it without asking. None for a file that changed since."""
        examination = self.examination(program)
        key = self._key(program, examination) if examination is not None else None
        return self._reports.get(key) if key is not None else None

    async def report(self, program: Program) -> ProgramReport | None:
        """What is known of it, asked for when it is not. None when it cannot be asked, or did not answer."""
        examination = self.examination(program)
        if examination is None:
            return None
        async with self._turn:
            key = self._key(program, examination)
            if key is None:
                return None
            if key not in self._reports and trio.current_time() >= self._retry_at.get(key, 0.0):
                await self._examine(key, program, examination)
            return self._reports.get(key)

    def forget(self, program: Program) -> None:
        """It turned out to be another program than the report says; the next to need it asks again."""
        examination = self.examination(program)
        key = self._key(program, examination) if examination is not None else None
        if key is not None and self._reports.pop(key, None) is not None:
            self._files.save(self._reports)

    def _key(self, program: Program, examination: ProgramExamination) -> str | None:
        words = examination.version_command(program.command)
        file = self._files.identify(program) if words is not None else None
        if words is None or file is None:
            return None
        return _key(program.provider, examination.revision, words, file)

    async def _examine(self, key: str, program: Program, examination: ProgramExamination) -> None:
        report = None
        with trio.move_on_after(self._limits.timeout_seconds):
            try:
                report = await self._ask(program, examination)
            except (LaunchError, OSError) as fault:
                log.warning("program not examined", provider=program.provider, fault=type(fault).__name__)
        if report is None or report.version is None:
            self._retry_at[key] = trio.current_time() + self._limits.retry_seconds
            log.warning("program did not say what it is", provider=program.provider)
            return
        self._retry_at.pop(key, None)
        while len(self._reports) >= self._limits.reports_max:
            del self._reports[next(iter(self._reports))]
        self._reports[key] = report
        self._files.save(self._reports)
        log.info("program examined", provider=program.provider, version=report.version)
        self._on_report()

    async def _ask(self, program: Program, examination: ProgramExamination) -> ProgramReport | None:
        version_command = examination.version_command(program.command)
        if version_command is None:
            return None
        documents: dict[str, bytes] = {}
        with self._files.scratch() as folder:
            printed = await self._run(program, version_command, folder.path)
            command = examination.documents_command(program.command, folder.path)
            if printed is None or command is None:
                written = None
            else:
                written = await self._run(program, command, folder.path)
            for name in examination.documents if written is not None else ():
                content = folder.read(name, self._limits.document_bytes_max)
                if content is not None:
                    documents[name] = content
        return examination.report(printed, documents) if printed is not None else None

    async def _run(self, program: Program, argv: tuple[str, ...], cwd: str) -> bytes | None:
        """What it prints, as far as there is room for it; None when it does not end well."""
        label = f"{program.provider} examination"
        request = LaunchRequest(argv, cwd=cwd, environment=dict(program.environment), label=label)
        output = await run_program(self._launcher, request, self._limits.printed_bytes_max)
        return output.printed if output.ended_well else None


def _key(provider: str, revision: str, words: tuple[str, ...], file: ProgramFile) -> str:
    told: Mapping[str, object] = attrs.asdict(file)
    canonical = json.dumps([provider, revision, words, told], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
