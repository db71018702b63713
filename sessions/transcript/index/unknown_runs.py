"""Many lines in a row that are not events: a program that prints between them can print hundreds of thousands."""

import re
from collections.abc import Iterator

from ...model import Step, StepKind
from ...text.units import count
from .kind_codes import encoded

ENDS = 50
"""Steps at each end of such a run that are shown."""

_UNKNOWN = re.escape(bytes([encoded(Step(kind=StepKind.UNKNOWN))]))
_RUN = re.compile(_UNKNOWN + b"{%d,}+" % (2 * ENDS + 2))


def middles(kinds: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """Yield the middle of each run by the kinds of the steps: the first place, and the place behind it."""
    for run in _RUN.finditer(kinds):
        yield run.start() + ENDS, run.end() - ENDS


def remark(turn: int, place: int, number: int) -> Step:
    """Return the notice that stands for a number of steps."""
    text = f"{count(number, 'more line')} that could not be read as events: add --full"
    return Step(turn=turn, index=place, kind=StepKind.NOTICE, text=text, event="left out")
