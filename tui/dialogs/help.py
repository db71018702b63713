"""The list of all keys, from the registry of actions and the keymap."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from textwrap import wrap

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from agentdash.tui.dialogs.dialog import Dialog
from agentdash.tui.keys.action import CHANGES, MENUS, OTHER_SCREENS, READING, Action, Place
from agentdash.tui.keys.actions import (
    ACTIONS,
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
from agentdash.tui.keys.footer import DAILY, IN_STEPS, Labels, first_keys, labelled
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.keys.menu import in_columns, keys_of_menu

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
        tuple(action for action in (*STEP_KEYS, *DIFF_KEYS, *LINES_KEYS) if Place.DIFFS in action.where),
    ),
    Place.USAGE: ("usage", USAGE_ACTIONS),
}
"""The keys of each part of the screen, with their heading."""

ALL = "?"
"""Typed in the help, it shows all keys: so does the key of the help if it is pressed twice."""

_SCROLL = "Up Down scroll   Esc close"

_MOST = 120
"""The most cells of the dialog, as the style sheet has it."""
_BESIDE = 5
"""Cells beside its text: border, padding, and the one that stays free before a scrollbar."""

_WIDE = 110
"""Cells of text from which all keys are in two columns."""


class HelpScreen(Dialog[None]):
    """The keys of every day and the three menus; typing finds any key, and :data:`ALL` shows every one.

    On a screen without menus it shows the keys of the screen.
    """

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
        others = place in OTHER_SCREENS
        super().__init__("Keys", f"{'' if others else f'{ALL} all keys   '}{_SCROLL}", hint="type to find a key")
        self._sections = list(sections(keymap, place, tour, read_only=read_only, table=table))
        self._first = list(overview(keymap, place, read_only=read_only)) if not others else []
        self._text = Static("" if self._first else help_text(self._sections))

    def body(self) -> Iterable[Widget]:
        """Return the keys in groups."""
        return [VerticalScroll(self._text, can_focus=False)]

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self._show(event.value)
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_mount(self) -> None:
        """Show the one screen before the first layout, so that the dialog is drawn once in its final size."""
        if self._first:
            self._text.update(Content("\n").join(one_screen(self._first, min(self.app.size.width, _MOST) - _BESIDE)))

    def on_resize(self) -> None:
        """Wrap the lines for the new width, which is known only after the layout."""
        self.call_after_refresh(lambda: self._show(self.field.value))

    def _show(self, wanted: str) -> None:
        width, wanted = self.query_one(VerticalScroll).scrollable_content_region.width - 1, wanted.strip()
        if self._first and not wanted:
            shown = Content("\n").join(one_screen(self._first, width))
        elif wanted and wanted != ALL:
            shown = help_text(matching(self._sections, wanted), width)
        else:
            shown = two_columns(self._sections, width) if width >= _WIDE else help_text(self._sections, width)
        self._text.update(shown)


def overview(keymap: Keymap, place: Place, *, read_only: bool = False) -> Iterator[Section]:
    """Yield the keys of every day, as they are in a place, and the keys of each menu without its letter."""
    steps = place in READING
    daily = ((_in_steps(names) if steps else names, label) for names, label in DAILY)
    pairs = [(names, label) for names, label in daily if not (read_only and REGISTRY[names.split()[0]].changes)]
    yield "", labelled(keymap, [*pairs, *([] if steps else [("table.mark", "mark")])])
    for letter, (name, title) in MENUS.items():
        allowed = [one for one in REGISTRY.values() if place in one.where and not (read_only and one.changes)]
        yield f"{keymap.name(f'menu.{name}')}  {title}", keys_of_menu(keymap, letter, allowed)


def _in_steps(names: str) -> str:
    """Return the names of the actions that the same keys have in the steps."""
    return " ".join(IN_STEPS.get(name, name) for name in names.split())


def one_screen(groups: Iterable[Section], width: int) -> Iterator[Content]:
    """Yield the lines of groups, whose keys are in columns of equal width."""
    for heading, pairs in groups:
        if heading:
            yield Content.styled(heading, "bold $text-accent")
        yield from in_columns(pairs, width)


def two_columns(groups: Sequence[Section], width: int) -> Content:
    """Return the keys of all groups in two columns, the second of which begins in the middle."""
    half = width // 2 - 1
    lines = help_text(groups, half).split("\n", allow_blank=True)
    height = -(-len(lines) // 2)
    right = [*lines[height:], *[Content("")] * (2 * height - len(lines))]
    pairs = zip(lines[:height], right, strict=True)
    return Content("\n").join(Content.assemble(one, " " * (half + 2 - one.cell_length), two) for one, two in pairs)


def sections(
    keymap: Keymap, place: Place, tour: Labels = (), *, read_only: bool = False, table: bool = True
) -> Iterator[Section]:
    """Yield all keys in groups, each action once: first those that are valid at ``place``, with their keys there."""
    if tour:
        yield "try this", [(first_keys(keymap, actions), what) for actions, what in tour]
    if place in OTHER_SCREENS:
        yield from _of_another_screen(keymap, place)
        return
    heading, told = GROUPS[place]
    yield heading, _told(keymap, told)
    allowed = [action for action in (*MENU_ACTIONS, *here(table=table)) if not (read_only and action.changes)]
    yield ANYWHERE, _told(keymap, allowed, keymap.taken(place))
    yield "always", _told(keymap, [*PANE_ACTIONS, *APP_ACTIONS])
    known = {*told, *ACTIONS}
    for other, (heading, actions) in GROUPS.items():
        own = [action for action in actions if action not in known]
        known.update(own)
        if other is not place and not (read_only and other is Place.PROMPT) and (table or other is not Place.TABLE):
            yield heading, _told(keymap, own)


def _of_another_screen(keymap: Keymap, place: Place) -> Iterator[Section]:
    """Yield the keys of a screen without menus, each key once in each of its parts."""
    parts = [Place.FILES, Place.DIFFS] if place in CHANGES else [place]
    for part in parts:
        yield GROUPS[part][0], _told(keymap, GROUPS[part][1])
    known = {action for part in parts for action in GROUPS[part][1]}
    taken = {key for action in known for key in keymap.acting(action)}
    more = [one for one in REGISTRY.values() if place in one.where and one not in known]
    left = [one for one in more if keymap.keys(one, taken) and not one.id.startswith("menu.")]
    yield "always", _told(keymap, [*left, REGISTRY["back"]], taken)


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
