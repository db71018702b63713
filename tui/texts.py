"""Texts of the screens: pure functions, so that the words can be tested."""

import re
from collections.abc import Mapping, Sequence

from textual.content import Content

from ..sessions.agents.demo.place import ONLY_INSIDE
from ..sessions.agents.registry import takes_prompts
from ..sessions.launch import Ladder, Launch
from ..sessions.lifecycle.agent_list import AgentInfo
from ..sessions.lifecycle.process_list import ProcessInfo
from ..sessions.model import Session, Turn
from ..sessions.rules.limits import Limits
from ..sessions.text import durations
from ..sessions.text.sanitize import cell_width, cut, one_line, pad
from ..sessions.text.units import clock, count, duration, money
from ..widgets.drawing.glyphs import Signs
from ..widgets.drawing.roles import MUTED
from ..widgets.drawing.short_forms import command, place
from ..widgets.drawing.wrap import wrap
from ..widgets.table.columns import state_word

Tour = Sequence[tuple[str, str]]
"""Pairs of keys and what they do, for a first-time user."""


_NOTHING = {
    "1": "Nothing needs you.",
    "2": "Nothing is running.",
    "3": "Nothing failed.",
    "4": "Nothing is done yet.",
    "5": "Nothing is queued.",
}


def nothing_matches(quick: str = "") -> Sequence[str]:
    """Return the lines of a table whose filters hide all sessions; ``quick`` is the key of a single quick filter."""
    return (_NOTHING.get(quick, "No matches."), "", "Esc clears the filter")


def put_away(archived: int, deleted: int, views_key: str, width: int) -> Sequence[str]:
    """Return the lines that count archived and deleted sessions and show how to see them; empty if there are none."""
    there = [f"{archived:,} archived" if archived else "", f"{deleted:,} in the trash" if deleted else ""]
    where = ", ".join(filter(None, there))
    if not where:
        return ()
    key = f"{views_key} shows {'them' if archived + deleted > 1 else 'it'}"
    line = f"{where}: {key}"
    # The key is the important part, so it gets its own line in a narrow table.
    return (line,) if cell_width(line) <= width else (*wrap(f"{where}:", width), *wrap(key, width))


def no_sessions(agents: Sequence[AgentInfo], new_key: str = "n", away: Sequence[str] = ()) -> Sequence[str]:
    """Return the lines of an empty table: how to start and, if no agent is installed, how to install one.

    ``away`` has the lines about archived and deleted sessions: a user who has some needs no demo.
    """
    demo = () if away else ("agentdash demo shows what it looks like",)
    if not agents or any(agent.installed for agent in agents):
        return (*(away or ("No sessions yet.",)), "", f"{new_key:<14} starts one", *demo)
    missing = (*away, "", "No agent installed.") if away else ("No sessions yet, and no agent installed.",)
    return (*missing, "", *install_lines(agents), *(["", *demo] if demo else ()))


def install_lines(agents: Sequence[AgentInfo]) -> list[str]:
    """Return a line per agent with the command that installs it."""
    known = [agent for agent in agents if agent.hint]
    wide = max((len(agent.name) for agent in known), default=0)
    return [f"{agent.name:<{wide}}  {_command_of(agent.hint)}" for agent in known]


def _command_of(hint: str) -> str:
    """Return the command in backticks in a hint, or the whole hint if there is none."""
    return hint.split("`")[1] if hint.count("`") == 2 else hint


def not_offered(agent: str) -> str:
    """Return the reason why no session of an agent can be started from here."""
    return ONLY_INSIDE if agent == "demo" else f"The demo runs only the demo agent, not {agent}."


def title(session: Session, width: int = 40) -> str:
    """Return the session's title on one line."""
    return one_line(session.label, width)


def unread(session: Session) -> str:
    """Return the line above the first unread step."""
    since = f" since {clock(session.seen_at)}" if session.seen_at is not None else ""
    return f"{session.unread:,} new{since}"


def file_name(session: Session) -> str:
    """Return a file name for a session: its title in letters that every file system accepts."""
    words = re.findall(r"\w+", title(session, 60).lower(), re.ASCII)
    return f"{'-'.join(words) or session.short_id}.md"


def turn_words(turn: Turn) -> str:
    """Return the status of a turn, and its duration if it has ended."""
    took = duration(turn.duration_ms) if turn.duration_ms is not None and turn.status.ended else ""
    return "  ".join(filter(None, (str(turn.status), took)))


def headline(session: Session, width: int, *, following: bool, follow_key: str = "f") -> Content:
    """Return the line above the steps; its end shows whether they are followed.

    The state is always shown.  Folder, agent and model are shown whole or not at all, and leave room for at least half
    of the title.
    """
    state, note = state_word(session), "following" if following else f"follow: off ({follow_key})"
    if cell_width(state) + len(note) + 2 > width:
        return Content(cut(state, width))
    text = _headline(session, state, width - len(note) - 2)
    gap = width - cell_width(text) - len(note)
    return Content.assemble(text, " " * gap, (note, MUTED if following else "$text-warning"))


_GAP = "   "
_TITLE_LEAST = 16
"""Minimum cells that the other facts leave to the title."""


