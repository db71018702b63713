"""The steps of a session in the order in which they arrived, and the wait before each in a replay.

For output that is printed and never redrawn.  The caller does the waiting."""

import heapq
import math
from collections.abc import Iterable, Iterator

from msgspec import Struct

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.transcript.mark_steps import Gap
from agentdash.sessions.transcript.session_steps import Growth, SessionSteps
from agentdash.sessions.transcript.snapshot import View

ARRIVAL_SECONDS = 1.0
"""The longest wait of a line for its time of arrival, which a killed runner never records."""


class TailedStep(Struct, frozen=True):
    """One step to print."""

    step: Step
    begun: bool = False
    """The step has begun and has not ended: it is printed again when it has."""


class StepTail:
    """Reports each step once, when it has ended; a step that takes time also when it begins.

    A step that begins and ends between two reads is reported once, and a plan each time it changes.

    Args:
        opened: the session's steps; they are refreshed and closed by this object.
        turn: report only this turn.
        whole: report steps with their whole texts.
        timed: hold back lines without a time of arrival, see :attr:`waits`.  Without that time the duration of a step
            is not known, and the step is not reported again.
    """

    def __init__(
        self, opened: SessionSteps, turn: int | None = None, *, whole: bool = False, timed: bool = False
    ) -> None:
        self._opened = opened
        self._turn = turn
        self._whole = whole
        self._view = View()
        self._next = 0
        """The first item that was not reported."""
        self._running: dict[int, Step] = {}
        """Steps that were reported when they began, by item."""
        self._timed = timed
        self._held: tuple[int, int] | None = None
        self._held_until = 0.0
        self.behind = False
        """True if more is written than was read: read again at once."""
        self.trouble: str | None = None
        """The error of the last read, if a file could not be read."""

    @property
    def waits(self) -> bool:
        """True while lines are held back, at most :data:`ARRIVAL_SECONDS`: read again soon."""
        return self._held is not None

    def begin(self, last: int | None) -> list[TailedStep]:
        """Return the ``last`` steps (None: all of them); to be called before :meth:`more`.

        Raises:
            StoreError: the store cannot be read.
        """
        growth = self._look()
        while not self._reaches(growth, last) and growth.trouble is None:
            growth = self._look()
        self._view = growth.view
        items = list(self._items(growth.view, 0))
        first = 0 if last is None else max(0, len(items) - last)
        self._next = items[first] if first < len(items) else len(growth.view)
        return self._new(growth.view)

    def more(self) -> list[TailedStep]:
        """Return the new, changed and ended steps since the last call.

        Raises:
            StoreError: the store cannot be read.
        """
        growth = self._look()
        earlier, view = self._view, growth.view
        if not view.extends(earlier):
            # The part between the beginning and the end of a long session was read, which shifts the items.
            self._next = view.moved(earlier, self._next - 1) + 1 if self._next else 0
            self._running = {view.moved(earlier, item): step for item, step in self._running.items()}
        self._view = view
        return [*self._went_on(view), *self._new(view)]

    def close(self) -> None:
        """Close the files."""
        self._opened.close()

    def _look(self) -> Growth:
        # One process writes a line, another records its arrival: this read may come between the two.
        expired = self._held is not None and monotonic() >= self._held_until
        growth = self._opened.refresh(timed=self._timed and not expired)
        if growth.held != self._held:
            self._held, self._held_until = growth.held, monotonic() + ARRIVAL_SECONDS
        self.behind = growth.ahead > 0 and growth.trouble is None
        self.trouble = growth.trouble
        return growth

    def _reaches(self, growth: Growth, last: int | None) -> bool:
        """Return whether enough was read to show the ``last`` steps."""
        view = growth.view
        if view.complete and not growth.ahead:
            return True
        if last is None or self._turn is not None or view.complete:
            return False
        return not any(isinstance(view.find(item)[0], Gap) for item in range(max(0, len(view) - last), len(view)))

    def _items(self, view: View, first: int) -> Iterator[int]:
        """Yield the items from ``first`` on that are steps of the requested turn."""
        for item in range(first, len(view)):
            section, _ = view.find(item)
            if not isinstance(section, Gap) and self._turn in (None, section.turn):
                yield item

    def _new(self, view: View) -> list[TailedStep]:
        printed = []
        for item in self._items(view, self._next):
            step = self._step(view, item)
            if step.is_open:
                self._running[item] = step
            printed.append(TailedStep(step, begun=item in self._running))
        self._next = len(view)
        return printed

    def _went_on(self, view: View) -> list[TailedStep]:
        printed = []
        for item, earlier in sorted(self._running.items()):
            step = self._step(view, item)
            ended, waits = not step.is_open, step.asked_at != earlier.asked_at
            if ended:
                del self._running[item]
            if step.kind is StepKind.PLAN and step.items == earlier.items:
                continue
            if ended or waits or step.kind is StepKind.PLAN:
                printed.append(TailedStep(step, begun=not ended))
                if not ended:
                    self._running[item] = step
        return printed

    def _step(self, view: View, item: int) -> Step:
        return view.whole(item) if self._whole else view.step(item)


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
        restarted = step.turn != turn or began < now
        yield from _over_by(under_way, math.inf if restarted else began)
        turn, now, over = step.turn, began, _over(step)
        heapq.heappush(under_way, (now if over is None else over, number, step))
    yield from _over_by(under_way, math.inf)


def _over_by(under_way: list[_Open], moment: float) -> Iterator[Step]:
    while under_way and under_way[0][0] <= moment:
        yield heapq.heappop(under_way)[2]


def _over(step: Step) -> int | None:
    return step.at if step.ended_at is None else step.ended_at
