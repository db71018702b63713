"""The dialog with the settings of a project, in which the user trusts their contents."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from agentdash.sessions.service.projects.review import Review
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.dialogs.dialog import Dialog, Kind
from agentdash.tui.render.setup.trust import review_lines

Choice = Literal["trust", "forget"]

_KEYS = {"trust": "y trust", "forget": "f stop trusting"}


class TrustScreen(Dialog[Choice]):
    """Shows the contents, or their change since the last trust; ``y`` trusts exactly these."""

    KIND = Kind.ASKS
    DECIDING: ClassVar[frozenset[str]] = frozenset({"y", "f"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "choose('trust')", "trust", show=False),
        Binding("f", "choose('forget')", "forget", show=False),
        Binding("n", "dismiss(None)", "close", show=False),
        Binding("space", "page(1)", "page down", show=False),
    ]

    def __init__(self, review: Review, *, read_only: bool = False) -> None:
        trusts = {"untrusted": ("trust",), "changed": ("trust", "forget"), "trusted": ("forget",)}
        self._choices = () if read_only else trusts.get(review.state, ())
        close = "n cancel" if "trust" in self._choices else "Esc close"
        keys = "   ".join([*(_KEYS[one] for one in self._choices), "j k move", close])
        super().__init__("Settings of the project", keys)
        self._text = clean("\n".join(review_lines(review)))

    def body(self) -> Iterable[Widget]:
        """Return the settings."""
        return [VerticalScroll(Static(self._text, markup=False), can_focus=False)]

    def action_choose(self, choice: Choice) -> None:
        """Close with the choice, if the state of the file offers it."""
        if choice in self._choices:
            self.dismiss(choice)
