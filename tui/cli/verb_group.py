"""The group of verbs, also by their old names: it loads a verb's module on use, and ends quietly without a reader."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from textwrap import wrap
from typing import Any, ClassVar

import click

from agentdash.tui.cli.exit_codes import BROKEN_PIPE

NEW_WORDS = {
    "keys": ("config", "keys"),
    "logs": ("trajectory", "--lines=all", "--unmarked"),
    "marks": ("rewind", "--list"),
    "messages": ("trajectory", "--messages"),
    "mode": ("set", "--mode"),
    "model": ("set", "--model"),
    "peek": ("tail", "--once", "--lines=5"),
    "plan": ("usage", "plan"),
    "presets": ("config", "presets"),
    "prices": ("usage", "prices"),
    "replay": ("trajectory", "--replay"),
    "reprice": ("usage", "reprice"),
    "resume-command": ("takeover", "--print"),
    "table": ("ls", "--table"),
    "templates": ("config", "templates"),
}
"""The words of each old name; of ``logs`` those without ``--follow``, and of ``mode`` and ``model`` without the value.

They are in no help, reference or completion.
"""


def renamed(words: Sequence[str]) -> list[str]:
    """Return a command line, a verb and its arguments, with the new words."""
    verb, *rest = words
    if verb not in NEW_WORDS:
        return [*words]
    if verb == "logs" and (followed := _followed(rest)) is not None:
        return ["tail", "--lines=all", *followed]
    if verb == "messages":
        rest = ["--numbers" if word == "-n" else word for word in rest]
    if verb in ("mode", "model"):
        return ["set", *_with_value(f"--{verb}", rest)]
    return [*NEW_WORDS[verb], *rest]


def _followed(rest: Sequence[str]) -> list[str] | None:
    """Return the arguments of ``logs --follow`` for ``tail``; None if it does not follow."""
    found = [word for word in rest if word not in ("-f", "--follow")]
    found = [f"-{word[2:]}" if word.startswith("-f") else word for word in found]  # -fn 5
    return found if found != [*rest] or "--follow-turns" in rest else None


def _with_value(option: str, rest: Sequence[str]) -> list[str]:
    """Return the arguments with the second of them, ID and VALUE, as the value of an option."""
    options = [word for word in rest if word.startswith("-") and word != "--"]
    words = [word for word in rest if word not in options and word != "--"]
    return [*options, *words[:1], *(f"{option}={word}" for word in words[1:2]), *words[2:]]


COMPLETE = "_AGENTDASH_COMPLETE"
"""The variable by which a shell asks for completions, as the script of ``agentdash completion`` sets it."""

WORDS = "agentdash.words"
"""Key under which click's context keeps the verb and its arguments."""

_DESCRIBED = "agentdash.described"
"""Key under which click's context keeps that the help describes each verb."""

_MODULES = {
    "keeping.finish": ("stop", "ps", "rm", "wait"),
    "keeping.keep": ("rename", "pin", "mark", "archive", "restore", "clean"),
    "prompting.asks": ("asks", "approve", "deny", "answer"),
    "prompting.conversation": ("fork", "rewind", "compact"),
    "prompting.prompt": ("inject", "retry", "interrupt", "set"),
    "prompting.queue": ("queue", "prompts"),
    "reading.following": ("tail", "watch", "events"),
    "reading.listing": ("ls", "status"),
    "reading.reports": ("show", "explain", "digest", "changes", "export"),
    "reading.steps": ("trajectory", "output", "view"),
    "setting_up.config": ("config",),
    "setting_up.programs": ("mcp", "skill", "schema", "completion"),
    "setting_up.setup": ("demo", "doctor", "notify"),
    "setting_up.trust": ("trust",),
    "starting.continuing": ("start", "continue", "takeover"),
    "starting.start": ("spawn", "run"),
    "usage.budget": ("budget",),
    "usage.usage": ("usage",),
}
"""The verbs of each module in ``commands/``.

The function of a verb has its name, with ``_`` for ``-``, and behind a name of Python.
"""

_MODULE_OF = {verb: module for module, verbs in _MODULES.items() for verb in verbs}

