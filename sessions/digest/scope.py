"""Choose the part of a session that a digest covers, and add what its rows record about that part."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import chain

from msgspec import structs

from ..conversation.shown import IsCut, none_cut
from ..costs.cost import total_of
from ..costs.usage_totals import turn_cost
from ..model import Session, Step, Turn, Usage
from .collect import Digest, after_marker, digest

Steps = Callable[[int | None], Iterator[Step]]
"""The steps of one turn, or of all."""


def digest_of(
    session: Session,
    turns: Sequence[Turn],
    steps: Steps,
    *,
    turn: int | None = None,
    whole: bool = False,
    is_cut: IsCut = none_cut,
) -> Digest:
    """Digest one turn, the whole session, or everything since the user last opened it.

    ``is_cut`` names the steps that were cut by going back.
    """
    seen_steps, seen_at = session.seen_steps, session.seen_at
    if turn is not None:
        chosen = [one for one in turns if one.n == turn]
        return _with_usage(digest(steps(turn), session.cwd, is_cut), chosen)
    if whole or seen_steps is None or seen_at is None:
        return _with_usage(digest(steps(None), session.cwd, is_cut), turns)
    unseen, seen = unseen_turns(turns, seen_steps, seen_at)
    new = after_marker(chain.from_iterable(steps(one.n) for one in unseen), seen, seen_at)
    return _with_usage(digest(new, session.cwd, is_cut), unseen if seen == 0 else ())


def unseen_turns(turns: Sequence[Turn], seen_steps: int, seen_at: int) -> tuple[Sequence[Turn], int]:
    """Return the turns that may hold something new, and the number of steps seen of the first of them.

    A turn that had ended by then (UTC ms), and whose steps were all seen, holds nothing new.  Turns are separated
    by their rows, because readers add a step to a failed turn, its reason, that no runner counts.
    """
    for place, turn in enumerate(turns):
        if turn.ended_at is None or turn.ended_at > seen_at or turn.steps > seen_steps:
            return turns[place:], seen_steps
        seen_steps -= turn.steps
    return (), 0


def _with_usage(digest: Digest, turns: Sequence[Turn]) -> Digest:
    """Add the usage of whole turns from their rows; the usage of a part of a turn is not known."""
    usage = reduce(Usage.plus, (turn.usage for turn in turns), Usage())
    missing = sum(turn.tokens_missing for turn in turns)
    return structs.replace(digest, usage=usage, tokens_missing=missing, cost=total_of(map(turn_cost, turns)))
