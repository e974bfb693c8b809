"""What the configured agents' programs say of themselves, asked for without a daemon and without keeping anything.

The composition of `greenroom doctor`: the same examiner as the daemon's, on a process guard of its own whose records
lie in a folder that goes away. What the daemon has kept is taken over, so that usually nothing is started.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import attrs
import trio

from runtime.config import Configuration
from runtime.observability.logging import configure_logging
from runtime.providers.examiner import ExaminationLimits, ProgramExaminer
from runtime.providers.programs import ProgramReport
from runtime.service.families import provider_registry
from runtime.service.machine_view import DiskMachineView
from runtime.service.program_files import REPORTS_FILE_NAME, DiskProgramFiles
from runtime.service.target_definitions import target_definitions
from runtime.system_ports import SystemIdentifiers
from supervisor.process_guard import ProcessGuard, SpawnerUnavailable


@attrs.frozen
class AttestedProgram:
    """One target's program: its report, and what follows from it. No abilities: only its handshake will tell."""

    report: ProgramReport
    abilities: Mapping[str, bool]


def attested_programs(configuration: Configuration) -> Mapping[str, AttestedProgram]:
    """By target id; without targets whose programs cannot be asked, are missing or did not answer.

    Raises StartRefused where a daemon would not start either.
    """
    configure_logging(os.environ, level="error")  # the findings say the rest
    with tempfile.TemporaryDirectory(prefix="greenroom-") as instances:
        guard = ProcessGuard(Path(instances), SystemIdentifiers().new_id())
        try:
            guard.start()
        except (OSError, SpawnerUnavailable):
            return {}
        return trio.run(_attest, configuration, guard)


def sign_ins(configuration: Configuration) -> Mapping[str, bool]:
    """By target id: whether a sign-in lies where its agent keeps one. Nothing is asked; it proves no more than that.

    Without targets of families that keep none. Raises StartRefused where a daemon would not start either.
    """
    registry = provider_registry()
    view = DiskMachineView(DiskProgramFiles(configuration.data_dir / REPORTS_FILE_NAME, keeps=False), b"")
    found: dict[str, bool] = {}
    for definition in target_definitions(configuration, os.environ):
        family = registry.descriptor(definition.provider) if definition.provider in registry.keys else None
        if family is not None and family.catalogue.credentials.files and definition.server is None:
            found[definition.target_id] = view.credentials(definition, family.catalogue) is not None
    return found


async def _attest(configuration: Configuration, guard: ProcessGuard) -> Mapping[str, AttestedProgram]:
    files = DiskProgramFiles(configuration.data_dir / REPORTS_FILE_NAME, keeps=False)
    limits = ExaminationLimits(timeout_seconds=configuration.limits.examine_timeout_seconds)
    attested: dict[str, AttestedProgram] = {}
    try:
        examiner = ProgramExaminer(provider_registry(), guard, files, limits)
        for definition in target_definitions(configuration, os.environ):
            examination = examiner.examination(definition.program)
            report = await examiner.report(definition.program) if definition.enabled else None
            if examination is not None and report is not None:
                found = AttestedProgram(report, examination.abilities(report))
                attested[definition.target_id] = found
    finally:
        await guard.close()
    return attested
