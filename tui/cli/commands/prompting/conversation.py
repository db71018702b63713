"""The verbs that act on a conversation: fork, rewind, marks."""

from typing import Any

import click

from .....sessions.errors import UsageError
from .. import common
from ..completing import complete_places
from ..starting.begin_options import begins_session
from ..starting.mode_options import ModeCommand, chosen_settings
from ..starting.start import follow, parse_pairs, with_limits


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

    It begins behind a step of that session, which stays as it is.  agentdash messages ID --numbers prints the places.
    The agent forks its own conversation; if it cannot at this step, the conversation is retold in the prompt.

    Without PROMPT, or with "-", the prompt is read from stdin.  With both, stdin is appended.
    """
    from .....sessions.conversation.places import parsed_place
    from .....sessions.prompts.conversations import ForkOptions

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
@click.option("--dry-run", is_flag=True, help="Only show the effect.")
@common.json_option
@common.id_argument
@click.argument("place", metavar="[TURN[.STEP] | MARK]", required=False, shell_complete=complete_places)
def rewind(ref: str, place: str | None, undo: bool, dry_run: bool, as_json: bool) -> None:
    """Go back to an earlier step of a conversation.

    The next prompt goes on behind TURN (0: the beginning) or TURN.STEP; agentdash messages ID --numbers prints the
    places.  Later steps stay recorded and are hidden.  Files, commands and prompts that wait are not undone.

    agentdash rewind ID --undo takes it back, exactly.
    """
    from .....sessions.conversation.places import parsed_place

    with common.open_manager() as manager:
        if undo:
            if place is not None and not (place.isdecimal() and len(place) < 10):
                raise UsageError(f"{place!r} is not the number of a mark. List them: agentdash marks {ref}")
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
        from ....render.prompts.conversation import effect_text

        common.print_lines(effect_text(effect))


@click.command()
@common.json_option
@common.id_argument
def marks(ref: str, as_json: bool) -> None:
    """List the marks of a conversation: rewinds, forks, summaries.

    The agent's own compactions are among them, also those that it began by itself.
    """
    with common.open_reader() as reader:
        session = reader.get(ref)
        shown, compactions = reader.steps.shown(session.id), reader.steps.compactions(session.id)
    if as_json:
        from .....sessions.json_schema import mark_json

        marked = [mark_json(mark, shown) for mark in shown.marks]
        common.print_json({"marks": marked, "compactions": compactions})
        return
    from ....render.prompts.conversation import marks_text

    lines = marks_text(shown, session.id, common.style(), compactions)
    common.say_on(lines, otherwise="No marks: nothing was cut or forked.")


def _print_fork(effect: Any, facts: dict[str, Any], *, as_json: bool, err: bool = False) -> int:
    if as_json:
        common.print_json(facts)
        return 0
    from ....render.prompts.conversation import fork_text

    common.print_lines([fork_text(effect)], err=err)
    return 0
