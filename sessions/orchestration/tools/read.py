"""The tool ``read``."""

from collections import OrderedDict
from collections.abc import Iterator

from ...model import Session
from ..arguments import Read
from ..calls import Calls
from ..quoting import Window, page
from ..refusals import refusal, refused
from ..transcript import change_lines, step_texts

_STDERR_BYTES = 4 << 20
_MOST_PLACES = 1_000

_places: OrderedDict[tuple[str, int, bool, int], tuple[int, int]] = OrderedDict()
"""The ends of the pages of steps that this process has read, by session, turn and ``full``.

An end is the offset to the step in which the next page begins, and the characters before it.  So a page costs what it
shows; without its end, it costs all before.
"""


def read(calls: Calls, arguments: Read) -> str:
    """Return a part of a worker's words or work, quoted.

    Raises:
        RefusalError: there is no such turn, or nothing to read.
    """
    with refused("nothing_there"):
        family = calls.family()
        session, name = calls.find(arguments.session, family), ""
        name = family.name(session.id)
        turn = arguments.turn or session.turn
        if turn > session.turn:
            fact = f"Worker {name} has no turn {turn}; its newest is {session.turn}."
            raise refusal("no_such_turn", fact, f"read turn 1 to {session.turn}.")
        place, before = _places.get((session.id, turn, arguments.full, arguments.offset), (0, 0))
        window = Window(arguments.offset, arguments.limit, before if arguments.part == "steps" else 0)
        note, counted = "", True
        if arguments.part == "stderr":
            text, left_out = calls.manager.reader.outputs.stderr_tail(session.id, turn, _STDERR_BYTES)
            window.feed(text)
            note = f"The first {left_out:,} bytes are left out." if left_out else ""
        elif arguments.part == "steps":
            counted = _feed_steps(calls, session, turn, arguments, window, place)
        else:
            window.feed_all(_pieces(calls, session, turn, arguments))
        if not window.total:
            raise _nothing(session, name, arguments.part, turn)
        if arguments.offset >= window.total:
            fact = f"The {arguments.part} has {window.total:,} characters."
            raise refusal("nothing_there", fact, "use a smaller offset.")
        if turn == session.turn and not session.status.ended:
            note = f"{note} The turn still runs.".strip()
        return page(window, name, arguments.part, turn, arguments.offset, note, counted=counted)


def _feed_steps(calls: Calls, session: Session, turn: int, arguments: Read, window: Window, place: int) -> bool:
    """Feed the steps of a turn from a place on, and note where the page ends; False if there are more."""
    for number, step in enumerate(calls.manager.reader.steps.steps_from(session.id, turn, place), place):
        before = window.total
        window.feed_all(step_texts([step], full=arguments.full))
        if window.full:
            _places[session.id, turn, arguments.full, window.end] = (number, before)
            if len(_places) > _MOST_PLACES:
                _places.popitem(last=False)
            return False
    return True


def _pieces(calls: Calls, session: Session, turn: int, arguments: Read) -> Iterator[str]:
    reader = calls.manager.reader
    match arguments.part:
        case "answer":
            yield reader.steps.answer(session.id, turn) or ""
        case "prompt":
            prompts = [one.text for one in reader.prompts(session.id) if one.turn == turn]
            yield "\n\n".join(prompts)
        case "changes":
            yield from change_lines(reader.steps.each_step(session.id, turn), session.cwd, full=arguments.full)


def _nothing(session: Session, name: str, part: str, turn: int) -> Exception:
    fact = f"Worker {name} has no {part} in turn {turn}."
    if turn == session.turn and not session.status.ended:
        return refusal("nothing_there", fact, f"it is {session.status}: wait_for it.")
    other = "steps" if part != "steps" else "stderr"
    return refusal("nothing_there", fact, f'read(session="{name}", part="{other}").')
