"""The calls of the manager, which run in threads, and the messages that tell what came of them."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from textual.app import App

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.services.current_message import CurrentMessage
from agentdash.tui.state.crash_log import record
from agentdash.tui.state.message_log import MessageLog
from agentdash.widgets.drawing.message_line import Kind

T = TypeVar("T")

ERROR_SECONDS = 8.0
"""An error that comes again within this time is logged once."""

MESSAGE_SECONDS = 5.0
"""The time after which the footer comes back from below a message; an error stays until a key is pressed."""


class Requests:
    """Runs blocking calls outside the event loop, and shows and logs messages; errors never end the dashboard."""

    def __init__(
        self,
        app: App[Any],
        home: Path,
        *,
        worded: Callable[[AgentdashError], str] = str,
    ) -> None:
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
        _, reason = await self.outcome(asyncio.to_thread(call, *args))
        if reason is not None:
            self.show_error(reason)
        return reason is None

    async def expect(self, result: Awaitable[T]) -> T | None:
        """Return the awaited result; None after an error, which is shown."""
        value, reason = await self.outcome(result)
        if reason is not None:
            self.show_error(reason)
        return value

    async def outcome_of(self, call: Callable[..., T], *args: Any) -> T | None:
        """Return the result of a blocking call; None after an error, which is not shown."""
        return (await self.outcome(asyncio.to_thread(call, *args)))[0]

    async def outcome(
        self, result: Awaitable[T], *, passing: type[Exception] | tuple[()] = ()
    ) -> tuple[T | None, str | None]:
        """Return the result and None, or None and the error text, which the caller shows.

        An error of the type ``passing`` is raised: the caller handles it.
        """
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

    def show_message(self, message: str) -> None:
        """Show a message in place of the earlier one."""
        self._show(message, Kind.INFORMATION)

    def _show(self, message: str, kind: Kind) -> None:
        self.log.add(message, kind)
        self.message.show(clean(message), kind, MESSAGE_SECONDS)
