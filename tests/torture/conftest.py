"""The counts of the torture, on the screen also where other processes ran the tests."""

import pytest


@pytest.fixture
def show(record_property):
    """Have a table printed at the end of the run."""
    return lambda text: record_property("torture", text)


def pytest_terminal_summary(terminalreporter):
    """Print the tables of all tests, passed or not."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    for report in reports:
        for name, text in getattr(report, "user_properties", ()):
            if name == "torture" and getattr(report, "when", None) == "call":
                terminalreporter.section(f"torture: {report.nodeid.rpartition('::')[2]}")
                terminalreporter.line(text)
