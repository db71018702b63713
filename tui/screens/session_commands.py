"""The commands of a session screen: every action by its name, and some that take an argument."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from agentdash.tui.keys.actions import LINES_KEYS, STEPS_KEYS, TABLE_KEYS, VIEWER_ACTIONS, here
from agentdash.tui.keys.command_line import Command, named, starting
from agentdash.tui.themes import THEMES

if TYPE_CHECKING:
    from agentdash.tui.screens.session_screen import SessionScreen


def session_commands(screen: "SessionScreen") -> Iterator[Command]:
    """Yield every command of the screen; a later one replaces an earlier one of the same name."""
    why_not = partial(screen.target.why_not, restore_key=screen.keymap.name("undo"))
    if screen.has_table:
        yield from named(screen.home_focus(), TABLE_KEYS)
    yield from named(screen.detail.steps, [*LINES_KEYS, *STEPS_KEYS])
    yield from named(screen.detail.viewer, VIEWER_ACTIONS, short=True)
    yield from named(screen, here(table=screen.has_table), why_not=why_not)
    yield from _with_more(_More(screen), screen, why_not)


def _with_more(more: "_More", screen: "SessionScreen", why_not: Callable[[str], str]) -> Iterator[Command]:
    yield Command(
        names=("mode",),
        takes="[MODE]",
        help="change the permission mode from now on; no argument: choose from a list",
        run=more.mode,
        complete=starting(screen.operations.adjust.modes(screen.target.current)),
        why_not=why_not("mode"),
    )
    yield Command(
        names=("model",),
        takes="MODEL",
        help="change the model from now on",
        run=more.model,
        why_not=why_not("mode"),
    )
    yield Command(
        names=("inject", "write_prompt", "prompt"),
        takes="[TEXT]",
        help="send a prompt to the session",
        run=more.inject,
        why_not=why_not("write_prompt"),
    )
    yield Command(
        names=("interrupt", "interrupt_turn"),
        takes="[TEXT]",
        help="interrupt the turn, and send a prompt in its place",
        run=more.interrupt,
        why_not=why_not("interrupt_turn"),
    )
    yield Command(
        names=("theme",),
        takes="[NAME]",
        help="set theme; no argument: next theme",
        run=more.theme,
        complete=starting(THEMES),
    )
    yield Command(names=("search", "steps.search"), takes="[TEXT]", help="search all steps", run=more.search)
    yield Command(names=("go", "go_to", "steps.go_to"), takes="NUMBER", help="go to step, or turn.step", run=more.go)
    yield Command(
        names=("export", "steps.export", "table.export", "save"),
        takes="[PATH]",
        help="export to a .md, .html or .json file",
        run=more.export,
    )
    yield Command(
        names=("resume_command",),
        help="copy the resume command of the agent's own CLI",
        run=lambda _: more.resume_command(),
    )
    yield Command(names=("quit", "q"), help="quit (sessions keep running)", run=more.quit)


class _More:
    """The commands that take an argument."""

    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen

    def inject(self, text: str) -> None:
        """Send a text at once; without a text, give the keys to the prompt."""
        if text:
            self._screen.send(text)
        else:
            self._screen.action_write_prompt()

    async def interrupt(self, text: str) -> None:
        """Interrupt and send a text; without a text, ask before interrupting."""
        if text:
            self._screen.send(text, interrupts=True)
        else:
            await self._screen.run_action("on_target('interrupt_turn')")

    async def mode(self, name: str) -> None:
        """Change the mode; without a name, let the user choose one."""
        session, adjust = self._screen.target.current, self._screen.operations.adjust
        if session is not None and name:
            await adjust.mode(session, name)
        else:
            await self._screen.run_action("on_target('mode')")

    async def model(self, name: str) -> None:
        if (session := self._screen.target.current) is not None:
            await self._screen.operations.adjust.model(session, name)

    async def theme(self, name: str) -> None:
        if name and name not in THEMES:
            self._screen.requests.show_error(f"Unknown theme {name!r}. Choose one of: {', '.join(THEMES)}.")
        else:
            await self._screen.run_action(f"app.theme({name!r})")

    def search(self, text: str) -> None:
        self._screen.go_to_steps()
        viewer = self._screen.detail.viewer
        if text:
            viewer.find(text)
        else:
            viewer.action_search()

    def go(self, number: str) -> None:
        self._screen.go_to_steps()
        self._screen.detail.viewer.go_to(number)

    async def export(self, path: str) -> None:
        session = self._screen.target.current
        if not path or session is None:
            self._screen.detail.viewer.action_export()
            return
        there, reason = await self._screen.operations.save(session.id, path, False)
        if reason is not None:
            self._screen.requests.show_error(f"{path} already exists; not overwritten." if there else reason)

    def resume_command(self) -> Awaitable[object]:
        return self._screen.copy_resume_command()

    def quit(self, _: str) -> Awaitable[object]:
        return self._screen.run_action("quit")
