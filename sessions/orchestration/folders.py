"""The folder of a worker: resolved before it is checked, and used as it was checked."""

import os
from collections.abc import Sequence
from pathlib import Path

from ..families.joining import allowed_folder
from .quoting import words
from .refusals import refusal, refused


def worker_folder(given: str, root: str, allowed: Sequence[str] | None) -> str:
    """Return the folder in which a worker is started, without symbolic links.

    Args:
        given: the folder that the lead names; relative to ``root``, and empty for it.
        root: the folder of the lead as it was recorded, which is always allowed with what is below it.
        allowed: ``orchestration.allowed_dirs``.

    Raises:
        RefusalError: it does not exist, or it is not allowed.
    """
    try:
        folder = os.path.realpath(Path(root, Path(given).expanduser()))
        exists = Path(folder).is_dir()
    except (ValueError, OSError, RuntimeError):  # a NUL byte, an unknown user
        folder, exists = given, False
    if not exists:
        what = "is not a folder" if "\0" not in folder and Path(folder).exists() else "does not exist"
        raise refusal("no_such_folder", f"The folder {words(folder, 300)} {what}.", "give an existing folder.")
    with refused():
        return allowed_folder(folder, root, allowed)
