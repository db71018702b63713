"""The words that the shell offers for limits, settings, places in a conversation, and commands to run."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from agentdash.sessions.model.errors import AgentdashError
from agentdash.tui.cli.commands import common

MOST = 200
"""Most words that are offered: more would fill the screen."""


def complete_limits(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the limits, or for a limit behind ``=`` examples of its values."""
    from agentdash.sessions.rules.limits.limits import EXAMPLES

    return _pairs(incomplete, EXAMPLES)


def complete_settings(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the settings of the agent that the command names, else of all agents; and behind ``=`` their values."""
    from agentdash.sessions.settings.catalog import settings
    from agentdash.sessions.settings.toml_keys import dotted

    agent = context.params.get("agent")
    found: dict[str, tuple[str, ...]] = {}
    for one in settings():
        if one.path[0] == "agents" and agent in (None, one.path[1]):
            key = dotted(one.path[2:])
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *one.choices)))
    return _pairs(incomplete, found)


def _pairs(incomplete: str, known: dict[str, tuple[str, ...]]) -> list[str]:
    name, equals, begun = incomplete.partition("=")
    if equals:
        return [f"{name}={value}" for value in known.get(name, ()) if value.startswith(begun)]
    return [f"{one}=" for one in known if one.startswith(name)]


def complete_places(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the turns of the session that the command names, or behind a dot the steps of a turn, newest first."""
    try:
        with common.open_reader() as reader:
            # Click leaves the words aside that are before an option without its value.
            ref = context.params.get("ref") or next(iter(context.args), "@last")
            return list(_places(reader, ref, incomplete))
    except (AgentdashError, OSError):
        return []


def _places(reader: Any, ref: str, incomplete: str) -> Iterator[CompletionItem]:
    from agentdash.sessions.text.sanitize import one_line

    turn, dot, _ = incomplete.partition(".")
    if dot and turn.isascii() and turn.isdigit():
        steps = (step for step in reader.steps.steps_from(ref, int(turn[:9]), 0) if step.turn == int(turn[:9]))
        found = [(f"{turn}.{step.index}", step.text or step.command or step.kind) for step in steps]
    else:
        prompts = {one.turn: one.text for one in reader.prompts(ref) if one.steered is None}
        found = [(str(one.n), prompts.get(one.n, "")) for one in reader.turns(ref)]
    fitting = [(place, text) for place, text in reversed(found) if place.startswith(incomplete)]
    for place, text in fitting[:MOST]:
        yield CompletionItem(place, help=one_line(text, 60))


def complete_command(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the programs on the path for the first word of a command; the shell completes files for the others."""
    if context.params.get("argv") or "/" in incomplete or incomplete.startswith((".", "~")):
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(name) for name in sorted(_programs(incomplete))[:MOST]]


def _programs(beginning: str) -> set[str]:
    found: set[str] = set()
    for folder in filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep)):
        with suppress(OSError), os.scandir(folder) as entries:
            names = (entry.name for entry in entries if entry.name.startswith(beginning))
            found.update(name for name in names if name.isprintable() and os.access(Path(folder, name), os.X_OK))
    return found
