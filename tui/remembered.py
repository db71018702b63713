"""What the dashboard remembers of how somebody likes it: a file of its own, never the user's settings."""

import tomllib
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
from msgspec import Struct, field, to_builtins

from ..sessions.layout import write_atomic
from ..widgets.columns import COLUMNS, USUAL, Choice
from .views import View

FILE = "dashboard.toml"

_HEADER = "# Written by the dashboard: columns, order, views and sizes. Your settings are in config.toml.\n\n"


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last state of the table, and what was saved by name."""

    view: View = field(default_factory=View)
    columns: tuple[str, ...] = USUAL.names
    widths: dict[str, int] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    shares: dict[str, int] = field(default_factory=dict)
    """The table's share of the screen in percent: ``wide`` beside the steps, ``tall`` above them."""

    @property
    def choice(self) -> Choice:
        """The columns as the table takes them."""
        widths = tuple((name, width) for name, width in sorted(self.widths.items()) if 1 <= width <= 60)
        return Choice(tuple(dict.fromkeys(name for name in self.columns if name in COLUMNS)), widths)


class Memory:
    """Reads the file once, and writes it as a whole whenever something is to be remembered.

    A file that cannot be used is no reason to show nothing: it counts as none, and is left as it is until
    something is to be written.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / FILE
        self.problem = ""
        """What is wrong with the file, for whoever looks at the screen."""
        self.now = self._load()
        self._writing = Lock()

    def set(self, **changes: Any) -> None:
        """Remember these fields as long as the dashboard runs; :meth:`save` keeps them."""
        self.now = msgspec.structs.replace(self.now, **changes)

    def _load(self) -> Remembered:
        try:
            return msgspec.convert(tomllib.loads(self.path.read_text("utf-8")), Remembered)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RecursionError, msgspec.ValidationError) as error:
            self.problem = f"{self.path} cannot be used, so nothing is remembered: {error}"
        return Remembered()

    def save(self) -> None:
        """Write the file; of several at once, the last one writes what holds then.

        Raises:
            OSError: it cannot be written.
        """
        import tomli_w

        with self._writing:
            write_atomic(self.path, (_HEADER + tomli_w.dumps(to_builtins(self.now))).encode())
