"""The last line of a screen: the keys that are valid now and, on demand, the dashboard's own cost."""

import os
import resource
import sys
from collections.abc import Callable
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.runner.processes.processes import usage
from agentdash.sessions.text.units import size
from agentdash.tui._textual_hacks import counted_writes
from agentdash.tui.keys.action import Place
from agentdash.tui.keys.availability import ActionTarget
from agentdash.tui.keys.footer import ON_CARD, Pairs, key_line, labelled, valid_keys, whole
from agentdash.tui.keys.keymap import Keymap
from agentdash.widgets.drawing.text_lines import Line


class CostMeter(Line):
    """One line, updated once a second. Its own bytes are not counted, so that a quiet screen shows 0 B/s."""

    def __init__(self) -> None:
        super().__init__(id="meter")
        self._timer: Timer | None = None
        self._unhook: Callable[[], None] | None = None
        self._bytes = self._frames = self._own_bytes = self._own_frames = 0
        self._before = (0.0, 0.0)

    @property
    def running(self) -> bool:
        """True while it measures."""
        return self._timer is not None

    def toggle(self) -> None:
        """Start or stop measuring."""
        if self._timer is None:
            self._unhook = counted_writes(self.app, self._count)
            self._before = (monotonic(), _spent())
            self._timer = self.set_interval(1.0, self._tell)
            self.show_text("measuring")
        else:
            self.on_unmount()
        self.display = self.running

    def on_unmount(self) -> None:
        """Stop measuring, and restore the terminal's driver."""
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
        self.show_text(f"{size(round(wrote))}/s  {frames:.0f} writes/s  CPU {share:.1f} %  {_memory()}")
        self.call_after_refresh(self._leave_out_own)

    def _leave_out_own(self) -> None:
        """Exclude the bytes since this line changed: they drew this line, unless something else changed just then."""
        self._own_bytes, self._own_frames = self._bytes, self._frames


def _spent() -> float:
    """Return the processor time used so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _memory() -> str:
    """Return the resident memory; its peak if the present value is not known."""
    _, resident = usage(os.getpid())
    if resident is not None:
        return size(resident)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"at most {size(most * (1 if sys.platform == 'darwin' else 1024))}"


class Foot(Horizontal):
    """Shows the keys of the place that has the focus, as many as fit beside the meter.

    Args:
        table: True if the screen has a table of sessions.
        note: the text before the keys; empty for none.
    """

    def __init__(self, *, table: bool, note: str = "") -> None:
        super().__init__(id="foot")
        self._table = table
        self._note = note
        self._pairs: Callable[[int], Pairs] | None = None
        """Returns the valid keys that fit into a width."""
        self.keys = Line(id="keys")
        """The keys, beside the meter."""
        self.meter = CostMeter()

    def compose(self) -> ComposeResult:
        """Yield the keys and the meter."""
        yield self.keys
        yield self.meter

    def show(
        self, keymap: Keymap, place: Place, target: ActionTarget, *, in_field: bool, on_card: bool, searching: bool
    ) -> None:
        """Show the valid keys.

        Args:
            in_field: True if the user writes in a field of the place.
            on_card: True if the card of an ask has the keys.
            searching: True during a search in the place.
        """
        if on_card:
            self._pairs = partial(whole, labelled(keymap, ON_CARD))
        else:
            self._pairs = partial(
                valid_keys, keymap, place, target.can, in_field=in_field, table=self._table, searching=searching
            )
        width = self.keys.size.width or self.screen.size.width
        note = Content.styled(self._note, "$text-warning")
        self.keys.show_text(Content("   ").join(part for part in (note, self.keys_in(width)) if part))

    def keys_in(self, width: int) -> Content:
        """Return the most important of the valid keys that fit into ``width`` cells."""
        return key_line(self._pairs(width)) if self._pairs is not None else Content()
