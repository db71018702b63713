"""The verbs that go on with sessions: start those that wait, continue one in a new one, take one over."""

import sys
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from agentdash.sessions.model.errors import AgentdashError, UnknownSessionError, UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.keeping.finish import complain
from agentdash.tui.cli.commands.starting.options import (
    ModeCommand,
    begins_session,
    chosen_settings,
    complete_agents,
    one_other,
    parse_pairs,
    with_limits,
)
from agentdash.tui.cli.commands.starting.start import follow, show_plan
from agentdash.tui.cli.exit_codes import FAILED

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Session
    from agentdash.sessions.service.lifecycle.starts.continue_plan import Continued
    from agentdash.sessions.service.manager import SessionManager


@click.command()
@click.option(
    "--after", multiple=True, callback=one_other, metavar="OTHER", shell_complete=common.complete_ids,
    help="Wait for session OTHER instead.",
)  # fmt: skip
@click.option("--no-answer", is_flag=True, help="Start without the last message of the other session.")
@common.json_option
@common.live_ids_argument
def start(refs: tuple[str, ...], after: str, no_answer: bool, as_json: bool) -> None:
    """Start sessions that wait for a time or for another one, now.

    They get the last message of the session that they waited for, also if it failed.  To cancel them, use stop.
    """
    if after and no_answer:
        raise UsageError("--after and --no-answer cannot be combined.")
    with common.open_manager() as manager:
        try:
            sessions = common.named(manager.reader, refs)
        except UnknownSessionError as error:
            raise UnknownSessionError(f"{error}. To start a new one: agentdash spawn") from None
        changed, errors = [], []
        for session in sessions:
            try:
                changed.append(_changed(manager, session, after, answer=not no_answer))
            except AgentdashError as error:
                errors.append(error)
    common.print_sessions(changed, as_json=as_json)
    complain(errors)


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
    from agentdash.sessions.rules.launch import Start

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


@click.command()
@click.option("--print", "prints", is_flag=True, help="Only print the command that opens it: a line for the shell.")
@common.json_option
@common.id_argument
def takeover(ref: str, prints: bool, as_json: bool) -> int:
    """Open the agent's own interface on an idle session.

    The session's conversation goes on there, with its folder and its recorded environment.  Until the interface is
    closed, prompts wait in the session's queue.  What you say there becomes one turn of the session.

    The command that --print prints changes to the session's folder and sets its recorded environment.
    """
    if prints:
        return _print_command(ref, as_json=as_json)
    if not sys.stdin.isatty() or not (sys.stdout.isatty() or (as_json and sys.stderr.isatty())):
        raise UsageError("takeover needs a terminal. To print the command instead: agentdash takeover ID --print")
    from agentdash.sessions.text.sanitize import clean
    from agentdash.tui.services.pager_editor import run_interface
    from agentdash.tui.texts import takeover_texts

    with common.open_manager() as manager:
        taken = manager.take_over(ref)
        done = run_interface(manager, taken, None if sys.stdout.isatty() else sys.stderr.fileno())
        common.print_one(to_builtins(done), clean(takeover_texts.outcome(taken.session, done)), as_json=as_json)
        if failure := takeover_texts.failed(taken.session, done):
            common.notice(clean(failure))
            return FAILED
    return 0


def _print_command(ref: str, *, as_json: bool) -> int:
    """Print how to go on in the agent's own interface; nothing is run."""
    with common.open_reader() as reader:
        found = reader.resume_command(ref)
    common.print_one(found, found.command, as_json=as_json, painted=False)
    return 0


def _changed(manager: "SessionManager", session: "Session", after: str, *, answer: bool) -> "Session":
    """Start a session that waits, or make it wait for another one."""
    if after:
        return manager.chains.wait_for(session.id, after)
    return manager.started(manager.chains.start(session.id, answer=answer).id)


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
