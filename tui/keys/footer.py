"""The footer: the keys that are valid now, as many as fit on the last line."""

from collections.abc import Callable, Iterable, Sequence

from textual.content import Content

from agentdash.tui.keys.action import MENUS, Place, menu_id
from agentdash.tui.keys.actions import CONVERSATION_IDS, OPEN_WORKER, REGISTRY, TABLE_ACTIONS, VIEWER_ACTIONS, here
from agentdash.tui.keys.keymap import Keymap

Pairs = list[tuple[str, str]]
"""Pairs of keys and their labels."""

Labels = tuple[tuple[str, str], ...]
"""Pairs of action ids, separated by blanks, and the label that they share."""

WRITING: Labels = (
    ("prompt.send", "send"), ("prompt.send_next", "send, next"), ("prompt.new_line", "new line"),
    ("prompt.interrupt", "interrupt, send"), ("prompt.leave", "back"), ("prompt.earlier", "history"),
    ("prompt.mode", "mode"), ("prompt.search", "search"), ("prompt.editor", "editor"),
)  # fmt: skip
ONE_STEP: Labels = (
    ("step.previous step.next", "prev/next step"), ("step.down step.up", "scroll"), ("steps.source", "source"),
    ("steps.page_step", "pager"), ("steps.copy", "copy"), ("steps.copy_part", "copy part"), ("steps.raw", "raw"),
    ("back", "back"),
)  # fmt: skip
ON_CARD: Labels = (
    ("table.next_attention", "next session"), ("answer", "next ask"), ("write_prompt", "prompt"), ("stop", "stop"),
    ("help", "help"),
)  # fmt: skip
"""The keys beside those of the card of an ask."""
FILTERING: Pairs = [("Enter", "apply"), ("Esc", "cancel"), ("Right", "complete"), ("Up", "history")]
"""The keys of the filter field; the settings do not change the keys of fields."""
ASKING: Pairs = [("Enter", "go"), ("Esc", "cancel"), ("Up", "history")]
"""The keys of the fields for a search and for the number of a step."""
CHANGES: Labels = (
    ("files.open", "diffs"), ("write_prompt", "ask about it"), ("files.search", "search"),
    ("files.next files.previous", "file"), ("help", "help"), ("back", "back"), ("files.edit", "editor"),
    ("files.copy", "copy path"), ("files.step", "go to step"), ("files.look_again", "refresh"),
)  # fmt: skip
IN_DIFFS: Labels = (("files.next_match files.previous_match", "next/previous match"), ("back", "end"))
USAGE: Labels = (
    ("usage.open", "open"), ("usage.earlier usage.down usage.up usage.later", "move"), ("usage.group", "group"),
    ("help", "help"), ("back", "back"), ("usage.day usage.week usage.month", "period"), ("usage.unit", "cost/tokens"),
)  # fmt: skip
USAGE_NARROW: Labels = (
    ("usage.open", "open"), ("usage.earlier usage.down usage.up usage.later", "move"), ("usage.group", "by"),
    ("help", "help"), ("back", "back"), ("usage.unit", "$/tokens"), ("usage.day usage.week usage.month", "period"),
)  # fmt: skip

_AFTER_FAILED_START: Labels = (("retry", "retry"), ("steps.stderr", "stderr"), ("steps.explain", "why"))

DAILY: Labels = (
    ("table.down table.up", "move"), ("table.open", "read"), ("back", "back"), ("table.filter", "find"),
    ("table.next_attention", "next for you"), ("write_prompt", "prompt"), ("answer", "answer"), ("stop", "stop"),
    ("table.changes", "changes"), ("table.copy", "copy"), ("retry", "retry"), ("new_session", "new"),
    ("mark_read", "read / unread"), ("help", "keys"), ("command_line", "command"),
    ("quit", "quit"),
)  # fmt: skip
"""The keys of every day, and those that lead out."""

IN_STEPS = {
    "table.down": "steps.down", "table.up": "steps.up", "table.open": "steps.open", "table.filter": "steps.search",
    "table.changes": "steps.changes", "table.copy": "steps.copy",
}  # fmt: skip
"""The actions of the steps that have the daily keys of the table."""

_LESSON: Labels = (
    ("table.down table.up", "move"), ("table.open", "read the steps"), ("write_prompt", "prompt or reply"),
    ("stop", "stop it and its processes"), ("table.next_attention", "next session that needs you"),
    ("help", "all keys"),
)  # fmt: skip

_WORKER: Labels = (("steps.open", "open worker"),)
"""The key on a step that started a worker."""

_MENUS: Labels = tuple((menu_id(letter), name) for letter, (name, _) in MENUS.items())
_MENUS_NARROW: Labels = ((" ".join(name for name, _ in _MENUS), "more"),)
_WIDE = 100
"""Cells from which the footer names each menu."""

SEARCHING: Labels = (
    ("steps.next_match", "next match"), ("steps.previous_match", "previous match"), ("back", "end search"),
    ("steps.search", "search again"), ("steps.open", "open"), ("steps.copy", "copy"), ("help", "help"),
)  # fmt: skip
"""The keys of the steps during a search."""

