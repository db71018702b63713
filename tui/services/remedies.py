"""Errors of the manager in the dashboard's words: what to do is a key, where the command line names a command."""

from collections.abc import Mapping

from ...sessions.errors import AgentdashError, Remedy
from ..keys.keymap import Keymap

_HELP: Mapping[Remedy, tuple[str, str]] = {
    Remedy.WAIT_OR_STOP: ("Busy: no prompt until its turn ends. {} stops it; the text stays here.", "stop"),
    Remedy.STOP: ("Processes of its lost turn still run: {} ends them.", "stop"),
    Remedy.RETRY: ("A plain command takes no prompt: {} runs it again.", "retry"),
    Remedy.PROMPT: ("Done: nothing to retry. {} sends the next prompt.", "write_prompt"),
    Remedy.RESTORE: ("It is in the trash: {} restores it.", "undo"),
    Remedy.RAISE_LIMIT: ("{fact} {} starts a session like it with another limit.", "new_like"),
    Remedy.EXPLAIN: ("{fact} {} in its steps explains its status.", "steps.explain"),
    Remedy.DIAGNOSE: ("{fact} Changes work again when it can be written.", ""),
}
"""The sentence for each remedy, and the action whose key is in it."""


def worded(error: AgentdashError, keymap: Keymap) -> str:
    """Return an error's text with a key of the dashboard as the remedy."""
    if error.remedy is None:
        return str(error)
    text, action = _HELP[error.remedy]
    return text.format(keymap.name(action) if action else "", fact=error.fact)
