"""Measurements: never part of the test suite, always as ratios within one run."""
