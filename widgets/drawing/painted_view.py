"""Turn roles into strips, which follow the theme: the only module that maps the meaning of a text to a style."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.color import Color
from textual.events import Blur, DescendantBlur, DescendantFocus, Focus
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from agentdash.sessions.text.sanitize import cell_width
from agentdash.widgets.drawing.roles import ROLES, Look
from agentdash.widgets.drawing.spans import joined, painted


class Ground(NamedTuple):
    """The theme and the widget on which roles are painted."""

    variables: Mapping[str, str]
    """The variables of the theme."""
    style: Style
    """The style of the widget; its bold and italic are kept."""
    background: Color
    color: Color


def resolved(look: Look, on: Ground) -> Style:
    """The style of a look on a widget."""
    background = on.background + _color(on.variables[look.ground]) if look.ground else on.background
    color = _color(on.variables[look.color]) if look.color else on.color
    flags = Style.parse(on.variables.get(look.flags, look.flags))
    colors = Style.from_color((background + color).rich_color, background.rich_color)
    return on.style.without_color + flags + colors


def _color(value: str) -> Color:
    """A colour in style sheet syntax; ``auto 87%`` is the most readable colour on the background."""
    word, _, share = value.partition(" ")
    return Color.automatic(float(share.rstrip("%") or 100)) if word == "auto" else Color.parse(value)


class Painter:
    """Builds the strips of one widget; drops its styles when the theme changes."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}
        self._ground: Ground | None = None
        """The theme and colours that the styles were made for; None if there are no styles."""

    @property
    def outdated(self) -> bool:
        """True if the theme or the widget's own colours have changed since the styles were made."""
        return self._ground is not None and self._ground != self.ground

    def clear(self) -> None:
        """Drop all styles, after a change of the theme or of the widget's own colours."""
        self._styles.clear()
        self._ground = None

    def style(self, role: str) -> Style:
        """The style of a role on the widget's own background."""
        style = self._styles.get(role)
        if style is None:
            if self._ground is None:
                self._ground = self.ground
            style = self._styles[role] = resolved(ROLES[role], self._ground) if role in ROLES else self._ground.style
        return style

    @property
    def ground(self) -> Ground:
        """The theme and the colours on which roles are painted now."""
        widget = self._widget
        *_, color = widget.colors
        _, background = widget.background_colors
        return Ground(widget.app.theme_variables, widget.rich_style, background, color)

    def strip(self, spans: Iterable[tuple[str, str]], width: int, *, over: str = "") -> Strip:
        """One line; ``over`` names a role whose style overrides all others, such as the cursor's."""
        top = self.style(over) if over else None
        segments = []
        for text, style in joined((self._with_room(text), role) for text, role in spans):
            segments.append(Segment(text, top if top is not None else self.style(style)))
        return Strip(segments).adjust_cell_length(width, top if top is not None else self.style(""))

    def _with_room(self, text: str) -> str:
        """The text as it is painted, with as many cells as were counted on: Rich (15) can use fewer, a terminal not."""
        if text.isascii():
            return text
        text = painted(text)
        return text + " " * (cell_width(text) - cell_len(text))


class PaintedView(ScrollView):
    """Has a painter for its lines, and drops them when a style behind them changes."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._painter = Painter(self)

    @abstractmethod
    def forget_strips(self) -> None:
        """Drop all drawn lines."""

    @abstractmethod
    def show_focus(self) -> None:
        """Draw the parts that differ with and without the focus."""

    @on(Focus)
    def _take_focus(self, event: Focus) -> None:
        """Draw only what shows the focus: Textual (8.2) would draw the whole view."""
        event.prevent_default()
        self._change_focus(True, DescendantFocus(self))

    @on(Blur)
    def _lose_focus(self, event: Blur) -> None:
        event.prevent_default()
        self._change_focus(False, DescendantBlur(self))

    def _change_focus(self, has_focus: bool, news: Message) -> None:
        self.has_focus = has_focus
        self.show_focus()
        if self.parent is not None:
            self.parent.post_message(news)

    def set_height(self, lines: int) -> None:
        """Set the number of lines to scroll through.

        Textual (8.2) lays out the whole screen for a new ``virtual_size``; here it does so only if the scrollbar comes
        or goes.
        """
        page = self.container_size.height
        if not page or self.show_vertical_scrollbar != (lines > page):
            self.virtual_size = Size(0, lines)
            return
        self.set_reactive(ScrollView.virtual_size, Size(0, lines))
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = lines

    def on_mount(self) -> None:
        """Subscribe to theme changes: a theme that keeps the widget's own colours restyles nothing here."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._theme_changed())

    def notify_style_update(self) -> None:
        """Draw all lines again if the widget's own colours changed."""
        super().notify_style_update()
        if self._painter.outdated:
            self._drop()

    def _theme_changed(self) -> None:
        if self._painter.outdated:
            self._drop()
            self.refresh()

    def _drop(self) -> None:
        self._painter.clear()
        self.forget_strips()
