"""The keys that a demo asks a new user to try, and their checklist, which goes when all are ticked."""

from collections.abc import Collection, Iterable

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from agentdash.sessions.model.session import Status
from agentdash.tui.keys.footer import Labels, first_keys
from agentdash.tui.keys.keymap import Keymap
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.roles import MUTED

MOVE, READ, REPLY = "table.down table.up", "table.open", "write_prompt"
STOP, NEW, HELP = "stop", "new_session", "help"
"""The actions of the keys, by their names."""

TOUR: Labels = (
    (MOVE, "move"),
    (READ, "read"),
    (REPLY, "reply to a finished one"),
    (STOP, "stop a busy one"),
    (NEW, "start one"),
    (HELP, "all keys"),
)
"""Keys that show within a minute what agentdash is for."""


class Checklist(Widget):
    """Shows the keys to try in as many lines as the width needs.

    Args:
        tour: the actions of the keys, and what each does.
    """

    DEFAULT_CSS = "Checklist { height: auto; text-wrap: nowrap; }"

    def __init__(self, tour: Labels, keymap: Keymap) -> None:
        super().__init__(id="checklist")
        self._tour = tour
        self._keymap = keymap
        self._done: set[str] = set()

    def use_keys(self, keymap: Keymap) -> None:
        """Name these keys."""
        self._keymap = keymap
        self.refresh(layout=True)

    def tick(self, actions: str) -> None:
        """Tick the item of these actions; the list goes with its last item."""
        if actions in self._done or not self.display:
            return
        self._done.add(actions)
        self.refresh()
        self.display = len(self._done) < len(self._tour)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines at a width."""
        return self._at(width).plain.count("\n") + 1

    def render(self) -> Content:
        """Draw the items for the current width."""
        return self._at(self.size.width)

    def _at(self, width: int) -> Content:
        return checklist(self._tour, self._done, width, self._keymap)


_SHORT = {REPLY: "reply", STOP: "stop", NEW: "start", HELP: "help"}
"""The words of items on a screen whose width has no room for the whole ones in a line."""


def checklist(tour: Labels, done: Collection[str], width: int, keymap: Keymap) -> Content:
    """Return the items, each with its mark, on one line, or in short words on lines that end between two items."""
    whole = _lines(tour, done, width, keymap)
    if len(whole) > 1:
        whole = _lines([(actions, _SHORT.get(actions, what)) for actions, what in tour], done, width, keymap)
    return Content("\n").join(whole)


def _lines(tour: Iterable[tuple[str, str]], done: Collection[str], width: int, keymap: Keymap) -> list[Content]:
    lines = [Content("")]
    for actions, what in tour:
        item = _item(first_keys(keymap, actions), what, ticked=actions in done)
        longer = lines[-1] + "   " + item if lines[-1] else item
        if lines[-1] and longer.cell_length > width:
            lines.append(item)
        else:
            lines[-1] = longer
    return lines


def _item(keys: str, what: str, *, ticked: bool) -> Content:
    if ticked:
        return Content.styled(f"{glyphs.STATES[Status.DONE]} {keys} {what}", MUTED)
    return Content.assemble(f"{glyphs.BETWEEN} ", (keys, "bold"), f" {what}")
