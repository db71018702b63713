"""A cache of parsed blocks, shared by all turns of a session."""

from collections import OrderedDict
from threading import Lock

from msgspec import Struct

from ...model import Step

KEPT_BLOCKS = 12

KEPT_BYTES = 16 << 20
"""The most bytes of lines that the kept blocks come from: a line can hold a million files or tasks."""


class Placed(Struct, frozen=True):
    """A step, and the position of the line that gave it its last form."""

    step: Step
    offset: int
    size: int
    """Bytes of the line, its newline included; 0 for a step that is in no file."""


Block = dict[int, Placed]
"""Steps by their place in the turn: those that got their last form in one block of a file."""


class BlockCache:
    """The most recently used blocks; several turns and threads share one cache."""

    def __init__(self, room: int = KEPT_BLOCKS) -> None:
        self._room = room
        self._lock = Lock()
        self._blocks: OrderedDict[tuple[object, int], Block] = OrderedDict()

    def get(self, owner: object, number: int) -> Block | None:
        """Return a block; None if it is no longer kept."""
        with self._lock:
            block = self._blocks.get((owner, number))
            if block is not None:
                self._blocks.move_to_end((owner, number))
            return block

    def keep(self, owner: object, number: int, block: Block) -> None:
        """Keep a block, and drop the least recently used ones if there are too many."""
        with self._lock:
            self._blocks[owner, number] = block
            while len(self._blocks) > self._room or (len(self._blocks) > 1 and self._bytes() > KEPT_BYTES):
                self._blocks.popitem(last=False)

    def _bytes(self) -> int:
        return sum(placed.size for block in self._blocks.values() for placed in block.values())
