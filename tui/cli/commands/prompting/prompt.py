"""The verbs that act on a session at work: inject, retry, interrupt, set."""

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from agentdash.sessions.model.errors import AgentdashError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.completing import complete_limits, complete_settings
from agentdash.tui.cli.commands.prompting.recipients import (
    agree,
    recipient_options,
    recipients,
    send_to_all,
    sent_json,
    texts_for,
)
from agentdash.tui.cli.commands.setting_up.templates import template_option
from agentdash.tui.cli.commands.starting.options import (
    ModeCommand,
    at_option,
    chosen_settings,
    image_option,
    parse_pairs,
    parsed_limits,
    timeout_option,
    wait_option,
)
from agentdash.tui.cli.commands.starting.start import follow

if TYPE_CHECKING:
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.prompts.prompter import PromptOptions, Sent

turn_options = common.options(
    click.option("--model", "-m", metavar="NAME", help="Model from this turn on."),
    click.option(
        "--set",
        "pairs",
        multiple=True,
        metavar="KEY=VALUE",
        shell_complete=complete_settings,
        help="Set any key of [agents.NAME] for this turn.",
    ),
    click.option("--danger", is_flag=True, help="No sandbox, no approvals in this turn."),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="WHAT=N",
        shell_complete=complete_limits,
        help="New limit from this turn on, e.g. tokens=1M (repeatable; as for spawn).",
    ),
    click.option("--over-budget", is_flag=True, help="Send it although the budget of the day or the week is spent."),
)
"""The options by which a turn may differ from its session."""


@click.command(cls=ModeCommand)
@turn_options
@click.option("--first", is_flag=True, help="Put it before the prompts that wait.")
@click.option("--now", is_flag=True, help="Send it as soon as the session is free, even if its queue is held.")
@click.option("--next", "next_", is_flag=True, help="Send it as the next turn, also if the agent could read it now.")
@click.option("--key", metavar="NAME", help="Name of the request: the same name sends nothing twice.")
@image_option
@at_option
@template_option
@recipient_options
@wait_option
@timeout_option
@common.json_option
@click.argument("words", metavar="ID... [PROMPT] [-]", nargs=-1, shell_complete=common.complete_ids)
def inject(
    words: tuple[str, ...],
    template: str | None,
    wanted: str | None,
    everything: bool,
    yes: bool,
    limits: tuple[str, ...],
    model: str | None,
    pairs: tuple[str, ...],
    danger: bool,
    over_budget: bool,
    first: bool,
    now: bool,
    next_: bool,
    key: str | None,
    images: tuple[str, ...],
    at: int | None,
    wait: bool,
    timeout: float | None,
    as_json: bool,
    **own: str | bool | None,
) -> int:
    """Send a prompt to sessions, or queue it.

    A session at work gets it when its turn has ended; a live agent reads it at its next step.

    The last of several words is the PROMPT, unless it is the id of a session (8 characters or more).  Without PROMPT,
    or with "-", the prompt is read from stdin.  With both, stdin is appended.

    With --at it waits in the queue until then: agentdash queue shows, changes and cancels it.

    A prompt to several sessions has one key; a session that refuses it is reported, and the others get it.
    """
    place: dict[str, Any] = {
        "first": first,
        "at_once": now,
        "steer": not next_,
        "key": key or "",
        "over_budget": over_budget,
    }
    place["images"] = images
    if at is not None:
        if now or wait or timeout is not None:
            raise click.UsageError("--at cannot be combined with --now, --wait or --timeout.")
        place["due_at"] = at
    options = _options(model, pairs, danger, limits, own, **place)
    chosen = wanted is not None or everything
    with common.settled_manager() if chosen else common.open_manager() as manager:
        to = recipients(manager.reader, words, wanted, everything=everything, templated=template is not None)
        text_for = texts_for(manager.reader, to, template)
        if to.several:
            if chosen:
                agree(to.sessions, yes=yes)
            return send_to_all(manager, to.sessions, text_for, options, wait=wait, timeout=timeout, as_json=as_json)
        sent = manager.prompts.inject(to.sessions[0].id, text_for(to.sessions[0]), options)
        return _report(manager, sent, wait=wait, timeout=timeout, as_json=as_json)


