"""The second line of a session's row: its need, its present activity, or its answer.  Pure."""

import re

from agentdash.sessions.model.session import Activity, Session, Status, StepKind, StoppedBy, Stopping
from agentdash.sessions.rules.attention import SILENT_MS, silence, unconfirmed
from agentdash.sessions.text import units
from agentdash.sessions.text.relative_paths import below
from agentdash.sessions.text.sanitize import one_line
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.table.columns import Cell, role

TOGETHER_MS = 600_000
"""From this age on, ages may be a minute late, so that many rows change in one frame of the terminal."""

_MINUTE_MS = 60_000

_READ = 1_000
"""Characters of an answer that its line is made from: no screen is wider."""

_EMPHASIS = re.compile(r"(\*\*|`)(\S(?:[^*`]*?\S)?)\1")
"""Strong text and code in Markdown."""

_WORDS = frozenset({StepKind.MESSAGE, StepKind.REASONING})
_TIMED = frozenset({StepKind.COMMAND, StepKind.TOOL_CALL, StepKind.WEB_SEARCH, StepKind.SUBAGENT})
"""The activities whose duration is shown while they run."""


def detail(session: Session, now: int) -> Cell:
    """The line and its role: a remark if there is one, else the present activity, or the beginning of the answer."""
    if session.status is Status.QUEUED and session.stopping is None:
        return one_line(session.reason or ""), "attention" if session.blocked else "dim"
    if text := remark(session, now):
        return text, _remark_role(session)
    if not session.status.ended:
        return _work(session, now), "dim"
    return one_line(session.reason or "") or answer(session), "dim"


def in_full(session: Session, now: int, *, lines: int = 1) -> str:
    """The detail and the answer, for a line of its own below rows of this many lines.

    A question and a failure are always named, because a row may cut them.  Others are named if rows have one line.
    """
    remark_text, answer_text = detail(session, now)[0], answer(session)
    failed = session.status.ended and session.status is not Status.DONE
    if session.asks_user:
        return remark_text
    if lines > 1 and answer_text and not failed:
        return answer_text
    return f" {glyphs.BETWEEN} ".join(dict.fromkeys(filter(None, (remark_text, answer_text))))


def remark(session: Session, now: int) -> str:
    """The reason to open a session (stop, loop, reason of the state, leftover processes, silence), else ""."""
    if session.stopping is not None:
        return stop_stage(session.stopping, now)
    if recorded := _recorded(session, now):
        return one_line(recorded)
    if session.left:
        what = f": {one_line(session.left_note)}" if session.left_note else ""
        return units.count(session.left, "process", "processes") + f" left running{what}"
    if session.unconfirmed:
        return unconfirmed(session.unconfirmed)
    quiet = now - session.last_sign_at
    if session.status is Status.RUNNING and quiet >= SILENT_MS:
        return silence(quiet)
    return ""


def _recorded(session: Session, now: int) -> str | None:
    """The user in the agent's own interface, else the evidence or the reason that the runner recorded.

    A stop that the user asked for needs no remark.
    """
    if session.taken_by is not None:
        return session.taken_by.by_hand(now)
    if session.status is Status.WAITING:
        waits = f"waits for {'its lead' if session.left_to_lead else 'you'} {units.age(now - session.standing_since)}"
        return f"{waits} {glyphs.BETWEEN} {session.reason}" if session.reason else waits
    if session.is_stuck:
        return session.stuck
    if session.asks_user:
        return session.asks
    return session.reason if session.stopped_by is not StoppedBy.YOU else None


def _remark_role(session: Session) -> str:
    """The role of a remark: amber for what waits or was left over, else that of the session."""
    if session.taken_by is not None and session.stopping is None:
        return "running"
    waits = session.stopping or session.is_stuck or session.asks_user or session.unconfirmed
    colour = role(session)
    if waits or not session.reason:
        return "attention"
    return "attention" if colour == "good" else colour


def stop_stage(stopping: Stopping, now: int) -> str:
    """The progress of a stop: ``stopping: SIGINT sent, SIGTERM in 2s``."""
    then = ""
    if stopping.next and stopping.due_at is not None:
        then = f", {stopping.next} in {max(0, -(-(stopping.due_at - now) // 1000))}s"
    return f"stopping: {stopping.rung}{' sent' if stopping.rung.startswith('SIG') else ''}{then}"


def answer(session: Session) -> str:
    """The agent's last message on one line, without the marks of Markdown."""
    text = (session.last_message or "")[:_READ].lstrip("#*> \n\t")
    return one_line(_plain(text))


def _plain(text: str) -> str:
    """The text without Markdown's marks of strong text and code."""
    return _EMPHASIS.sub(r"\2", text)


def _work(session: Session, now: int) -> str:
    """The open item of the plan with its number, ``2/5 Freeze the clock``, or ``5/5`` at its end; and the activity."""
    plan, activity = session.plan, session.activity
    parts = [one_line(f"{min(plan.done + 1, plan.total)}/{plan.total} {plan.item}")] if plan is not None else []
    parts += [_doing(activity, now, session.cwd)] if activity is not None else []
    return f" {glyphs.BETWEEN} ".join(parts)


def _doing(activity: Activity, now: int, cwd: str) -> str:
    """The activity after its sign: ``$ pytest -q  12s``; a file below the session's folder by its path in there."""
    took = f"  {units.age(now - activity.since)}" if _is_timed(activity) else ""
    text = below(activity.text, cwd) or activity.text if activity.kind is StepKind.FILE_CHANGE else activity.text
    text = _plain(text) if activity.kind in _WORDS else text
    return f"{glyphs.KINDS[activity.kind]} {one_line(text)}{took}"


def _is_timed(activity: Activity | None) -> bool:
    return activity is not None and activity.running and activity.kind in _TIMED


def steady_until(session: Session, now: int) -> int:
    """The time (UTC ms) until which its row and second line stay the same, if nothing happens."""
    if session.stopping is not None:
        return now
    counted = [session.standing_since, session.last_sign_at, session.created_at]
    counted += [session.started_at] if session.started_at is not None and session.ended_at is None else []
    counted += [session.taken_by.since] if session.taken_by is not None else []
    counted += [session.activity.since] if session.activity is not None and _is_timed(session.activity) else []
    return min(_read_until(now, at) for at in counted)


def _read_until(now: int, since: int) -> int:
    """The time until which an age reads the same; old ages may be a minute late, and change together."""
    until = now + units.steady(now - since)
    return until if now - since < TOGETHER_MS else -(-until // _MINUTE_MS) * _MINUTE_MS
