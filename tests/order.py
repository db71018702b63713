"""The order of the tests: those that wait for other processes between those that compute, so that no core idles.

Each worker of pytest-xdist begins with a contiguous part of the tests, and takes tests of another part when its own is
done (``--dist worksteal``).  In the order of the folders, the parts that compute would be done first, and the last
minutes of a run would only wait.  The longest tests come first in each part, because a run that ends with one of them
waits for a single worker.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

import pytest

WAITING = {"bench", "e2e", "packaging"}
"""The folders of tests that mostly wait."""

LONGEST = "torture"
"""The folder of the longest tests."""

PARTS = 4
"""The number of workers in the Makefile, and so of the parts of a run."""


def spread(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with the waiting files spread evenly among the others; the tests of a file stay together."""
    files = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
    longest = [[test] for tests in files if _folder(tests) == LONGEST for test in tests]
    waiting = [tests for tests in files if _folder(tests) in WAITING]
    computing = [tests for tests in files if _folder(tests) not in {*WAITING, LONGEST}]
    # The last files of the folder have the tests with the most kills.
    first = [(number % PARTS / PARTS, tests) for number, tests in enumerate(reversed(longest))]
    placed = sorted([*first, *_placed(waiting), *_placed(computing)], key=lambda one: one[0])
    return list(chain.from_iterable(tests for _, tests in placed))


def _folder(tests: list[pytest.Item]) -> str:
    return tests[0].path.parent.name


def _placed(files: list[list[pytest.Item]]) -> Iterator[tuple[float, list[pytest.Item]]]:
    """Yield each file with the place of its middle between 0 and 1."""
    total, before = sum(map(len, files)), 0
    for tests in files:
        yield (before + len(tests) / 2) / total, tests
        before += len(tests)
