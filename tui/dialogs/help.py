"""The list of all keys, from the registry of actions and the keymap."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from textwrap import wrap

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from agentdash.tui.dialogs.dialog import Dialog
from agentdash.tui.keys.action import CHANGES, Action, Place
from agentdash.tui.keys.actions import (
    APP_ACTIONS,
    CHANGES_ACTIONS,
    DIFF_KEYS,
    FILES_KEYS,
    LINES_KEYS,
    MENU_ACTIONS,
    PANE_ACTIONS,
    PROMPT_KEYS,
    REGISTRY,
    STEP_KEYS,
    STEPS_KEYS,
    TABLE_ACTIONS,
    TABLE_KEYS,
    USAGE_ACTIONS,
    VIEWER_ACTIONS,
    here,
)
from agentdash.tui.keys.footer import Labels, first_keys
from agentdash.tui.keys.keymap import DEFAULT, Keymap

Section = tuple[str, Sequence[tuple[str, str]]]
"""A heading, and pairs of keys and what they do."""

_KEYS_CELLS = 21
ANYWHERE = "anywhere (except when typing)"

GROUPS = {
    Place.TABLE: ("sessions", (*TABLE_KEYS, *TABLE_ACTIONS)),
    Place.STEPS: ("steps", (*STEPS_KEYS, *LINES_KEYS, *VIEWER_ACTIONS)),
    Place.STEP: ("step pane", STEP_KEYS),
    Place.PROMPT: ("prompt", PROMPT_KEYS),
    Place.FILES: (
        "changed files",
        (*FILES_KEYS, *CHANGES_ACTIONS, *(REGISTRY[name] for name in ("write_prompt", "shell", "lazygit", "help"))),
    ),
    Place.DIFFS: (
        "diffs of a file",
        (
            *(action for action in STEP_KEYS if action.id not in ("step.next", "step.previous")),
            *DIFF_KEYS,
            *(action for action in LINES_KEYS if action.id not in ("lines.down", "lines.up")),
        ),
    ),
    Place.USAGE: ("usage", USAGE_ACTIONS),
}
"""The keys of each part of the screen, with their heading."""

CHANGES_PARTS = (Place.FILES, Place.DIFFS)
"""The parts of the screen of changes, which has no other keys."""

EVERY_DAY = (
    "table.down", "table.open", "table.next_attention", "write_prompt", "prompt.send_next", "table.changes",
    "table.copy", "mark_read", "stop", "new_session", "shell", "table.filter",
)  # fmt: skip
"""The actions that a user of the table needs most, in the order of the day."""


class HelpScreen(Dialog[None]):
    """The function of every key; typing leaves only the lines that contain the text."""

    def __init__(
        self,
        keymap: Keymap = DEFAULT,
        place: Place = Place.TABLE,
        tour: Labels = (),
        *,
        read_only: bool = False,
        table: bool = True,
    ) -> None:
        """``table`` is True if the screen has a table."""
        super().__init__("Keys", "Up Down PgUp PgDn scroll   Esc close", hint="type to filter keys")
        self._sections = list(sections(keymap, place, tour, read_only=read_only, table=table))
        self._first = list(every_day(keymap, read_only=read_only)) if place is Place.TABLE else []
        self._text = Static(help_text([*self._first, *self._sections]))

    def body(self) -> Iterable[Widget]:
        """Return the keys in groups."""
        return [VerticalScroll(self._text, can_focus=False)]

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self._show(event.value)
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_resize(self) -> None:
        """Wrap the lines for the new width, which is known only after the layout."""
        self.call_after_refresh(lambda: self._show(self.field.value))

    def _show(self, wanted: str) -> None:
        width = self.query_one(VerticalScroll).scrollable_content_region.width
        shown = matching(self._sections, wanted) if wanted.strip() else [*self._first, *self._sections]
        self._text.update(help_text(shown, width))


def every_day(keymap: Keymap, *, read_only: bool = False) -> Iterator[Section]:
    """Yield the keys that a user of the table needs most, as one group."""
    actions = map(REGISTRY.__getitem__, EVERY_DAY)
    allowed = (action for action in actions if not read_only or not (action.changes or Place.PROMPT in action.where))
    yield "every day", _told(keymap, allowed)


def sections(
    keymap: Keymap, place: Place, tour: Labels = (), *, read_only: bool = False, table: bool = True
) -> Iterator[Section]:
    """Yield all keys in groups: first those that are valid at ``place``, with the keys that they have there."""
    left_out = {Place.DIFFS, *({Place.PROMPT} if read_only else ())}
    left_out |= set() if table else {Place.TABLE}
    if place in CHANGES:
        for part in CHANGES_PARTS:
            heading, actions = GROUPS[part]
            yield heading, _told(keymap, actions)
        yield "always", _told(keymap, APP_ACTIONS)
        return
    if tour:
        yield "try this", [(first_keys(keymap, actions), what) for actions, what in tour]
    heading, actions = GROUPS[place]
    yield heading, _told(keymap, actions)
    allowed = [action for action in (*MENU_ACTIONS, *here(table=table)) if not (read_only and action.changes)]
    # The screen of usage has no sessions: the keys for sessions act only behind it.
    others = place is Place.USAGE
    yield (
        "on screens of sessions" if others else ANYWHERE,
        _told(keymap, allowed, () if others else keymap.taken(place)),
    )
    yield "always", _told(keymap, APP_ACTIONS if others else [*PANE_ACTIONS, *APP_ACTIONS])
    for other, (heading, actions) in GROUPS.items():
        if other is not place and other not in left_out:
            yield heading, _told(keymap, actions)


def _told(keymap: Keymap, actions: Iterable[Action], taken: Collection[str] = ()) -> list[tuple[str, str]]:
    return [(keymap.names(action, taken), meaning(action)) for action in actions]


def meaning(action: Action) -> str:
    """Return the help of an action, after its label if the help does not contain the label."""
    named = not action.label or action.label.casefold() in action.help.casefold()
    return action.help if named else f"{action.label}: {action.help}"


def matching(groups: Iterable[Section], text: str) -> Iterator[Section]:
    """Yield the lines that have a text in their keys or their help; a single character is a key."""
    needle = text.strip().removeprefix("/") or text.strip()
    for heading, pairs in groups:
        kept = [(keys, meaning) for keys, meaning in pairs if _has(keys, meaning, needle)]
        if kept:
            yield heading, kept


def _has(keys: str, meaning: str, needle: str) -> bool:
    return (
        needle in keys.replace("  ", " ").split(" ")
        if len(needle) == 1
        else needle.casefold() in f"{keys} {meaning}".casefold()
    )


def help_text(groups: Iterable[Section], width: int = 0) -> Content:
    """Return the keys under the headings of their groups; long help continues below its own beginning."""
    lines: list[Content] = []
    for heading, pairs in groups:
        lines.append(Content.styled(heading, "bold"))
        for keys, meaning in pairs:
            first, *more = wrap(meaning, width - _KEYS_CELLS) if width > 2 * _KEYS_CELLS else [meaning]
            lines.append(Content.assemble((f"  {keys:<18}", "bold"), " ", first))
            lines += [Content(" " * _KEYS_CELLS + line) for line in more]
        lines.append(Content(""))
    return Content("\n").join(lines[:-1]) if lines else Content("No key matches.")
