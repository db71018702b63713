"""The replay of a session at its own pace: the order of its steps, and the wait before each.

Pure: the caller does the waiting.
"""

import heapq
import math
from collections.abc import Iterable, Iterator

from ..model import Step

_Open = tuple[int, int, Step]
"""The step's end (UTC ms), its place in the order, and the step."""


def paced(steps: Iterable[Step], speed: float, max_gap: float, pause: float) -> Iterator[tuple[float, Step]]:
    """Yield each step with the seconds to wait before it.

    Args:
        steps: each in its last form, in the order of turn and index; never all of them in memory.
        speed: the factor by which the replay is faster than the session.
        max_gap: the longest wait, in seconds of the replay.
        pause: seconds before a step whose time is not known.
    """
    before: int | None = None
    for step in as_they_came(steps):
        moment = _over(step)
        if moment is None:
            yield pause, step
            continue
        passed = 0 if before is None else max(0, moment - before)
        before = moment
        yield min(passed / 1000 / speed, max_gap), step


def as_they_came(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps in the order in which they ended, turn by turn.

    A command that ran beside other steps comes after them.  Only steps that ran at the same time are in memory.  A
    step without a time comes after the one before it.  If the clock was set back, all open steps are yielded first.
    """
    under_way: list[_Open] = []
    turn: int | None = None
    now = 0
    for number, step in enumerate(steps):
        began = now if step.at is None else step.at
        anew = step.turn != turn or began < now
        yield from _over_by(under_way, math.inf if anew else began)
        turn, now, over = step.turn, began, _over(step)
        heapq.heappush(under_way, (now if over is None else over, number, step))
    yield from _over_by(under_way, math.inf)


def _over_by(under_way: list[_Open], moment: float) -> Iterator[Step]:
    while under_way and under_way[0][0] <= moment:
        yield heapq.heappop(under_way)[2]


def _over(step: Step) -> int | None:
    return step.at if step.ended_at is None else step.ended_at
