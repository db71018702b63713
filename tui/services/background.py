"""The calls of the manager, which run in threads, and the message on the screen that tells what came of them.

Errors of the manager are in the dashboard's words: what to do is a key, where the command line names a command.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from textual.app import App
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.errors import AgentdashError, Remedy
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.keys.keymap import Keymap
from agentdash.tui.state.message_log import MessageLog, record
from agentdash.tui.texts.act_texts import Said
from agentdash.widgets.drawing.roles import MARGIN
from agentdash.widgets.drawing.text_lines import MARKS, NARROW, Kind, MessageLine, message_rows

_HELP: Mapping[Remedy, tuple[str, str]] = {
    Remedy.WAIT_OR_STOP: ("Busy until its turn ends. {} to stop it.", "stop"),
    Remedy.STOP: ("{fact} {} to stop them.", "stop"),
    Remedy.RETRY: ("Plain command: no prompts. {} to run it again.", "retry"),
    Remedy.PROMPT: ("Done: nothing to retry. {} to send a prompt.", "write_prompt"),
    Remedy.RESTORE: ("In the trash. {} to restore it.", "undo"),
    Remedy.RAISE_LIMIT: ("{fact} {} to duplicate it with a higher limit.", "new_like"),
    Remedy.EXPLAIN: ("{fact} {} in its steps to see why.", "steps.explain"),
    Remedy.CONTINUE: ("{fact} {} to continue it in a new session.", "continue"),
    Remedy.DIAGNOSE: ("{fact} Make it writable first.", ""),
}
"""The sentence for each remedy, and the action whose key is in it."""


def worded(error: AgentdashError, keymap: Keymap) -> str:
    """Return an error's text with a key of the dashboard as the remedy."""
    if error.remedy is None:
        return str(error)
    text, action = _HELP[error.remedy]
    return text.format(keymap.name(action) if action else "", fact=error.fact)


