"""The verb digest: the facts of what a session did since the user last opened it."""

from typing import TYPE_CHECKING

import click

from .. import common

if TYPE_CHECKING:
    from .....sessions.digest.collect import Digest
    from .....sessions.model import Session

_FROM_THE_START = {"since_steps": None, "since_at": None}


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
    from .....sessions.json_schema import digest_json

    since = {"since_steps": marker.seen_steps, "since_at": marker.seen_at} if marker else _FROM_THE_START
    return {"session": session.id, "status": session.status, "turn": turn} | since | digest_json(facts)


def _print(session: "Session", digest: "Digest", turn: int | None, marker: "Session | None") -> None:
    from .....sessions.digest.summary import digest_lines
    from .....sessions.text.units import count
    from ....render.sessions.table import session_lines

    style = common.style()
    part = _part(turn, marker, style.now)
    if digest.steps:
        facts = [style.paint(f"{count(digest.steps, 'step')} {part}", "dim"), *digest_lines(digest)]
    else:
        facts = [f"nothing new {part}" if marker else f"no steps {part}"]
    common.print_lines([*session_lines(session, style), *(f"  {line}" for line in facts)])


def _part(turn: int | None, marker: "Session | None", now: int) -> str:
    """Return the part of the session that the digest covers, in words."""
    from .....sessions.text.units import age

    if marker is not None and marker.seen_at is not None:
        return f"since you looked, {age(now - marker.seen_at)} ago"
    return "since the start" if turn is None else f"in turn {turn}"
