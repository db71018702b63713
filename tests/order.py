"""The order of the tests: those that wait for other processes between those that compute, so that no core idles.

Each worker of pytest-xdist begins with a contiguous part of the tests, and takes tests of another part when its own is
done (``--dist worksteal``).  In the order of the folders, the parts that compute would be done first, and the last
minutes of a run would only wait.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

import pytest

WAITING = {"bench", "e2e", "packaging", "torture"}
"""The folders of tests that mostly wait."""


def spread(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with the waiting files spread evenly among the others; the tests of a file stay together."""
    files = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
    waiting = [tests for tests in files if tests[0].path.parent.name in WAITING]
    computing = [tests for tests in files if tests[0].path.parent.name not in WAITING]
    placed = sorted([*_placed(waiting), *_placed(computing)], key=lambda one: one[0])
    return list(chain.from_iterable(tests for _, tests in placed))


def _placed(files: list[list[pytest.Item]]) -> Iterator[tuple[float, list[pytest.Item]]]:
    """Yield each file with the place of its middle between 0 and 1."""
    total, before = sum(map(len, files)), 0
    for tests in files:
        yield (before + len(tests) / 2) / total, tests
        before += len(tests)