class CurrentMessage:
    """Shows one message at a time, with the most important keys beside it; the next message replaces it.

    The next key removes it and still does its own work.  Only Esc is different: it does nothing else while an error
    or a refusal is shown, so that an Esc meant for that line loses neither marks nor a filter; and a message can give
    Esc something to do.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._line: MessageLine | None = None
        self._timer: Timer | None = None
        self._on_escape: Callable[[], object] | None = None
        self.text = ""
        """The message; empty without one."""
        self.kind = Kind.INFORMATION

    def show(
        self, text: str, kind: Kind, seconds: float | None = None, on_escape: Callable[[], object] | None = None
    ) -> None:
        """Show a message, for some seconds or until a key is pressed; Esc then calls ``on_escape``, if given."""
        self.clear()
        self.text, self.kind, self._on_escape = text, kind, on_escape
        if seconds is not None:
            self._timer = self._app.set_timer(seconds, self.clear)
        if self._app.screen_stack:
            self.follow(self._app.screen)

    def show_panel(self, lines: Callable[[int], Sequence[Content]]) -> None:
        """Show the lines for a width until a key is pressed or a message comes; a message that is there stays."""
        if not self.text:
            self._on(self._app.screen).show_lines(lines(self._app.screen.size.width - 2 * MARGIN))

    def follow(self, screen: Screen[Any]) -> None:
        """Show the message on a screen that has come to the top, or again beside other keys."""
        if self.text and screen.is_attached and screen is self._app.screen:
            width = self._app.size.width - 2 * MARGIN
            keys = getattr(screen, "keys_in", None) or (lambda _: Content())
            self._on(screen).show(_rows(self.text, self.kind, width), self.kind, width, keys)

    def _on(self, screen: Screen[Any]) -> MessageLine:
        """Return the line of a screen, which is the one to hide later."""
        line = next(iter(screen.query_children(MessageLine)), None)
        if line is None:
            line = MessageLine()
            screen.mount(line)
        if self._line is not line:
            self._hide()
        self._line = line
        return line

    def key_pressed(self, key: str) -> bool:
        """Remove the message; return whether the key did only that, or what the message gave it to do."""
        act = self._on_escape if key == "escape" else None
        only = key == "escape" and bool(self.text) and (act is not None or self.kind is not Kind.INFORMATION)
        self.clear()
        if act is not None:
            act()
        return only

    def clear_if(self, text: str) -> None:
        """Remove this message if it is on the screen, because its cause is gone."""
        if self.text == text:
            self.clear()

    def clear(self) -> None:
        """Remove the message."""
        if self._timer is not None:
            self._timer.stop()
        self._timer, self.text, self._on_escape = None, "", None
        self._hide()

    def _hide(self) -> None:
        if self._line is not None:
            self._line.hide()
        self._line = None


KEYS_LEAST = 20
"""Cells of a wide line that a sentence leaves to the keys, as long as its titles can be cut."""


def _rows(text: str, kind: Kind, width: int) -> list[str]:
    """Return the lines of a message; the titles in it are cut before it takes the place of the keys."""
    if not isinstance(text, Said):
        return message_rows(text, kind, width)
    room = width - KEYS_LEAST * (width >= NARROW and kind is Kind.INFORMATION) - len(MARKS[kind])
    return message_rows(text.fitted(room), kind, width)


T = TypeVar("T")

ERROR_SECONDS = 8.0
"""An error that comes again within this time is logged once."""

MESSAGE_SECONDS = 5.0
"""The time after which the footer comes back from below a message; an error stays until a key is pressed."""


class Requests:
    """Runs blocking calls outside the event loop, and shows and logs messages; errors never end the dashboard."""

    def __init__(self, app: App[Any], home: Path, *, worded: Callable[[AgentdashError], str] = str) -> None:
        self.worded = worded
        """Returns the text of an error in the words of the dashboard."""
        self._home = home
        self._last_error = ("", 0.0)
        self.message = CurrentMessage(app)
        """The message on the screen."""
        self.log = MessageLog()
        """All messages shown so far."""

    async def ask(self, call: Callable[..., T], *args: Any, **options: Any) -> T | None:
        """Return the result of a blocking call; None after an error, which is shown."""
        return await self.expect(asyncio.to_thread(call, *args, **options))

    async def done(self, call: Callable[..., object], *args: Any) -> bool:
        """Return whether a blocking call succeeded; an error is shown."""
        _, reason = await self.outcome(call, *args)
        if reason is not None:
            self.show_error(reason)
        return reason is None

    async def expect(self, result: Awaitable[T]) -> T | None:
        """Return the awaited result; None after an error, which is shown."""
        value, reason = await self.outcome_awaited(result)
        if reason is not None:
            self.show_error(reason)
        return value

    async def outcome_of(self, call: Callable[..., T], *args: Any) -> T | None:
        """Return the result of a blocking call; None after an error, which is not shown."""
        return (await self.outcome(call, *args))[0]

    async def outcome(
        self, call: Callable[..., T], *args: Any, passing: type[Exception] | tuple[()] = ()
    ) -> tuple[T | None, str | None]:
        """Return the result of a blocking call and None, or None and the error text, which the caller shows.

        An error of the type ``passing`` is raised: the caller handles it.
        """
        return await self.outcome_awaited(asyncio.to_thread(call, *args), passing)

    async def outcome_awaited(
        self, result: Awaitable[T], passing: type[Exception] | tuple[()] = ()
    ) -> tuple[T | None, str | None]:
        """Return the same of what is awaited."""
        try:
            return await result, None
        except passing:
            raise
        except AgentdashError as error:
            return None, clean(self.worded(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the other sessions can still be watched
            where = record(self._home, "".join(traceback.format_exception(error)))
            return None, clean(f"Unexpected {type(error).__name__}: {error}. Details: {where}")

    def show_error(self, message: str) -> None:
        """Show an error until the next key, unless the same one is on the screen."""
        message = clean(message)
        if message == self.message.text:
            return
        earlier, at = self._last_error
        if message != earlier or monotonic() - at >= ERROR_SECONDS:
            self.log.add(message, Kind.ERROR)
        self._last_error = (message, monotonic())
        self.message.show(message, Kind.ERROR)

    def show_refusal(self, message: str) -> None:
        """Show why a request changed nothing."""
        self._show(message, Kind.WARNING)

    def show_message(self, message: str, on_escape: Callable[[], object] | None = None) -> None:
        """Show a message in place of the earlier one; one that gives Esc something to do stays until a key."""
        self._show(message, Kind.INFORMATION, on_escape)

    def _show(self, message: str, kind: Kind, on_escape: Callable[[], object] | None = None) -> None:
        self.log.add(message, kind)
        words = message if isinstance(message, Said) else clean(message)
        self.message.show(words, kind, MESSAGE_SECONDS if on_escape is None else None, on_escape)
