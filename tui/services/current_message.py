"""The message on the screen: it covers the footer until the next key, and follows the user to other screens."""

from typing import Any

from textual.app import App
from textual.screen import Screen
from textual.timer import Timer

from agentdash.widgets.drawing.message_line import Kind, MessageLine


class CurrentMessage:
    """Shows one message at a time; the next one replaces it.

    The next key removes it and still does its own work.  Only Esc is different: it does nothing else while an error
    or a refusal is shown, so that an Esc meant for that line loses neither marks nor a filter.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._line: MessageLine | None = None
        self._timer: Timer | None = None
        self.text = ""
        """The message; empty without one."""
        self.kind = Kind.INFORMATION

    def show(self, text: str, kind: Kind, seconds: float | None = None) -> None:
        """Show a message, for some seconds or until a key is pressed."""
        self.clear()
        self.text, self.kind = text, kind
        if seconds is not None:
            self._timer = self._app.set_timer(seconds, self.clear)
        if self._app.screen_stack:
            self.follow(self._app.screen)

    def follow(self, screen: Screen[Any]) -> None:
        """Show the message on a screen that has come to the top."""
        if not self.text or not screen.is_attached or screen is not self._app.screen:
            return
        line = next(iter(screen.query_children(MessageLine)), None)
        if line is None:
            line = MessageLine()
            screen.mount(line)
        if self._line is not line:
            self._hide()
        self._line = line
        line.show(self.text, self.kind, self._app.size.width)

    def key_pressed(self, key: str) -> bool:
        """Remove the message; return whether the key did only that."""
        only = key == "escape" and bool(self.text) and self.kind is not Kind.INFORMATION
        self.clear()
        return only

    def clear_if(self, text: str) -> None:
        """Remove this message if it is on the screen, because its cause is gone."""
        if self.text == text:
            self.clear()

    def clear(self) -> None:
        """Remove the message."""
        if self._timer is not None:
            self._timer.stop()
        self._timer, self.text = None, ""
        self._hide()

    def _hide(self) -> None:
        if self._line is not None:
            self._line.hide()
        self._line = None
