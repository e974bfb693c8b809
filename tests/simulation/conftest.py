"""The hundred seeds of an ordinary test run, run once, and a line about them at its end."""

import sys

import pytest

from runtime.simulation.command import Summary, describe, run_seeds

SEEDS = 100

SUMMARY = "simulation"
"""A property of the test that ran them: properties come back from whichever worker it ran in."""


@pytest.fixture(scope="session")
def hundred_seeds() -> Summary:
    """Seeds 0 to 99, which make up a good minute of a daemon's worst days."""
    return run_seeds(0, SEEDS, on_failure=lambda report: describe(report, sys.stderr))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for name, text in report.user_properties:
            if name == SUMMARY:
                terminalreporter.section(SUMMARY)
                terminalreporter.write_line(str(text))
