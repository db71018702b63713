"""The registry of key actions, from which bindings, footer, help, palette and command line are made.

An action is run by the method ``action_<id>`` of its screen or pane, unless its entry names another one (``does``) or
it needs only the chosen sessions (``on_target``: ``services/actions/session_actions.py``).

The lists keep their own default keys, because ``widgets`` know nothing of the dashboard; their entries here are made
from those.  ``keymap`` has the keys in force.
"""

from collections.abc import Iterable

from msgspec import structs
from textual.binding import Binding, BindingType

from agentdash.tui.keys.action import (
    CHANGES,
    EVERYWHERE,
    MENUS,
    OTHER_SCREENS,
    READING,
    Action,
    Place,
    menu_id,
)
from agentdash.widgets.document.diff_pane import DiffPane
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.inputs.prompt_box import PromptBox, PromptInput
from agentdash.widgets.lists.row_list import FileList
from agentdash.widgets.lists.virtual_list import VirtualList
from agentdash.widgets.steps.filtered_steps import GROUPS
from agentdash.widgets.steps.trajectory import Trajectory
from agentdash.widgets.table.session_table import SessionTable

USAGE_KEYS = (
    ("day", "d", "day", "a column for each day", "step('day')", 3),
    ("week", "w", "week", "a column for each week", "step('week')", 3),
    ("month", "m", "month", "a column for each month", "step('month')", 3),
    ("group", "g", "group", "group by: model / agent / folder / lead / session", "group", 4),
    ("unit", "c", "cost/tokens", "toggle cost / tokens", "unit", 4),
    ("earlier", "h,left", "earlier", "earlier column", "column(-1)", 0),
    ("later", "l,right", "later", "later column", "column(1)", 0),
    ("down", "j,down", "down", "next row", "row(1)", 0),
    ("up", "k,up", "up", "previous row", "row(-1)", 0),
    ("first", "home", "first", "first row", "edge(False)", 0),
    ("last", "end", "last", "last row", "edge(True)", 0),
    ("page_down", "pagedown,space", "page down", "page down", "page(1)", 0),
    ("page_up", "pageup,b", "page up", "page up", "page(-1)", 0),
    ("open", "enter", "sessions", "show the sessions of the column or the row", "open", 5),
)
"""Name, keys, label, help, Textual's action, and weight in the footer."""

OPEN_WORKER = "steps.worker"
"""Enter on a step that started a worker: the key is that of ``steps.open``, and the footer names it there."""

TO_LEAD = "to_lead"
"""Goes from a worker to the step of its lead that started it."""

CONVERSATION_KEYS = (
    ("fork", "m f|B", "fork", "fork here: a new session goes on from this step", 1, "conversation('fork')"),
    ("rewind", "m b|minus", "go back", "go back to this step, or ask it otherwise", 1, "conversation('rewind')"),
    (
        "undo",
        "u,m u",
        "take back",
        "take back the last step back, else undo the last delete",
        0,
        "conversation('undo')",
    ),
    ("compact", "m c|C", "compact", "go on from a summary of the conversation", 0, "conversation('compact')"),
)
"""Name, keys, label, help, weight in the footer, and Textual's action; each changes a session."""

CONVERSATION_IDS = frozenset(f"steps.{name}" for name, *_ in CONVERSATION_KEYS if name != "undo") | {
    "table.fork", "table.compact",
}  # fmt: skip
"""The actions that need a session whose agent takes prompts."""

