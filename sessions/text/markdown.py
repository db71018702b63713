"""Markdown of generated pages: tables, and texts that contain no markup but code.

What agents print needs more care: see ``export/quoting.py``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    for row in (titles, ["---"] * len(titles), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def escaped(text: str) -> str:
    """Return a text in which Markdown, also that of code hosts, finds nothing but code between backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*<~$])", r"\\\1", part) for part in parts)
