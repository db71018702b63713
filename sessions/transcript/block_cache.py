"""Parsed blocks that are kept for a while, of all turns of a session together."""

from collections import OrderedDict
from threading import Lock

from msgspec import Struct

from ..model import Step

KEPT_BLOCKS = 12

KEPT_BYTES = 16 << 20
"""Of the lines that gave the steps of these blocks: a line can hold a million files or tasks."""


class Placed(Struct, frozen=True):
    """A step, and where the line lies that gave it its last form."""

    step: Step
    offset: int
    size: int
    """Bytes of the line, its newline included; 0 for what is in no file."""


Block = dict[int, Placed]
"""Steps by their place in the turn: those that got their last form in one stretch of a file."""


class BlockCache:
    """The blocks that were used last; several turns and threads share it."""

    def __init__(self, room: int = KEPT_BLOCKS) -> None:
        self._room = room
        self._lock = Lock()
        self._blocks: OrderedDict[tuple[object, int], Block] = OrderedDict()

    def get(self, owner: object, number: int) -> Block | None:
        """A block, if it is still there."""
        with self._lock:
            found = self._blocks.get((owner, number))
            if found is not None:
                self._blocks.move_to_end((owner, number))
            return found

    def keep(self, owner: object, number: int, block: Block) -> None:
        """Keep a block; those that were not used for longest go."""
        with self._lock:
            self._blocks[owner, number] = block
            while len(self._blocks) > self._room or (len(self._blocks) > 1 and self._bytes() > KEPT_BYTES):
                self._blocks.popitem(last=False)

    def _bytes(self) -> int:
        return sum(placed.size for block in self._blocks.values() for placed in block.values())
