"""The first screen of the last start: the parts that the first frame of the next start does not compute.

Frames between the panes, the colours of each role, the keys; no words of a session.  A picture is used only for the
size, the settings, the version and the kind of terminal that it was taken with.
"""

import os
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from agentdash import __version__
from agentdash.sessions.model import typed
from agentdash.sessions.model.session import Session
from agentdash.sessions.settings.place import config_path
from agentdash.sessions.storage.paths import write_atomic
from agentdash.widgets.table.first_rows import Table

FOLDER = "pictures"
"""The folder of the pictures, below the state folder."""

MOST = 12
"""The number of pictures to keep: one for each size of the terminal that was used last."""

_TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "LC_ALL", "LC_CTYPE",
             "LANG", "TEXTUAL_COLOR_SYSTEM", "AGENTDASH_ASCII")  # fmt: skip
"""The variables that change what a terminal is sent."""

Size = tuple[int, int]
"""Columns and lines."""

Look = tuple[str, str]
"""The sequences before and after a text."""

Text = tuple[int, str, Look]
"""A column, and a text that begins there."""


class Box(Struct, frozen=True, array_like=True):
    """A part of the screen."""

    x: int
    y: int
    width: int
    height: int


class Picture(Struct, frozen=True):
    """The first screen without its sessions."""

    key: str
    header: Box
    where: str
    """The state folder in the header."""
    placed: bool
    """True if the header says where the cursor is."""
    table: Box
    form: Table
    """The columns and the order of the table."""
    scrolled: int
    """The number of lines for which the scrollbar was drawn; 0 if there was none."""
    blank: tuple[Box, ...]
    """Parts that show a session: empty in the first frame."""
    ground: Look
    roles: dict[str, Look]
    """The colours of the roles in the table."""
    styles: dict[str, Look]
    """The colours of the styles in the header."""
    lines: dict[int, list[Text]]
    """The texts outside of header, table, keys and blank parts, by line."""
    keys_for: str
    """The kind of session to which the keys apply."""
    keys: Box
    keys_line: list[Text]


def kind(session: Session | None) -> str:
    """Return what the keys of the footer depend on."""
    if session is None:
        return ""
    facts = (
        session.agent, session.status, session.put_away, session.taken_by is not None, session.warm_since is not None,
        session.asking > 0, session.queued > 0, session.left > 0, session.steps > 0, session.is_stuck,
        session.stopping is not None, session.pinned_at is not None, session.led is not None, session.blocked,
        session.attention, session.turn > 1, session.steers,
    )  # fmt: skip
    return " ".join(map(str, facts))


def key(home: Path) -> str:
    """Return what has to be the same for a picture to be true."""
    env = [f"{name}={os.environ.get(name, '')}" for name in _TERMINAL]
    files = [_state(config_path()), _state(home / "dashboard.toml")]
    return "\n".join((__version__, str(Path(__file__).parent), *env, *files))


def _state(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return str(path)
    return f"{path} {found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _file(home: Path, size: Size) -> Path:
    return home / FOLDER / f"{size[0]}x{size[1]}.json"


def load(home: Path, size: Size) -> Picture | None:
    """Return the picture for a size; None if there is none that is true now."""
    try:
        picture = typed.decode(_file(home, size).read_bytes(), Picture)
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return picture if picture.key == key(home) else None


def save(home: Path, size: Size, picture: Picture) -> None:
    """Keep a picture for the next start; a folder that cannot be written keeps none."""
    data, path = msgspec.json.encode(picture), _file(home, size)
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            write_atomic(path, data)
        kept = sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in kept[:-MOST]:
            file.unlink()
