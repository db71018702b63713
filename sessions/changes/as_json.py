"""What ``changes --json`` prints."""

from typing import Any

from msgspec import to_builtins

from .model import SessionChanges


def changes_json(changes: SessionChanges, *, diffs: bool = False) -> dict[str, Any]:
    """The changes, field by field; ``diff`` is a key of an edit only where it was asked for, because null says more."""
    data: dict[str, Any] = to_builtins(changes)
    if not diffs:
        for file in data["files"]:
            for edit in file["edits"]:
                del edit["diff"]
    return data
