"""A session as one JSON document in the documented schema, written step by step."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..conversation.shown import IsCut, none_cut
from ..json_schema import dump, mode_json, session_json, step_json
from ..model import Session, Step, Turn


def as_json(
    session: Session, steps: Iterable[Step], turns: Sequence[Turn] = (), is_cut: IsCut = none_cut
) -> Iterator[str]:
    """Yield ``{"session": …, "turns": […], "steps": […]}`` in pieces, each step on a line of its own.

    A step that was cut by going back has ``"cut": true``.
    """
    modes = dump([mode_json(turn) for turn in turns]).decode().rstrip("\n")
    yield f'{{"session": {_encoded(session_json(session))}, "turns": {modes}, "steps": ['
    separator = "\n"
    for step in steps:
        yield separator + _encoded(step_json(step, cut=is_cut(step)))
        separator = ",\n"
    yield "\n]}\n"


def _encoded(value: dict[str, Any]) -> str:
    return dump(value).decode().rstrip("\n")
