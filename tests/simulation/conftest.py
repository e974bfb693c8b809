"""The hundred seeds of an ordinary test run, run once; `tests/conftest.py` prints what they did."""

import sys

import pytest

from runtime.simulation.command import Summary, describe, run_seeds

SEEDS = 100


@pytest.fixture(scope="session")
def hundred_seeds() -> Summary:
    """Seeds 0 to 99, which make up a good minute of a daemon's worst days."""
    return run_seeds(0, SEEDS, on_failure=lambda report: describe(report, sys.stderr))
