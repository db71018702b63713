"""The queue of a session as lines of text."""

from collections.abc import Sequence

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.prompts.delivery import queue_state
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt, Unconfirmed
from agentdash.sessions.text.sanitize import one_line, pad
from agentdash.sessions.text.units import age
from agentdash.tui.render.style import Style

KEY_CHARACTERS = 8


def queue_lines(
    session: Session, prompts: Sequence[QueuedPrompt], unconfirmed: Sequence[Unconfirmed], style: Style
) -> list[str]:
    """Return the state of the queue, and a line for each prompt: position, age, key, text.

    An unconfirmed prompt has its turn in place of a position.
    """
    lines = [queue_state(session)]
    lines += [
        f"{f't{prompt.turn}':>3}  {pad(age(style.now - prompt.created_at), 4)} unconfirmed"
        f"  {one_line(prompt.text, max(20, style.width - 23))}"
        for prompt in unconfirmed
    ]
    lines += [
        f"{number:>3}  {pad(age(style.now - prompt.created_at), 4)} {prompt.key[:KEY_CHARACTERS]}"
        f"  {one_line(prompt.shown, max(20, style.width - 20))}"
        for number, prompt in enumerate(prompts, 1)
    ]
    return lines


def quoted(prompt: QueuedPrompt, style: Style) -> str:
    """Return the first words of a prompt."""
    return f'"{one_line(prompt.text, max(20, style.width - 40))}"'
