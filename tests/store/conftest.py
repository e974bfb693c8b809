"""Fixtures of the store's tests."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.simulation.disk import SimulatedDisk
from store.open import Store
from tests.store.builders import open_in

RAM = Path("/dev/shm")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory where there is one: what these tests look at does not depend on a disk's speed."""
    with tempfile.TemporaryDirectory(dir=RAM if RAM.is_dir() else None) as folder:
        yield Path(folder)


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
