"""Texts about the agent's own interface, and what was said there."""

from collections.abc import Iterable

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Session
from agentdash.sessions.service.lifecycle.session_ref import held_elsewhere
from agentdash.sessions.storage.turns.takeovers import ByHand
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import age, count


def outcome(session: Session, done: ByHand) -> str:
    """Return what became of what was said: ``3 prompts by hand, 4m: turn 5.``"""
    took = age(round(done.seconds * 1000))
    if done.turn is not None:
        lacking = f" Not all of it: {one_line(done.reason)}." if done.reason else ""
        return f"{count(done.prompts, 'prompt')} by hand, {took}: turn {done.turn}.{lacking}"
    if done.reason is not None:
        return f"What was said by hand in {took} is not recorded: {one_line(done.reason)}."
    return f"No prompt by hand in {took}: no turn. {_elsewhere(session)}".rstrip()


def _elsewhere(session: Session) -> str:
    """Return the hint for an agent whose interface does not name the conversation that it shows."""
    interface = agent_named(session.agent).interface
    if interface is not None and interface.shown is not None:
        return ""
    return "What was said in another conversation of the interface is not part of the session."


def failed(session: Session, done: ByHand) -> str:
    """Return the error if the interface did not end well; empty if it did."""
    if done.exit_code in (None, 0):
        return ""
    title = agent_named(session.agent).title
    how = f"signal {-done.exit_code}" if done.exit_code < 0 else f"exit code {done.exit_code}"
    return f"{title} ended with {how}."


def archived_of(session: Session) -> str:
    """Return who had an archived session by hand on another machine, in a few words; empty if no user had."""
    taken = held_elsewhere(session)
    return f"Open by hand on {one_line(taken.host)}: {one_line(taken.holder)}." if taken is not None else ""


def put_away_warning(sessions: Iterable[Session]) -> str:
    """Return the warning before sessions are deleted or archived that users of other machines have; empty for none."""
    held = [(session, taken) for session in sessions if (taken := held_elsewhere(session)) is not None]
    if not held:
        return ""
    session, taken = held[0]
    others = f" The same holds for {len(held) - 1} more of these sessions." if len(held) > 1 else ""
    return (
        f"Session {session.short_id} is open by hand on {one_line(taken.host)}, by {one_line(taken.holder)}. It cannot"
        f" be checked from here whether that is still so. What was said there is not recorded.{others}"
    )
