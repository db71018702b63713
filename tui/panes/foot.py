"""The last line of a screen: the keys that are valid now and, on demand, the dashboard's own cost."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from agentdash.tui.keys.action import Place
from agentdash.tui.keys.action_target import ActionTarget
from agentdash.tui.keys.footer import valid_keys
from agentdash.tui.keys.keymap import Keymap
from agentdash.tui.panes.cost_meter import CostMeter
from agentdash.widgets.drawing.text_lines import Line


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
        self._keys = Line(id="keys")
        self.meter = CostMeter()

    def compose(self) -> ComposeResult:
        """Yield the keys and the meter."""
        yield self._keys
        yield self.meter

    def show(self, keymap: Keymap, place: Place, target: ActionTarget, *, in_field: bool) -> None:
        """Show the valid keys.

        Args:
            keymap: the keys in force.
            place: the place that has the focus.
            target: the sessions that the keys act on.
            in_field: True if the user writes in a field of the place.
        """
        width = self._keys.size.width or self.screen.size.width
        pairs = valid_keys(keymap, place, target.can, width, in_field=in_field, table=self._table)
        parts = [Content.assemble((key, "bold $foreground"), f" {label}") for key, label in pairs]
        if self._note:
            parts.insert(0, Content.styled(self._note, "$text-warning"))
        self._keys.show_text(Content("   ").join(parts))
