"""The group of verbs: it loads the module of a verb only when the verb is used, and ends quietly without a reader."""

import os
import sys
from importlib import import_module
from typing import Any

import click

from .exit_codes import BROKEN_PIPE

WORDS = "agentdash.words"
"""Key under which click's context keeps the verb and its arguments."""

_MODULES = {
    "changes": ("changes",),
    "config": ("config", "presets"),
    "digest": ("digest",),
    "doctor": ("doctor",),
    "export": ("export",),
    "finish": ("stop", "ps", "rm", "wait"),
    "keep": ("rename", "pin", "mark", "archive", "restore", "clean"),
    "keys": ("keys",),
    "notify": ("notify",),
    "read": ("ls", "show", "trajectory", "messages", "output", "explain"),
    "replay": ("replay",),
    "resume": ("resume-command",),
    "setup": ("demo", "completion"),
    "start": ("spawn", "run", "inject", "retry"),
    "tail": ("tail", "logs", "peek"),
    "view": ("view",),
    "watch": ("watch", "table"),
}
"""The verbs of each module in ``commands/``; the function of a verb has its name, with ``_`` for ``-``."""

_MODULE_OF = {verb: module for module, verbs in _MODULES.items() for verb in verbs}


class VerbGroup(click.Group):
    """The verbs by name, loaded on demand: ``ls`` must not pay for what ``spawn`` imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all verbs, sorted as the help shows them."""
        return sorted(_MODULE_OF)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a verb by its name; None if there is no such verb."""
        if cmd_name not in _MODULE_OF:
            return None
        module = import_module(f".commands.{_MODULE_OF[cmd_name]}", __package__)
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the verb, and keep the words of the command line in the context."""
        ctx.meta[WORDS] = args  # click (8) does not pass them to the function of the group
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; it ends quietly if its reader goes away (``agentdash ls | head -1``)."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Discard all further output, also what is still buffered at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return BROKEN_PIPE
        return result
