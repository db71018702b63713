"""The counts of sessions as one line: plain, or for the status line of tmux."""

from collections.abc import Sequence

from agentdash.sessions.storage.counts import Counts
from agentdash.sessions.text.sanitize import cut, one_line

_TITLE_CELLS = 30

_PARTS = (("needs_you", "need you", "yellow"), ("at_work", "at work", "green"), ("queued", "queued", "cyan"),
          ("failed", "failed", "red"))  # fmt: skip
"""The field, its words, and its colour of the terminal."""


def status_line(counts: Counts, *, tmux: bool, plans: Sequence[str] = ()) -> str:
    """Return the counts that are not zero, the title of the most urgent session, and plans; empty if there is none."""
    parts = []
    for field, words, colour in _PARTS:
        number = getattr(counts, field)
        if not number:
            continue
        text = f"{number} {'needs you' if field == 'needs_you' and number == 1 else words}"
        if field == "needs_you" and counts.first:
            title = cut(one_line(counts.first), _TITLE_CELLS)
            text += f": {_escaped(title) if tmux else title}"
        parts.append(f"#[fg={colour}]{text}#[default]" if tmux else text)
    parts += [f"#[fg=yellow]{_escaped(text)}#[default]" if tmux else text for text in plans]
    return ", ".join(parts)


def _escaped(text: str) -> str:
    """Return foreign text in which tmux finds neither a style nor a format."""
    return text.replace("#", "##")
