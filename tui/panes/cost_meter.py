"""What the dashboard itself costs: bytes to the terminal, processor time, memory; only while asked for."""

import os
import resource
import sys
from collections.abc import Callable

from textual.timer import Timer

from ...sessions.clock import monotonic
from ...sessions.supervision.processes import usage
from ...sessions.text.units import size
from ...widgets.drawing.glyphs import Signs
from ...widgets.drawing.line import Line
from .._textual_hacks import counted_writes


class Meter(Line):
    """One line, new once a second; its own bytes are not counted, so that a quiet screen reads 0 B/s."""

    def __init__(self, *, signs: Signs) -> None:
        super().__init__(signs=signs, id="meter")
        self._timer: Timer | None = None
        self._unhook: Callable[[], None] | None = None
        self._bytes = self._frames = self._own_bytes = self._own_frames = 0
        self._before = (0.0, 0.0)

    @property
    def running(self) -> bool:
        """Whether it measures."""
        return self._timer is not None

    def toggle(self) -> None:
        """Begin to measure, or end it."""
        if self._timer is None:
            self._unhook = counted_writes(self.app, self._count)
            self._before = (monotonic(), _spent())
            self._timer = self.set_interval(1.0, self._tell)
            self.say("measuring")
        else:
            self.on_unmount()
        self.display = self.running

    def on_unmount(self) -> None:
        """Leave the terminal's driver as it was."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._unhook is not None:
            self._unhook()
            self._unhook = None

    def _count(self, text: str) -> None:
        self._bytes += len(text.encode(errors="replace"))
        self._frames += 1

    def _tell(self) -> None:
        at, spent = monotonic(), _spent()
        passed = max(1e-3, at - self._before[0])
        wrote = (self._bytes - self._own_bytes) / passed
        frames = (self._frames - self._own_frames) / passed
        share = 100 * (spent - self._before[1]) / passed
        self._before = (at, spent)
        self._bytes = self._frames = self._own_bytes = self._own_frames = 0
        self.say(f"{size(round(wrote))}/s  {frames:.0f} writes/s  CPU {share:.1f} %  {_memory()}")
        self.call_after_refresh(self._leave_out_own)

    def _leave_out_own(self) -> None:
        """What was written since the line changed was written for it, unless something else moved in that moment."""
        self._own_bytes, self._own_frames = self._bytes, self._frames


def _spent() -> float:
    """Seconds of processor time so far."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def _memory() -> str:
    """Resident memory; where nobody tells how much it is now, the most that it ever was."""
    _, resident = usage(os.getpid())
    if resident is not None:
        return size(resident)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"at most {size(most * (1 if sys.platform == 'darwin' else 1024))}"
