"""``session.json``: a session's identity and settings again, readable by people, enough to rebuild its rows."""

import msgspec

from .layout import SessionFolder, write_atomic
from .store.store import Store

FORMAT = 1


def write_identity(store: Store, folder: SessionFolder) -> None:
    """Write the session, its recipe, turns and prompts as they stand now.

    Raises:
        OSError: it could not be written; the rows are still right.
    """
    session = store.session(folder.id)
    if session is None:
        return
    data = {
        "format": FORMAT,
        "session": session,
        "recipe": store.recipe(folder.id),
        "turns": store.turns(folder.id),
        "prompts": store.prompts(folder.id),
    }
    write_atomic(folder.identity, msgspec.json.format(msgspec.json.encode(data), indent=1))
