"""The acts of the user alone that need no manager: changes of the settings file, a rebuild, a notification."""

from pathlib import Path

from ..storage.paths import Layout, default_home
from .caller import find_caller
from .enclosing import is_of_hook
from .rights import only_the_user


def check_user(what: str, home: Path | None = None) -> None:
    """Refuse a command that comes from inside a session; without rows, each claim of a session counts.

    Args:
        what: the act in the text of the refusal.
        home: the state folder; None for that of the environment.

    Raises:
        NotAllowedError: it comes from inside a session.
    """
    caller = find_caller()
    if caller.session is not None and not is_of_hook(caller.line, Layout(home or default_home())):
        raise only_the_user(what)
