"""Texts about leads and their workers: pure functions, so that the words can be tested."""

from collections.abc import Sequence

from ..sessions.model import Session
from ..sessions.text.units import count
from .texts import title

NO_LEAD = "It has no lead among the sessions."
NO_STEP = "Its lead has no step that started it."


def choose_worker(worker: Session) -> str:
    """Return the line of a worker in a choice of several."""
    return f"{worker.short_id}  {worker.status:<9} {title(worker)}"


def ends_too(below: Sequence[Session], lead: Session) -> tuple[list[Session], list[Session]]:
    """Return the running workers that a stop of their lead ends too, and those that go on; ``below`` is its family."""
    ended = {lead.id}
    for one in sorted(below, key=lambda session: session.created_at):
        if one.lifecycle != "detached" and one.parent in ended:
            ended.add(one.id)
    running = [one for one in below if not one.status.ended]
    return [one for one in running if one.id in ended], [one for one in running if one.id not in ended]


def stop_effect(ending: Sequence[Session], going_on: Sequence[Session]) -> str:
    """Return what a stop of a lead does to its running workers; empty if it has none."""
    lines = []
    if ending:
        linked = sum(one.lifecycle == "linked" for one in ending)
        numbers = {"linked": linked, "ephemeral": len(ending) - linked}
        kinds = [f"{number} {kind}" for kind, number in numbers.items() if number]
        lines.append(f"Also ends {count(len(ending), 'worker')} ({', '.join(kinds)}).")
    if going_on:
        keeps = "keeps" if len(going_on) == 1 else "keep"
        lines.append(f"{count(len(going_on), 'session')} started by it {keeps} running.")
    return "\n".join(lines)
