"""Templates of prompts: texts in the settings with fields, which are filled in for each session that gets one.

Only templates are filled in.  A prompt that the user writes is sent as it is, whatever braces it has.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated

from msgspec import Meta, Struct

from ..errors import UsageError
from ..text.sanitize import one_line

FIELDS: Mapping[str, str] = {
    "agent": "its agent",
    "branch": "the git branch of its folder",
    "cwd": "its folder",
    "id": "its id",
    "last_message": "the agent's last message, in full",
    "title": "its title",
}
"""The fields by name, each with its value for a session."""

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}?")
"""An escaped brace, or a field; a field that is not closed is found too, so that it is reported."""


class PromptTemplate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[templates.NAME]``: a prompt for any session."""

    text: Annotated[
        str,
        Meta(
            description=f"Prompt; {', '.join(f'{{{name}}}' for name in FIELDS)} are filled in; {{{{ is a brace.",
            examples=["Rebase {branch} onto main."],
        ),
    ] = ""
    description: Annotated[str, Meta(description="Purpose of the template, for lists.", examples=["Rebase"])] = ""

    @property
    def fields(self) -> frozenset[str]:
        """The names of its fields."""
        return frozenset(field for _, field in _parts(self.text) if field is not None)

    def filled(self, value_of: Callable[[str], str]) -> str:
        """Return the text with the value of each field in its place; a value is never searched for fields."""
        return "".join(text if field is None else value_of(field) for text, field in _parts(self.text))


def unusable_field(text: str) -> str | None:
    """Return why a template's text cannot be used; None if it can."""
    for written, field in _parts(text):
        if field is not None and (field not in FIELDS or not written.endswith("}")):
            known = ", ".join(f"{{{name}}}" for name in FIELDS)
            return f"Unknown field {one_line(written, 40)}. Fields: {known}. Write {{{{ for a brace."
    return None


def _parts(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the text in parts, each with the name of its field; None for a part that is sent as it is."""
    end = 0
    for match in _TOKEN.finditer(text):
        yield text[end : match.start()], None
        yield (match[0][0], None) if match[1] is None else (match[0], match[1])
        end = match.end()
    yield text[end:], None


def template_named(templates: Mapping[str, PromptTemplate], name: str) -> PromptTemplate:
    """Return the template of this name.

    Raises:
        UsageError: there is none, and the message lists the known templates; or it has no text.
    """
    if name in templates and templates[name].text.strip():
        return templates[name]
    if name in templates:
        raise UsageError(f"Template {name} has no text.")
    known = f"Known templates: {', '.join(templates)}." if templates else "The settings have no templates."
    raise UsageError(f"Unknown template {name!r}. {known}")
