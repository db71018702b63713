"""The text of an edit that claude asks for: what it would write, as a unified diff.  Pure.

A request has the arguments of the call only.  So the numbers of the lines are not known, and of a file that would be
overwritten only the new text is.
"""

from collections.abc import Mapping
from typing import Any

from .tools import created, text_in

_CONTEXT = 3
"""Unchanged lines that are shown before and behind a change."""


def path_of(given: Mapping[str, Any]) -> str:
    """Return the file that a call of an editing tool names."""
    return text_in(given.get("file_path") or given.get("notebook_path"))


def proposed(tool: str, given: Mapping[str, Any]) -> str:
    """Return the edit as text; empty if the arguments have none.

    Args:
        tool: one of :data:`.tools.EDITS`.
    """
    if tool == "Write":
        return created(text_in(given.get("content")))
    if tool == "NotebookEdit":
        mode, cell = text_in(given.get("edit_mode")) or "replace", text_in(given.get("cell_id"))
        return "\n".join([f"@@ {mode} cell {cell}".rstrip() + " @@", *_signed("+", text_in(given.get("new_source")))])
    edits = given.get("edits") if tool == "MultiEdit" else [given]
    return "\n".join(_replacement(edit) for edit in edits if isinstance(edit, dict)) if isinstance(edits, list) else ""


def _replacement(edit: Mapping[str, Any]) -> str:
    old, new = (_lines(text_in(edit.get(name))) for name in ("old_string", "new_string"))
    same = _common(old, new)
    tail = _common(old[same:][::-1], new[same:][::-1])
    before, behind = old[max(0, same - _CONTEXT) : same], old[len(old) - tail :][:_CONTEXT]
    removed, added = old[same : len(old) - tail], new[same : len(new) - tail]
    head = "@@ every occurrence @@" if edit.get("replace_all") is True else "@@"
    signed = ((" ", before), ("-", removed), ("+", added), (" ", behind))
    return "\n".join([head, *(sign + line for sign, lines in signed for line in lines)])


def _signed(sign: str, text: str) -> list[str]:
    return [sign + line for line in _lines(text)]


def _lines(text: str) -> list[str]:
    """Return the lines of a text; only a newline ends a line."""
    return text.removesuffix("\n").split("\n") if text else []


def _common(one: list[str], other: list[str]) -> int:
    """Return the number of equal lines at the beginning of both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