def _headline(session: Session, state: str, width: int) -> str:
    title = one_line(session.label)
    room = width - cell_width(state) - len(_GAP) - min(cell_width(title), max(_TITLE_LEAST, width // 2))
    folder = _first_that_fits([place(one_line(session.cwd))], room)
    agent = one_line(session.agent)
    room -= cell_width(folder) + len(_GAP) if folder else 0
    who = _first_that_fits([one_line(f"{agent} {session.model or ''}"), agent], room)
    facts = _GAP.join(filter(None, (state, who, folder)))
    title = cut(title, width - cell_width(facts) - len(_GAP))
    return _GAP.join(filter(None, (title, facts)))


def _first_that_fits(texts: Sequence[str], room: int) -> str:
    """Return the first text that fits beside another, or "" if none fits."""
    return next((text for text in texts if cell_width(text) + len(_GAP) <= room), "")


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


def tour_line(tour: Tour) -> str:
    """Return the keys to try, which the empty prompt shows."""
    return "Try: " + "   ".join(f"{keys} {what}" for keys, what in tour) if tour else ""


def listed(session: Session, signs: Signs) -> str:
    """Return a session as a line of a list; for one that has ended, with the number of processes left."""
    left = f"  {count(session.left, 'process', 'processes')} left" if session.status.ended and session.left else ""
    what = pad(f"{title(session, _LISTED_CELLS - len(left))}{left}", _LISTED_CELLS)
    where = place(one_line(session.cwd))
    state = f"{signs.states[session.status]} {session.status:<9}"
    return f"{state} {signs.plain(f'{pad(one_line(session.agent, 8), 8)} {what}  {where}')}"


_LISTED_CELLS = 34
"""Cells of a title in a list of sessions, so that the folders are aligned."""


def family(running: Sequence[Session]) -> str:
    """Return a note that the running sessions that a session started continue: they have their own runners."""
    many = len(running)
    return f"{count(many, 'session')} started by it {'keeps' if many == 1 else 'keep'} running." if many else ""


def trash(sessions: Sequence[Session]) -> str:
    """Return the effect of a deletion on these sessions."""
    running = any(not session.status.ended or session.left for session in sessions)
    return f"{'Running sessions are stopped first. ' if running else ''}Moved to the trash."


def undoable(away: Sequence[object], key: str) -> str:
    """Return the effect of the undo key after several sessions were put away."""
    return f"{key} to undo." if len(away) == 1 else f"{key} to undo all {len(away)}."


def quoted(text: str) -> str:
    """Return a prompt on one line in quotation marks."""
    return f'"{one_line(text, 60)}"'


_WHY_NOT = {
    "stop": "is not running",
    "kill": "is not running",
    "archive": "is not finished yet",
    "retry": "cannot be retried: it neither failed nor was stopped",
    "new_like": "is a command and cannot be duplicated",
}
_NONE = {
    "stop": "is running",
    "kill": "is running",
    "archive": "has ended",
    "retry": "has failed, was stopped or was lost",
    "write_prompt": "can take a prompt (running, or not an agent)",
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
        action: the requested action.
        session: the session under the cursor.
        read_only: True if the dashboard is read-only.
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
        return f'"{title(meant[0])}" is already archived: {restore_key} restores it.'
    return f'"{title(meant[0])}" {_WHY_NOT.get(action, f"is {meant[0].status}")}.'


def _in_trash(sessions: Sequence[Session], *, marked: bool, restore_key: str) -> str:
    if len(sessions) == 1:
        return f'"{title(sessions[0])}" is in the trash: {restore_key} restores it.'
    return f"The {_which(sessions, marked=marked)} are in the trash: {restore_key} restores them."


def _which(sessions: Sequence[Session], *, marked: bool) -> str:
    """Return the number of sessions and how they were chosen: ``3 marked sessions``."""
    return count(len(sessions), "marked session") if marked else f"{count(len(sessions), 'session')} of the group"


def none_of(sessions: Sequence[Session], action: str) -> str:
    """Return the message of an action that is possible for none of the sessions."""
    if len(sessions) == 1:
        return f'"{title(sessions[0])}" {_WHY_NOT.get(action, "does not allow this")}.'
    return f"None of the {len(sessions)} sessions {_NONE[action]}."


def target_of_several(sessions: Sequence[Session], able: int, *, marked: bool) -> str:
    """Return the effect of sending a prompt to marked sessions or a group; ``able`` is the number that can take one."""
    which = _which(sessions, marked=marked)
    if not able:
        return f"none of the {which} can take a prompt"
    return f"sends to {which if able == len(sessions) else f'{able} of the {which}'} (asks first)"


def not_installed(agent: str, others: bool, new_key: str) -> str:
    """Return why a prompt cannot start a session; ``others`` is true if another agent is installed."""
    if not others:
        return f"no agent installed: {new_key} shows how to install one"
    return f"{agent} is not installed: {new_key} starts another agent"


def target(session: Session | None, default_agent: str, cwd: str, *, missing: str = "") -> str:
    """Return the effect of sending a prompt; ``missing`` is the reason why it cannot start a session."""
    if session is None and missing:
        return missing
    if session is None:
        return f"new {default_agent or 'agent'} session in {place(cwd)}"
    if session.deleted_at is not None:
        return "in the trash: no prompts"
    if not takes_prompts(session.agent):
        return f"plain {session.agent}: no prompts"
    if session.status.ended:
        return f'reply to "{title(session, 30)}" (turn {session.turn + 1})'
    return f"{session.status}: cannot take a prompt until turn {session.turn} ends"


def process_lines(session: Session, processes: Sequence[ProcessInfo]) -> list[str]:
    """Return the processes that will be ended, as a tree."""
    if not processes:
        return [f"{session.agent} (turn {session.turn}): no processes running."]
    depths: dict[int, int] = {}
    which = "left these processes running" if session.status.ended else "and its child processes"
    lines = [f"{session.agent} (turn {session.turn}) {which}:"]
    for process in processes:
        depth = depths[process.pid] = depths.get(process.parent, -1) + 1
        lines.append(f"  {'  ' * depth}{process.pid} {command(process.command)}")
    return lines
