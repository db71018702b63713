"""The verbs that act on a conversation: fork, rewind, compact."""

from typing import TYPE_CHECKING, Any

import click

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.completing import complete_places
from agentdash.tui.cli.commands.prompting.recipients import sent_json
from agentdash.tui.cli.commands.starting.options import (
    ModeCommand,
    begins_session,
    chosen_settings,
    parse_pairs,
    timeout_option,
    wait_option,
    with_limits,
)
from agentdash.tui.cli.commands.starting.start import follow

if TYPE_CHECKING:
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.prompts.compacting import Compacting


@click.command(cls=ModeCommand)
@click.option(
    "--at", "place", metavar="TURN[.STEP]", shell_complete=complete_places,
    help="Last turn or step that the fork has; default: the newest.",
)  # fmt: skip
@click.option("--model", "-m", metavar="NAME", help="Model to use; default: that of the session.")
@click.option("--title", metavar="TEXT", help="Title of the new session.")
@begins_session(dry_run="Show from where it would go on, without starting it.")
def fork(
    ref: str,
    words: tuple[str, ...],
    place: str | None,
    model: str | None,
    title: str | None,
    pairs: tuple[str, ...],
    danger: bool,
    limits: tuple[str, ...],
    dry_run: bool,
    wait: bool,
    timeout: float | None,
    as_json: bool,
    **own: str | bool | None,
) -> int:
    """Start a session with the conversation of another one.

    It begins behind a step of that session, which stays as it is.  agentdash trajectory ID --messages --numbers
    prints the places.
    The agent forks its own conversation; if it cannot at this step, the conversation is retold in the prompt.

    Without PROMPT, or with "-", the prompt is read from stdin.  With both, stdin is appended.
    """
    from agentdash.sessions.rules.conversation.history import parsed_place
    from agentdash.sessions.service.prompts.conversations import ForkOptions

    at = parsed_place(place) if place is not None else None
    turn, step = (at.turn, at.step) if at is not None else (None, None)
    if turn == 0:
        raise UsageError("A fork begins behind a step. To begin with nothing, start a session: agentdash spawn")
    with common.open_manager() as manager:
        effect = manager.conversation.preview_fork(ref, turn, step)
        facts = {"origin": effect.session, "turn": effect.turn, "step": effect.step, "how": effect.how}
        if dry_run:
            return _print_fork(effect, facts, as_json=as_json)
        settings = with_limits(parse_pairs(pairs), limits) | chosen_settings(own, danger=danger)
        options = ForkOptions(model=model, settings=settings, title=title or "")
        text = common.read_prompt(words)
        session = manager.conversation.fork(effect.session, effect.turn, effect.step, text, options)
        if not as_json:
            _print_fork(effect, facts, as_json=False, err=True)
        return follow(manager, session, wait=wait, timeout=timeout, as_json=as_json, more={session.id: {"fork": facts}})


@click.command()
@click.option("--undo", is_flag=True, help="Take a mark back: PLACE is its number; default: the newest.")
@click.option("--list", "listing", is_flag=True, help="List the marks: rewinds, forks, summaries, compactions.")
@click.option("--dry-run", is_flag=True, help="Only show the effect.")
@common.json_option
@common.id_argument
@click.argument("place", metavar="[TURN[.STEP] | MARK]", required=False, shell_complete=complete_places)
def rewind(ref: str, place: str | None, undo: bool, listing: bool, dry_run: bool, as_json: bool) -> None:
    """Go back to an earlier step of a conversation.

    The next prompt goes on behind TURN (0: the beginning) or TURN.STEP; agentdash trajectory ID --messages --numbers
    prints the places.  Later steps stay recorded and are hidden.  Files, commands and prompts that wait are not undone.

    agentdash rewind ID --undo takes it back, exactly.  The list has the agent's own compactions too, also those that it
    began by itself.
    """
    if listing:
        if place is not None or undo or dry_run:
            raise click.UsageError("--list cannot be combined with a place, --undo or --dry-run.")
        _list_marks(ref, as_json=as_json)
        return
    from agentdash.sessions.rules.conversation.history import parsed_place

    with common.open_manager() as manager:
        if undo:
            if place is not None and not (place.isdecimal() and len(place) < 10):
                raise UsageError(f"{place!r} is not the number of a mark. List them: agentdash rewind {ref} --list")
            effect = manager.conversation.undo(ref, int(place) if place is not None else None, dry_run=dry_run)
        elif place is None:
            raise UsageError("Name the place: agentdash rewind ID TURN[.STEP], or take one back: --undo")
        else:
            at = parsed_place(place)
            effect = manager.conversation.rewind(ref, at.turn, at.step, dry_run=dry_run)
        if as_json:
            from msgspec import to_builtins

            common.print_json(to_builtins(effect))
            return
        from agentdash.tui.render.prompts.conversation import effect_text

        common.print_lines(effect_text(effect))


