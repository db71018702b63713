"""One call of a tool: its arguments are checked, its result becomes the answer; a failure is a text for the model."""

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from ..errors import AgentdashError
from ..orchestration.tool import RefusalError, Tool

if TYPE_CHECKING:
    from ..orchestration.reading import Reading


def tool_named(tools: Sequence[Tool], name: object) -> Tool:
    """Return a tool.

    Raises:
        RefusalError: there is none with this name.
    """
    found = next((tool for tool in tools if tool.name == name), None)
    if found is None:
        raise RefusalError("unknown_tool", f"{name!r} is not a tool of agentdash. Tools: {_names(tools)}.")
    return found


def arguments_of(tool: Tool, given: object) -> Struct:
    """Return the arguments of a call; null counts as left out, as models send it for what they do not use.

    Raises:
        RefusalError: an argument is not known, is missing or has a wrong value.
    """
    if given is not None and not isinstance(given, Mapping):
        raise RefusalError("bad_arguments", f"Expected an object of arguments for {tool.name}.")
    stated = {name: value for name, value in (given or {}).items() if value is not None}
    known = tool.arguments.__struct_encode_fields__
    if unknown := [repr(name) for name in stated if name not in known]:
        takes = ", ".join(known) or "no arguments"
        raise RefusalError("bad_arguments", f"{tool.name} has no argument {', '.join(unknown)}. It takes: {takes}.")
    try:
        return msgspec.convert(stated, tool.arguments)
    except msgspec.ValidationError as error:
        raise RefusalError("bad_arguments", f"{error}") from None


def outcome(act: Callable[[], Struct | str]) -> dict[str, Any]:
    """Run a call and return the result of ``tools/call``, whatever happens.

    Both clients show a model the structure of a result and hide its text, but an error's text (claude 2.1.197, codex
    0.169.0): so a struct is given as both, and an error as text alone.
    """
    try:
        return _result(act())
    except AgentdashError as error:
        return _text(str(error), is_error=True)
    except Exception as error:  # noqa: BLE001 - the model gets a text, whatever a tool meets
        log(f"unexpected {type(error).__name__}: {error}")
        if os.environ.get("AGENTDASH_DEBUG"):
            traceback.print_exception(error)
        return _text(f"internal_error: {type(error).__name__}: {error}", is_error=True)


def conclude(reading: "Reading", *, written: bool, refused: bool) -> None:
    """Record the ends that an answer named as read if the client has the answer; never raises."""
    try:
        if written:
            reading.written(refused=refused)
        else:
            reading.drop()
    except Exception as error:  # noqa: BLE001 - the ends are named again
        log(f"ends are not recorded as read: {type(error).__name__}: {error}")


def log(text: str) -> None:
    """Write a line to stderr, where clients collect what a server reports beside its answers."""
    print(f"agentdash mcp: {text}", file=sys.stderr, flush=True)  # noqa: T201 - stdout belongs to the protocol


def _result(made: Struct | str) -> dict[str, Any]:
    if isinstance(made, str):
        return _text(made)
    encoded = msgspec.json.encode(made)
    return _text(encoded.decode()) | {"structuredContent": Raw(encoded)}


def _text(text: str, *, is_error: bool = False) -> dict[str, Any]:
    whole = text.encode("utf-8", "replace").decode()  # half of a surrogate pair cannot be sent
    result: dict[str, Any] = {"content": [{"type": "text", "text": whole}]}
    return result | {"isError": True} if is_error else result


def _names(tools: Sequence[Tool]) -> str:
    return ", ".join(tool.name for tool in tools) or "none"
