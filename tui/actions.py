"""What can be done by key: the one list from which bindings, footer and help are made."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from textual.binding import Binding, BindingType

from ..sessions.model import Session, Status
from ..widgets.document_pane import DocumentPane
from ..widgets.prompt_box import PromptInput
from ..widgets.session_table import SessionTable
from ..widgets.trajectory import Trajectory
from ..widgets.virtual_list import VirtualList


class Action(Struct, frozen=True, kw_only=True):
    """One thing that a key does."""

    id: str
    keys: str
    """As Textual names them, separated by commas; the first one is shown."""
    label: str
    """One or two words for the footer."""
    help: str
    weight: int = 1
    """How much it deserves its place in a footer that is too short; 0 never stands there."""


ACTIONS = (
    Action(id="new_session", keys="n", label="new", help="start a session", weight=4),
    Action(id="new_like", keys="N", label="new like it", help="start a session like the selected one", weight=0),
    Action(id="write_prompt", keys="i,m", label="prompt", help="write to the selected session", weight=5),
    Action(id="stop", keys="x", label="stop", help="stop the session and all its processes (asks first)", weight=3),
    Action(id="kill", keys="X", label="kill", help="stop it at once, without giving it time", weight=0),
    Action(id="retry", keys="R", label="retry", help="send its last prompt again", weight=2),
    Action(id="delete", keys="D", label="delete", help="move the session to the trash (asks first)"),
    Action(id="archive", keys="A", label="archive", help="put it out of the way, for good", weight=0),
    Action(id="rename", keys="r", label="rename", help="give the session another title", weight=0),
    Action(id="pin", keys="P", label="pin", help="keep it above the others, or not any more", weight=0),
    Action(id="undo", keys="u", label="undo", help="bring back what was deleted or archived last", weight=0),
    Action(id="processes", keys="p", label="processes", help="its processes, and what they cost", weight=0),
    Action(
        id="beside", keys="vertical_line", label="beside", help="the marked sessions side by side, or this one alone"
    ),
    Action(id="follow", keys="f,F", label="follow", help="follow the newest step, or stop following"),
    Action(id="split(-5)", keys="less_than_sign", label="smaller", help="less room for the table", weight=0),
    Action(id="split(5)", keys="greater_than_sign", label="larger", help="more room for the table", weight=0),
    Action(id="zoom", keys="plus", label="zoom", help="the whole screen for this pane, or for both", weight=0),
    Action(id="meter", keys="f3", label="meter", help="what the dashboard itself costs", weight=0),
    Action(id="theme", keys="t", label="theme", help="the next theme: dark, light, colour-blind-safe", weight=0),
    Action(id="mouse", keys="f2", label="mouse", help="mouse on or off; off: the terminal selects", weight=0),
    Action(id="settings", keys="comma", label="settings", help="all settings, and where they come from", weight=0),
    Action(id="back", keys="escape", label="back", help="back by one level; never stops or quits", weight=0),
    Action(id="help", keys="question_mark", label="help", help="this page", weight=6),
    Action(id="quit", keys="q", label="quit", help="leave the dashboard; the sessions go on", weight=7),
)

TABLE_ACTIONS = (
    Action(id="filter", keys="slash", label="filter", help="show only some: words, state:failed, cost:>1", weight=5),
    Action(id="quick('0')", keys="0", label="all", help="sessions of every state", weight=0),
    Action(id="quick('1')", keys="1", label="needs you", help="only what needs you", weight=0),
    Action(id="quick('2')", keys="2", label="at work", help="only what is at work", weight=0),
    Action(id="quick('3')", keys="3", label="failed", help="only what failed or was lost", weight=0),
    Action(id="quick('4')", keys="4", label="done", help="only what is done", weight=0),
    Action(id="quick('5')", keys="5", label="queued", help="only what waits in the queue", weight=0),
    Action(id="here", keys="full_stop", label="here", help="only this folder, or all again", weight=0),
    Action(id="sort", keys="s", label="sort", help="choose the order", weight=1),
    Action(id="reverse", keys="S", label="reverse", help="the other way round", weight=0),
    Action(id="group", keys="T", label="group", help="one list, a tree, in folders, in agents", weight=0),
    Action(id="columns", keys="C", label="columns", help="choose, order and size the columns", weight=0),
    Action(id="views", keys="V", label="views", help="go to a saved view, or save this one", weight=0),
)
"""What can be done by key in the table; they go before the keys of the whole screen."""

VIEWER_ACTIONS = (
    Action(id="search", keys="slash", label="search", help="search all steps", weight=6),
    Action(id="match(1)", keys="n", label="next", help="the next step that has the text", weight=0),
    Action(id="match(-1)", keys="N", label="previous", help="the step before that has it", weight=0),
    Action(id="go_to", keys="number_sign", label="go to", help="go to a step by its number", weight=0),
    Action(id="copy", keys="y", label="copy", help="copy the command, message or diff", weight=2),
    Action(id="copy_part", keys="Y", label="copy part", help="choose what of the step is copied", weight=0),
    Action(id="page_step", keys="o", label="pager", help="the whole step in $PAGER", weight=0),
    Action(id="page_file", keys="O", label="pager", help="the turn's raw JSONL, or its stderr, in $PAGER", weight=0),
    Action(id="edit_step", keys="v", label="editor", help="the whole step in $EDITOR", weight=0),
    Action(id="source", keys="M", label="source", help="Markdown as it was written, or set out", weight=0),
    Action(id="changes", keys="c", label="changes", help="the files that the session changed", weight=5),
    Action(id="export", keys="s", label="save", help="save the session as Markdown, HTML or JSON", weight=0),
    Action(id="paper('raw')", keys="r", label="raw", help="the line of JSON that gave the step", weight=0),
    Action(id="paper('stderr')", keys="S", label="stderr", help="what the agent wrote to stderr", weight=0),
    Action(id="paper('explain')", keys="equals_sign", label="why", help="why the session has its status", weight=0),
)
"""What can be done by key while somebody reads; they go before the keys of the whole screen."""

WRITING = (("Enter", "send"), ("Ctrl+J", "new line"), ("Esc", "back"), ("Up", "earlier"))
"""The keys that are valid while somebody writes a prompt."""

ONE_STEP = (
    ("h l", "other step"), ("j k", "scroll"), ("M", "source"), ("o", "pager"), ("y", "copy"), ("Y", "copy part"),
    ("r", "raw"), ("Esc", "back"),
)  # fmt: skip
"""The keys that are valid while somebody reads one step."""

_TEXTUALS_OWN = (
    ("Ctrl+Z", "suspend; fg comes back"),
    ("Tab Shift+Tab", "the next or the previous pane"),
    ("Ctrl+P", "all of this by name"),
    ("Ctrl+C", "twice: quit"),
)
_NAMES = {
    "vertical_line": "|", "space": "Space", "comma": ",",
    "full_stop": ".", "asterisk": "*", "plus": "+", "less_than_sign": "<", "greater_than_sign": ">",
    "question_mark": "?", "equals_sign": "=",
    "slash": "/", "number_sign": "#", "escape": "Esc", "pagedown": "PgDn",
    "left_square_bracket": "[", "right_square_bracket": "]", "left_curly_bracket": "{", "right_curly_bracket": "}",
    "pageup": "PgUp", "ctrl+j": "Ctrl+J",
}  # fmt: skip


def bindings() -> list[BindingType]:
    """The keys of the main screen."""
    return [Binding(action.keys, action.id, action.label, show=False, id=action.id) for action in ACTIONS]


_WATCHING = frozenset(
    {
        *("write_prompt", "stop", "kill", "retry", "processes", "follow"),
        *("meter", "theme", "mouse", "settings", "back", "help", "quit"),
    }
)
"""What can be done where there is no table."""


def watch_bindings() -> list[BindingType]:
    """The keys of a screen that only shows sessions."""
    own = [Binding("tab", "next_pane(1)", "the pane beside", show=False)]
    own.append(Binding("shift+tab", "next_pane(-1)", "the pane before", show=False))
    return [*own, *(binding for action, binding in zip(ACTIONS, bindings(), strict=True) if action.id in _WATCHING)]


def table_bindings() -> list[BindingType]:
    """The keys of somebody who looks at the table."""
    return [Binding(action.keys, action.id, action.help, show=False) for action in TABLE_ACTIONS]


def viewer_bindings() -> list[BindingType]:
    """The keys of somebody who reads."""
    return [Binding(action.keys, action.id, action.help, show=False) for action in VIEWER_ACTIONS]


_ALWAYS = frozenset(
    {
        *("new_session", "write_prompt", "help", "quit", "back", "theme", "mouse", "settings", "undo", "next_pane"),
        *("split", "zoom", "meter"),
    }
)


def _can_stop(session: Session) -> bool:
    return not session.status.ended or session.left > 0 or session.status is Status.LOST


_WHEN: dict[str, Callable[[Session], bool]] = {
    "stop": _can_stop,
    "kill": _can_stop,
    "new_like": lambda session: session.agent != "command",
    "archive": lambda session: session.status.ended,
    "retry": lambda session: session.status in (Status.FAILED, Status.STOPPED, Status.LOST),
}
"""What an action asks of the selected session; the others take any."""


def possible(action_id: str, session: Session | None) -> bool:
    """Whether an action makes sense for the selected session."""
    if action_id in _ALWAYS or session is None:
        return action_id in _ALWAYS
    wanted = _WHEN.get(action_id)
    return wanted is None or wanted(session)


def footer(session: Session | None, width: int, *, reading: bool = False, table: bool = True) -> list[tuple[str, str]]:
    """Keys and labels of what can be done now, as many as fit; what reading needs stands before the rest."""
    own = VIEWER_ACTIONS if reading else TABLE_ACTIONS if table else ()
    shown = [action for action in own if action.weight] if reading else []
    taken = {action.keys for action in own}
    here = [action for action in ACTIONS if table or action.id in _WATCHING]
    usual = (action for action in here if action.weight and action.keys not in taken)
    shown += [action for action in usual if possible(action.id, session)]
    if not reading:
        last = [action for action in shown if action.id in ("help", "quit")]
        shown = [*(a for a in shown if a not in last), *(a for a in own if a.weight), *last]
    while shown and sum(len(key_name(a.keys)) + len(a.label) + 4 for a in shown) - 3 > width:
        shown.remove(min(shown, key=lambda action: action.weight))
    return [(key_name(action.keys), action.label) for action in shown]


def help_sections(*, reading: bool = False) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Everything by key, in groups: a heading, and pairs of keys and what they do; first what is valid here."""
    steps = ("steps", [*_told(Trajectory.BINDINGS), *_told(VirtualList.BINDINGS), *_actions(VIEWER_ACTIONS)])
    sessions = ("sessions", [*_told(SessionTable.BINDINGS), *_actions(TABLE_ACTIONS)])
    yield steps if reading else sessions
    yield "everywhere but in a text", [*_actions(ACTIONS), *_TEXTUALS_OWN]
    yield sessions if reading else steps
    yield "a step in its pane", _told(DocumentPane.BINDINGS)
    yield "prompt", _told(PromptInput.BINDINGS)


def _actions(actions: Iterable[Action]) -> list[tuple[str, str]]:
    return [(_all_keys(action.keys), action.help) for action in actions]


def _told(declared: Iterable[BindingType]) -> list[tuple[str, str]]:
    """The bindings of a widget that have a description."""
    return [(_all_keys(b.key), b.description) for b in declared if isinstance(b, Binding) and b.description]


def key_name(keys: str) -> str:
    """The first of the keys as people write it."""
    key = keys.split(",", maxsplit=1)[0]
    return _NAMES.get(key) or (key if len(key) == 1 else "+".join(part.capitalize() for part in key.split("+")))


def _all_keys(keys: str) -> str:
    return " ".join(key_name(key) for key in keys.split(","))
