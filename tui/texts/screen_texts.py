"""Texts of the screens: pure functions, so that the words can be tested."""

import re
from collections.abc import Mapping, Sequence

from agentdash.sessions.model import durations
from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.launch import Ladder, Launch, Start
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.sessions.text.sanitize import cell_width, one_line, pad
from agentdash.sessions.text.units import clock, count, money
from agentdash.tui.texts.act_texts import Said
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.short_forms import command, place
from agentdash.widgets.drawing.spans import wrap
from agentdash.widgets.drawing.text_lines import CommandLine, TitledLine
from agentdash.widgets.table.row_cells import cut_title
from agentdash.widgets.table.row_model import Density

DENSITIES = {
    Density.MIXED: "Two lines for sessions that need you or run, one for the others.",
    Density.ONE: "One line per session.",
    Density.TWO: "Two lines per session.",
}
"""The reports of a change of the table's density."""

_NOTHING = {
    "1": "Nothing needs you.",
    "2": "Nothing is running.",
    "3": "Nothing failed.",
    "4": "Nothing is done yet.",
    "5": "Nothing is queued.",
}


def nothing_matches(quick: str = "", *, chosen: bool = False) -> Sequence[str]:
    """Return the lines of a table that hides all sessions.

    Args:
        quick: the key of a single quick filter.
        chosen: True if the screen of usage chose the sessions, and nothing else hides one.
    """
    if chosen:
        return ("The sessions were deleted for good.", "", "Esc goes back to usage")
    return (_NOTHING.get(quick, "No matches."), "", "Esc clears the filter")


def put_away(archived: int, deleted: int, archived_key: str, trash_key: str, width: int) -> Sequence[str]:
    """Return the lines that count archived and deleted sessions, each with the key that shows them."""
    there = ((archived, "archived", archived_key), (deleted, "in the trash", trash_key))
    lines = (f"{count:,} {where}: {key} shows {'them' if count > 1 else 'it'}" for count, where, key in there if count)
    return [part for line in lines for part in wrap(line, max(1, width))]


def no_sessions(agents: Sequence[AgentInfo], new_key: str = "n", away: Sequence[str] = ()) -> Sequence[str]:
    """Return the lines of an empty table: how to start and, if no agent is installed, how to install one.

    ``away`` has the lines about archived and deleted sessions: a user who has some needs no demo.
    """
    demo = () if away else ("agentdash demo   see what it looks like",)
    if not agents or any(agent.installed for agent in agents):
        return (*(away or ("No sessions yet.",)), "", f"{new_key:<14}   start one", *demo)
    missing = (*away, "", "No agent installed.") if away else ("No sessions yet, and no agent installed.",)
    return (*missing, "", *install_lines(agents), *(["", *demo] if demo else ()))


def install_lines(agents: Sequence[AgentInfo]) -> list[str]:
    """Return a line per agent with the command that installs it."""
    known = [agent for agent in agents if agent.hint]
    wide = max((len(agent.name) for agent in known), default=0)
    # A hint has its command in backticks, or is one.
    commands = [agent.hint.split("`")[1] if agent.hint.count("`") == 2 else agent.hint for agent in known]
    return [f"{agent.name:<{wide}}  {command}" for agent, command in zip(known, commands, strict=True)]


def not_offered(agent: str) -> str:
    """Return the reason why no session of an agent can be started from here."""
    return f"This version of agentdash cannot start {agent}."


def title(session: Session, width: int | None = None) -> str:
    """Return the session's title on one line, cut to ``width`` cells if it is given; a copy keeps its number."""
    whole = one_line(session.label)
    return whole if width is None else cut_title(whole, width)


def unread(session: Session) -> str:
    """Return the line above the first unread step."""
    since = f" since {clock(session.seen_at)}" if session.seen_at is not None else ""
    return f"{session.unread:,} new{since}"


def file_name(session: Session) -> str:
    """Return a file name for a session: its title in letters that every file system accepts."""
    words = re.findall(r"\w+", title(session, 60).lower(), re.ASCII)
    return f"{'-'.join(words) or session.short_id}.md"


def what_runs(start: Start, launch: Launch) -> str:
    """Return what a start will run, in one sentence: ``codex, live · workspace-write, asks before more · gpt-5.5``."""
    mode = launch.mode
    parts = [f"{start.agent}, {'live' if launch.transport else 'a process for each turn'}"]
    if mode is not None and mode.permissions:
        asks = launch.transport and launch.settings.get("approvals", "ask") == "ask"
        limit = "nothing is refused" if mode.dangerous else "asks before more" if asks else "refuses more"
        parts.append(f"{mode.permissions}, {limit}")
    parts.append(launch.model or "default model")
    parts.append(f"in {place(start.cwd or '.')}")
    parts += [f"after {start.after}"] if start.after else []
    parts += [f"{start.copies} times"] if (start.copies or 1) > 1 else []
    return one_line(" · ".join(parts))


