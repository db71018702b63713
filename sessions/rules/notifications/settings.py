"""``[notify]``: the events that notify the user, and the ways to do so."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

Kind = Literal["osc9", "osc99", "osc777", "bell"]
"""The ways to make a terminal notify the user."""

Chosen = Literal["auto", "osc9", "osc99", "osc777", "bell", "off"]
"""The same, as choices of the user."""

Event = Literal["waiting", "failed", "stuck", "done"]
"""Events that can notify: a question, a bad end (failed or lost), no progress, a good end."""

Word = Annotated[str, Meta(min_length=1, pattern=r"^[^\x00]*\Z")]


class Hook(Struct, frozen=True):
    """The user's own command, passed along with a launch, because runners read no settings."""

    argv: tuple[str, ...] = ()
    """Empty if there is no command."""
    timeout_seconds: float = 10.0


class NotifySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[notify]``: notifications, the terminal's title, and a command on a change of state."""

    terminal: Annotated[
        Chosen,
        Meta(description="Notification method; auto uses what the terminal supports, else the bell."),
    ] = "auto"
    on: Annotated[
        tuple[Event, ...],
        Meta(description="Events to notify about; failed includes lost sessions."),
    ] = ("waiting", "failed", "stuck", "done")
    title: Annotated[
        bool, Meta(description="Show the number of waiting and running sessions in the terminal title.")
    ] = True
    hook: Annotated[
        tuple[Word, ...],
        Meta(description="Command (list of words) to run when a session waits, continues or ends; empty: none."),
    ] = ()
    hook_timeout_seconds: Annotated[
        float,
        Meta(gt=0, le=600, description="Timeout after which the command and its child processes are killed."),
    ] = 10.0

    @property
    def command(self) -> Hook:
        """The hook for a launch; a leading ``~`` is expanded to the home folder, because no shell does it."""
        first = [str(Path(word).expanduser()) if word.startswith("~/") else word for word in self.hook[:1]]
        return Hook((*first, *self.hook[1:]), self.hook_timeout_seconds)
