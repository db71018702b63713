"""The verbs that change the settings of a session while it exists: model, mode."""

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from .....sessions.errors import AgentdashError
from .. import common

if TYPE_CHECKING:
    from .....sessions.values.adjustments import Adjustment


def complete_modes(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the modes of the session's agent."""
    from .....sessions.agents.registry import agent_named

    try:
        with common.open_reader() as reader:
            modes = agent_named(reader.get(context.params["ref"]).agent).modes
    except (AgentdashError, OSError, KeyError):
        return []  # the completion of a word must not print an error
    return [CompletionItem(mode) for mode in (modes.names if modes else ()) if mode.startswith(incomplete)]


@click.command()
@common.json_option
@common.id_argument
@click.argument("name", metavar="MODEL")
def model(ref: str, name: str, as_json: bool) -> None:
    """Change the model of a session from now on.

    A running live agent uses it at its next step (claude) or in its next turn (codex); other agents use it in their
    next turn.
    """
    with common.open_manager() as manager:
        _report(manager.adjuster.model(ref, name), as_json=as_json)


@click.command()
@common.json_option
@common.id_argument
@click.argument("name", metavar="MODE", shell_complete=complete_modes)
def mode(ref: str, name: str, as_json: bool) -> None:
    """Change the permission mode of a session from now on.

    For codex, MODE is a sandbox.

    A running live agent uses it at its next step (claude) or in its next turn (codex); other agents use it in their
    next turn.
    """
    with common.open_manager() as manager:
        _report(manager.adjuster.mode(ref, name), as_json=as_json)


def _report(adjustment: "Adjustment", *, as_json: bool) -> None:
    if as_json:
        from .....sessions.json_schema import adjustment_json

        common.print_json(adjustment_json(adjustment))
        return
    from ....render.prompts.adjustments import adjustment_line

    common.print_lines([adjustment_line(adjustment)])
