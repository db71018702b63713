"""Complete the first picture, and keep it for the next start, which draws it before Textual is imported."""

from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread
from typing import Any

from rich.console import Console
from textual.widget import Widget

from agentdash.sessions.model.clock import monotonic
from agentdash.tui.keys.key_queue import KeysInOrder
from agentdash.tui.screens.main import MainScreen
from agentdash.tui.screens.session_screen import SessionScreen
from agentdash.tui.state.picture import Box, Look, Picture, Text, key, kind, save
from agentdash.tui.terminal.shown import Shown
from agentdash.widgets.drawing.painted_view import Painter, resolved
from agentdash.widgets.drawing.roles import ROLES
from agentdash.widgets.drawing.roles import Look as Wanted
from agentdash.widgets.table.first_rows import Table
from agentdash.widgets.table.header import STYLES

COMPLETE_SECONDS = 0.5
"""Longest time that the first frame waits for the steps of the first session."""

KEEP_SECONDS = 10.0
"""Longest time after it in which the picture for the next start is taken."""


class FirstPicture:
    """Replaces the first frame by the first picture when it is complete, and keeps it for the next start.

    Args:
        loaded: returns whether all sessions were read.
        then: called when the picture is complete.
        keeps: True if the next start can begin with this picture.
    """

    def __init__(
        self,
        app: KeysInOrder[Any],
        screen: SessionScreen,
        home: Path,
        *,
        loaded: Callable[[], bool],
        then: Callable[[], object],
        keeps: bool,
    ) -> None:
        self._app, self._screen, self._home, self._loaded, self._then, self._keeps = (
            app, screen, home, loaded, then, keeps
        )  # fmt: skip
        self._until = monotonic() + COMPLETE_SECONDS

    def complete(self) -> None:
        """Wait until nothing is being read for the screen, but not longer than :data:`COMPLETE_SECONDS`."""
        if (self._loaded() and self._screen.settled) or monotonic() > self._until:
            self._app.show_pictures()
            self._app.call_after_refresh(self._shown)
        else:
            self._app.set_timer(COMPLETE_SECONDS / 100, self.complete)

    def _shown(self) -> None:
        self._then()
        self._until = monotonic() + KEEP_SECONDS
        if self._keeps:
            self._keep()

    def _keep(self) -> None:
        """Keep the picture as soon as the screen is complete; not if that takes long, or the user goes elsewhere."""
        app, screen = self._app, self._screen
        if app.screen is not screen or not isinstance(screen, MainScreen):
            return
        complete = self._loaded() and screen.settled
        taken = picture(screen, app.shown, app.console, self._home) if complete else None
        if taken is not None:
            size = (app.size.width, app.size.height)
            Thread(target=save, args=(self._home, size, taken), name="picture").start()
        elif monotonic() < self._until:
            app.set_timer(COMPLETE_SECONDS / 10, self._keep)


def picture(screen: MainScreen, shown: Shown, console: Console, home: Path) -> Picture | None:
    """Return the picture of the main screen; None if it shows more than the next start would begin with."""
    table, keys = screen.table, screen.foot.keys
    if screen.has_class("-tiny") or screen.has_class("-flat") or not table.shows_first or not keys.region.height:
        return None
    size = screen.size
    blank = [_box(pane) for pane in (screen.detail, screen.pane.bar, screen.pane.preview) if pane.region.height]
    header, place = _box(screen.status), _box(table)
    covered = [header, place, _box(keys), *blank]
    texts = shown.texts()
    looks = _Looks(shown, console)
    scrollbar = Box(place.x + place.width - 1, place.y, 1, place.height)
    lines = {
        y: [*_outside(texts.get(y, []), [box for box in covered if box.y <= y < box.y + box.height])]
        for y in range(size.height)
    }
    scrolled = table.lines_in_all if table.show_vertical_scrollbar else 0
    if scrolled:
        for y in range(scrollbar.y, scrollbar.y + scrollbar.height):
            lines[y] = sorted([*lines[y], *_inside(texts.get(y, []), scrollbar.x, scrollbar.x + 1)])
    return Picture(
        key=key(home),
        header=header,
        where=screen.where,
        placed=not screen.pane.bar.display,
        table=place,
        form=Table(place.width, place.height, *table.choices),
        scrolled=scrolled,
        blank=tuple(blank),
        ground=looks.role(Painter(screen), ""),
        roles={role: looks.role(table.painter, role) for role in ("", *ROLES)},
        styles={style: looks.style(screen.status, style) for style in STYLES},
        lines=lines,
        keys_for=kind(table.selected),
        keys=_box(keys),
        keys_line=[*_inside(texts.get(keys.region.y, []), keys.region.x, keys.region.right)],
    )


class _Looks:
    """The sequences of roles and styles on widgets."""

    def __init__(self, shown: Shown, console: Console) -> None:
        self._shown, self._console = shown, console

    def role(self, painter: Painter, role: str) -> Look:
        return self._shown.look(painter.style(role), self._console)

    def style(self, widget: Widget, style: str) -> Look:
        words = style.split()
        color = next((word[1:] for word in words if word.startswith("$")), "")
        flags = " ".join(word for word in words if not word.startswith("$"))
        ground = Painter(widget).ground
        found = resolved(Wanted(color, flags=flags), ground) if style else ground.style
        return self._shown.look(found, self._console)


def _box(widget: Widget) -> Box:
    """Return the content of a widget, without its border."""
    region = widget.content_region
    return Box(region.x, region.y, region.width, region.height)


def _inside(line: Iterable[Text], start: int, end: int) -> Iterable[Text]:
    """Yield the texts of a line that begin between two columns."""
    return (text for text in line if start <= text[0] < end)


def _outside(line: Iterable[Text], covered: Iterable[Box]) -> Iterable[Text]:
    """Yield the texts of a line that no box covers."""
    spans = [(box.x, box.x + box.width) for box in covered]
    return (text for text in line if not any(start <= text[0] < end for start, end in spans))
