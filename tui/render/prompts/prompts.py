"""Templates, past prompts, those of a queue, and changes of a session's settings as lines."""

from collections.abc import Iterator, Mapping, Sequence

from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.prompts.delivery import queue_state
from agentdash.sessions.rules.prompts.due import until
from agentdash.sessions.settings.sections import PromptTemplate
from agentdash.sessions.storage.prompts.prompt_history import PastPrompt
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt, Unconfirmed
from agentdash.sessions.text.sanitize import one_line, pad
from agentdash.sessions.text.units import age
from agentdash.tui.render.style import Style

_AGE_CELLS = 5


def template_lines(templates: Mapping[str, PromptTemplate], style: Style) -> Iterator[str]:
    """Yield one line per template: name, description and text."""
    width = max((len(one_line(name)) for name in templates), default=0)
    for name, template in templates.items():
        what = filter(None, (one_line(template.description), one_line(template.text, 80)))
        yield "  ".join((style.paint(pad(one_line(name), width), "strong"), *what))


def prompt_lines(prompts: Sequence[PastPrompt], style: Style) -> Iterator[str]:
    """Yield one line per prompt: its age and its text, cut to the width of the output."""
    for prompt in prompts:
        text = one_line(prompt.text, max(20, style.width - _AGE_CELLS - 1))
        yield f"{style.paint(pad(age(style.now - prompt.at), _AGE_CELLS), 'dim')} {text}"


def adjustment_line(adjustment: Adjustment) -> str:
    """Return a change and the moment from which it counts: ``mode plan: from the agent's next step on``."""
    return one_line(f"{adjustment.what} {adjustment.value}: {adjustment.effect}")


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
        f"  {one_line(f'{waits_until(prompt, style.now)}{prompt.shown}', max(20, style.width - 20))}"
        for number, prompt in enumerate(prompts, 1)
    ]
    return lines


def waits_until(prompt: QueuedPrompt, now: int) -> str:
    """Return the time for which a prompt waits, before its text: ``[until Sat 18:00] ``."""
    return f"[{until(prompt.due_at, now)}] " if prompt.due_at is not None else ""


def quoted(prompt: QueuedPrompt, style: Style) -> str:
    """Return the first words of a prompt."""
    return f'"{one_line(prompt.text, max(20, style.width - 40))}"'