_WAY_BACK = "back"

_ROW = "table.changes"
_OF_A_ROW = frozenset({_ROW, "table.copy", "table.next_attention"})
"""Actions that are offered only if the table has a row."""
_CONDITIONAL = _OF_A_ROW | CONVERSATION_IDS
"""Actions of a place that are offered only if they are possible."""

_GAP = 3
"""Cells between two keys."""

_LAST = 2
"""Number of a screen's actions that stay last: help and quit."""


def labelled(keymap: Keymap, pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Return keys and labels, without the actions that have no key."""
    with_keys = []
    for names, label in pairs:
        firsts = [keymap.name(name) for name in names.split() if keymap.keys(REGISTRY[name])]
        if firsts:
            with_keys.append((" ".join(firsts), label))
    return with_keys


def key_line(pairs: Iterable[tuple[str, str]], gap: int = _GAP) -> Content:
    """Return keys and labels as the last line of a screen."""
    return Content(" " * gap).join(Content.assemble((key, "bold $foreground"), f" {label}") for key, label in pairs)


def after_failed_start(keymap: Keymap) -> str:
    """Return the keys that help if a program could not be started, as a text."""
    return key_line(labelled(keymap, _AFTER_FAILED_START)).plain


def first_keys(keymap: Keymap, names: str) -> str:
    """Return the first key of each of some actions, or the action's name on the command line."""
    return " ".join(map(keymap.name, names.split()))


def daily_keys(keymap: Keymap) -> list[str]:
    """Return the keys of every day, a line for each: a screen without a session shows them."""
    pairs = labelled(keymap, _LESSON)
    wide = max((len(keys) for keys, _ in pairs), default=0)
    return [f"{keys:<{wide}}  {label}" for keys, label in pairs]


def whole(pairs: Iterable[tuple[str, str]], width: int, gap: int = _GAP) -> Pairs:
    """Return the first pairs that fit into ``width`` cells; the key that goes back is kept at any position."""
    kept = list(pairs)
    while len(kept) > 1 and _cells(kept, gap) > width:
        kept.remove(next(pair for pair in reversed(kept) if pair[1] != _WAY_BACK))
    return kept


def _cells(pairs: Iterable[tuple[str, str]], gap: int = _GAP) -> int:
    return sum(len(key) + len(label) + 1 + gap for key, label in pairs) - gap


def valid_keys(
    keymap: Keymap,
    place: Place,
    can: Callable[[str], bool],
    width: int,
    *,
    in_field: bool = False,
    table: bool = True,
    searching: bool = False,
) -> Pairs:
    """Return the keys and labels that are valid in a place, or in a field of it, as many as fit into ``width`` cells.

    ``can`` returns whether an action is possible.
    """
    if place is Place.PROMPT:
        writing = (pair for pair in WRITING if pair[0] != "prompt.interrupt" or can("interrupt_turn"))
        return whole(labelled(keymap, writing), width)
    if place is Place.STEP:
        return whole(labelled(keymap, ONE_STEP), width)
    if searching and not in_field:
        return whole(labelled(keymap, SEARCHING), width)
    if in_field:
        return whole(FILTERING if place is Place.TABLE else ASKING, width)
    return footer(keymap, can, width, reading=place is Place.STEPS, table=table)


def footer(
    keymap: Keymap, can: Callable[[str], bool], width: int, *, reading: bool = False, table: bool = True
) -> Pairs:
    """Return the keys and labels of the possible actions; ``reading`` puts the actions of the steps first.

    ``can`` returns whether an action is possible.
    """
    taken = keymap.taken(Place.STEPS if reading else Place.TABLE)
    usual = (action for action in here(table=table) if can(action.id) and (action.id not in _OF_A_ROW or can(_ROW)))
    inner = VIEWER_ACTIONS if reading else TABLE_ACTIONS if table else ()
    local = [(action, keymap.keys(action)) for action in inner if action.id not in _CONDITIONAL or can(action.id)]
    offered = [(action, keymap.keys(action, taken)) for action in usual]
    # Help and quit stay at the end, where users look for the way out.
    last, offered = offered[-_LAST:], [*local, *offered[:-_LAST]] if reading else [*offered[:-_LAST], *local]
    fitting = [(action, keymap.shown(keys[0])) for action, keys in [*offered, *last] if action.weight and _own(keys)]
    first = labelled(keymap, _WORKER) if reading and can(OPEN_WORKER) else []
    menus = labelled(keymap, _MENUS if width >= _WIDE else _MENUS_NARROW)
    while fitting and _cells([*first, *menus, *((key, action.label) for action, key in fitting)]) > width:
        fitting.remove(min(fitting, key=lambda pair: pair[0].weight))
    pairs = [(key, action.label) for action, key in fitting]
    end = len(pairs) - sum(action in (one for one, _ in last) for action, _ in fitting)
    begin = min(1, end)
    return [*pairs[:begin], *first, *pairs[begin:end], *menus, *pairs[end:]]


def _own(keys: Sequence[str]) -> bool:
    """Return whether an action has a key of its own, which is not in a menu."""
    return bool(keys) and " " not in keys[0]