@click.command(cls=ModeCommand)
@turn_options
@click.option("--allow", is_flag=True, help="Allow what the turn was denied: the tools of claude, codex's sandbox.")
@wait_option
@timeout_option
@common.raw_option
@common.json_option
@common.id_argument
def retry(
    ref: str,
    limits: tuple[str, ...],
    model: str | None,
    pairs: tuple[str, ...],
    danger: bool,
    over_budget: bool,
    allow: bool,
    wait: bool,
    timeout: float | None,
    raw: bool,
    as_json: bool,
    **own: str | bool | None,
) -> int:
    """Retry the last turn of a session.

    A command can also be run again after it succeeded.
    """
    options = _options(model, pairs, danger, limits, own, over_budget=over_budget)
    with common.open_manager() as manager:
        sent = manager.prompts.retry(ref, options, allow_denied=allow)
        return _report(manager, sent, wait=wait, timeout=timeout, as_json=as_json, raw=raw)


@click.command()
@click.option("--say", metavar="PROMPT", help="Prompt of the turn that follows at once.")
@common.json_option
@common.id_argument
def interrupt(ref: str, say: str | None, as_json: bool) -> int:
    """Interrupt the running turn, and keep the session.

    A live agent keeps its process; others end it as by stop, and resume with the next prompt.  Prompts that wait are
    held: agentdash queue ID release.
    """
    with common.open_manager() as manager:
        receipt, sent = manager.prompts.interrupt(ref, say)
        if as_json:
            from msgspec import to_builtins

            common.print_json({"receipt": to_builtins(receipt), "prompt": sent_json(sent) if sent else None})
            return 0
        common.print_lines([receipt.summary() or receipt.note or f"{receipt.status}"])
        if sent is not None:
            common.print_lines([sent.answer])
    return 0


def complete_modes(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the modes of the session's agent."""
    from agentdash.sessions.agents.registry import agent_named

    # Click leaves the words aside that are before an option without its value.
    ref = context.params.get("ref") or next(iter(context.args), "@last")
    try:
        with common.open_reader() as reader:
            modes = agent_named(reader.get(ref).agent).modes
    except (AgentdashError, OSError):
        return []  # the completion of a word must not print an error
    return [CompletionItem(mode) for mode in (modes.names if modes else ()) if mode.startswith(incomplete)]


@click.command("set")
@click.option("--model", metavar="MODEL", help="Model from now on.")
@click.option(
    "--mode", metavar="MODE", shell_complete=complete_modes, help="Permission mode from now on; for codex, a sandbox."
)
@common.json_option
@common.id_argument
def set_(ref: str, model: str | None, mode: str | None, as_json: bool) -> None:
    """Change the model or the permission mode of a session.

    A running live agent uses it at its next step (claude) or in its next turn (codex); other agents use it in their
    next turn.
    """
    if model is None and mode is None:
        raise click.UsageError("Give --model, --mode, or both.")
    from agentdash.tui.render.prompts.prompts import adjustment_line

    with common.open_manager() as manager:
        changes = manager.adjuster.change(ref, mode=mode, model=model)
    if not as_json:
        common.print_lines(map(adjustment_line, changes))
        return
    from agentdash.sessions.rules.json_schema import record_json

    printed = list(map(record_json, changes))
    common.print_json(printed if printed[1:] else printed[0])


def _options(
    model: str | None,
    pairs: tuple[str, ...],
    danger: bool,
    limits: tuple[str, ...],
    own: dict[str, str | bool | None],
    **place: Any,
) -> "PromptOptions":
    from agentdash.sessions.service.prompts.prompter import PromptOptions

    settings = parse_pairs(pairs) | chosen_settings(own, danger=danger)
    instructions = settings.pop("instructions", None)
    return PromptOptions(
        limits=parsed_limits(limits), settings=settings, model=model, instructions=instructions, **place
    )


def _report(
    manager: "SessionManager", sent: "Sent", *, wait: bool, timeout: float | None, as_json: bool, raw: bool = False
) -> int:
    """Report where the prompt went; a prompt that waits starts nothing yet."""
    if sent.turn is None and not wait and timeout is None:
        if as_json:
            from agentdash.sessions.rules.json_schema import session_json

            common.print_json(session_json(sent.session) | {"warnings": [], "prompt": sent_json(sent)})
        else:
            common.print_lines([sent.answer])
        return 0
    more = {sent.session.id: {"prompt": sent_json(sent)}}
    return follow(manager, sent.session, wait=wait, timeout=timeout, as_json=as_json, raw=raw, more=more)
