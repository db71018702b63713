"""Text in the user's name that an agent wrote: it is in tags that the agent closes.

A prompt of the user may begin with any tag; so only whole texts in known tags count.
"""

import re
from collections.abc import Container

_OPENED = re.compile(r"\s*<([A-Za-z][A-Za-z0-9_-]{0,60})(?:\s[^<>]{0,200})?>")


def is_wrapped(text: str, names: Container[str], trailed: Container[str] = ()) -> bool:
    """Return whether a text is nothing but closed elements with these names, one after the other.

    Args:
        trailed: those of them behind which the agent writes more text.
    """
    at = 0
    while (opened := _OPENED.match(text, at)) is not None and opened[1] in names:
        closed = text.find(f"</{opened[1]}", opened.end())
        end = text.find(">", closed) + 1 if closed >= 0 else 0
        if end == 0:
            return False
        if opened[1] in trailed:
            return True
        at = end
    return at > 0 and not text[at:].strip()
