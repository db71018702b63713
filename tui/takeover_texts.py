"""Texts about the agent's own interface, and what was said there."""

from ..sessions.agents.registry import agent_named
from ..sessions.model import Session
from ..sessions.storage.takeovers import ByHand
from ..sessions.text.sanitize import one_line
from ..sessions.text.units import age, count


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
    if agent_named(session.agent).follows_interface:
        return ""
    return "What was said in another conversation of the interface is not part of the session."


def failed(session: Session, done: ByHand) -> str:
    """Return the error if the interface did not end well; empty if it did."""
    if done.exit_code in (None, 0):
        return ""
    title = agent_named(session.agent).title
    how = f"signal {-done.exit_code}" if done.exit_code < 0 else f"exit code {done.exit_code}"
    return f"{title} ended with {how}."
