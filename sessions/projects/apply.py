"""The settings of a start in a folder: the user's own, with those of the folder's project if the user trusted them."""

import os
from pathlib import Path

from msgspec import structs

from ..settings.config import Loaded
from .file import find
from .review import Review, review, review_trusted
from .trust import TrustStore


def in_folder(own: Loaded, folder: str, home: Path, *, later: bool = False, by_agent: bool = False) -> Loaded:
    """Return the settings of a start in a folder.

    A project that is not in force changes nothing, and is named in ``notes``.

    Args:
        own: the user's own settings.
        folder: the folder; "" for the current one.
        home: the state folder, with the record of the trusted files.
        later: True for a later turn of a session, which reports only a project that was in force once.
        by_agent: True if an agent asks: it can change the file, hide it behind another one or a repository of its own,
            and so lift the limits of the project.  The contents that the user trusted last then stay in force.
    """
    found = project_of(own, folder, home)
    if by_agent and (kept := _kept(own, folder, home)) is not None and not _is_same(found, kept):
        note = f"{kept.path} is not in force as you trusted it; what an agent starts keeps the trusted settings."
        return structs.replace(own, config=kept.config or own.config, project=kept.overlay, notes=(note,))
    if found is None:
        return own
    if found.state != "trusted" or found.config is None:
        return structs.replace(own, notes=(found.note,) if found.trusted is not None or not later else ())
    return structs.replace(own, config=found.config, project=found.overlay)


def _kept(own: Loaded, folder: str, home: Path) -> Review | None:
    """Return the nearest trusted settings around a folder, with the contents that the user trusted."""
    if not own.config.projects.read:
        return None
    real = Path(os.path.realpath(folder or "."))
    around = [one for one in TrustStore(home).all() if Path(one.path).parent in (real, *real.parents)]
    return review_trusted(max(around, key=lambda one: len(Path(one.path).parts)), own) if around else None


def _is_same(found: Review | None, kept: Review) -> bool:
    return found is not None and found.state == "trusted" and found.path == kept.path


def project_of(own: Loaded, folder: str, home: Path) -> Review | None:
    """Return the project of a folder; None if it has none, or if the user's own settings read none."""
    if not own.config.projects.read:
        return None
    try:
        path = find(folder or os.getcwd())  # noqa: PTH109 - the folder can be gone
    except (OSError, RuntimeError, ValueError):  # no current folder, an unknown ~user, a NUL byte
        return None
    return review(path, TrustStore(home), own) if path is not None else None
