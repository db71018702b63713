"""The decisions about an ask, a line for each, one of which has the cursor."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from agentdash.sessions.rules.asks.model import Verdict
from agentdash.sessions.text.sanitize import cut, pad
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
        """Return a line for each decision."""
        return len(self._decisions)

    def render(self) -> Content:
        """Return the decisions, each cut to the width."""
        return Content("\n").join(self._line(at, one) for at, one in enumerate(self._decisions))

    def _line(self, at: int, one: Decision) -> Content:
        under = at == self._at and self._enabled
        edge = glyphs.CURSOR if under and self._focused else " "
        text = cut(f"{edge} {pad(one.key or ' ', 2)} {one.text}", self.size.width)
        if not self._enabled or not one.possible:
            return Content.styled(text, MUTED)
        if not under:
            return Content.styled(text, "$foreground")
        line = pad(text, self.size.width)
        return (
            Content.styled(line, "bold $block-cursor-foreground on $block-cursor-background")
            if self._focused
            else Content.styled(text, "bold $foreground")
        )
