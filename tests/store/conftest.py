"""Fixtures of the store's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.simulation.disk import SimulatedDisk
from store.open import Store
from tests.store.builders import open_in


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open store in a folder of its own."""
    opened = open_in(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def disk() -> Iterator[SimulatedDisk]:
    """A disk that can fail, fill up and lose what was not synchronised."""
    made = SimulatedDisk()
    yield made
    made.remove()
