"""The dialog with the settings of a project, in which the user trusts their contents."""

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from ....sessions.projects.review import Review
from ....sessions.text.sanitize import clean
from ...render.setup.trust import review_lines

Choice = Literal["trust", "forget"]


class TrustScreen(ModalScreen[Choice | None]):
    """Shows the contents, or their change since the last trust; ``y`` trusts exactly these."""

    DECIDING: ClassVar[frozenset[str]] = frozenset({"y", "f"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "choose('trust')", "trust", show=False),
        Binding("f", "choose('forget')", "forget", show=False),
        Binding("n,escape,q", "dismiss(None)", "close", show=False),
        Binding("j,down", "move(1)", "down", show=False),
        Binding("k,up", "move(-1)", "up", show=False),
        Binding("pagedown,space", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
    ]

    def __init__(self, review: Review, *, read_only: bool = False) -> None:
        super().__init__()
        self._review = review
        trusts = {"untrusted": ("trust",), "changed": ("trust", "forget"), "trusted": ("forget",)}
        self._choices = () if read_only else trusts.get(review.state, ())

    def compose(self) -> ComposeResult:
        """Yield the settings and the keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Settings of the project"
            with VerticalScroll(id="trust-text", can_focus=False):
                yield Static(clean("\n".join(review_lines(self._review))), markup=False)
            keys = {"trust": "y trust", "forget": "f stop trusting"}
            close = "n cancel" if "trust" in self._choices else "Esc close"
            yield Static("   ".join([*(keys[one] for one in self._choices), "j k move", close]), classes="keys")

    def action_choose(self, choice: Choice) -> None:
        """Close with the choice, if the state of the file offers it."""
        if choice in self._choices:
            self.dismiss(choice)

    def action_move(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one("#trust-text").scroll_relative(y=by, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        text = self.query_one("#trust-text")
        text.scroll_relative(y=pages * max(1, text.size.height - 1), animate=False)
