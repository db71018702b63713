"""The verb continue: the conversation of one session goes on in a new one, by any agent."""

from typing import TYPE_CHECKING, Any

import click

from .. import common
from .begin_options import begins_session
from .mode_options import ModeCommand, chosen_settings
from .start import complete_agents, follow, parse_pairs, show_plan, with_limits

if TYPE_CHECKING:
    from .....sessions.lifecycle.starts.continue_plan import Continued


@click.command("continue", cls=ModeCommand)
@click.option(
    "--agent", "-a", metavar="NAME", shell_complete=complete_agents, help="Agent CLI to start (default: the same)."
)
@click.option("--model", "-m", metavar="NAME", help="Model to use.")
@click.option("--cwd", "-C", type=click.Path(), help="Working folder (default: the same).")
@click.option("--title", metavar="TEXT", help="Title of the new session (default: the same).")
@begins_session(dry_run="Show the exact command without starting it.")
def continue_(
    agent: str | None,
    model: str | None,
    cwd: str | None,
    title: str | None,
    pairs: tuple[str, ...],
    danger: bool,
    limits: tuple[str, ...],
    dry_run: bool,
    wait: bool,
    timeout: float | None,
    as_json: bool,
    ref: str,
    words: tuple[str, ...],
    **own: str | bool | None,
) -> int:
    """Continue a session in a new one, by any agent.

    For a conversation that its agent cannot resume: the folder or the transcript is gone, it was on another machine, or
    another agent is wanted.  The new agent reads the visible conversation as text.  The old session stays as it is; it
    may be archived or in the trash.

    Without PROMPT, the agent is asked to continue where the conversation ended.  Limits stay as they were.
    """
    text = common.read_prompt(words, needed=False)
    from .....sessions.launch import Start

    options = with_limits(parse_pairs(pairs), limits) | chosen_settings(own, danger=danger)
    start = Start(text, agent=agent or "", model=model, cwd=cwd or "", title=title or "", options=options)
    with common.settled_manager() as manager:
        continued = manager.reader.continued(ref, start, words=manager.rights.prompt)
        if not as_json:
            common.print_lines([continued.words], err=True)
        more = {"continues": _json(continued)}
        if dry_run:
            return show_plan(continued.launch, as_json, more)
        session = manager.continue_session(continued)
        return follow(manager, session, wait=wait, timeout=timeout, as_json=as_json, more={session.id: more})


def _json(continued: "Continued") -> dict[str, Any]:
    """Return what is continued, for a program."""
    return {
        "session": continued.source.id,
        "agent": continued.source.agent,
        "turn": continued.turn,
        "step": continued.step,
        "messages": continued.messages,
        "actions": continued.actions,
        "left_out": continued.left_out,
    }
