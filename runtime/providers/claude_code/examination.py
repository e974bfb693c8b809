"""How a Claude Code is asked what it is, without a conversation: by its version. It writes no schema of itself.

Owns the command and the reading of what it prints. Only a command that is the program alone can be varied.
"""

import re
from collections.abc import Mapping
from typing import Final

import attrs

from runtime.providers.claude_code.attestation import TESTED, Ability, attest
from runtime.providers.programs import ProgramReport
from store.canonical.session import SessionCapabilities

_VERSION: Final = re.compile(rb"^(\d[\w.+-]{0,63}) \(Claude Code\)\s*$", re.MULTILINE)


@attrs.frozen
class ClaudeExamination:
    """Implements `ProgramExamination`."""

    revision: str = "1-" + "-".join(sorted(TESTED))
    documents: tuple[str, ...] = ()

    def version_command(self, command: tuple[str, ...]) -> tuple[str, ...] | None:
        """`claude --version`."""
        return (command[0], "--version") if len(command) == 1 else None

    def documents_command(self, command: tuple[str, ...], folder: str) -> tuple[str, ...] | None:
        """There are none."""
        return None

    def report(self, printed: bytes, documents: Mapping[str, bytes]) -> ProgramReport:
        """The version."""
        found = _VERSION.search(printed)
        return ProgramReport(found.group(1).decode() if found is not None else None)

    def capabilities(self, report: ProgramReport) -> SessionCapabilities | None:
        """Those of the attestation."""
        return attest(report.version).capabilities() if report.version is not None else None

    def abilities(self, report: ProgramReport) -> Mapping[str, bool]:
        """Every ability, and whether it is attested."""
        attested = attest(report.version)
        return {ability.value: ability in attested.abilities for ability in Ability}
