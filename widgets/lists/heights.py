"""How many lines each item of a long list takes: an estimate for all, the truth for those that were seen.  No screen.

Memory and time are in proportion to what was seen, not to the length of the list.
"""

from array import array
from bisect import bisect_left, insort

_BLOCK = 256
"""Items per partial sum."""

_MOST = 65_535


class Heights:
    """The heights of a list of any length; an item that was not measured counts as ``estimate`` lines."""

    def __init__(self, count: int = 0, *, estimate: int = 3) -> None:
        self.count = count
        """How many items there are; a longer list needs no more than another number."""
        self._estimate = estimate
        self._blocks: dict[int, array[int]] = {}
        self._excess: dict[int, int] = {}
        """Lines by which the measured items of a block exceed the estimate."""
        self._known: list[int] = []

    @property
    def total(self) -> int:
        """Lines of all items."""
        return self.count * self._estimate + sum(self._excess.values())

    def __getitem__(self, item: int) -> int:
        return self._measured(item) or self._estimate

    def measured(self, item: int) -> bool:
        """Whether the height is known and not estimated."""
        return bool(self._measured(item))

    def measure(self, item: int, height: int) -> None:
        """Put the height of an item right; 0 forgets it."""
        number, place = divmod(item, _BLOCK)
        if number not in self._blocks:
            self._blocks[number], self._excess[number] = array("H", bytes(2 * _BLOCK)), 0
            insort(self._known, number)
        self._excess[number] -= self[item]
        self._blocks[number][place] = min(_MOST, height)
        self._excess[number] += self[item]

    def forget(self, item: int) -> None:
        """The item changed: its height is an estimate again."""
        if self.measured(item):
            self.measure(item, 0)

    def top(self, item: int) -> int:
        """The first line of an item."""
        number, place = divmod(item, _BLOCK)
        before = sum(self._excess[n] for n in self._known[: bisect_left(self._known, number)])
        within = self._blocks.get(number, ())[:place]
        return item * self._estimate + before + sum(height - self._estimate for height in within if height)

    def find(self, line: int) -> tuple[int, int]:
        """The item on a line, and which of its lines that is; the end of the list where it is beyond."""
        begin, top = 0, 0
        for number in self._known:
            first = number * _BLOCK
            if line < top + (first - begin) * self._estimate:
                break
            top += (first - begin) * self._estimate
            begin = min(first + _BLOCK, self.count)
            for item in range(first, begin):
                if line < top + self[item]:
                    return item, line - top
                top += self[item]
        further, rest = divmod(line - top, self._estimate)
        return (self.count, 0) if begin + further >= self.count else (begin + further, rest)

    def _measured(self, item: int) -> int:
        block = self._blocks.get(item // _BLOCK)
        return 0 if block is None else block[item % _BLOCK]