def beside_command(launch: Launch, options: Mapping[str, object]) -> str:
    """Return the parts of a start that its command does not show: limits, environment, and a stop ladder of its own."""
    limits = limit_words(launch.limits)
    parts = [f"limits: {limits}" if limits else ""]
    parts += [f"{name}={value}" for name, value in launch.env.items()]
    if launch.after_turn == "sweep":
        parts.append("leftover processes are ended after the turn")
    if "stop" in options and launch.ladder is not None:
        parts.append(f"stop: {ladder_words(launch.ladder)}")
    return "   ".join(filter(None, parts))


def limit_words(limits: Limits) -> str:
    """Return the limits of a start, each with its unit."""
    known = [
        f"wall {durations.text(limits.wall_seconds)}" if limits.wall_seconds is not None else "",
        f"silence {durations.text(limits.silence_seconds)}" if limits.silence_seconds is not None else "",
        f"output {limits.output_mb:,.12g} MB" if limits.output_mb is not None else "",
        f"{limits.tokens:,} tokens" if limits.tokens is not None else "",
        f"cost {money(limits.cost_usd)}" if limits.cost_usd is not None else "",
    ]
    words = ", ".join(filter(None, known))
    return f"{words} (warn only)" if words and not limits.stops else words


def ladder_words(ladder: Ladder) -> str:
    """Return the signals of a stop and their delays."""
    kill = ladder.interrupt + ladder.terminate
    return (
        f"SIGINT now, SIGTERM after {ladder.interrupt:g}s, SIGKILL after {kill:g}s;"
        f" leftover processes get SIGTERM, then SIGKILL after {ladder.sweep:g}s."
    )


def listing(sessions: Sequence[Session]) -> list[TitledLine]:
    """Return sessions as the lines of one list, whose folders are aligned.

    One that has ended is named with its processes that are left or wait.
    """
    titles = [(title(session), _left(session)) for session in sessions]
    longest = max((cell_width(name + left) for name, left in titles), default=0)
    return [
        TitledLine(_head(session), name, left, f"  {place(one_line(session.cwd))}", longest)
        for session, (name, left) in zip(sessions, titles, strict=True)
    ]


def _head(session: Session) -> str:
    return f"{glyphs.STATES[session.status]} {session.status:<9} {pad(one_line(session.agent, 8), 8)} "


def _left(session: Session) -> str:
    if session.status.ended and session.left:
        return f"  {count(session.left, 'process', 'processes')} left"
    return "  its process waits" if session.warm_since is not None else ""


def stop_effect(sessions: Sequence[Session], signals: str) -> str:
    """Return the effect of a stop: the signals that are sent, unless no session has started yet."""
    if all(session.warm_since is not None for session in sessions):
        its = "Its turn is" if len(sessions) == 1 else "Their turns are"
        waits = "its process, which waits" if len(sessions) == 1 else "their processes, which wait"
        return f"{its} over: ends {waits} for prompts. The next prompt starts it again.\n{signals}"
    if any(session.status is not Status.QUEUED for session in sessions):
        return signals
    return f"Removes {'it' if len(sessions) == 1 else 'them'} from the queue."


def trash(sessions: Sequence[Session]) -> str:
    """Return the effect of a deletion on these sessions."""
    queued = any(session.status is Status.QUEUED for session in sessions)
    running = any(session.left or not (session.status.ended or session.status is Status.QUEUED) for session in sessions)
    waits = any(session.warm_since is not None for session in sessions)
    first = "Running sessions are stopped first. " if running and len(sessions) > 1 else ""
    first = "It is stopped first. " if running and len(sessions) == 1 else first
    leaves = "Queued sessions leave the queue. " if queued and len(sessions) > 1 else ""
    ends = "Processes that wait for prompts are ended. " if waits and len(sessions) > 1 else ""
    ends = "Its process, which waits for prompts, is ended. " if waits and len(sessions) == 1 else ends
    return f"{first}{leaves}{ends}Moved to the trash."


def undoable(away: Sequence[object], key: str) -> str:
    """Return the effect of the undo key after sessions were put away; it restores all of them."""
    return f"{key} to undo all {len(away)}." if len(away) > 1 else f"{key} to undo."


NOTHING_ASKS = "No session asks for an answer."


def asks_nothing(session: Session) -> str:
    """Return the message if the asks of a session have all been answered."""
    return Said(session, " no longer waits for an answer.")


def quoted(text: str, cells: int = 60) -> str:
    """Return a prompt or a title on one line of at most these cells, in quotation marks."""
    return f'"{one_line(text, cells)}"'


_WHY_NOT = {
    "write_prompt": "is a plain command: no prompts",
    "template": "is a plain command: no prompts",
    "stop": "is not running",
    "kill": "is not running",
    "archive": "is not finished yet",
    "interrupt_turn": "is not running",
    "queue": "has no queued prompts",
    "retry": "cannot be retried: it has not failed, and was not stopped or lost",
    "new_like": "is a command and cannot be duplicated",
    "start_waiting": "waits for no time and no other session",
    "wait_for": "does not wait for another session",
    "continue": "cannot be continued: it is at work, or a plain command",
}
_NONE = {
    "stop": "is running",
    "kill": "is running",
    "archive": "has ended",
    "retry": "has failed, was stopped or was lost",
    "write_prompt": "takes prompts",
    "template": "takes prompts",
}


