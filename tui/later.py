"""Load, after the first picture, the modules that the first keys need, and keep all others."""

from contextlib import suppress
from importlib import import_module
from threading import Thread

from agentdash.sessions.runner.own_code import EVERYTHING, keep

LATER = (
    "dialogs.asking.ask_card", "dialogs.asking.naming", "dialogs.asking.stopping", "dialogs.command",
    "dialogs.help", "dialogs.log", "dialogs.processes", "dialogs.starting.new_session",
    "dialogs.starting.trust", "dialogs.table.columns", "dialogs.table.pick", "screens.changes",
    "screens.palette", "screens.watch",
)  # fmt: skip
"""Modules of this package that are imported where they are used."""


def load_later() -> None:
    """Load the modules in a thread: a key that comes first waits for its own module alone."""
    Thread(target=load, name="later").start()


def load() -> None:
    """Load the modules.  One that fails is left to the key that needs it, which shows the error."""
    for name in LATER:
        with suppress(Exception):
            import_module(f".{name}", __package__)
    keep(EVERYTHING)
