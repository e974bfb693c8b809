"""What may be known of an agent's program without a conversation, and how a family's programs are asked for it.

Owns the words only: the report, the questions a family has, and the port to the files involved. Asking is
`runtime.providers.examiner`. No question may start a conversation or need an account (RT-041).
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import attrs

from store.canonical.session import SessionCapabilities


@attrs.frozen
class ProgramReport:
    """What a program says of itself: its version, and what its own documents show it takes."""

    version: str | None = None
    facts: frozenset[str] | None = None
    """In the words of its family; null when it has no documents, or they could not be had."""


@attrs.frozen
class Program:
    """A program as a target names it. `environment` is complete; of it only PATH decides which program it is."""

    provider: str
    command: tuple[str, ...] = attrs.field(repr=False)
    environment: Mapping[str, str] = attrs.field(repr=False)


@attrs.frozen
class ProgramFile:
    """Which file a program is, at one moment: any change of it is another program."""

    path: str
    size: int
    modified_ns: int
    changed_ns: int
    """Of the inode: package managers give all versions of a file one time of modification."""


class ProgramExamination(Protocol):
    """How the programs of one family are asked what they are. Pure."""

    @property
    def revision(self) -> str:
        """Differs whenever other facts are asked for, so that older reports are not taken for answers."""

    @property
    def documents(self) -> tuple[str, ...]:
        """Names of the files to read out of the folder the documents were written to."""

    def version_command(self, command: tuple[str, ...]) -> tuple[str, ...] | None:
        """Prints the version; None when a target's command does not say how."""

    def documents_command(self, command: tuple[str, ...], folder: str) -> tuple[str, ...] | None:
        """Writes the documents into `folder`; None when a target's command does not say how."""

    def report(self, printed: bytes, documents: Mapping[str, bytes]) -> ProgramReport:
        """What was printed and written, read; whatever is missing or odd is not known."""

    def capabilities(self, report: ProgramReport) -> SessionCapabilities | None:
        """What sessions on such a program can do; None when only its handshake tells."""

    def abilities(self, report: ProgramReport) -> Mapping[str, bool]:
        """What it is attested for, by names for people; empty when only its handshake tells."""


class ScratchFolder(Protocol):
    """An empty folder that is removed with all that was put into it."""

    @property
    def path(self) -> str:
        """Absolute."""

    def read(self, name: str, bytes_max: int) -> bytes | None:
        """A file in it; None when there is none, or it is larger than that."""


class ProgramFiles(Protocol):
    """The disk, as far as examining programs needs it. Nothing of it waits."""

    def identify(self, program: Program) -> ProgramFile | None:
        """The file that would be started, its links resolved; None when there is none."""

    def scratch(self) -> AbstractContextManager[ScratchFolder]:
        """A folder for documents. Raises OSError when there is no place for one."""

    def load(self) -> Mapping[str, ProgramReport]:
        """The reports kept by an earlier run, by their keys; empty when there are none that can be read."""

    def save(self, reports: Mapping[str, ProgramReport]) -> None:
        """Keep these in place of all others. A failure loses nothing but time: it is logged, not raised."""
