"""For all tests: drawn examples are the same in every run, and what tests measure is printed at its end."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["pytest_terminal_summary"]

# A slow machine is no fault of the code: neither an example nor the drawing of one has a time limit.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("repeatable")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print every property called ``measured`` that a test has recorded."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    measured = [
        str(value)
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for key, value in report.user_properties
        if key == "measured"
    ]
    if measured:
        terminalreporter.section("measured")
        for line in sorted(measured):
            terminalreporter.write_line(line)
