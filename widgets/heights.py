"""How many lines each item of a long list takes: estimated first, measured once it is seen.  No screen."""

from array import array
from collections.abc import Iterable

_BLOCK = 256
"""Items per partial sum: finding a line costs the square root of the length, not the length."""

_MOST = 65_535


class Heights:
    """The heights of a list that grows at its end."""

    def __init__(self, estimates: Iterable[int] = ()) -> None:
        self._heights = array("H")
        self._measured = bytearray()
        self._blocks: list[int] = []
        self.total = 0
        """Lines of all items."""
        for estimate in estimates:
            self.append(estimate)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, item: int) -> int:
        return self._heights[item]

    def append(self, estimate: int) -> None:
        """Add an item of about this height."""
        if len(self._heights) % _BLOCK == 0:
            self._blocks.append(0)
        estimate = max(1, min(_MOST, estimate))
        self._heights.append(estimate)
        self._measured.append(0)
        self._blocks[-1] += estimate
        self.total += estimate

    def measured(self, item: int) -> bool:
        """Whether the height is known and not estimated."""
        return bool(self._measured[item])

    def measure(self, item: int, height: int) -> None:
        """Put the height of an item right."""
        height = min(_MOST, height)
        delta = height - self._heights[item]
        self._measured[item] = 1
        self._heights[item] = height
        self._blocks[item // _BLOCK] += delta
        self.total += delta

    def forget(self, item: int) -> None:
        """The item changed: its height counts as an estimate."""
        self._measured[item] = 0

    def top(self, item: int) -> int:
        """The first line of an item."""
        block = item // _BLOCK
        return sum(self._blocks[:block]) + sum(self._heights[block * _BLOCK : item])

    def find(self, line: int) -> tuple[int, int]:
        """The item on a line, and which of its lines that is; the end of the list where it is beyond."""
        top = 0
        for block, height in enumerate(self._blocks):
            if line < top + height:
                return self._find_in(block, line - top)
            top += height
        return len(self._heights), 0

    def _find_in(self, block: int, line: int) -> tuple[int, int]:
        item = block * _BLOCK
        while line >= self._heights[item]:
            line -= self._heights[item]
            item += 1
        return item, line
