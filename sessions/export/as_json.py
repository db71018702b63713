"""A session as one JSON document in the documented schema, written step by step."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..json_schema import dump, session_json, step_json
from ..model import Session, Step


def as_json(session: Session, steps: Iterable[Step]) -> Iterator[str]:
    """Yield ``{"session": …, "steps": […]}`` in pieces, each step on a line of its own."""
    yield f'{{"session": {_encoded(session_json(session))}, "steps": ['
    separator = "\n"
    for step in steps:
        yield separator + _encoded(step_json(step))
        separator = ",\n"
    yield "\n]}\n"


def _encoded(value: dict[str, Any]) -> str:
    return dump(value).decode().rstrip("\n")
