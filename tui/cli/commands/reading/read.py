"""The verbs that only read: ls, show, trajectory, messages, output, explain."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from .....sessions.clock import now_ms
from .....sessions.values.statuses import Status
from .. import common
from . import family_list

if TYPE_CHECKING:
    from pathlib import Path

    from .....sessions.conversation.shown import IsCut, Shown
    from .....sessions.model import Session, Step
    from .....sessions.reader import SessionReader

_NEWEST = 30

_full = click.option("--full", is_flag=True, help="No truncation; show diffs.")
_turn = click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N.")


@click.command()
@click.option(
    "--status",
    "-s",
    "wanted",
    multiple=True,
    type=click.Choice(tuple(map(str, Status)), case_sensitive=False),
    metavar="STATE",
    help=f"Only sessions in this state: {', '.join(Status)} (repeatable).",
)
@click.option("--here", is_flag=True, help="Only sessions in this folder.")
@click.option("--archived", is_flag=True, help="List archived sessions.")
@click.option(
    "--filter",
    "-f",
    "words",
    default="",
    metavar="WORDS",
    shell_complete=common.complete_filter,
    help='Filter as in the dashboard: words, state:failed agent:codex cwd:api cost>1 age<1h is:attention; "!" negates.',
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help=f"All sessions, not just the newest {_NEWEST} and those that need a decision.",
)
@click.option(
    "--family", metavar="LEAD", help="Only a lead and all its workers: its id, or claude:ID of an outside lead."
)
@click.option("--tree", is_flag=True, help="List workers below their leads, with the sums of each family.")
@common.json_option
def ls(
    wanted: tuple[str, ...],
    here: bool,
    archived: bool,
    words: str,
    everything: bool,
    family: str | None,
    tree: bool,
    as_json: bool,
) -> None:
    """List sessions, newest first.

    Pinned sessions are at the top, except with --json and --tree.
    """
    from .....sessions.lifecycle.starts.launch_plan import checked_folder
    from .....sessions.rules.filter_query import parse

    asked = parse(words)
    filtered = bool(wanted) or here or archived or bool(asked) or family is not None
    quiet: list[Session] = []
    with common.settled_reader() as reader:
        statuses = {Status(name.lower()) for name in wanted}
        known = family_list.members(reader, family) if family is not None else None
        if filtered or everything or tree or as_json:
            sessions = reader.sessions(statuses=statuses, cwd=checked_folder(None) if here else None, archived=archived)
        else:
            sessions, quiet = reader.listed(_NEWEST)
        if known is not None:
            sessions = _among(known, statuses, here=here, archived=archived)
        elif asked.away:
            sessions = _with_put_away(reader, sessions, asked.away, statuses, here=here)
        sessions = [session for session in sessions if asked.matches(session, now_ms())] if asked else sessions
    if not sessions and not filtered and _say_missing(reader.home) and not as_json:
        return
    if as_json and (tree or known is not None):
        common.print_json(family_list.with_sums(sessions, known or sessions))
        return
    if as_json:
        common.print_sessions(sessions, as_json=True)
        return
    everything = everything or known is not None
    if tree and sessions:
        from ....render.sessions.family_tree import tree_text, whole_families

        shown_first = sessions if everything else whole_families(_recent(sessions), sessions)
        ids = {session.id for session in shown_first}
        left_out = [session for session in sessions if session.id not in ids]
        common.print_lines(tree_text(shown_first, common.style(), older=left_out))
        return
    from ....render.sessions.table import sessions_text

    listed = sessions if everything else _recent(sessions)
    shown = {session.id for session in listed}
    older = [session for session in sessions if session.id not in shown]
    pinned_first = sorted(listed, key=lambda session: session.pinned_at is None)
    common.print_lines(sessions_text(pinned_first, common.style(), older=older, quiet=quiet, filtered=filtered))


@click.command()
@common.json_option
@common.id_argument
def show(ref: str, as_json: bool) -> None:
    """Show a session: facts, turns, prompts."""
    with common.settled_manager() as manager:
        session = manager.reader.get(ref)
        turns, prompts = manager.reader.turns(session.id), manager.reader.prompts(session.id)
        changes, compactions = manager.reader.adjustments(session.id), manager.reader.steps.compactions(session.id)
        if as_json:
            from msgspec import to_builtins

            from .....sessions.json_schema import adjustment_json, prompt_json, session_json, turn_json

            parts: dict[str, Any] = {
                "turns": [turn_json(t) for t in turns],
                "prompts": [prompt_json(p) for p in prompts],
            }
            parts["adjustments"] = [adjustment_json(one) for one in changes]
            parts["compactions"] = to_builtins(compactions)
            common.print_json(session_json(session) | parts)
        else:
            from ....render.sessions.cards import session_card

            common.print_lines(session_card(session, turns, prompts, common.style(), changes, compactions))
            common.looked_at(manager, session)
        manager.reader.outputs.check_folder(session)


@click.command()
@_full
@_turn
@common.json_option
@common.id_argument
def trajectory(ref: str, full: bool, turn: int | None, as_json: bool) -> None:
    """Print the steps of a session.

    Of many lines in a row that are not events, the first and the last are printed; --full and --json print all.
    """
    with common.open_manager() as manager:
        session = manager.reader.get(ref)
        shown = manager.reader.steps.shown(session.id)
        steps = manager.reader.steps.each_step(session.id, turn, brief=not (full or as_json))
        if as_json:
            found = family_list.steps_with_workers(manager.reader, session, steps, is_cut=shown.has_cut)
            common.print_json_array(found)
        else:
            print_steps(steps, full=full, as_json=False, is_cut=shown.has_cut)
        if not as_json:
            common.looked_at(manager, session, turn)
        manager.reader.outputs.check_folder(session)


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also those that were cut by going back.")
@click.option("--numbers", "-n", is_flag=True, help="Print the place of each: TURN.STEP, as rewind and fork take it.")
@common.json_option
@common.id_argument
def messages(ref: str, everything: bool, numbers: bool, as_json: bool) -> None:
    """Print prompts and answers in full."""
    with common.open_manager() as manager:
        session = manager.reader.get(ref)
        shown, steps = manager.reader.steps.shown(session.id), manager.reader.steps.messages(session.id)
        if shown.marks or numbers or as_json:
            print_conversation(steps, shown, everything=everything, numbers=numbers, as_json=as_json)
        else:
            print_steps(steps, full=True, as_json=as_json)
        if not as_json:
            common.looked_at(manager, session)
        manager.reader.outputs.check_folder(session)


@click.command()
@_turn
@click.option("--stderr", is_flag=True, help="Print stderr instead of stdout.")
@common.raw_option
@common.json_option
@common.id_argument
def output(ref: str, turn: int | None, stderr: bool, raw: bool, as_json: bool) -> None:
    """Print a turn's raw output.

    Unchanged into a pipe or a file; on a terminal, control sequences are removed unless --raw is given.  Default: the
    current turn.
    """
    with common.open_reader() as reader:
        session = reader.get(ref)
        reader.outputs.check_folder(session)
        part = reader.outputs.part(session.id, turn, stderr=stderr)
    if not as_json:
        common.print_pieces(part.pieces(), raw=raw)
        return
    data = part.read()
    text = data.decode("utf-8", "replace")
    stream = "stderr" if stderr else "stdout"
    facts = {"session": session.id, "turn": turn or session.turn, "stream": stream, "path": str(part.path)}
    common.print_json(facts | {"begin_byte": part.begin, "text": text, "lossy": text.encode() != data})


@click.command()
@common.json_option
@common.id_argument
def explain(ref: str, as_json: bool) -> None:
    """Explain why a session is in its state.

    Prints the facts, their sources, and the rule that decided.
    """
    from msgspec import structs

    with common.settled_manager() as manager:
        explanation = manager.reader.explain(ref)
        explanation = structs.replace(explanation, facts=(*explanation.facts, *manager.rights.facts()))
    if as_json:
        common.print_json(explanation)
        return
    from ....render.sessions.cards import explanation_text

    common.print_lines(explanation_text(explanation, common.style()))


def print_steps(steps: Iterable["Step"], *, full: bool, as_json: bool, is_cut: "IsCut | None" = None) -> None:
    """Print steps as they are made, with those marked that were cut by going back."""
    from .....sessions.conversation.shown import none_cut

    is_cut = is_cut or none_cut
    if as_json:
        from .....sessions.json_schema import step_json

        common.print_json_array(step_json(step, cut=is_cut(step)) for step in steps)
        return
    from ....render.steps import steps_text

    common.say_on(steps_text(steps, common.style(full=full), is_cut), otherwise="No steps yet.")


def print_conversation(
    steps: "Sequence[Step]", shown: "Shown", *, everything: bool, numbers: bool, as_json: bool
) -> None:
    """Print the visible messages, or all of them with those marked that were cut."""
    listed = [step for step in steps if everything or not shown.cuts(step.turn, step.index)] if shown.marks else steps
    if as_json:
        from .....sessions.json_schema import step_json

        common.print_json_array(
            step_json(step, cut=shown.has_cut(step)) | {"visible": not shown.has_cut(step)} for step in listed
        )
        return
    from ....render.prompts.conversation import conversation_text

    hidden = len(steps) - len(listed)
    lines = conversation_text(listed, shown, common.style(full=True), numbers=numbers, marks=everything, hidden=hidden)
    common.say_on(lines, otherwise="No steps yet.")


def _among(known: "list[Session]", statuses: "set[Status]", *, here: bool, archived: bool) -> "list[Session]":
    """Return the members of a family that the options choose."""
    from .....sessions.lifecycle.starts.launch_plan import checked_folder

    cwd = checked_folder(None) if here else None
    return [
        one for one in known
        if (not statuses or one.status in statuses) and cwd in (None, one.cwd)
        and (not archived or one.archived_at is not None)
    ]  # fmt: skip


def _with_put_away(
    reader: "SessionReader", sessions: "list[Session]", away: Collection[str], statuses: "set[Status]", *, here: bool
) -> "list[Session]":
    """Add the archived and deleted sessions that a filter asks for; return all, newest first."""
    from .....sessions.lifecycle.starts.launch_plan import checked_folder

    cwd, there = checked_folder(None) if here else None, {session.id for session in sessions}
    found = reader.put_away(archived="archived" in away, deleted="deleted" in away or "trash" in away)
    more = [
        one for one in found
        if one.id not in there and (not statuses or one.status in statuses) and cwd in (None, one.cwd)
    ]  # fmt: skip
    return sorted([*sessions, *more], key=lambda session: -session.created_at)


def _say_missing(home: "Path") -> bool:
    """Report session folders that the database does not have, as `doctor` does; return whether there are any."""
    from .....sessions.doctor.files import differences
    from .....sessions.storage.paths import Layout

    found = [finding for finding in differences(Layout(home)) if finding.state != "ok"]
    for finding in found:
        common.notice(f"{finding.found}. {finding.remedy}")
    return bool(found)


def _recent(sessions: Sequence["Session"]) -> list["Session"]:
    """Return the newest sessions, and those that are live, need a decision or are pinned."""
    now = now_ms()
    return [s for n, s in enumerate(sessions) if n < _NEWEST or s.status.live or s.pinned_at or _undecided(s, now)]


def _undecided(session: "Session", now: int) -> bool:
    """Return whether a session needs more than a reading of its answer."""
    from .....sessions.rules.attention import AttentionKind, kind_of_need

    return kind_of_need(session, now) not in (None, AttentionKind.DONE)
