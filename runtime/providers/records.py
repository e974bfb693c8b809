"""What a provider keeps of a conversation in a file of its own, where only reading that file tells what became of a turn.

Owns the vocabulary: where such a file is, and how an adapter asks for it. The reading itself is `runtime.service.record_files`. What is
read is the provider's own word, and its file is never written here.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from runtime.providers.port import Outputs


@attrs.frozen
class RecordPlace:
    """A file in some folder below the provider's home. No link below that home is followed."""

    homes: tuple[tuple[str, str], ...]
    """Variables of the process that may name the home, each with what is put behind it; the first that is set counts."""
    folder: str
    """Below the home; the file lies in one of the folders in there."""
    name: str


@attrs.frozen
class ReadRecord:
    """An output: read the newest part of that file.

    `digest` is pure and runs in another thread. `took` is called once with what it made, or with None where there is no
    such file, it cannot be read in time, or its provider does not run on this machine.
    """

    place: RecordPlace
    digest: Callable[[bytes], object]
    """Takes whole lines; the first one is missing its neighbours where the file is longer than what is read."""
    took: "Callable[[object | None], Outputs]"


@attrs.frozen
class RecordLimits:
    """Bounds of one reading."""

    bytes_max: int = 8 * 1024 * 1024
    seconds: float = 5.0


class RecordReader(Protocol):
    """Reads such files."""

    async def read(
        self,
        place: RecordPlace,
        environment: Mapping[str, str],
        digest: Callable[[bytes], object],
        limits: RecordLimits,
    ) -> object | None:
        """What `digest` makes of the end of that file, as a process of this environment keeps it; see `ReadRecord`."""


class NoRecords:
    """Implements `RecordReader` where there is no disk to be read."""

    async def read(
        self,
        place: RecordPlace,
        environment: Mapping[str, str],
        digest: Callable[[bytes], object],
        limits: RecordLimits,
    ) -> object | None:
        """There are none."""
        return None
