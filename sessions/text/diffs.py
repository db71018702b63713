"""Diffs that are counted whole and kept in part: one edit can have gigabytes, and the shown part must be small."""

from msgspec import Struct

from .unified_diff import counts

DIFF_CHARACTERS = 65_536
"""The most characters that are kept of one edit's diff."""


class Diff(Struct, frozen=True):
    """The beginning of a unified diff, and the line counts of the whole."""

    text: str
    added: int
    removed: int
    cut: bool = False


def diff_of(text: str | None) -> Diff | None:
    """Return the unified diff of one file, from the agent's text; None if there is no text."""
    if not text:
        return None
    return beginning(text, *counts(text))


def beginning(text: str, added: int, removed: int, *, cut: bool = False) -> Diff:
    """Return a diff with known counts and the beginning of its text; ``cut`` if some text is missing already."""
    return Diff(_kept(text), added, removed, cut or len(text) > DIFF_CHARACTERS)


def created(content: str) -> Diff:
    """Return the diff of a new file with this content."""
    lines = _line_count(content)
    return Diff(_whole(content, "+", f"@@ -0,0 +1,{lines} @@"), lines, 0, len(content) > DIFF_CHARACTERS)


def deleted(content: str) -> Diff:
    """Return the diff of a deleted file with this content."""
    lines = _line_count(content)
    return Diff(_whole(content, "-", f"@@ -1,{lines} +0,0 @@"), 0, lines, len(content) > DIFF_CHARACTERS)


def _line_count(content: str) -> int:
    return content.count("\n") + (content[-1:] not in ("", "\n"))


def _whole(content: str, sign: str, header: str) -> str:
    if not content:
        return ""
    # Only a newline ends a line: all other separators are text.
    lines = _kept(content).removesuffix("\n").split("\n")
    return "\n".join([header, *(sign + line for line in lines)])


def _kept(text: str) -> str:
    """Return the beginning of a text, up to the end of a line if there is one."""
    if len(text) <= DIFF_CHARACTERS:
        return text
    head = text[:DIFF_CHARACTERS]
    return head[: head.rfind("\n")] if "\n" in head else head
