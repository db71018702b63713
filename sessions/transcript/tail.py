"""The steps of a session in the order in which they become known: for output that is printed and never redrawn."""

from collections.abc import Iterator

from msgspec import Struct

from ..clock import monotonic
from ..model import Step, StepKind, StepStatus
from .session_steps import Growth, SessionSteps
from .snapshot import Gap, View

ARRIVAL_SECONDS = 1.0
"""A line waits no longer for its time of arrival: a runner that was killed records none."""


class Told(Struct, frozen=True):
    """One thing to print."""

    step: Step
    begun: bool = False
    """It has begun and goes on: it is told again when it has ended."""


class StepTail:
    """Tells each step once, when it is over; what takes time also when it begins.

    A step that begins and ends between two looks is told once, and a plan each time it changes.

    Args:
        opened: the session's steps; they are refreshed and closed by this object.
        turn: tell only this turn.
        whole: tell steps with all their words.
        timed: hold back what has no time of arrival yet, see :attr:`waits`: without it nobody knows how long a step
            took, and it is not told again.
    """

    def __init__(
        self, opened: SessionSteps, turn: int | None = None, *, whole: bool = False, timed: bool = False
    ) -> None:
        self._opened = opened
        self._turn = turn
        self._whole = whole
        self._view = View()
        self._next = 0
        """The first item that was not told."""
        self._running: dict[int, Step] = {}
        """What was told to have begun, by item."""
        self._timed = timed
        self._held: tuple[int, int] | None = None
        self._held_until = 0.0
        self.behind = False
        """More is written than was read: ask again at once."""
        self.trouble: str | None = None
        """Why a file could not be read at the last look."""

    @property
    def waits(self) -> bool:
        """True while something is held back, for :data:`ARRIVAL_SECONDS` at most: look again a little later."""
        return self._held is not None

    def begin(self, last: int | None) -> list[Told]:
        """The last so many steps that are there, or all of them; before :meth:`more`.

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

    def more(self) -> list[Told]:
        """What came since.

        Raises:
            StoreError: the store cannot be read.
        """
        growth = self._look()
        earlier, view = self._view, growth.view
        if not view.extends(earlier):
            # The part between the beginning and the end of a long session was read: items have other numbers.
            self._next = view.moved(earlier, self._next - 1) + 1 if self._next else 0
            self._running = {view.moved(earlier, item): step for item, step in self._running.items()}
        self._view = view
        return [*self._went_on(view), *self._new(view)]

    def close(self) -> None:
        """Close the files."""
        self._opened.close()

    def _look(self) -> Growth:
        # Whoever writes a line and whoever records its arrival are two processes: we may look between them.
        expired = self._held is not None and monotonic() >= self._held_until
        growth = self._opened.refresh(timed=self._timed and not expired)
        if growth.held != self._held:
            self._held, self._held_until = growth.held, monotonic() + ARRIVAL_SECONDS
        self.behind = growth.ahead > 0 and growth.trouble is None
        self.trouble = growth.trouble
        return growth

    def _reaches(self, growth: Growth, last: int | None) -> bool:
        """Whether enough was read to show the last so many steps."""
        view = growth.view
        if view.complete and not growth.ahead:
            return True
        if last is None or self._turn is not None or view.complete:
            return False
        return not any(isinstance(view.find(item)[0], Gap) for item in range(max(0, len(view) - last), len(view)))

    def _items(self, view: View, first: int) -> Iterator[int]:
        """The items from here on that are steps of the turn that is wanted."""
        for item in range(first, len(view)):
            section, _ = view.find(item)
            if not isinstance(section, Gap) and self._turn in (None, section.turn):
                yield item

    def _new(self, view: View) -> list[Told]:
        told = []
        for item in self._items(view, self._next):
            step = self._step(view, item)
            if step.status is StepStatus.RUNNING:
                self._running[item] = step
            told.append(Told(step, begun=item in self._running))
        self._next = len(view)
        return told

    def _went_on(self, view: View) -> list[Told]:
        told = []
        for item, earlier in sorted(self._running.items()):
            step = self._step(view, item)
            ended = step.status is not StepStatus.RUNNING
            if ended:
                del self._running[item]
            if step.kind is StepKind.PLAN and step.items == earlier.items:
                continue
            if ended or step.kind is StepKind.PLAN:
                told.append(Told(step, begun=not ended))
                if not ended:
                    self._running[item] = step
        return told

    def _step(self, view: View, item: int) -> Step:
        return view.whole(item) if self._whole else view.step(item)