def why_not(
    action: str,
    session: Session | None,
    *,
    read_only: bool,
    several: Sequence[Session] = (),
    marked: bool = False,
    restore_key: str = "u",
) -> str:
    """Explain why a key does nothing now.

    Args:
        several: the action's targets, if they are not just the session under the cursor.
        marked: True if ``several`` are marked sessions, False if they are a group.
        restore_key: the key that restores sessions from the trash or the archive.
    """
    if read_only:
        return "The dashboard is read-only."
    meant = list(several) or ([session] if session is not None else [])
    if not meant:
        return "No session selected."
    if all(one.deleted_at is not None for one in meant):
        return _in_trash(meant, marked=marked, restore_key=restore_key)
    if len(meant) > 1:
        return f"None of the {_which(meant, marked=marked)} {_NONE.get(action, 'allows this')}."
    if meant[0].archived_at is not None and action == "archive":
        return Said(meant[0], f" is already archived: {restore_key} restores it.")
    taken = meant[0].taken_by
    state = f"is {meant[0].status}" if taken is None else f"is open by hand: {one_line(taken.holder)}"
    return Said(meant[0], f" {state if taken is not None else _WHY_NOT.get(action, state)}.")


def _in_trash(sessions: Sequence[Session], *, marked: bool, restore_key: str) -> str:
    if len(sessions) == 1:
        return Said(sessions[0], f" is in the trash: {restore_key} restores it.")
    return f"The {_which(sessions, marked=marked)} are in the trash: {restore_key} restores them."


def _which(sessions: Sequence[Session], *, marked: bool) -> str:
    """Return the number of sessions and how they were chosen: ``3 marked sessions``."""
    return count(len(sessions), "marked session") if marked else f"{count(len(sessions), 'session')} of the group"


def none_of(sessions: Sequence[Session], action: str) -> str:
    """Return the message of an action that is possible for none of the sessions."""
    if len(sessions) == 1:
        return Said(sessions[0], f" {_WHY_NOT.get(action, 'does not allow this')}.")
    return f"None of the {len(sessions)} sessions {_NONE[action]}."


def target_of_several(sessions: Sequence[Session], able: int, *, marked: bool) -> str:
    """Return the effect of sending a prompt to marked sessions or a group; ``able`` is the number that can take one."""
    which = _which(sessions, marked=marked)
    if not able:
        return f"none of the {which} can take a prompt"
    return f"→ {which if able == len(sessions) else f'{able} of the {which}'} (asks first)"


def not_installed(agent: str, others: bool, new_key: str) -> str:
    """Return why a prompt cannot start a session; ``others`` is true if another agent is installed."""
    if not others:
        return f"no agent installed: {new_key} shows how to install one"
    return f"{agent} is not installed: {new_key} starts another agent"


def new_session(default_agent: str, cwd: str) -> str:
    """Return the effect of a prompt without a session: it starts one."""
    return f"→ new {default_agent or 'agent'} session in {place(cwd)}"


def process_lines(session: Session, processes: Sequence[ProcessInfo]) -> list[str | CommandLine]:
    """Return the processes that will be ended, as a tree; empty if there are none."""
    if not processes:
        return []
    depths: dict[int, int] = {}
    which = "left these processes running" if session.status.ended else "and its child processes"
    which = "waits for prompts" if session.warm_since is not None else which
    lines: list[str | CommandLine] = [f"{session.agent} (turn {session.turn}) {which}:"]
    for process in processes:
        depth = depths[process.pid] = depths.get(process.parent, -1) + 1
        lines.append(CommandLine(f"  {'  ' * depth}{process.pid} ", command(process.command)))
    return lines


SORT_KEYS = {
    "a": "attention", "c": "created", "e": "age", "s": "state", "n": "new", "i": "time", "u": "turn", "z": "steps",
    "t": "tok", "d": "cost", "g": "agent", "m": "model", "f": "where", "l": "folder", "w": "what", "h": "id",
    "r": "source", "p": "cpu", "y": "mem", "o": "procs", "x": "ctx",
}  # fmt: skip
"""Letters of the orders in the dialog, in which j and k move the cursor and q closes."""
_SORTED = {
    "attention": "needs attention first, then newest", "created": "newest first", "age": "most recent activity first",
    "state": "by state", "new": "most unread steps first", "time": "most recently started turn first",
    "turn": "most turns first", "steps": "most steps first", "tok": "most tokens first",
    "cost": "most expensive first", "agent": "by agent", "model": "by model", "where": "by folder name",
    "folder": "by folder path", "what": "by title", "id": "by id", "source": "by source",
    "cpu": "most CPU now first, measured every 5 s", "mem": "most memory now first, measured every 5 s",
    "procs": "most processes now first, measured every 5 s", "ctx": "fullest context first",
}  # fmt: skip


def sort_offers() -> list[tuple[str, str]]:
    """Return the orders of the table, each with its letter."""
    return [(key, f"{name:<10} {_SORTED[name]}") for key, name in SORT_KEYS.items()]
