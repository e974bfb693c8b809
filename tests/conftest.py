"""What every test run ends with."""

import pytest

SUMMARY = "simulation"
"""A property of the test that ran the seeds: properties come back from whichever worker it ran in."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for name, text in report.user_properties:
            if name == SUMMARY:
                terminalreporter.section(SUMMARY)
                terminalreporter.write_line(str(text))
