"""The hundred seeds of an ordinary test run, run once, and a line about them at its end."""

import sys

import pytest

from runtime.simulation.command import Summary, describe, run_seeds

SEEDS = 100

_lines: list[str] = []


@pytest.fixture(scope="session")
def hundred_seeds() -> Summary:
    """Seeds 0 to 99, which make up a good minute of a daemon's worst days."""
    summary = run_seeds(0, SEEDS, on_failure=lambda report: describe(report, sys.stderr))
    _lines.append(summary.as_text())
    return summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in _lines:
        terminalreporter.section("simulation")
        terminalreporter.write(line)