ACTIONS = (
    Action(
        id="new_session", keys="n", label="new", help="start a session", weight=4, on_target=True, changes=True
    ),
    Action(
        id="new_like", keys="m N|N", label="duplicate", help="start a session with the same settings", weight=0,
        on_target=True, changes=True,
    ),
    Action(
        id="new_after", keys="m a|ampersand", label="after",
        help="start a session with the answer of this one", weight=0,
        on_target=True, changes=True,
    ),
    Action(
        id="continue", keys="m k|at", label="continue", help="continue it in a new session, by any agent", weight=0,
        on_target=True, changes=True,
    ),
    Action(
        id="start_waiting", keys="m S", label="start", help="start the waiting session without waiting", weight=5,
        on_target=True, changes=True,
    ),
    Action(
        id="wait_for", keys="m w|f6", label="wait for", help="let the waiting session wait for another one",
        weight=0, on_target=True, changes=True,
    ),
    Action(
        id="write_prompt", keys="i", label="prompt", help="send a prompt to the session", weight=5, changes=True,
        where=EVERYWHERE | CHANGES,
    ),
    Action(
        id="template", keys="m t|f8", label="template",
        help="write from a template, filled in for the session", weight=0,
        changes=True,
    ),
    Action(
        id="stop", keys="x", label="stop", help="stop the session and all its processes (asks first)", weight=3,
        on_target=True, changes=True,
    ),
    Action(
        id="kill", keys="m X|X", label="kill", help="kill the session immediately (SIGKILL)", weight=0, on_target=True,
        changes=True,
    ),
    Action(
        id="interrupt_turn", keys="m i|I", label="interrupt", help="interrupt the turn (asks first)", weight=1,
        on_target=True, changes=True,
    ),
    Action(
        id="mode", keys="m e|E", label="mode", help="change the permission mode, also in a running turn", weight=0,
        on_target=True, changes=True,
    ),
    Action(
        id="take_over", keys="m h|H", label="take over", help="open the agent's own interface on the session", weight=1,
        on_target=True, changes=True,
    ),
    Action(
        id="answer", keys="a|semicolon", label="answer", help="show what an agent asks for, and answer", weight=6
    ),
    Action(id="queue", keys="g q|Q", label="queue", help="show and change the queue", weight=2),
    Action(
        id="table.next_attention", keys="w", label="next", help="next session that needs you", weight=5,
        does="next_attention(1)",
    ),
    Action(
        id="table.previous_attention", keys="g w|W", label="previous", help="previous session that needs you", weight=0,
        does="next_attention(-1)",
    ),
    Action(
        id=TO_LEAD, keys="g L|circumflex_accent", label="lead",
        help="go to the step of its lead that started it", weight=2
    ),
    Action(id="retry", keys="R", label="retry", help="resend the last prompt", weight=2, changes=True),
    Action(
        id="retry_failed", keys="m R", label="retry failed", weight=0, changes=True,
        help="retry all failed sessions that are shown (asks first)",
    ),
    Action(
        id="delete", keys="m D|D", label="delete", help="move the session to the trash (asks first)", on_target=True,
        changes=True,
    ),
    Action(
        id="archive", keys="m A|A", label="archive", help="archive the session (undo restores it)", weight=0,
        on_target=True, changes=True,
    ),
    Action(
        id="rename", keys="m r|r", label="rename", help="rename the session", weight=0, on_target=True,
        changes=True,
    ),
    Action(
        id="pin", keys="m p|P", label="pin", help="pin / unpin", weight=0, changes=True
    ),
    Action(
        id="mark_read", keys="U", label="mark read", help="mark read / unread", changes=True
    ),
    Action(
        id="undo", keys="u,m u", label="undo", help="undo the last delete or archive", weight=0, changes=True
    ),
    Action(
        id="processes", keys="g p|p", label="processes", help="show its processes: CPU, memory, ports", weight=0,
        on_target=True,
    ),
    Action(
        id="trust", keys="m T|f4", label="trust", help="show and trust the settings of the folder's project", weight=0,
        on_target=True,
    ),
    Action(
        id="shell", keys="g h|exclamation_mark", label="shell", help="open a shell in the session's folder", weight=0,
        where=EVERYWHERE | CHANGES, writes=True,
    ),
    Action(
        id="lazygit", keys="g G|ctrl+g", label="lazygit", help="open lazygit in the session's folder", weight=0,
        where=EVERYWHERE | CHANGES, writes=True,
    ),
    Action(
        id="beside", keys="z b|vertical_line", label="compare", help="compare marked sessions side by side"
    ),
    Action(
        id="usage", keys="g u|dollar_sign", label="usage", weight=0,
        help="what sessions used: tokens and money, over time and by model",
    ),
    Action(id="follow", keys="z F|f,F", label="follow", help="toggle follow (stay at the newest step)"),
    Action(id="command_line", keys="colon", label="command", help="run a command by name", weight=0),
    Action(
        id="smaller", keys="z n|less_than_sign", label="shrink", help="shrink table", weight=0, does="split(-5)"
    ),
    Action(
        id="larger", keys="z w|greater_than_sign", label="grow", help="grow table", weight=0, does="split(5)"
    ),
    Action(id="zoom", keys="z z|plus", label="zoom", help="zoom pane", weight=0),
    Action(id="meter", keys="z M|f3", label="meter",
        help="toggle the meter: CPU and memory of the dashboard", weight=0),
    Action(
        id="theme", keys="z t|t", label="theme", help="next theme: dark, light, colour-blind-safe", weight=0,
        does="app.theme",
    ),
    Action(
        id="mouse", keys="z m|f2", label="mouse", help="toggle mouse (off: the terminal selects text)", weight=0,
        does="app.mouse",
    ),
    Action(id="settings", keys="g s|comma", label="settings", help="settings and their sources", weight=0),
    Action(id="log", keys="g l|L", label="log", help="message log", weight=0),
    Action(
        id="back", keys="escape", label="back", help="back (never stops a session or quits)", weight=0, fixed=True
    ),
    Action(
        id="help", keys="question_mark", label="help", help="keyboard help", weight=6, where=EVERYWHERE | OTHER_SCREENS
    ),
    Action(id="quit", keys="q", label="quit", help="quit (sessions keep running)", weight=7),
)  # fmt: skip
"""The keys of a screen of sessions."""

