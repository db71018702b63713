"""What the torture shows: its counts, on the screen also where other processes ran the tests."""

import pytest


@pytest.fixture
def show(record_property):
    """Have a table printed at the end of the run."""
    return lambda text: record_property("torture", text)
