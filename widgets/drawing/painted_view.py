"""A scroll view that draws its own lines: its strips follow the theme and the widget's own colours."""

from abc import abstractmethod

from textual.scroll_view import ScrollView

from .glyphs import Signs
from .paint import Painter


class PaintedView(ScrollView):
    """Has a painter for its lines, and drops them when a style behind them changes."""

    def __init__(self, signs: Signs, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.signs = signs
        """The characters to draw with."""
        self._painter = Painter(self, signs)

    @abstractmethod
    def forget_strips(self) -> None:
        """Drop all drawn lines."""

    def on_mount(self) -> None:
        """Subscribe to theme changes: a theme that keeps the widget's own colours restyles nothing here."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._theme_changed())

    def notify_style_update(self) -> None:
        """Draw all lines again: the widget's own colours changed."""
        super().notify_style_update()
        self._drop()

    def _theme_changed(self) -> None:
        if self._painter.outdated:
            self._drop()
            self.refresh()

    def _drop(self) -> None:
        self._painter.clear()
        self.forget_strips()
