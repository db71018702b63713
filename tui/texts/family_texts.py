"""Texts about sessions that belong together: leads and workers, and sessions that wait for the end of another one."""

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.service.lifecycle.stop_family import StopPreview
from agentdash.sessions.text.units import count
from agentdash.tui.texts.act_texts import Said
from agentdash.tui.texts.screen_texts import title

NO_LEAD = "It has no lead among the sessions."
NO_STEP = "Its lead has no step that started it."


def choose_worker(worker: Session) -> str:
    """Return the line of a worker in a choice of several."""
    return f"{worker.short_id}  {worker.status:<9} {title(worker)}"


def stopping(workers: int, ladder: Ladder) -> str:
    """Return the progress of a stop of several sessions: each has a ladder of its own, so no countdown is true."""
    kill = ladder.interrupt + ladder.terminate
    signals = f"SIGINT, SIGTERM after {ladder.interrupt:g}s, SIGKILL after {kill:g}s"
    return f"It and {count(workers, 'worker')}: each gets {signals}" if kill else "SIGKILL to it and its workers"


def stop_effect(preview: StopPreview) -> str:
    """Return what a stop of a lead does to its running workers; empty if it has none."""
    ending, going_on, lines = preview.ending, preview.going_on, []
    if ending:
        linked = sum(one.lifecycle == "linked" for one in ending)
        numbers = {"linked": linked, "ephemeral": len(ending) - linked}
        kinds = [f"{number} {kind}" for kind, number in numbers.items() if number]
        one_kind = f"{kinds[0]} worker{'s' * (len(ending) > 1)}"
        several = f"{count(len(ending), 'worker')} ({', '.join(kinds)})"
        lines.append(f"Also ends {one_kind if len(kinds) == 1 else several}.")
    if going_on:
        keeps = "keeps" if len(going_on) == 1 else "keep"
        lines.append(f"{count(len(going_on), 'session')} started by it {keeps} running.")
    return "\n".join(lines)


AFTER = "at once; or the id of a session to wait for"
"""The empty field of the new-session dialog."""


def question(session: Session) -> str:
    """Return the heading of the list of sessions for which one can wait."""
    return f'"{title(session)}" waits for'


def offer(session: Session) -> str:
    """Return a session of that list: its state, its id and its title."""
    return f"{session.status:<8} {session.short_id}  {title(session)}"


NO_OTHER = "There is no other session to wait for."


def waits(session: Session, other: Session) -> Said:
    """Return the message after a session was made to wait for another one."""
    if session.after is None:
        return Said("Started ", session, f" {session.short_id}: ", other, " is done")
    return Said("Made ", session, " wait for ", other)