def _list_marks(ref: str, *, as_json: bool) -> None:
    with common.open_reader() as reader:
        session = reader.get(ref)
        shown, compactions = reader.steps.shown(session.id), reader.steps.compactions(session.id)
    if as_json:
        from agentdash.sessions.rules.json_schema import mark_json

        marked = [mark_json(mark, shown) for mark in shown.marks]
        common.print_json({"marks": marked, "compactions": compactions})
        return
    from agentdash.tui.render.prompts.conversation import marks_text

    lines = marks_text(shown, session.id, common.style(), compactions)
    common.say_on(lines, otherwise="No marks: nothing was cut or forked.")


@click.command()
@click.option("--summary", is_flag=True, help="Have the agent write a summary, even if it has a command of its own.")
@click.option("--first", is_flag=True, help="Put it before the prompts that wait.")
@click.option("--now", is_flag=True, help="Do it as soon as the session is free, even if its queue is held.")
@click.option("--key", metavar="NAME", help="Name of the request: the same name compacts nothing twice.")
@wait_option
@timeout_option
@common.json_option
@common.id_argument
@click.argument("words", nargs=-1, metavar="[WORDS]...")
def compact(
    ref: str,
    words: tuple[str, ...],
    summary: bool,
    first: bool,
    now: bool,
    key: str | None,
    wait: bool,
    timeout: float | None,
    as_json: bool,
) -> int:
    """Compact the conversation of a session.

    A summary takes the place of all that was said; WORDS are your wishes for it.  A session at work does it when its
    turn has ended.  What was recorded stays, and a compaction that fails or is stopped changes nothing.

    The agent's own command does it (claude, a live codex).  Otherwise the agent writes a summary, and the next prompt
    begins a conversation with it, and with every request of yours in your own words.
    """
    from agentdash.sessions.service.prompts.prompter import PromptOptions

    options = PromptOptions(first=first, at_once=now, key=key or "")
    with common.open_manager() as manager:
        compacting = manager.compacting.compact(ref, " ".join(words), options, summary=summary)
        return _report(manager, compacting, wait=wait, timeout=timeout, as_json=as_json)


def _print_fork(effect: Any, facts: dict[str, Any], *, as_json: bool, err: bool = False) -> int:
    if as_json:
        common.print_json(facts)
        return 0
    from agentdash.tui.render.prompts.conversation import fork_text

    common.print_lines([fork_text(effect)], err=err)
    return 0


def _report(
    manager: "SessionManager", compacting: "Compacting", *, wait: bool, timeout: float | None, as_json: bool
) -> int:
    """Report the place and the way of the compaction, and follow its turn if that was asked for."""
    sent = compacting.sent
    more = {"prompt": sent_json(sent), "by": compacting.by}
    if wait or timeout is not None:
        return follow(manager, sent.session, wait=wait, timeout=timeout, as_json=as_json, more={sent.session.id: more})
    if as_json:
        from agentdash.sessions.rules.json_schema import session_json

        common.print_json(session_json(sent.session) | {"warnings": []} | more)
    else:
        common.print_lines([compacting.answer])
    return 0
