"""The verbs that start an agent or a command: spawn, run."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.statuses import Status
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.completing import complete_command
from agentdash.tui.cli.commands.setting_up.config import complete_presets
from agentdash.tui.cli.commands.setting_up.templates import from_template, template_option, without_prompt
from agentdash.tui.cli.commands.starting.options import (
    ModeCommand,
    after_option,
    agent_option,
    at_option,
    chosen_settings,
    cwd_option,
    danger_option,
    image_option,
    key_option,
    lifecycle_option,
    limit_option,
    over_budget_option,
    parse_pairs,
    set_option,
    timeout_option,
    title_option,
    wait_option,
    with_limits,
)
from agentdash.tui.cli.exit_codes import FAILED

if TYPE_CHECKING:
    from agentdash.sessions.model.membership import Lifecycle
    from agentdash.sessions.model.session import Session
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.reader import SessionReader

LONGEST_KEY = 200
"""The maximum number of characters in the name of a task."""


@click.command(cls=ModeCommand)
@click.option(
    "--preset", metavar="NAME", shell_complete=complete_presets, help="Use [presets.NAME]; other options override it."
)
@template_option
@agent_option
@click.option("--model", "-m", metavar="NAME", help="Model to use.")
@cwd_option
@title_option
@set_option
@danger_option
@limit_option
@click.option("--budget-usd", metavar="N", help="US dollars that it and all its workers may use together.")
@click.option("--budget-tokens", metavar="N", help="Tokens that it and all its workers may use together: 500k.")
@over_budget_option
@after_option
@lifecycle_option
@key_option
@image_option
@at_option
@click.option("-n", "copies", type=click.IntRange(1, 100), metavar="N", help="Start N copies.")
@click.option("--dry-run", is_flag=True, help="Show the exact command without starting it.")
@wait_option
@timeout_option
@common.json_option
@common.prompt_argument
def spawn(
    preset: str | None,
    template: str | None,
    agent: str | None,
    model: str | None,
    cwd: str | None,
    title: str | None,
    pairs: tuple[str, ...],
    danger: bool,
    limits: tuple[str, ...],
    budget_usd: str | None,
    budget_tokens: str | None,
    over_budget: bool,
    after: str,
    lifecycle: "Lifecycle",
    key: str,
    images: tuple[str, ...],
    at: int | None,
    copies: int | None,
    dry_run: bool,
    wait: bool,
    timeout: float | None,
    as_json: bool,
    words: tuple[str, ...],
    **own: str | bool | None,
) -> int:
    """Start an agent with a prompt.

    Without PROMPT, or with "-", the prompt is read from stdin.  With both, stdin is appended:
    git diff | agentdash spawn "Review this" -

    With a preset, PROMPT replaces {prompt} in the preset's prompt, or is appended to it.

    With --after, the last message of the other session follows the prompt, marked as that session's, unless {answer}
    places it.  If the other session fails or is stopped, this one waits: see "agentdash start".

    With --at it waits in the queue until then; agentdash start starts it at once, and stop cancels it.

    Inside a session, the new session is below it.  --lifecycle ephemeral also archives it when it is done and its lead
    has read the end.
    """
    text = common.read_prompt(words, needed=preset is None) if template is None else without_prompt(words)
    options = with_limits(parse_pairs(pairs), limits) | chosen_settings(own, danger=danger)
    from agentdash.sessions.rules.launch import Start
    from agentdash.sessions.settings.sections import preset_named
    from agentdash.tui.cli.commands.usage.budget import budget_of

    start = Start(
        text,
        agent=agent or "",
        model=model,
        cwd=cwd or "",
        title=title or "",
        options=options,
        copies=copies,
        after=after,
        lifecycle=lifecycle,
        key=checked_key(key),
        budget=budget_of(budget_usd, budget_tokens, "--budget-usd", "--budget-tokens"),
        over_budget=over_budget,
        due_at=at,
        images=images,
    )
    if after and at is not None:
        raise click.UsageError("--at and --after cannot be combined.")
    with common.open_manager() as manager:
        reader = manager.reader
        check_led(manager, lifecycle)
        if template is not None:
            start = from_template(reader, template, start, preset)
        if preset is not None:
            start = preset_named(reader.settings.presets(start.cwd), preset).completing(
                start, reader.settings.default_agent(start.cwd)
            )
        if dry_run:
            return show_plan(reader.plan(start), as_json)
        sessions = manager.spawn_copies(start)
        one = sessions[0] if start.copies is None else None
        return follow(manager, one or sessions, wait=wait, timeout=timeout, as_json=as_json)


@click.command(context_settings={"allow_interspersed_args": False})
@cwd_option
@title_option
@limit_option
@after_option
@wait_option
@timeout_option
@common.raw_option
@common.json_option
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=complete_command)
def run(
    cwd: str | None,
    title: str | None,
    limits: tuple[str, ...],
    after: str,
    wait: bool,
    timeout: float | None,
    raw: bool,
    as_json: bool,
    argv: tuple[str, ...],
) -> int:
    """Run any command as a session.

    Its stdin is empty.  Example: agentdash run -- make test
    """
    with common.open_manager() as manager:
        options = with_limits({}, limits)
        session = manager.run(argv, cwd=cwd or "", title=title or "", options=options, after=after)
        return follow(manager, session, wait=wait, timeout=timeout, raw=raw, as_json=as_json)


def checked_key(key: str) -> str:
    """Return the name of a task.

    Raises:
        UsageError: it is too long, or cannot be shown.
    """
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise UsageError(f"--key expects at most {LONGEST_KEY} printable characters.")
    return key


def check_led(manager: "SessionManager", lifecycle: "Lifecycle") -> None:
    """Refuse a lifecycle that depends on a lead if there is none.

    Raises:
        UsageError: the user asks, outside of all sessions.
    """
    if lifecycle != "detached" and manager.caller.session is None and manager.caller.lead is None:
        raise UsageError(f"--lifecycle {lifecycle} needs a lead: it is for commands from inside a session.")


def show_plan(launch: Any, as_json: bool, more: Mapping[str, Any] = MappingProxyType({})) -> int:
    """Print an exact start that is not carried out; ``more`` is added to its JSON."""
    if as_json:
        from msgspec import to_builtins

        common.print_json({**to_builtins(launch), **more})
        return 0
    from agentdash.tui.render.sessions.cards import launch_text

    common.print_lines(launch_text(launch))
    _warn(launch.warnings)
    return 0


def _warn(warnings: Sequence[str]) -> None:
    from agentdash.sessions.text.sanitize import clean

    for warning in warnings:
        common.notice(clean(warning))


def follow(
    manager: "SessionManager",
    started: "Session | list[Session]",
    *,
    wait: bool,
    timeout: float | None,
    as_json: bool,
    raw: bool = False,
    more: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> int:
    """Report the result of a start: at once, or after the session's end.

    ``more`` has, by session id, further fields of the JSON.
    After a wait, stdout has only the answer (``answer=$(agentdash spawn --wait …)``), or the session as JSON.
    A list of sessions is a JSON array, even if it has only one.
    """
    several = isinstance(started, list)
    begun = started if isinstance(started, list) else [started]
    warnings = manager.reader.warnings(begun[0].id)
    _warn(warnings)
    report = partial(_report, as_json=as_json, several=several, warnings=warnings, more=more)
    sessions = [manager.started(session.id) for session in begun]
    if not wait and timeout is None:
        report(sessions)
        _say_what_is_missing(manager.reader, sessions)
        return FAILED if any(session.status in (Status.FAILED, Status.LOST) for session in sessions) else 0
    reported = {session.id: _words(session) for session in sessions}
    if not as_json:
        _report(sessions, as_json=False, err=True)
    try:
        ids = [session.id for session in sessions]
        sessions = manager.wait(ids, timeout=timeout, asked=common.say_asked, blocked=common.say_blocked)
    except TimeoutError:
        if as_json:
            report([manager.reader.get(session.id) for session in sessions])
        raise
    if as_json:
        report(sessions)
    for session in () if as_json else sessions:
        if _words(session) != reported[session.id]:
            _report([session], as_json=False, err=True)
        if several:
            common.print_lines([f"-- {common.name_of(session)} --"])
        _print_answer(manager.reader, session, raw=raw)
    _say_what_is_missing(manager.reader, sessions)
    return common.outcome(sessions)


def _say_what_is_missing(reader: "SessionReader", sessions: "list[Session]") -> None:
    """Name the way on to a user without any agent, or whose agent lost a conversation.

    Each failed session names how to install its own agent.
    """
    from agentdash.sessions.agents.lost_conversation import lost_conversation
    from agentdash.sessions.agents.registry import takes_prompts

    for session in filter(lost_conversation, sessions):
        common.notice(f"Continue it in a new session: agentdash continue {session.short_id}", named=False)
    failed = any(session.status is Status.FAILED and takes_prompts(session.agent) for session in sessions)
    if failed and not any(agent.installed for agent in reader.settings.agents()):
        common.notice("No agent installed. To try agentdash without one: agentdash demo", named=False)


def _print_answer(reader: "SessionReader", session: "Session", *, raw: bool) -> None:
    """Print a command's output, or an agent's last message, in full."""
    from agentdash.sessions.agents.registry import takes_prompts
    from agentdash.sessions.text.sanitize import clean

    if not takes_prompts(session.agent):
        common.print_pieces(reader.outputs.part(session.id).pieces(), raw=raw)
    elif answer := reader.steps.answer(session.id):
        common.print_lines([clean(answer)], painted=False)


def _words(session: "Session") -> tuple[str, str | None, str]:
    """Return the facts that decide whether a session's line is printed again; age and counts are not among them."""
    return session.status, session.reason, session.title


def _report(
    sessions: "list[Session]",
    as_json: bool,
    several: bool = False,
    *,
    err: bool = False,
    warnings: Sequence[str] = (),
    more: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> None:
    """Print the sessions, and on stderr the reasons for their states; ``warnings`` are about the start."""
    if as_json:
        from agentdash.sessions.rules.json_schema import session_json

        records = [
            session_json(session) | {"warnings": list(warnings), **more.get(session.id, {})} for session in sessions
        ]
        common.print_json(records if several else records[0])
        return
    from agentdash.sessions.text.sanitize import clean
    from agentdash.tui.render.sessions.table import session_line

    for session in sessions:
        common.print_lines([session_line(session, common.style(err=err))], err=err)
        if session.reason and (session.status.ended or session.status in (Status.WAITING, Status.QUEUED)):
            common.print_lines([clean(session.reason)], err=True)
