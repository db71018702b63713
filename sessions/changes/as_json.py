"""The output of ``changes --json``."""

from typing import Any

from msgspec import to_builtins

from .model import SessionChanges


def changes_json(changes: SessionChanges, *, diffs: bool = False) -> dict[str, Any]:
    """Return the changes, field by field; an edit has the key ``diff`` only on request: null means "not known"."""
    data: dict[str, Any] = to_builtins(changes)
    if not diffs:
        for file in data["files"]:
            for edit in file["edits"]:
                del edit["diff"]
    return data
