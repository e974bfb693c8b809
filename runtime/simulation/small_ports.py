"""The small ports of a simulated run: time of day, identifiers and working directories.

Each answers from the run alone, so the same seed gives the same values; what they stand for is in `runtime.ports`.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import trio

from store.canonical.identifiers import SessionKey

FIRST_MOMENT_MS: Final = 1_767_225_600_000
"""When every simulated world begins: the first moment of 2026."""


@attrs.define
class SimulatedClock:
    """`WallClock`: virtual time, moved by jumps as people and time servers make them."""

    jumped_ms: int = 0

    def now_ms(self) -> int:
        """See `WallClock`."""
        return FIRST_MOMENT_MS + self.jumped_ms + int(trio.current_time() * 1000)

    def jump(self, milliseconds: int) -> None:
        """The clock is set to another time."""
        self.jumped_ms += milliseconds


@attrs.define
class CountedIdentifiers:
    """`IdentifierSource`: UUIDs in the canonical form that count upwards."""

    made: int = 0

    def new_id(self) -> str:
        """See `IdentifierSource`."""
        self.made += 1
        return f"01900000-0000-7000-8000-{self.made:012x}"


@attrs.define
class SimulatedDirectories:
    """`WorkDirectories`: a set of paths. What agents do in there is not simulated."""

    made: set[str] = attrs.field(factory=set)

    def is_directory(self, path: str) -> bool:
        """See `WorkDirectories`."""
        return path in self.made

    def is_within(self, path: str, roots: Sequence[str]) -> bool:
        """See `WorkDirectories`."""
        return any(path == root or path.startswith(f"{root}/") for root in roots)

    def path_of(self, key: SessionKey) -> str:
        """See `WorkDirectories`."""
        return f"/simulated/{key.workspace_id}/{key.agent_session_id}"

    def allocate(self, key: SessionKey) -> str:
        """See `WorkDirectories`."""
        path = self.path_of(key)
        self.made.add(path)
        return path

    def release(self, key: SessionKey) -> None:
        """See `WorkDirectories`."""
        self.made.discard(self.path_of(key))