_SECTIONS = {
    "Start": ("spawn", "run", "start", "demo"),
    "Watch": ("ls", "watch", "tail", "wait", "events", "status", "usage", "ps"),
    "Prompt": ("inject", "queue", "prompts", "retry", "interrupt", "compact", "set", "budget", "stop"),
    "Resume": ("continue", "fork", "rewind", "takeover"),
    "Answer": ("asks", "approve", "deny", "answer"),
    "Read": ("show", "digest", "trajectory", "output", "changes", "explain", "export", "view"),
    "Keep": ("rename", "pin", "mark", "archive", "restore", "rm", "clean"),
    "Lead": ("mcp", "skill"),
    "Set up": ("config", "trust", "notify", "doctor", "completion", "schema"),
}
"""The verbs by use; a verb that is in none comes last.  Each is one line of the help on a screen of 80 columns."""

_SYNONYMS = {
    "list": "ls", "new": "spawn", "prompt": "inject", "send": "inject",
    "reply": "inject", "broadcast": "inject", "kill": "stop", "delete": "rm", "remove": "rm", "attach": "takeover",
    "follow": "tail", "log": "trajectory", "why": "explain", "diff": "changes", "settings": "config",
    "history": "prompts",
    "undo": "rewind", "branch": "fork", "handover": "continue", "summarize": "compact",
    "allow": "approve", "accept": "approve",
    "reject": "deny", "questions": "asks", "cost": "usage", "costs": "usage", "tokens": "usage",
}  # fmt: skip
"""Names that other programs use for a verb."""

_BESIDE = 4
"""Cells of a line of the help beside a verb and its description."""


class SuggestingGroup(click.Group):
    """A group of commands that names the commands similar to an unknown one."""

    synonyms: ClassVar[Mapping[str, str]] = {}
    """Commands by the names that other programs use for them."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command.

        Raises:
            click.UsageError: there is no such command.
        """
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches  # most commands exist

            near = [name for name in (self.synonyms.get(args[0]),) if name]
            near = near or get_close_matches(args[0], self.list_commands(ctx), 3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"Unknown command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


class VerbGroup(SuggestingGroup):
    """The verbs by name, loaded on demand: ``ls`` must not pay for what ``spawn`` imports."""

    synonyms: ClassVar[Mapping[str, str]] = _SYNONYMS

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all verbs, sorted."""
        return sorted(_MODULE_OF)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a verb by its name; None if there is no such verb."""
        if cmd_name not in _MODULE_OF:
            return None
        module = import_module(f".commands.{_MODULE_OF[cmd_name]}", __package__)
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, name, None) or getattr(module, f"{name}_")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the verb, also by an old name, and keep the words of the command line in the context.

        ``help`` is ``--help`` with a description of each verb; ``help VERB`` is ``VERB --help``.
        """
        if args[0] == "help" and not ctx.resilient_parsing:
            if len(args) == 1:
                ctx.meta[_DESCRIBED] = True
                click.echo(ctx.get_help())
                ctx.exit()
            args = [*args[1:], ctx.help_option_names[-1]]
        args = renamed(args)
        ctx.meta[WORDS] = args  # click (8) does not pass them to the function of the group
        return super().resolve_command(ctx, args)

    def sections(self) -> Iterator[tuple[str, list[tuple[str, click.Command]]]]:
        """Yield the verbs by use: a title, and the verbs with their names; hidden ones are left out."""
        shown = {verb for verbs in _SECTIONS.values() for verb in verbs}
        context = click.Context(self)
        for title, verbs in (*_SECTIONS.items(), ("Other", [verb for verb in sorted(_MODULE_OF) if verb not in shown])):
            found = [(verb, self.get_command(context, verb)) for verb in verbs]
            if known := [(verb, one) for verb, one in found if one is not None and not one.hidden]:
                yield title, known

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the verbs by use, so that all are on one screen; or also what each does."""
        if _DESCRIBED not in ctx.meta:
            with formatter.section("Commands (agentdash help describes them)"):
                formatter.write_dl(list(self._named(formatter.width)))
            return
        width = max(map(len, _MODULE_OF))
        room = formatter.width - width - _BESIDE
        for title, verbs in self.sections():
            with formatter.section(title):
                formatter.write_dl([(verb.ljust(width), one.get_short_help_str(room)) for verb, one in verbs])

    def _named(self, width: int) -> Iterator[tuple[str, str]]:
        """Yield the lines of the help: a title, or an empty text, and whole names of verbs."""
        room = width - max(map(len, _SECTIONS)) - _BESIDE
        for title, verbs in self.sections():
            first, *more = wrap(" ".join(name for name, _ in verbs), room, break_on_hyphens=False)
            yield title, first
            yield from (("", line) for line in more)

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
