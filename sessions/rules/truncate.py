"""Steps without the middle of their longest texts: enough for a list, in memory that does not grow with the file."""

from typing import Any

import msgspec
from msgspec import structs

from agentdash.sessions.model.session import Change, Step

KEPT = 64_000
"""The most characters of one text that are kept; of a longer text both ends are."""


def trimmed(step: Step) -> Step:
    """Return the step with long texts truncated, or itself if it has none; ``cut`` counts the missing characters."""
    missing = _Missing()
    text, command, output = missing.of(step.text), missing.of(step.command), missing.of(step.output)
    changes = tuple(missing.of_change(change) for change in step.changes)
    arguments = missing.of_value(step.arguments)
    if not missing.characters:
        return step
    return structs.replace(
        step,
        text=text or "",
        command=command,
        output=output,
        changes=changes,
        arguments=arguments,
        cut=missing.characters,
    )


class _Missing:
    """Truncates texts, and counts the missing characters."""

    def __init__(self) -> None:
        self.characters = 0

    def of(self, text: str | None) -> str | None:
        if text is None or len(text) <= KEPT:
            return text
        self.characters += len(text) - KEPT
        return f"{text[: KEPT // 2]}\n…\n{text[-KEPT // 2 :]}"

    def of_change(self, change: Change) -> Change:
        diff = self.of(change.diff)
        if diff is change.diff:
            return change
        # The counts are those of the whole diff: the rest of it does not give them.
        added, removed = change.lines or (None, None)
        return structs.replace(change, diff=diff, added=added, removed=removed, cut=True)

    def of_value(self, value: Any) -> Any:
        """Return arguments; if they are too long, both ends of their JSON."""
        if value is None or isinstance(value, bool | int | float):
            return value
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        return value if len(text) <= KEPT else self.of(text)
