"""The folder of a worker: resolved before it is checked, and used as it was checked."""

import os
from collections.abc import Sequence
from pathlib import Path

from .quoting import words
from .refusals import refusal

ANY = "*"


def worker_folder(given: str, root: str, allowed: Sequence[str] | None) -> str:
    """Return the folder in which a worker is started, without symbolic links.

    Args:
        given: the folder that the lead names; relative to ``root``, and empty for it.
        root: the folder of the lead, which is always allowed.
        allowed: the folders that are allowed with all below them; None for the root, ``*`` for any.

    Raises:
        RefusalError: it does not exist, or it is not allowed.
    """
    try:
        home = os.path.realpath(root)
        folder = os.path.realpath(Path(home, Path(given).expanduser()))
        exists = Path(folder).is_dir()
    except (ValueError, OSError, RuntimeError):  # a NUL byte, an unknown user
        folder, exists = given, False
    if not exists:
        what = "is not a folder" if "\0" not in folder and Path(folder).exists() else "does not exist"
        raise refusal("no_such_folder", f"The folder {words(folder, 300)} {what}.", "give an existing folder.")
    if folder == home or (allowed is not None and ANY in allowed):
        return folder
    roots = [home] if allowed is None else [os.path.realpath(Path(one).expanduser()) for one in allowed]
    if any(folder == one or folder.startswith(one.rstrip("/") + "/") for one in roots):
        return folder
    listed = ", ".join(words(one, 200) for one in roots) or "only your own"
    fact = f"The folder {words(folder, 300)} is not allowed. Allowed, with all below: {listed}."
    raise refusal("folder_not_allowed", fact, "use one of these, or ask the user to change orchestration.allowed_dirs.")
