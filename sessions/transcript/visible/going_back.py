"""The place in a conversation that a step of a session names: the place to go back to, or to fork from."""

from collections.abc import Sequence

from msgspec import Struct

from agentdash.sessions.model.session import StepKind
from agentdash.sessions.rules.conversation.history import ASIDE, History, Marked, Place
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.transcript.index.kind_codes import NESTED, table
from agentdash.sessions.transcript.mark_steps import MarkStep
from agentdash.sessions.transcript.snapshot import View

_SAID = table([kind for kind in StepKind if kind not in ASIDE], lacking=NESTED)


class Here(Struct, frozen=True):
    """A place in a conversation."""

    turn: int | None = None
    """None for the beginning of the conversation."""
    step: int | None = None
    """The last step of the turn that stays; None for all of them."""
    prompt: str | None = None
    """The prompt that can be asked again: the place is before it."""
    item: int | None = None
    """The last step that stays, in the view; None if none stays."""


class NoPlaceError(ValueError):
    """A step at which a conversation cannot go on; the text is for people."""


def place_of(view: View, item: int, turns: Sequence[int], known: Shown | None = None) -> Here:
    """Return the place behind a step, or before a prompt: a user who chooses a prompt wants to ask it otherwise.

    Args:
        known: the effect of the marks of the conversation; None if it has no marks.

    Raises:
        NoPlaceError: the step is a mark, or the prompt follows a summary.
        OSError: a prompt can no longer be read.
    """
    step = view.step(item)
    if isinstance(step, MarkStep):
        raise NoPlaceError("This line is not a step of a turn. Choose a step.")
    if step.kind is StepKind.PROMPT and step.parent is None:
        return _before_prompt(view, item, History(turns, known.marks if known is not None else ()))
    following = view.next_marked(_SAID, item, 1)
    is_last = following is None or view.turn(following) != step.turn
    return Here(step.turn, None if is_last else step.index, item=item)


def _before_prompt(view: View, item: int, history: History) -> Here:
    step = view.whole(item)
    before = history.turn_follows(step.turn)
    if isinstance(before, Place):
        return Here(before.turn, before.step, step.text, _last_item(view, before))
    if isinstance(before, Marked) and history.turn_follows(1) != before:
        raise NoPlaceError("This prompt follows a summary. Choose a step after it, or take the summary back.")
    return Here(prompt=step.text)


def _last_item(view: View, place: Place) -> int | None:
    """Return the item of the last step before a place; None if the turn has no steps."""
    if place.step is not None:
        return view.number(place.turn, place.step)
    begin = view.number(place.turn, 0)
    if begin is None:
        return None
    section, _ = view.find(begin)
    return begin + view.shown(section) - 1
