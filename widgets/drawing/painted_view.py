"""A scroll view that draws its own lines: its strips follow the theme and the widget's own colours."""

from abc import abstractmethod

from textual import on
from textual.events import Blur, DescendantBlur, DescendantFocus, Focus
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from agentdash.widgets.drawing.paint import Painter


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
