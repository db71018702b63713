"""``[notify]``: what is told to people, and how."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

Kind = Literal["osc9", "osc99", "osc777", "bell"]
"""How a terminal is asked to tell somebody something."""

Chosen = Literal["auto", "osc9", "osc99", "osc777", "bell", "off"]
"""The same as people choose it."""

Event = Literal["waiting", "failed", "stuck", "done"]
"""What may be told: a question, a bad end (failed or lost), no progress, a good end."""

Word = Annotated[str, Meta(min_length=1, pattern=r"^[^\x00]*\Z")]


class Hook(Struct, frozen=True):
    """A command of the user's, as it travels with a launch: runners read no settings."""

    argv: tuple[str, ...] = ()
    """Empty: there is none."""
    timeout_seconds: float = 10.0


class NotifySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[notify]``: notifications, the terminal's title, and a command on a change of state."""

    terminal: Annotated[
        Chosen,
        Meta(
            description="How the terminal is asked to notify: auto takes what it is known to understand, else its bell."
        ),
    ] = "auto"
    on: Annotated[
        tuple[Event, ...],
        Meta(description="What is worth a notification; failed means lost sessions too."),
    ] = ("waiting", "failed", "stuck", "done")
    title: Annotated[
        bool, Meta(description="Whether the terminal's title says how many sessions wait and how many run.")
    ] = True
    hook: Annotated[
        tuple[Word, ...],
        Meta(
            description="A command, as a list of words, that is run whenever a session waits, runs on, or ends;"
            " empty for none."
        ),
    ] = ()
    hook_timeout_seconds: Annotated[
        float,
        Meta(gt=0, le=600, description="After how long the command, and all that it started, is killed."),
    ] = 10.0

    @property
    def command(self) -> Hook:
        """The hook as it travels; ``~`` at its beginning is the home folder, because no shell will say so."""
        first = [str(Path(word).expanduser()) if word.startswith("~/") else word for word in self.hook[:1]]
        return Hook((*first, *self.hook[1:]), self.hook_timeout_seconds)
