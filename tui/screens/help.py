"""All keys, made from the list of actions."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ..actions import help_sections
from ..sayings import Tour


class HelpScreen(ModalScreen[None]):
    """What every key does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "dismiss(None)", "close", show=False),
    ]

    def __init__(self, tour: Tour = (), *, reading: bool = False) -> None:
        super().__init__()
        self._tour = tour
        self._reading = reading

    def compose(self) -> ComposeResult:
        """The keys in groups."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Keys"
            with VerticalScroll():
                yield Static(help_text(self._tour, reading=self._reading))
            yield Static("Esc close", classes="keys")


def help_text(tour: Tour = (), *, reading: bool = False) -> Content:
    """One line per key, under the headings of their groups; what to try first, where there is a tour."""
    groups = [("what to try here", list(tour))] if tour else []
    lines = []
    for heading, pairs in [*groups, *help_sections(reading=reading)]:
        lines.append(Content.styled(heading, "bold"))
        lines += [Content.assemble((f"  {keys:<18}", "bold"), help_) for keys, help_ in pairs]
        lines.append(Content(""))
    return Content("\n").join(lines[:-1])
