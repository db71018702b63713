"""Templates and past prompts as lines."""

from collections.abc import Iterator, Mapping, Sequence

from agentdash.sessions.settings.sections import PromptTemplate
from agentdash.sessions.storage.prompts.prompt_history import PastPrompt
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
