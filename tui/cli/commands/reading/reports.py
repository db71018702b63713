"""The verbs that report on one session: show, explain, digest, changes, export."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.cli.commands import common

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Session, Step
    from agentdash.sessions.rules.digest.collect import Digest
    from agentdash.sessions.transcript.export.formats import Format

_FROM_THE_START = {"since_steps": None, "since_at": None}
_FORMATS = ("md", "html", "json")


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

            from agentdash.sessions.rules.json_schema import record_json, session_json

            parts = {
                "turns": [record_json(one) for one in turns],
                "prompts": [record_json(one) for one in prompts],
                "adjustments": [record_json(one) for one in changes],
                "compactions": to_builtins(compactions),
            }
            common.print_json(session_json(session) | parts)
        else:
            from agentdash.tui.render.sessions.cards import session_card

            common.print_lines(session_card(session, turns, prompts, common.style(), changes, compactions))
            common.looked_at(manager, session)
        manager.reader.outputs.check_folder(session)


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
    from agentdash.tui.render.sessions.cards import explanation_text

    common.print_lines(explanation_text(explanation, common.style()))


@click.command()
@click.option("--since-start", is_flag=True, help="The whole session, not just unread steps.")
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N.")
@common.json_option
@common.id_argument
def digest(ref: str, since_start: bool, turn: int | None, as_json: bool) -> None:
    """Sum up a session's work since you last looked.

    Counts commands, files, tests and errors; no model is called.
    """
    if since_start and turn is not None:
        raise click.UsageError("--since-start and --turn cannot be combined.")
    with common.settled_manager() as manager:
        session = manager.reader.get(ref)
        facts = manager.reader.steps.digest(session.id, turn, whole=since_start)
        marker = session if turn is None and not since_start and session.seen_steps is not None else None
        if as_json:
            common.print_json(_json(session, facts, turn, marker))
        else:
            _print(session, facts, turn, marker)
            common.looked_at(manager, session, turn)
        manager.reader.outputs.check_folder(session)


def _json(session: "Session", facts: "Digest", turn: int | None, marker: "Session | None") -> dict[str, object]:
    from agentdash.sessions.rules.json_schema import record_json

    since = {"since_steps": marker.seen_steps, "since_at": marker.seen_at} if marker else _FROM_THE_START
    return {"session": session.id, "status": session.status, "turn": turn} | since | record_json(facts)


def _print(session: "Session", digest: "Digest", turn: int | None, marker: "Session | None") -> None:
    from agentdash.sessions.rules.digest.collect import digest_lines
    from agentdash.sessions.text.units import count
    from agentdash.tui.render.sessions.table import session_lines

    style = common.style()
    part = _part(turn, marker, style.now)
    if digest.steps:
        facts = [style.paint(f"{count(digest.steps, 'step')} {part}", "dim"), *digest_lines(digest)]
    else:
        facts = [f"nothing new {part}" if marker else f"no steps {part}"]
    common.print_lines([*session_lines(session, style), *(f"  {line}" for line in facts)])


def _part(turn: int | None, marker: "Session | None", now: int) -> str:
    """Return the part of the session that the digest covers, in words."""
    from agentdash.sessions.text.units import age

    if marker is not None and marker.seen_at is not None:
        return f"since you looked, {age(now - marker.seen_at)} ago"
    return "since the start" if turn is None else f"in turn {turn}"


@click.command()
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N.")
@click.option("--diff", is_flag=True, help="Show diffs.")
@click.option("--no-git", is_flag=True, help="Skip git.")
@common.json_option
@common.id_argument
def changes(ref: str, turn: int | None, diff: bool, no_git: bool, as_json: bool) -> None:
    """Show the files a session changed, with git status.

    First the net result: the files now against the session's start, also those that its commands changed.  Then the
    agent's own edits.
    """
    with common.open_reader() as reader:
        session = reader.get(ref)
        reader.outputs.check_folder(session)
        report = reader.steps.changes_of(session.id, turn, git=not no_git)
        find = reader.steps.net_diffs(session.id) if diff else None
    if as_json:
        from agentdash.sessions.service.changes.words import changes_json

        common.print_json(changes_json(report, find=find))
        return
    from agentdash.sessions.service.changes.git import git_diffs
    from agentdash.tui.render.sessions.changes import changes_text, file_diffs, net_diffs

    seen_as = common.style()
    common.print_lines(changes_text(report, seen_as))
    if find is not None:
        if report.net is not None:
            common.print_lines(net_diffs(report.net, seen_as, find))
        head = None if no_git or report.net is not None else git_diffs(report.cwd)
        for file in report.files:
            common.print_lines(file_diffs(file, seen_as, head))


@click.command()
@click.option("--format", "name", type=click.Choice(_FORMATS), help="Default: by file extension, else md.")
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N.")
@click.option("--output", "-o", type=click.Path(), metavar="FILE", help='Output file ("-": stdout).')
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@common.json_option
@common.id_argument
def export(ref: str, name: str | None, turn: int | None, output: str | None, force: bool, as_json: bool) -> None:
    """Export a session as Markdown, HTML or JSON.

    Writes one file that only you can read.  --json describes the file written with -o.
    """
    path = None if output in (None, "-") else Path(output)
    if as_json and path is None:
        raise UsageError("--json describes the written file: add -o FILE, or use --format json.")
    chosen = _format(name, path)
    with common.settled_reader() as reader:
        session = reader.get(ref)
        reader.outputs.check_folder(session)
        steps = _Counted(reader.steps.each_step(session.id, turn))
        pieces = chosen.write(session, steps, reader.turns(session.id), reader.steps.shown(session.id).has_cut)
        if path is None:
            # UTF-8 whatever the terminal's encoding is, because the documents declare it.
            common.print_pieces(piece.encode("utf-8", "replace") for piece in pieces)
            return
        from agentdash.sessions.transcript.export.saving import save

        size = save(path, pieces, force=force)
    _tell(path, chosen, steps.count, size, as_json=as_json)


class _Counted:
    """Steps that are counted as they are read."""

    def __init__(self, steps: "Iterable[Step]") -> None:
        self._steps = steps
        self.count = 0

    def __iter__(self) -> "Iterator[Step]":
        for step in self._steps:
            self.count += 1
            yield step


def _format(name: str | None, path: Path | None) -> "Format":
    from agentdash.sessions.transcript.export.formats import FORMATS, format_named, format_of

    if name is not None:
        return format_named(name)
    return format_of(path) if path is not None else FORMATS[0]


def _tell(path: Path, chosen: "Format", steps: int, size: int, *, as_json: bool) -> None:
    from agentdash.sessions.text import units

    record = {"path": str(path.absolute()), "format": chosen.name, "steps": steps, "bytes": size}
    line = f"wrote {path}: {units.count(steps, 'step')}, {chosen.title}, {units.size(size)}"
    common.print_one(record, line, as_json=as_json, painted=False)
