"""Diffs, counted whole and kept in part: one edit can be gigabytes, what is shown of it cannot."""

from msgspec import Struct

from .unified_diff import counts

DIFF_CHARACTERS = 65_536
"""What is kept of one edit's diff."""


class Diff(Struct, frozen=True):
    """The beginning of a unified diff, and the line counts of all of it."""

    text: str
    added: int
    removed: int
    cut: bool = False


def diff_of(text: str | None) -> Diff | None:
    """A unified diff of one file as an agent gives it; None where it gives none."""
    if not text:
        return None
    return beginning(text, *counts(text))


def beginning(text: str, added: int, removed: int, *, cut: bool = False) -> Diff:
    """A diff whose counts are known; of a long text only the beginning is kept, ``cut`` if some was missing already."""
    return Diff(_kept(text), added, removed, cut or len(text) > DIFF_CHARACTERS)


def created(content: str) -> Diff:
    """The diff of a file that came to be with this content."""
    lines = _line_count(content)
    return Diff(_whole(content, "+", f"@@ -0,0 +1,{lines} @@"), lines, 0, len(content) > DIFF_CHARACTERS)


def deleted(content: str) -> Diff:
    """The diff of a file with this content that went away."""
    lines = _line_count(content)
    return Diff(_whole(content, "-", f"@@ -1,{lines} +0,0 @@"), 0, lines, len(content) > DIFF_CHARACTERS)


def _line_count(content: str) -> int:
    return content.count("\n") + (content[-1:] not in ("", "\n"))


def _whole(content: str, sign: str, header: str) -> str:
    if not content:
        return ""
    # Only a newline ends a line: other separators are text.
    lines = _kept(content).removesuffix("\n").split("\n")
    return "\n".join([header, *(sign + line for line in lines)])


def _kept(text: str) -> str:
    """The beginning, up to the end of a line if there is one."""
    if len(text) <= DIFF_CHARACTERS:
        return text
    head = text[:DIFF_CHARACTERS]
    return head[: head.rfind("\n")] if "\n" in head else head
