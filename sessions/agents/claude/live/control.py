"""The lines that are written to the standard input of a live claude (2.1.197 and 2.1.330).  Pure.

A line that is not JSON ends the process (docs/protocols/claude.md, "Standard input"), so every text is made encodable
first.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import msgspec

from agentdash.sessions.rules.prompts.images import Picture

CHANGE = "change-"
"""The beginning of the id of a request that changes a setting."""


def change_id(number: int, what: str, value: str) -> str:
    """Return the id of a request that changes a setting; claude's answer to it names neither in every version."""
    return f"{CHANGE}{number}-{what}-{value}"


def changed_setting(request_id: str) -> tuple[str, str] | None:
    """Return the setting and the value that a request of :func:`change_id` asks for; None for another request."""
    if not request_id.startswith(CHANGE):
        return None
    number, _, rest = request_id.removeprefix(CHANGE).partition("-")
    what, found, value = rest.partition("-")
    return (what, value) if number.isdecimal() and found and what in ("model", "mode") else None


def line_of(value: Any) -> bytes:
    """Return a value as one line.

    Unicode's own separators of lines are escaped, so that no reader takes them for the end of the line.
    """
    data = msgspec.json.encode(value).decode("utf-8", "replace").encode()
    data = data.replace(b"\r", b" ").replace(b"\n", b" ")
    for character in "\x85\u2028\u2029":
        data = data.replace(character.encode(), f"\\u{ord(character):04x}".encode())
    return data + b"\n"


def prompt_line(key: str, text: str, pictures: Sequence[Picture] = ()) -> bytes:
    """Return the line of a prompt; claude ignores a key that it has."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for one in pictures:
        source = {"type": "base64", "media_type": one.media_type, "data": b64encode(one.data).decode()}
        content.append({"type": "image", "source": source})
    return line_of(encodable({"type": "user", "uuid": key, "message": {"role": "user", "content": content}}))


def request_line(request_id: str, subtype: str, **fields: str | bool) -> bytes:
    """Return the line of a request; claude prints a response with its id."""
    request = {"subtype": subtype, **fields}
    return line_of(encodable({"type": "control_request", "request_id": request_id, "request": request}))


def response_line(request_id: str, response: dict[str, Any]) -> bytes:
    """Return the line that answers a request of claude; claude prints it again when it has it."""
    answer = {"subtype": "success", "request_id": request_id, "response": response}
    return line_of(encodable({"type": "control_response", "response": answer}))


def encodable(value: Any) -> Any:
    """Return plain values without lone surrogates, which UTF-8 cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {encodable(key): encodable(inner) for key, inner in value.items()}
    return [encodable(inner) for inner in value] if isinstance(value, list) else value
