"""The decisions about an ask, as many in a line as fit, one of which has the cursor."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from agentdash.sessions.rules.asks.model import Verdict
from agentdash.sessions.text.sanitize import cell_width, cut
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.roles import MUTED


class Decision(Struct, frozen=True, kw_only=True):
    """One decision that is offered."""

    verdict: Verdict
    key: str
    """The letter that makes it; empty if only Enter does."""
    text: str
    possible: bool = True
    """False for a line that only explains why the decision is not offered."""


class Decisions(Widget, can_focus=True):
    """Shows decisions; the cursor begins on the one that denies, and Enter makes the one under the cursor."""

    DEFAULT_CSS = "Decisions { height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,right", "go(1)", "next", show=False),
        Binding("up,left", "go(-1)", "previous", show=False),
        Binding("enter", "choose", "choose", show=False),
    ]

    class Chosen(Message):
        """The user pressed Enter on a decision."""

        def __init__(self, verdict: Verdict) -> None:
            super().__init__()
            self.verdict = verdict

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._decisions: Sequence[Decision] = ()
        self._at: int | None = None
        self._enabled = False
        self._focused = False
        """Set by the focus events, because ``has_focus`` changes after them."""

    def offer(self, decisions: Sequence[Decision]) -> None:
        """Show other decisions, with the cursor on the safest: the denial; on none if nothing can be denied."""
        safest = (Verdict.ANSWER, Verdict.DENY, Verdict.STOP)
        places = {one.verdict: at for at, one in enumerate(decisions) if one.possible}
        self._decisions, self._enabled = decisions, True
        self._at = next((places[verdict] for verdict in safest if verdict in places), None)
        self.refresh(layout=True)

    def disable(self) -> None:
        """Refuse every decision from now on; the lines stay."""
        self._enabled = False
        self.refresh()

    def takes(self, verdict: Verdict) -> bool:
        """Return whether the decision is offered."""
        return self._enabled and any(one.verdict is verdict and one.possible for one in self._decisions)

    def action_go(self, by: int) -> None:
        """Move the cursor to the next decision that can be made, or to the previous one."""
        places = [at for at, one in enumerate(self._decisions) if one.possible]
        if places:
            now = places.index(self._at) if self._at in places else (-1 if by > 0 else len(places))
            self._at = places[max(0, min(now + by, len(places) - 1))]
            self.refresh()

    def action_choose(self) -> None:
        """Report the decision under the cursor."""
        if self._enabled and self._at is not None:
            self.post_message(self.Chosen(self._decisions[self._at].verdict))

    def on_focus(self) -> None:
        """Show the cursor."""
        self._focused = True
        self.refresh()

    def on_blur(self) -> None:
        """Show the cursor less bright."""
        self._focused = False
        self.refresh()

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - as Textual declares it
        """Return all the width there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the lines that the decisions take."""
        return self.lines(width)

    def lines(self, width: int) -> int:
        """The lines that the decisions take in ``width`` cells."""
        return len(self._packed(width))

    def _packed(self, width: int) -> list[list[int]]:
        """The numbers of the decisions in each line."""
        lines: list[list[int]] = []
        left = 0
        for at, one in enumerate(self._decisions):
            wide = cell_width(_words(one)) + len(_EDGE) + len(_APART)
            if not lines or wide > left:
                lines.append([])
                left = width + len(_APART)
            lines[-1].append(at)
            left -= wide
        return lines

    def render(self) -> Content:
        """Return the lines; a decision that is wider than its line is cut."""
        lines = (Content(_APART).join(self._shown(at) for at in line) for line in self._packed(self.size.width))
        return Content("\n").join(lines)

    def _shown(self, at: int) -> Content:
        one = self._decisions[at]
        under = at == self._at and self._enabled
        edge = glyphs.CURSOR if under and self._focused else _EDGE
        words = cut(_words(one), self.size.width - len(_EDGE))
        if not self._enabled or not one.possible:
            return Content.styled(f"{edge}{words}", MUTED)
        if under and self._focused:
            return Content.styled(f"{edge}{words}", "bold $block-cursor-foreground on $block-cursor-background")
        shown = Content.styled(f"{edge}{words}", "bold $foreground" if under else "$foreground")
        return shown.stylize("bold", len(edge), len(edge) + len(one.key))


_EDGE, _APART = " ", "  "


def _words(one: Decision) -> str:
    return f"{one.key} {one.text}" if one.key else one.text
