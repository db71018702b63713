"""Which tests run in a form: ``make test`` has five minutes, and CI runs what it leaves out in the daily form.

Tests run by turns, others each day.  A test is never left out because of what it tests:

- Of the tests of keys, of processes, of installing and of benchmarks, ``make test`` has a sixth, and the daily form
  the next three sixths.
  This holds for runs of all tests: a run that names files, or chooses by name, has all of them.
- Of the parameters of another test with the marker ``by_turns(n)``, ``make test`` has one of n, and the daily form the
  next.
- Of the tests that repeat themselves more often than in ``make test``, the daily form has a quarter.
- ``make torture`` leaves out nothing that repeats itself.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from zlib import crc32

import pytest
from hypothesis import is_hypothesis_test
from repetition import FORM, FULL, SEED, has_its_turn

BY_DAYS = {"bench", "e2e", "packaging", "pilot"}
"""The folders of the tests of benchmarks, of processes, of installing and of keys."""

PARTS = 6
"""The number of parts of the tests in those folders; each day ``make test`` has another one."""

SHARE = {"short": (0,), "daily": (1, 2, 3)}
"""The parts that a form has; another form has all."""

DAYS = 4
"""The number of days in which the daily form has run all tests that repeat themselves."""


def mark(item: pytest.Item) -> None:
    """Mark a test that does more in full: one of random examples, or one that is left out in short."""
    more = item.get_closest_marker("by_turns") or item.get_closest_marker("only_in_full")
    if more or is_hypothesis_test(getattr(item, "obj", None)):
        item.add_marker(pytest.mark.torture)


def left_out(items: Iterable[pytest.Item], *, all_tests: bool) -> Iterator[pytest.Item]:
    """Yield the tests that this form leaves out.

    Args:
        items: the tests that were collected.
        all_tests: the run chooses no files and no names.
    """
    counts: Counter[str] = Counter()
    for item in items:
        turns = item.get_closest_marker("by_turns")
        test = item.nodeid.partition("[")[0]
        counts[test] += 1
        number = crc32(test.encode()) + counts[test] + int(SEED)
        if all_tests and item.path.parent.name in BY_DAYS and not item.get_closest_marker("only_in_full"):
            runs = number % PARTS in SHARE.get(FORM, range(PARTS))
            if FORM == "daily":
                item.add_marker(pytest.mark.torture)
        elif turns is not None:
            runs = has_its_turn(number, turns.args[0]) and _has_its_day(number, turns.args[0])
        elif item.get_closest_marker("torture"):
            runs = (FULL or not item.get_closest_marker("only_in_full")) and _has_its_day(number)
        else:
            runs = True
        if not runs:
            yield item


def _has_its_day(number: int, turns: int = 1) -> bool:
    """Return whether the daily form has a test today; each parameter that runs by turns has its day too."""
    return FORM != "daily" or number // turns % DAYS == 0
