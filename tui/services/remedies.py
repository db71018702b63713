"""Errors of the manager in the dashboard's words: what to do is a key, where the command line names a command."""

from collections.abc import Mapping

from agentdash.sessions.model.errors import AgentdashError, Remedy
from agentdash.tui.keys.keymap import Keymap

_HELP: Mapping[Remedy, tuple[str, str]] = {
    Remedy.WAIT_OR_STOP: ("Busy until its turn ends. {} to stop it.", "stop"),
    Remedy.STOP: ("{fact} {} to stop them.", "stop"),
    Remedy.RETRY: ("Plain command: no prompts. {} to run it again.", "retry"),
    Remedy.PROMPT: ("Done: nothing to retry. {} to send a prompt.", "write_prompt"),
    Remedy.RESTORE: ("In the trash. {} to restore it.", "undo"),
    Remedy.RAISE_LIMIT: ("{fact} {} to duplicate it with a higher limit.", "new_like"),
    Remedy.EXPLAIN: ("{fact} {} in its steps to see why.", "steps.explain"),
    Remedy.CONTINUE: ("{fact} {} to continue it in a new session.", "continue"),
    Remedy.DIAGNOSE: ("{fact} Make it writable first.", ""),
}
"""The sentence for each remedy, and the action whose key is in it."""


def worded(error: AgentdashError, keymap: Keymap) -> str:
    """Return an error's text with a key of the dashboard as the remedy."""
    if error.remedy is None:
        return str(error)
    text, action = _HELP[error.remedy]
    return text.format(keymap.name(action) if action else "", fact=error.fact)
