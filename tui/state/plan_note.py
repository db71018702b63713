"""The windows of plans that the first line of the screen shows while they matter."""

from collections.abc import Callable, Sequence

from textual.timer import Timer

from agentdash.sessions.model.plan_windows import PlanWindow, next_end, short_words, those_that_matter, window_words

_LONGEST_WAIT_SECONDS = 86_400.0
"""A timer for a later end is set again a day later."""


class PlanNote:
    """Words about the fullest window; they change only with a report, and when a window ends.

    Args:
        later: calls the owner after a number of seconds.
        clock: the time in UTC ms.
    """

    def __init__(self, later: Callable[[float], Timer], clock: Callable[[], int]) -> None:
        self._later = later
        self._clock = clock
        self._timer: Timer | None = None
        self._due: int | None = None
        self.words: tuple[str, ...] = ()
        """The forms of the words, the longest first; empty if no window matters."""

    def show(self, windows: Sequence[PlanWindow]) -> None:
        """Choose the words for the newest reports."""
        now = self._clock()
        shown = those_that_matter(windows, now)
        self.words = ()
        if shown:
            more = f" +{len(shown) - 1}" if len(shown) > 1 else ""
            self.words = (window_words(shown[0], now) + more, short_words(shown[0]) + more)
        self._wait_for(next_end(windows, now), now)

    def _wait_for(self, due: int | None, now: int) -> None:
        if due == self._due:
            return
        if self._timer is not None:
            self._timer.stop()
        self._due, self._timer = due, None
        if due is not None:
            seconds = (due - now) / 1000 + 0.05
            self._due = due if seconds < _LONGEST_WAIT_SECONDS else None
            self._timer = self._later(min(seconds, _LONGEST_WAIT_SECONDS))