TABLE_ACTIONS = tuple(
    Action(
        id=f"table.{name}",
        keys=keys,
        label=label,
        help=help_,
        weight=weight,
        where=frozenset({Place.TABLE}),
        does=does,
        changes=f"table.{name}" in CONVERSATION_IDS,
        writes=name == "export",
    )
    for name, keys, label, help_, weight, does in (
        ("filter", "slash", "filter", "filter sessions: words, state:failed, cost>1", 5, "filter"),
        ("all", "0", "all", "all states", 0, "quick('0')"),
        ("needs_you", "1", "needs you", "sessions that need you", 0, "quick('1')"),
        ("at_work", "2", "running", "running sessions", 0, "quick('2')"),
        ("failed", "3", "failed", "failed and lost sessions", 0, "quick('3')"),
        ("done", "4", "done", "done sessions", 0, "quick('4')"),
        ("queued", "5", "queued", "queued sessions", 0, "quick('5')"),
        ("here", "z h|full_stop", "here", "this folder / all folders", 0, "here"),
        ("sort", "z s|s", "sort", "choose sort order", 1, "sort"),
        ("reverse", "z r|S", "reverse", "reverse order", 0, "reverse"),
        ("group", "z g|T", "group", "group by: section / parent / folder / agent / none", 0, "group"),
        ("columns", "z c|C", "columns", "choose, move and resize columns", 0, "columns"),
        ("density", "z d|d", "density", "lines per row: 1 / 2 / 2 for what needs you or runs", 0, "density"),
        ("views", "z v|V", "views", "open or save a view", 0, "views"),
        ("changes", "c", "changes", "files changed by the session", 3, "screen.row('changes')"),
        ("archived", "g a", "archived", "archived sessions", 0, "view('archived')"),
        ("trash", "g t", "trash", "sessions in the trash", 0, "view('trash')"),
        ("fork", "m f", "fork", "a new session goes on from the last step", 0, "screen.row('fork')"),
        ("compact", "m c", "compact", "go on from a summary of the conversation", 0, "screen.row('compact')"),
        ("export", "m s", "export", "export as Markdown, HTML or JSON", 0, "screen.row('export')"),
        ("copy", "y", "copy", "copy the last answer", 3, "screen.row('copy')"),
        ("copy_part", "m y|Y", "copy part", "choose what to copy", 0, "screen.row('copy_part')"),
        ("explain", "g e|equals_sign", "why", "why the session is in this state", 0, "screen.row('explain')"),
        ("page_answer", "g o|o", "pager", "open the last answer in $PAGER", 0, "screen.row('page_step')"),
        ("page_file", "g r|O", "file", "open the newest turn's raw JSONL in $PAGER", 0, "screen.row('page_file')"),
        ("edit_answer", "g v|e", "editor", "open the last answer in $EDITOR", 0, "screen.row('edit_step')"),
    )
)
"""The keys of the table; they take precedence over the keys of the whole screen."""

