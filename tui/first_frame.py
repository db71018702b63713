"""The first frame: the sessions as they are now, drawn before Textual is imported."""

import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Session
from agentdash.sessions.storage.paths import Layout, default_home
from agentdash.sessions.storage.rows import session_from
from agentdash.sessions.storage.schema import VERSION
from agentdash.sessions.storage.urgency import FIRST
from agentdash.sessions.text.sanitize import cell_width
from agentdash.sessions.text.terminal import is_wanted
from agentdash.tui.state.picture import Box, Look, Picture, Text, kind, load
from agentdash.tui.terminal.early import Frame, Held
from agentdash.widgets.drawing.spans import Span, joined, painted
from agentdash.widgets.table.first_rows import FirstRows
from agentdash.widgets.table.header import Tally, header

Place = tuple[int, int, list[tuple[str, Look]]]
"""A column, a line, and texts with their looks."""

LIMIT = 120
"""Sessions that fill the first screen of a table."""

_BUSY_SECONDS = 0.05
"""Longest wait for the database: without it the program starts as usual."""


def show(held: Held) -> None:
    """Draw the first frame if it can be true; any trouble is left to the dashboard, which reports it."""
    if is_wanted(sys.stdout.encoding, os.environ):
        return
    try:
        layout = Layout(default_home())
        size = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ is not None else 1)
        picture = load(layout.home, (size.columns, size.lines))
        if picture is not None and (sessions := _sessions(layout.database)):
            held.draw((size.columns, size.lines), frame(picture, sessions, now_ms()))
    except Exception:  # noqa: BLE001 - whatever it is, the start goes on without a first frame
        return


def _sessions(path: Path) -> list[Session]:
    """Return the sessions of the first screen; none if the database has another schema."""
    name = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    address = f"file:{name}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)) as database:
        database.row_factory = sqlite3.Row
        if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            return []
        return [session_from(row) for row in database.execute(FIRST, (LIMIT,))]


def frame(picture: Picture, sessions: list[Session], now: int) -> Frame:
    """Return the first frame: a picture with these sessions."""
    rows = FirstRows(sessions, now, picture.form)
    drawn: Frame = {y: list(line) for y, line in picture.lines.items()}
    for x, y, text in _all(picture, sessions, rows):
        drawn.setdefault(y, []).extend(_placed(x, text))
    return {y: sorted(drawn[y]) for y in sorted(drawn)}


def _all(picture: Picture, sessions: list[Session], rows: FirstRows) -> Iterator[Place]:
    """Yield the lines that a picture lacks: their place, and their texts with their looks."""
    tally, box = Tally(), picture.header
    tally.update(sessions, ())
    line = header(tally, picture.where, box.width, place=rows.place if picture.placed else "")
    if len(sessions) == LIMIT:  # there may be more to count
        line = []
    yield box.x, box.y, _line(line, picture.styles, box.width)
    yield from _table(picture, rows)
    for part in picture.blank:
        yield from _empty(picture, part)
    if kind(rows.selected) != picture.keys_for:
        yield from _empty(picture, picture.keys)
    else:
        for x, text, look in picture.keys_line:
            yield x, picture.keys.y, [(text, look)]


def _table(picture: Picture, rows: FirstRows) -> Iterator[Place]:
    box, looks, y = picture.table, picture.roles, picture.table.y
    for line in rows.lines():
        own = looks if not line.over else dict.fromkeys(looks, looks[line.over])
        yield box.x, y, _line(joined(line.cells), own, rows.width)
        y += 1
    yield from _empty(picture, Box(box.x, y, rows.width, box.y + box.height - y))
    if rows.scrolls and rows.lines_in_all != picture.scrolled:
        yield from _empty(picture, Box(box.x + rows.width, box.y, 1, box.height))


def _line(spans: Iterable[Span], looks: dict[str, Look], width: int) -> list[tuple[str, Look]]:
    """Return a line of this width in its looks."""
    texts, room = [], width
    for text, role in spans:
        room -= cell_width(text)
        texts.append((text, looks[role]))
    return [*texts, (" " * room, looks[""])] if room > 0 else texts


def _placed(x: int, texts: Iterable[tuple[str, Look]]) -> Iterator[Text]:
    for text, look in texts:
        yield x, painted(text), look
        x += cell_width(text)


def _empty(picture: Picture, box: Box) -> Iterator[Place]:
    for y in range(box.y, box.y + box.height):
        yield box.x, y, [(" " * box.width, picture.ground)]
