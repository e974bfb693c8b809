"""The seeds that showed a bug once, run again: nothing that was promised is broken."""

from pathlib import Path

import attrs
import pytest

from runtime.simulation.options import options_of
from runtime.simulation.run import run_options

CORPUS = Path(__file__).parent / "corpus"


@attrs.frozen
class Entry:
    """A line: the seed, what of its options is set to something else, and what it showed."""

    seed: int
    options: dict[str, float]
    what: str


def entry_of(line: str) -> Entry:
    """Reads a line; one that says nothing of what it was is refused."""
    run, what = line.split(" | ")
    seed, *options = run.split()
    changed = (option.split("=") for option in options)
    return Entry(int(seed), {name: float(value) for name, value in changed}, what)


ENTRIES = [entry_of(line) for line in CORPUS.read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.seed))
def test_a_seed_that_showed_a_bug_shows_none(entry: Entry) -> None:
    assert run_options(attrs.evolve(options_of(entry.seed), **entry.options)).violations == ()


def test_a_line_may_set_options_to_something_else() -> None:
    assert entry_of("7 codex_share=1.0 | a bug") == Entry(7, {"codex_share": 1.0}, "a bug")