VIEWER_ACTIONS = tuple(
    Action(
        id=f"steps.{name}", keys=keys, label=label, help=help_, weight=weight,
        where=READING, does=does,
        changes=f"steps.{name}" in CONVERSATION_IDS, writes=name in ("edit_step", "export"),
    )
    for name, keys, label, help_, weight, does in (
        ("search", "slash", "search", "search all steps", 6, "search"),
        ("next_match", "n", "next", "next match (during a search)", 0, "match(1)"),
        ("previous_match", "N", "previous", "previous match (during a search)", 0, "match(-1)"),
        ("go_to", "g i|number_sign", "go to", "go to step number", 0, "go_to"),
        ("copy", "y", "copy", "copy the command, message or diff", 2, "copy"),
        ("copy_part", "m y|Y", "copy part", "choose what to copy", 0, "copy_part"),
        ("page_step", "g o|o", "pager", "open the step in $PAGER", 0, "page_step"),
        ("page_file", "g r|O", "file", "open the turn's raw JSONL or stderr in $PAGER", 0, "page_file"),
        ("edit_step", "g v|e,v", "editor", "open the step in $EDITOR", 0, "edit_step"),
        ("source", "z o|M", "source", "toggle raw / rendered Markdown", 0, "source"),
        ("changes", "c", "changes", "files changed by the session", 5, "changes"),
        ("export", "m s|s", "export", "export as Markdown, HTML or JSON", 0, "export"),
        ("raw", "g j|r", "raw", "raw JSON of the step", 0, "document('raw')"),
        ("stderr", "g E|S", "stderr", "stderr of the agent", 0, "document('stderr')"),
        ("explain", "g e|equals_sign", "why", "why the session is in this state", 0, "document('explain')"),
        *CONVERSATION_KEYS,
    )
)  # fmt: skip
"""The keys of the steps and of one step; they take precedence over the keys of the whole screen."""

MATCHES = frozenset({"steps.next_match", "steps.previous_match"})
"""The actions whose keys mean something else without a search."""

CHANGES_ACTIONS = tuple(
    Action(id=f"files.{name}", keys=keys, label=label, help=help_, where=CHANGES, does=does, writes=name == "edit")
    for name, keys, label, help_, does in (
        ("next", "J", "next file", "next file", "file(1)"),
        ("previous", "K", "previous file", "previous file", "file(-1)"),
        ("search", "slash", "search", "search in the diffs of the file", "search"),
        ("next_match", "n", "next", "next match (during a search)", "match(1)"),
        ("previous_match", "N", "previous", "previous match (during a search)", "match(-1)"),
        ("edit", "e,v", "editor", "open the file in $EDITOR", "edit"),
        ("copy", "y", "copy path", "copy the path", "copy"),
        ("step", "number_sign", "go to step", "go to the last step that touched it", "step"),
        ("look_again", "r", "refresh", "refresh", "look_again"),
    )
)
"""The keys of the screen of changed files."""

USAGE_ACTIONS = tuple(
    Action(
        id=f"usage.{name}", keys=keys, label=label, help=help_, where=frozenset({Place.USAGE}), does=does, weight=weight
    )
    for name, keys, label, help_, does, weight in USAGE_KEYS
)
"""The keys of the screen of usage."""

APP_ACTIONS = tuple(
    Action(id=name, keys=keys, help=help_, where=EVERYWHERE | OTHER_SCREENS, does=does, fixed=fixed, weight=0)
    for name, keys, help_, does, fixed in (
        ("palette", "ctrl+p", "command palette", "command_palette", False),
        ("suspend", "ctrl+z", "suspend (fg resumes)", "suspend_process", False),
        ("redraw", "ctrl+l", "paint everything again", "redraw", False),
        ("interrupt", "ctrl+c", "press twice to quit", "help_quit", True),
    )
)
"""The keys of the whole program."""

MENU_ACTIONS = tuple(
    Action(
        id=menu_id(letter),
        keys=letter,
        label=name,
        help=f"menu: {title}",
        does=f"app.menu('{letter}')",
        weight=7,
        where=EVERYWHERE - {Place.PROMPT} | (CHANGES if letter == "g" else set()),
    )
    for letter, (name, title) in MENUS.items()
)
"""The keys that open a menu; the next key acts in it."""

