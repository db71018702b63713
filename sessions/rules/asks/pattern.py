"""A regular expression of a form, matched in time that is proportional to the text: no hostile pattern hangs.

Python's ``re`` can take exponential time.  Here all states of the expression advance together, one character after
the other.  Groups, alternatives, repetitions, classes and anchors are understood; an expression with anything else
(a look-around, a reference back, ``\\b``) is not.
"""

import re
import warnings
from collections.abc import Callable, Iterable

MOST_STATES = 2_000
"""States of an expression; one with more is not checked."""
MOST_WORK = 500_000
"""States times characters; more is not checked."""

_COUNT = re.compile(r"\{(\d{1,4})(,(\d{1,4})?)?\}")
_ATOM = re.compile(
    r"\[\^?(?:\\.|[^\\\]])+\]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[dDwWsStnrfv]|\\[^a-zA-Z0-9]|[^\\()\[\]|*+?^$]"
)
_SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_BEGINS, _ENDS = "^", "$"
_Test = Callable[[str], object]


class _UnknownError(Exception):
    """The expression has something that is not understood, or too many states."""


class _Expression:
    """States with their successors: a test of one character leads to the next state, an empty step to several."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self.tests: list[_Test | str | None] = []
        """The test of each state; an anchor; None for an empty step."""
        self.next: list[list[int]] = []
        self.first, last = self._alternatives()
        if self._at < len(pattern):
            raise _UnknownError
        self.last = last

    def _state(self, test: _Test | str | None = None, *successors: int) -> int:
        if len(self.tests) >= MOST_STATES:
            raise _UnknownError
        self.tests.append(test)
        self.next.append(list(successors))
        return len(self.tests) - 1

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _alternatives(self) -> tuple[int, int]:
        first, last = self._state(), self._state()
        while True:
            begin, end = self._sequence()
            self.next[first].append(begin)
            self.next[end].append(last)
            if self._peek() != "|":
                return first, last
            self._at += 1

    def _sequence(self) -> tuple[int, int]:
        first = last = self._state()
        while self._peek() not in ("", "|", ")"):
            begin, end = self._repeated()
            self.next[last].append(begin)
            last = end
        return first, last

    def _repeated(self) -> tuple[int, int]:
        at = self._at
        begin, end = self._item()
        least, most = self._counts()
        after = self._at
        if (least, most) == (1, 1):
            return begin, end
        first = last = self._state()
        leaves = []
        for number in range(max(least, 1) if most is None else most):
            if number >= least:
                leaves.append(last)
            self._at = at
            begin, end = self._item()
            self.next[last].append(begin)
            last = end
        if most is None:
            self.next[last].append(begin)
        final = self._state()
        for state in (*leaves, last):
            self.next[state].append(final)
        self._at = after
        return first, final

    def _counts(self) -> tuple[int, int | None]:
        counts: tuple[int, int | None] | None = _SIGNS.get(self._peek())
        if counts is not None:
            self._at += 1
        elif found := _COUNT.match(self._pattern, self._at):
            self._at = found.end()
            least = int(found[1])
            counts = (least, least if not found[2] else int(found[3]) if found[3] else None)
        else:
            return 1, 1
        if counts[1] is not None and counts[1] < counts[0]:
            raise _UnknownError
        self._at += self._peek() == "?"  # a match is a match, however little it takes
        return counts

    def _item(self) -> tuple[int, int]:
        if self._peek() == "(":
            self._at += 3 if self._pattern.startswith("(?:", self._at) else 1
            if self._peek() == "?":
                raise _UnknownError
            inside = self._alternatives()
            if self._peek() != ")":
                raise _UnknownError
            self._at += 1
            return inside
        if self._peek() in (_BEGINS, _ENDS):
            self._at += 1
            last = self._state()
            return self._state(self._pattern[self._at - 1], last), last
        found = _ATOM.match(self._pattern, self._at)
        if found is None:
            raise _UnknownError
        self._at = found.end()
        last = self._state()
        return self._state(_test(found[0]), last), last


def _test(atom: str) -> _Test:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about brackets in a class, whose meaning may change
        return re.compile(atom, re.ASCII).fullmatch


def matches(pattern: str, text: str) -> bool | None:
    """Return whether a part of the text matches, as JSON Schema has it; None if that cannot be told here."""
    try:
        expression = _Expression(pattern)
    except (_UnknownError, re.error, RecursionError):
        return None
    if len(expression.tests) * (len(text) + 1) > MOST_WORK:
        return None
    states: set[int] = set()
    # A match can begin at each character, so that the first state is added at each.
    for at in range(len(text) + 1):
        states = _reached(expression, {*states, expression.first}, begins=at == 0, ends=at == len(text))
        if expression.last in states:
            return True
        if at < len(text):
            states = set(_stepped(expression, states, text[at]))
    return False


def _reached(expression: _Expression, states: Iterable[int], *, begins: bool, ends: bool) -> set[int]:
    """Return the states and those that empty steps reach from them."""
    found, open_ends = set(states), list(states)
    while open_ends:
        state = open_ends.pop()
        test = expression.tests[state]
        if test is None or (test == _BEGINS and begins) or (test == _ENDS and ends):
            fresh = [one for one in expression.next[state] if one not in found]
            found.update(fresh)
            open_ends += fresh
    return found


def _stepped(expression: _Expression, states: Iterable[int], char: str) -> Iterable[int]:
    for state in states:
        test = expression.tests[state]
        if callable(test) and test(char):
            yield from expression.next[state]
