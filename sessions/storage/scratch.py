"""A place for our short-lived files that no sandboxed agent can write: drafts in an editor, texts in a pager, copies.

Not the temporary folder: codex in workspace-write may write there (0.169.0), so an agent could change a prompt while
the user writes it.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentdash.sessions.storage.paths import default_home

FOLDER = "scratch"
"""The name of the folder below the state folder; created when needed."""


def scratch_parent(*, of_state: bool = True) -> Path:
    """Return the folder in which short-lived files are made, with mode 0700 and ours.

    It is below the state folder; if that cannot be written, or ``of_state`` is false, below ``XDG_RUNTIME_DIR``, or
    else the user's cache.

    Raises:
        OSError: there is no such folder.
    """
    home, runtime = default_home(), os.environ.get("XDG_RUNTIME_DIR")
    parents = [home] if of_state and home.is_dir() else []
    parents += [Path(runtime)] if runtime and _is_private(Path(runtime)) and not _is_temporary(Path(runtime)) else []
    from platformdirs import user_cache_path  # few commands need it

    for parent in [*parents, user_cache_path(appauthor=False, ensure_exists=True)]:
        folder = parent / (FOLDER if parent == home else f"agentdash-{FOLDER}")
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            continue
        if _is_private(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise OSError(f"no private folder for it in {home}, in XDG_RUNTIME_DIR or in the user's cache can be written")


@contextmanager
def scratch_folder(*, of_state: bool = True) -> Iterator[Path]:
    """Provide a new folder for short-lived files, which is removed at the end.

    Args:
        of_state: below the state folder if possible.

    Raises:
        OSError: as for :func:`scratch_parent`.
    """
    with tempfile.TemporaryDirectory(dir=scratch_parent(of_state=of_state), ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def write_private(path: Path, text: str) -> None:
    """Write a new file that only the user can read.

    Raises:
        OSError: it exists, or cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def _is_private(folder: Path) -> bool:
    """Return whether it is a folder of ours that no other user can enter; a link is not."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o077


def _is_temporary(folder: Path) -> bool:
    """Return whether a folder is below one for temporary files, which agents may write."""
    rooms = ("/tmp", "/var/tmp", tempfile.gettempdir())  # noqa: S108 - compared only
    real = Path(os.path.realpath(folder))
    return any(real.is_relative_to(os.path.realpath(room)) for room in rooms)
