"""An examiner on scripted processes and an in-memory disk, for a family whose programs answer in words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import attrs
import trio

from runtime.providers.examiner import ExaminationLimits, ProgramExaminer
from runtime.providers.programs import Program, ProgramFile, ProgramReport, ScratchFolder
from runtime.providers.registry import ProviderRegistry
from store.canonical.session import SessionCapabilities
from tests.doubles.line_provider import LineProvider
from tests.doubles.scripted_process import Agent, Script, ScriptedLauncher

PROGRAM = Program("lines", ("line-agent", "serve"), {"PATH": "/bin", "WORD": "x"})
FILE = ProgramFile("/bin/line-agent", 100, 1, 1)


@attrs.frozen
class LineExamination:
    """`line-agent version` prints, `line-agent document FOLDER` writes."""

    revision: str = "1"
    documents: tuple[str, ...] = ("facts",)

    def version_command(self, command: tuple[str, ...]) -> tuple[str, ...] | None:
        return (command[0], "version") if "serve" in command else None

    def documents_command(self, command: tuple[str, ...], folder: str) -> tuple[str, ...] | None:
        return (command[0], "document", folder)

    def report(self, printed: bytes, documents: Mapping[str, bytes]) -> ProgramReport:
        facts = documents.get("facts")
        return ProgramReport(
            printed.decode().strip() or None,
            frozenset(facts.decode().split()) if facts is not None else None,
        )

    def capabilities(self, report: ProgramReport) -> SessionCapabilities | None:
        return SessionCapabilities(load=True) if report.facts else None

    def abilities(self, report: ProgramReport) -> Mapping[str, bool]:
        return dict.fromkeys(report.facts or (), True)


@attrs.define
class MemoryFolder:
    path: str
    files: dict[str, bytes]

    def read(self, name: str, bytes_max: int) -> bytes | None:
        content = self.files.get(name)
        return content if content is None or len(content) <= bytes_max else None


@attrs.define
class MemoryProgramFiles:
    """`ProgramFiles`. `written` is what the program writes into every folder."""

    file: ProgramFile | None = FILE
    written: dict[str, bytes] = attrs.field(factory=lambda: {"facts": b"sing dance"})
    kept: dict[str, ProgramReport] = attrs.field(factory=dict)
    saves: int = 0
    folders_open: int = 0
    fault: OSError | None = None

    def identify(self, program: Program) -> ProgramFile | None:
        return self.file

    @contextmanager
    def scratch(self) -> Iterator[ScratchFolder]:
        if self.fault is not None:
            raise self.fault
        self.folders_open += 1
        try:
            yield MemoryFolder("/scratch", self.written)
        finally:
            self.folders_open -= 1

    def load(self) -> Mapping[str, ProgramReport]:
        return dict(self.kept)

    def save(self, reports: Mapping[str, ProgramReport]) -> None:
        self.saves += 1
        self.kept = dict(reports)


async def says_its_version(agent: Agent) -> int:
    """A program as it should be."""
    if agent.request.argv[1] == "version":
        await agent.say("7.1")
    return 0


@attrs.define
class ProgramBench:
    launcher: ScriptedLauncher
    files: MemoryProgramFiles
    examiner: ProgramExaminer
    told: list[None]

    def commands(self) -> list[str]:
        """What was run so far, by its first argument."""
        return [process.agent.request.argv[1] for process in self.launcher.processes]

    def another(self) -> ProgramExaminer:
        """As after a restart: it has nothing but what was kept."""
        registry = ProviderRegistry([LineProvider(examination=LineExamination())])
        return ProgramExaminer(registry, self.launcher, self.files)


@asynccontextmanager
async def examining(
    script: Script = says_its_version, limits: ExaminationLimits | None = None
) -> AsyncIterator[ProgramBench]:
    """At the end no process and no folder may be left."""
    async with trio.open_nursery() as system:
        launcher, files, told = ScriptedLauncher(system, script), MemoryProgramFiles(), list[None]()
        registry = ProviderRegistry([LineProvider(examination=LineExamination())])
        examiner = ProgramExaminer(registry, launcher, files, limits, lambda: told.append(None))
        yield ProgramBench(launcher, files, examiner, told)
        assert launcher.living == []
        assert files.folders_open == 0
        system.cancel_scope.cancel()
