"""A bug that is planted into the service under a name, the promise that shows it, and the search for it.

Each has the seed that shows it, found by `python -m tests.simulation.planted`. A change of the service turns seeds into
other runs: then the first of `SEEDS_MAX` that shows it is looked for, and only where none does is the promise not held.
"""

from collections.abc import Callable, Iterator
from typing import Final, Literal

import attrs
import pytest

from runtime.simulation.options import RunOptions, options_of
from runtime.simulation.protocols.protocol import walk
from runtime.simulation.protocols.registry import PROTOCOLS
from runtime.simulation.run import run_seed

SEEDS_MAX: Final = 200

Kind = Literal["durability", "order", "lock", "leak", "idempotency", "routing", "crash"]
Planting = Callable[[pytest.MonkeyPatch], None]


@attrs.frozen(kw_only=True)
class PlantedBug:
    """One bug."""

    name: str
    kind: Kind
    plant: Planting
    promises: frozenset[str]
    """Any of these shows it."""
    seed: int = 0
    """The one that showed it when this was written."""
    concerns: Callable[[RunOptions], bool] = lambda _: True
    """Which runs can show it at all; the others are not run, and count."""
    protocol: str | None = None
    """Then it is the walk of this small protocol that shows it, by one of these words, and no seed."""

    def seeds(self) -> Iterator[int]:
        """In the order in which they are tried."""
        yield self.seed
        yield from (n for n in range(SEEDS_MAX) if n != self.seed and self.concerns(options_of(n)))

    def shown_by(self, seed: int) -> bool:
        """Whether the run of this seed shows it, once it is planted."""
        return bool({violation.promise for violation in run_seed(seed).violations} & self.promises)

    def shown_by_protocol(self) -> bool:
        """Whether the walk does."""
        assert self.protocol is not None
        faults = " ".join(walk(PROTOCOLS[self.protocol]).faults)
        return any(promise in faults for promise in self.promises)


PLANTED: Final[dict[str, PlantedBug]] = {}


def planted(
    kind: Kind,
    *promises: str,
    seed: int = 0,
    concerns: Callable[[RunOptions], bool] = lambda _: True,
    protocol: str | None = None,
) -> Callable[[Planting], Planting]:
    """Names the function that plants a bug: `a_lost_delta` plants `a-lost-delta`."""

    def register(plant: Planting) -> Planting:
        name = plant.__name__.replace("_", "-")
        assert name not in PLANTED
        PLANTED[name] = PlantedBug(
            name=name,
            kind=kind,
            plant=plant,
            promises=frozenset(promises),
            seed=seed,
            concerns=concerns,
            protocol=protocol,
        )
        return plant

    return register


def codex_alone(options: RunOptions) -> bool:
    """Runs whose sessions are all of the scripted Codex."""
    return options.codex_share == 1.0
