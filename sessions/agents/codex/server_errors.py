"""The raw JSON of a server, which codex passes on as the text of an error (HTTP 400, codex-cli 0.169.0)."""

import msgspec

from ..parsing.json_lines import UNREADABLE
from ..parsing.json_repair import repaired
from .items import Failure


class _Server(msgspec.Struct):
    """The server's answer."""

    error: Failure


def readable_error(message: str) -> str:
    """Return the text of an error message, without the JSON around it; another message is returned as it is."""
    try:
        return msgspec.json.decode(repaired(message.encode()), type=_Server).error.message or message
    except UNREADABLE:
        return message
