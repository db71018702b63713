"""The parts of a step that can be copied, and their names: pure."""

from collections.abc import Iterable, Iterator
from string import ascii_lowercase

import msgspec
from msgspec import Struct

from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.json_schema import step_json
from agentdash.tui.keys.key_names import LIST_LETTERS


class Piece(Struct, frozen=True):
    """A text of a step."""

    key: str
    name: str
    text: str


def pieces(step: Step, more: Iterable[tuple[str, str]] = ()) -> Iterator[Piece]:
    """Yield the parts of a step that can be copied, likeliest first; each key is the first free letter of the name.

    ``more`` has the names and texts of parts that are not the step's own; they come last.
    """
    taken = set(LIST_LETTERS)
    for name, text in (*_texts(step), *more):
        key = next(letter for letter in name + ascii_lowercase if letter in ascii_lowercase and letter not in taken)
        taken.add(key)
        yield Piece(key, name, text)


def main_piece(step: Step) -> Piece | None:
    """Return the part that ``y`` copies: the command, the text or the diff; None if the step has no text."""
    return next(pieces(step), None)


def _texts(step: Step) -> Iterator[tuple[str, str]]:
    if step.command:
        yield "command", step.command
    diffs = "\n".join(change.diff for change in step.changes if change.diff)
    if diffs:
        yield "diff", diffs
    if step.changes:
        yield "paths", "\n".join(change.path for change in step.changes)
    if step.items:
        yield "plan", "\n".join(f"{_BOX.get(item.status, '- [ ]')} {item.text}" for item in step.items)
    if step.arguments is not None:
        yield "arguments", step.arguments if isinstance(step.arguments, str) else _json(step.arguments)
    if step.text and step.text != step.command:
        yield step.kind.value.replace("_", " "), step.text
    if step.output:
        yield "output", step.output
    yield "json", _json(step_json(step))


_BOX = {"completed": "- [x]", "in_progress": "- [~]"}


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
