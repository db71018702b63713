"""The options of the verbs that begin a session with the conversation of another one: continue, fork."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .. import common
from ..completing import complete_settings
from .start import limit_option, timeout_option, wait_option

Verb = TypeVar("Verb", bound=Callable[..., Any])

SET_HELP = "Set any key of [agents.NAME] (repeatable)."
DANGER_HELP = "No sandbox, no approvals: the agent can do anything you can."


def begins_session(dry_run: str) -> Callable[[Verb], Verb]:
    """Return a decorator with the options from ``--set`` on, in their order in the help, and the id and the prompt.

    Args:
        dry_run: the help of ``--dry-run``.
    """
    parts: tuple[Callable[[Any], Any], ...] = (
        click.option(
            "--set", "pairs", multiple=True, metavar="KEY=VALUE", shell_complete=complete_settings, help=SET_HELP
        ),
        click.option("--danger", is_flag=True, help=DANGER_HELP),
        limit_option,
        click.option("--dry-run", is_flag=True, help=dry_run),
        wait_option,
        timeout_option,
        common.json_option,
        common.id_argument,
        common.prompt_argument,
    )

    def decorated(verb: Verb) -> Verb:
        for part in reversed(parts):
            verb = part(verb)
        return verb

    return decorated
