"""The verbs that list and count all sessions: ls, status."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.statuses import Status
from agentdash.tui.cli.commands import common

if TYPE_CHECKING:
    from pathlib import Path

    from agentdash.sessions.model.session import Session
    from agentdash.sessions.service.reader import SessionReader

_NEWEST = 30


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
@click.option("--table", is_flag=True, help="Open the dashboard's table alone, for example in a tmux pane.")
@click.option("--name", metavar="NAME", help="A name for the table of --table, for watch --follow outside tmux.")
@common.json_option
@click.pass_context
def ls(
    context: click.Context,
    wanted: tuple[str, ...],
    here: bool,
    archived: bool,
    words: str,
    everything: bool,
    family: str | None,
    tree: bool,
    table: bool,
    name: str | None,
    as_json: bool,
) -> int:
    """List sessions, newest first.

    Pinned sessions are at the top, except with --json and --tree.

    In the table of --table, Enter opens a session in place of the table, Esc goes back, q quits (sessions keep
    running).
    """
    if table:
        return _open_table(context, name)
    if name is not None:
        raise click.UsageError("--name works only with --table.")
    from agentdash.sessions.rules.filter_query import parse
    from agentdash.sessions.service.lifecycle.starts.launch_plan import checked_folder

    asked = parse(words)
    filtered = bool(wanted) or here or archived or bool(asked) or family is not None
    quiet: list[Session] = []
    with common.settled_reader() as reader:
        statuses = {Status(name.lower()) for name in wanted}
        known = members(reader, family) if family is not None else None
        cwd = checked_folder(None) if here else None
        if filtered or everything or tree or as_json:
            sessions = reader.sessions(statuses=statuses, cwd=cwd, archived=archived)
        else:
            sessions, quiet = reader.listed(_NEWEST)
        if known is not None:
            members_there = [one for one in known if not archived or one.archived_at is not None]
            sessions = _chosen(members_there, statuses, cwd)
        elif asked.away:
            sessions = _with_put_away(reader, sessions, asked.away, statuses, cwd)
        sessions = [session for session in sessions if asked.matches(session, now_ms())] if asked else sessions
    if not sessions and not filtered and _say_missing(reader.home) and not as_json:
        return 0
    if as_json and (tree or known is not None):
        common.print_json(with_sums(sessions, known or sessions))
    elif as_json:
        common.print_sessions(sessions, as_json=True)
    elif tree and sessions:
        from agentdash.tui.render.sessions.family_tree import tree_text, whole_families

        listed = sessions if (everything or known is not None) else whole_families(_recent(sessions), sessions)
        common.print_lines(tree_text(listed, common.style(), older=_others(sessions, listed)))
    else:
        _print_list(sessions, quiet, everything=everything or known is not None, filtered=filtered)
    return 0


def _open_table(context: click.Context, name: str | None) -> int:
    from agentdash.tui.startup import check_terminal, open_dashboard

    if others := [option for option in common.stated(context) if option not in ("--table", "--name")]:
        raise click.UsageError(f"--table and {others[0]} cannot be combined.")
    check_terminal()
    with common.open_manager() as manager:
        return open_dashboard(manager, alone=True, read_only=context.find_root().params["read_only"], name=name)


def _print_list(sessions: "list[Session]", quiet: "list[Session]", *, everything: bool, filtered: bool) -> None:
    from agentdash.tui.render.sessions.table import sessions_text

    listed = sessions if everything else _recent(sessions)
    older = _others(sessions, listed)
    pinned_first = sorted(listed, key=lambda session: session.pinned_at is None)
    common.print_lines(sessions_text(pinned_first, common.style(), older=older, quiet=quiet, filtered=filtered))


def _others(sessions: "list[Session]", listed: "list[Session]") -> "list[Session]":
    ids = {session.id for session in listed}
    return [session for session in sessions if session.id not in ids]


@click.command()
@click.option("--tmux", is_flag=True, help="With the colours of a tmux status line.")
@common.json_option
def status(tmux: bool, as_json: bool) -> None:
    """Count the sessions that need you, work, wait or failed.

    One line, and nothing if all are zero.  For tmux.conf: set -ag status-right '#(agentdash status --tmux)'

    --json has the windows of the plans of agents too, as usage plan --json prints them.
    """
    from msgspec import to_builtins

    from agentdash.sessions.model.plan_windows import PlanWindow, current, those_that_matter, window_words
    from agentdash.sessions.storage.counts import Counts, counts
    from agentdash.sessions.storage.database import Database
    from agentdash.sessions.storage.paths import Layout, default_home
    from agentdash.sessions.storage.use.plan_windows import PlanWindows

    if tmux and as_json:
        raise click.UsageError("--tmux and --json exclude each other.")
    layout = Layout(default_home())
    found, plans, now = Counts(), list[PlanWindow](), now_ms()
    if layout.database.exists():  # a status line makes no state folder
        database = Database(layout.database)
        try:
            found = counts(database)
            plans = current(PlanWindows(database).all(), now)
        finally:
            database.close()
    if as_json:
        common.print_json(to_builtins(found) | {"plans": to_builtins(plans)})
        return
    from agentdash.tui.render.sessions.status_line import status_line

    words = [window_words(one, now) for one in those_that_matter(plans, now)[:1]]
    if line := status_line(found, tmux=tmux, plans=words):
        common.print_lines([line])


def members(reader: "SessionReader", ref: str) -> "list[Session]":
    """Return a lead and all its workers, also archived ones, the newest first.

    Args:
        reader: the sessions.
        ref: a session, or an outside lead: ``claude:ID``, ``codex:ID``, ``mcp:ID``.

    Raises:
        UnknownSessionError, AmbiguousSessionError, UsageError: no session or outside lead is meant, or several are.
    """
    if ":" not in ref:
        lead = reader.get(ref)
        found = [lead, *reader.descendants(lead.id)]
    else:
        from agentdash.sessions.rules.costs.family_sums import family_of, outside_key

        found = family_of([*reader.sessions(), *reader.sessions(archived=True)], outside_key(ref))
        if not found:
            raise UnknownSessionError(f"No session has the outside lead {ref!r}.")
    return sorted(found, key=lambda session: -session.created_at)


def with_sums(sessions: "Sequence[Session]", known: "Sequence[Session]") -> list[dict[str, Any]]:
    """Return sessions as JSON, each with ``family``: the sum of a lead and its workers, null for another session."""
    from msgspec import to_builtins

    from agentdash.sessions.rules.costs.family_sums import Families
    from agentdash.sessions.rules.json_schema import rounded, session_json

    families = Families()
    families.update(known)
    found = []
    for session in sessions:
        total = families.sum(session.id)
        data = rounded(to_builtins(total)) | {"states": dict(total.states)} if total is not None else None
        found.append(session_json(session) | {"family": data})
    return found


def _chosen(sessions: "Iterable[Session]", statuses: "set[Status]", cwd: str | None) -> "list[Session]":
    """Return the sessions in these states, or in any if there are none, and in a folder."""
    return [one for one in sessions if (not statuses or one.status in statuses) and cwd in (None, one.cwd)]


def _with_put_away(
    reader: "SessionReader", sessions: "list[Session]", away: Collection[str], statuses: "set[Status]", cwd: str | None
) -> "list[Session]":
    """Add the archived and deleted sessions that a filter asks for; return all, newest first."""
    found = reader.put_away(archived="archived" in away, deleted="deleted" in away or "trash" in away)
    more = _others(_chosen(found, statuses, cwd), sessions)
    return sorted([*sessions, *more], key=lambda session: -session.created_at)


def _say_missing(home: "Path") -> bool:
    """Report session folders that the database does not have, as `doctor` does; return whether there are any."""
    from agentdash.sessions.doctor.files import differences
    from agentdash.sessions.storage.paths import Layout

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
    from agentdash.sessions.rules.attention import AttentionKind, kind_of_need

    return kind_of_need(session, now) not in (None, AttentionKind.DONE)
