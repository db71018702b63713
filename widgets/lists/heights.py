"""The height of each item of a long list in lines: measured if the item was drawn, else estimated.  Needs no screen.

Memory and time grow with the number of measured items, not with the length of the list.
"""

from array import array
from bisect import bisect_left, insort

_BLOCK = 256
"""Items per partial sum."""

_MOST = 65_535


class Heights:
    """The heights of a list of any length; an unmeasured item counts as ``estimate`` lines."""

    def __init__(self, count: int = 0, *, estimate: int = 3) -> None:
        self.count = count
        """The number of items; to lengthen the list, change this number."""
        self._estimate = estimate
        self._blocks: dict[int, array[int]] = {}
        self._excess: dict[int, int] = {}
        """Lines by which the measured items of each block exceed the estimate."""
        self._known: list[int] = []

    @property
    def total(self) -> int:
        """The lines of all items."""
        return self.count * self._estimate + sum(self._excess.values())

    def __getitem__(self, item: int) -> int:
        return self._measured(item) or self._estimate

    def measured(self, item: int) -> bool:
        """Return whether the height is measured, not estimated."""
        return bool(self._measured(item))

    def measure(self, item: int, height: int) -> None:
        """Set the height of an item; 0 makes it an estimate again."""
        number, place = divmod(item, _BLOCK)
        if number not in self._blocks:
            self._blocks[number], self._excess[number] = array("H", bytes(2 * _BLOCK)), 0
            insort(self._known, number)
        self._excess[number] -= self[item]
        self._blocks[number][place] = min(_MOST, height)
        self._excess[number] += self[item]

    def forget(self, item: int) -> None:
        """Forget the height of a changed item: it is an estimate again."""
        if self.measured(item):
            self.measure(item, 0)

    def top(self, item: int) -> int:
        """The first line of an item."""
        number, place = divmod(item, _BLOCK)
        before = sum(self._excess[n] for n in self._known[: bisect_left(self._known, number)])
        within = self._blocks.get(number, ())[:place]
        return item * self._estimate + before + sum(height - self._estimate for height in within if height)

    def find(self, line: int) -> tuple[int, int]:
        """The item on a line, and the line's number within the item; beyond the last line, the end of the list."""
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
