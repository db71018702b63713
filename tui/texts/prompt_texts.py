"""Texts about writing prompts: templates, earlier prompts, prompts to several sessions."""

from collections.abc import Mapping, Sequence

from agentdash.sessions.settings.sections import PromptTemplate
from agentdash.sessions.storage.prompts.prompt_history import PastPrompt
from agentdash.sessions.text.units import age, count
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.lists.entry import Entry

NO_TEMPLATES = "No templates: add [templates.NAME] to the settings."
NO_PROMPTS = "No earlier prompts."
EDITED_FILE = "prompt.md"


def prompt_entries(prompts: Sequence[PastPrompt], now: int) -> list[Entry]:
    """Return the lines of the search in earlier prompts."""
    return [Entry(head=age(now - prompt.at), text=prompt.text) for prompt in prompts]


def template_entries(templates: Mapping[str, PromptTemplate]) -> list[Entry]:
    """Return the lines of the list of templates."""
    return [
        Entry(head=name, note=template.description, text=template.text) for name, template in templates.items()
    ]  # fmt: skip


def broadcast_effect(text: str, skipped: int, *, template: str = "") -> str:
    """Return the effect of a prompt to several sessions; of a template, ``text`` is the first session's prompt."""
    sends = f"Sends template {template} to each, filled in. The first gets" if template else "Sends"
    others = f" Skips {count(skipped, 'session')} that cannot take a prompt." if skipped else ""
    return f"{sends} {texts.quoted(text)}{'.' if template else ' to each.'}{others}"
