"""What a screen of sessions takes on its command line: every action by its name, and some with more behind it."""

from collections.abc import Awaitable, Iterator
from typing import TYPE_CHECKING

from ..keys.action_commands import named
from ..keys.actions import LINES_KEYS, STEPS_KEYS, TABLE_KEYS, VIEWER_ACTIONS, here
from ..keys.command_line import Command, starting
from ..themes import THEMES

if TYPE_CHECKING:
    from .session_screen import SessionScreen


def session_commands(screen: "SessionScreen") -> Iterator[Command]:
    """Every command there is here; later ones take the place of earlier ones of the same name."""
    if screen.has_table:
        yield from named(screen.home_focus(), TABLE_KEYS)
    yield from named(screen.detail.steps, [*LINES_KEYS, *STEPS_KEYS])
    yield from named(screen.detail.viewer, VIEWER_ACTIONS, short=True)
    yield from named(screen, here(table=screen.has_table), why_not=screen.why_not)
    yield from _with_more(_More(screen), no_writing=screen.why_not("write_prompt"))


def _with_more(more: "_More", *, no_writing: str) -> Iterator[Command]:
    yield Command(
        names=("inject", "write_prompt", "prompt"),
        takes="[TEXT]",
        help="say something to the session",
        run=more.inject,
        why_not=no_writing,
    )
    yield Command(
        names=("theme",),
        takes="[NAME]",
        help="a theme by its name, or the next one",
        run=more.theme,
        complete=starting(THEMES),
    )
    yield Command(names=("search", "steps.search"), takes="[TEXT]", help="search all steps", run=more.search)
    yield Command(
        names=("go", "go_to", "steps.go_to"), takes="NUMBER", help="go to a step, or to turn.step", run=more.go
    )
    yield Command(
        names=("export", "steps.export", "save"),
        takes="[PATH]",
        help="save the session as .md, .html or .json",
        run=more.export,
    )
    yield Command(names=("quit", "q"), help="leave the dashboard; the sessions go on", run=more.quit)


class _More:
    """What some commands do with what stands behind their names."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen

    def inject(self, text: str) -> None:
        """Send a text at once; without one go to the prompt."""
        if text:
            self._screen.send_prompt(text)
        else:
            self._screen.action_write_prompt()

    async def theme(self, name: str) -> None:
        if name and name not in THEMES:
            self._screen.requests.complain(f"Unknown theme {name!r}. Themes: {', '.join(THEMES)}.")
        else:
            await self._screen.action_theme(name)

    def search(self, text: str) -> None:
        self._read()
        viewer = self._screen.detail.viewer
        if text:
            viewer.find(text)
        else:
            viewer.action_search()

    def go(self, number: str) -> None:
        self._read()
        self._screen.detail.viewer.go_to(number)

    async def export(self, path: str) -> None:
        session = self._screen.current
        if not path or session is None:
            self._screen.detail.viewer.action_export()
            return
        there, reason = await self._screen.operations.save(session.id, path, False)
        if reason is not None:
            self._screen.requests.complain(f"{path} is there already; it was not touched." if there else reason)

    def quit(self, _: str) -> Awaitable[object]:
        return self._screen.run_action("quit")

    def _read(self) -> None:
        self._screen.uncover()
        self._screen.set_focus(self._screen.detail.steps)
