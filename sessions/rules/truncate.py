"""Steps without the middle of their longest texts: what a list needs, in memory that does not grow with the file."""

from typing import Any

import msgspec
from msgspec import structs

from ..model import Change, Step

KEPT = 64_000
"""Characters of one text that stay; of a longer one both ends do."""


def trimmed(step: Step) -> Step:
    """The step itself, unless one of its texts is too long; ``cut`` then says how many characters are missing."""
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
    """Cuts texts, and counts what it leaves out."""

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
        # The counts are those of the whole diff: they cannot be made from what stays of it.
        added, removed = change.lines or (None, None)
        return structs.replace(change, diff=diff, added=added, removed=removed, cut=True)

    def of_value(self, value: Any) -> Any:
        """Arguments; where they are too long, the ends of their JSON."""
        if value is None or isinstance(value, bool | int | float):
            return value
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        return value if len(text) <= KEPT else self.of(text)