PANE_ACTIONS = (
    Action(id="next_pane", keys="tab", help="next pane", does="next_pane(1)", fixed=True),
    Action(id="previous_pane", keys="shift+tab", help="previous pane", does="next_pane(-1)", fixed=True),
)
"""The keys that move between panes."""

_FIXED = {"prompt.earlier", "prompt.later", "prompt.leave"}
"""Actions without which the user could not edit or leave a text."""


def _declared(bindings: Iterable[BindingType], *where: Place) -> tuple[Action, ...]:
    """Return the keys that a widget declares with a name and a description; without one, they are not shown."""
    named = [one for one in bindings if isinstance(one, Binding) and one.id]
    silent = {one.id: one.key for one in named if not one.description}
    return tuple(
        Action(
            id=one.id, keys=f"{one.key}|{silent.get(one.id, '')}", help=one.description, does=one.action,
            where=frozenset(where), weight=0, fixed=one.id in _FIXED,
        )
        for one in named
        if one.id and one.description
    )  # fmt: skip


TABLE_KEYS = _declared(SessionTable.BINDINGS, Place.TABLE)
STEPS_KEYS = (
    *_declared(Trajectory.BINDINGS, Place.STEPS),
    *(
        Action(
            id=f"steps.only_{group.label}", keys=group.key, help=f"toggle {group.label}",
            does=f"group('{group.key}')", weight=0, fixed=True, where=frozenset({Place.STEPS}),
        )
        for group in GROUPS
    ),
)  # fmt: skip
_OTHERS_IN_DIFFS = ("lines.down", "lines.up", "step.next", "step.previous")
"""Actions whose keys go from file to file in the changes."""


def _not_in_changes(actions: Iterable[Action]) -> tuple[Action, ...]:
    return tuple(
        structs.replace(one, where=one.where - CHANGES) if one.id in _OTHERS_IN_DIFFS else one for one in actions
    )


LINES_KEYS = _not_in_changes(_declared(VirtualList.BINDINGS, *READING, *CHANGES))
STEP_KEYS = _not_in_changes(_declared(DocumentPane.BINDINGS, Place.STEP, Place.DIFFS))
FILES_KEYS = _declared(FileList.BINDINGS, Place.FILES)
DIFF_KEYS = _declared(DiffPane.BINDINGS, Place.DIFFS)
PROMPT_KEYS = (
    Action(id="prompt.send", keys="enter", help="send", where=frozenset({Place.PROMPT}), weight=0, fixed=True),
    *_declared(PromptBox.BINDINGS, Place.PROMPT),
    *_declared(PromptInput.BINDINGS, Place.PROMPT),
)

REGISTRY = {
    action.id: action
    for actions in (
        ACTIONS, MENU_ACTIONS, PANE_ACTIONS, APP_ACTIONS, TABLE_KEYS, TABLE_ACTIONS, STEPS_KEYS, LINES_KEYS,
        VIEWER_ACTIONS, STEP_KEYS, PROMPT_KEYS, FILES_KEYS, DIFF_KEYS, CHANGES_ACTIONS, USAGE_ACTIONS,
    )
    for action in actions
}  # fmt: skip
"""All actions of keys, by name."""

_WATCHING = frozenset({
    "write_prompt", "template", "stop", "kill", "interrupt_turn", "mode", "take_over", "answer", "queue", "retry",
    "processes", "shell", "lazygit", "follow", "command_line", "meter",
    "theme", "mouse", "settings", "log", "back", "help", "quit",
})  # fmt: skip
"""Actions of a screen without a table."""


def bindings(actions: Iterable[Action] = ACTIONS) -> list[BindingType]:
    """Return the default keys as Textual bindings; a keymap changes them by their ids."""
    return [
        Binding(",".join(action.acting), action.run, action.label or action.help, show=False, id=action.id)
        for action in actions
    ]


def watch_bindings() -> list[BindingType]:
    """Return the keys of a screen that only shows sessions."""
    return bindings([*PANE_ACTIONS, *MENU_ACTIONS, *here(table=False)])


def here(*, table: bool = True) -> list[Action]:
    """Return the actions of a screen with or without a table."""
    return [action for action in ACTIONS if table or action.id in _WATCHING]
