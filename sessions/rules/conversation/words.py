"""The effect of a mark on a conversation, in words.  Pure.

Titles of sessions come from agents and users: they are cleaned here.
"""

from collections.abc import Mapping

from agentdash.sessions.model.compaction import RecordedCompaction
from agentdash.sessions.model.session import short_id
from agentdash.sessions.rules.conversation.history import place_words
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.text.sanitize import one_line, shorten
from agentdash.sessions.text.units import clock, count, tokens

_TITLE = 60
"""Characters of a session's title."""


def mark_words(
    mark: Mark, *, undone: Mark | None = None, turns: int = 0, other: str = "", of_fork: bool = False
) -> str:
    """Return what a mark did, when and by whom, on one line: ``went back to step 2.4 at 14:02, by you``.

    Args:
        undone: the mark that it takes back, if it is an undo.
        turns: the number of turns for which the summary of a compaction stands.
        other: the title of the other session of a fork; empty if that was deleted.
        of_fork: True if the mark begins a fork of the session that is shown; else it begins that session itself.
    """
    time = f" at {clock(mark.at)[:5]}" if mark.at else ""
    author = f", by {one_line(mark.asked_by)}" if mark.asked_by else ""
    return f"{_act(mark, undone, turns, other, of_fork=of_fork)}{time}{author}"


def _act(mark: Mark, undone: Mark | None, turns: int, other: str, *, of_fork: bool) -> str:
    match mark.kind:
        case MarkKind.REWIND:
            return f"went back to {place_words(mark.turn, mark.step)}"
        case MarkKind.UNDO:
            return f"took back {_named(undone)}"
        case MarkKind.COMPACT:
            return f"a summary stands for {count(turns, 'turn')}{_saved(mark.data)}"
        case MarkKind.FORK:
            place = place_words(mark.turn, mark.step)
            session = mark.session if of_fork else mark.origin or ""
            named = f'"{shorten(one_line(other), _TITLE)}" ({short_id(session)})' if other else short_id(session)
            return f"{place} was forked: {named}" if of_fork else f"forked from {place} of {named}"
    if mark.kind in _BY_TURNS:
        return f"turn {mark.turn} {_BY_TURNS[mark.kind]}" if mark.turn is not None else _not_recorded(mark)
    return f"mark of a kind that this version does not know: {one_line(mark.kind, 40)}"


_BY_TURNS: Mapping[str, str] = {
    MarkKind.CLEAR: "cleared the agent's conversation",
    MarkKind.TAKEOVER: "was typed by hand in the agent's own interface",
}
"""The acts of the turns of these marks, in words."""


def _not_recorded(mark: Mark) -> str:
    why = one_line(str(mark.data.get("reason", "")), _TITLE)
    return f"taken over, but what was typed by hand is not recorded ({why})"


def compaction_words(compaction: RecordedCompaction) -> str:
    """Return a compaction of the agent, on one line: ``at step 2.4, automatic, 182k → 24k tokens, at 14:02``.

    The trigger is in the agent's words if it is neither of those known.
    """
    trigger = compaction.trigger or ""
    parts = (
        f"at {place_words(compaction.turn, compaction.step)}" if compaction.step is not None else "",
        _TRIGGERS.get(trigger, one_line(trigger, 40)),
        _counts(compaction.tokens_before, compaction.tokens_after),
        f"at {clock(compaction.at)[:5]}" if compaction.at else "",
    )
    return ", ".join(filter(None, parts))


_TRIGGERS = {"auto": "automatic", "manual": "requested"}


def _counts(before: int | None, after: int | None) -> str:
    if before is None:
        return "" if after is None else f"{tokens(after)} tokens after it"
    return f"{tokens(before)} tokens before it" if after is None else f"{tokens(before)} → {tokens(after)} tokens"


def _named(mark: Mark | None) -> str:
    """Return an act that was taken back."""
    if mark is None:
        return "an earlier mark"
    if mark.kind == MarkKind.CLEAR:
        return "the clearing of the conversation"
    return "the summary" if mark.kind == MarkKind.COMPACT else f'"{_act(mark, None, 0, "", of_fork=False)}"'


def _saved(data: Mapping[str, object]) -> str:
    """Return the tokens before and after a summary, if both are known."""
    before, after = data.get("tokens_before"), data.get("tokens_after")
    if not isinstance(before, int) or not isinstance(after, int):
        return ""
    return f" ({tokens(before)} → {tokens(after)} tokens)"


def turning(cut: bool) -> str:
    """Return the note between steps that were cut by going back and others; ``cut`` is True if cut ones follow."""
    if cut:
        return "Went back: the following was cut from the conversation. Files and commands were not undone."
    return "The conversation goes on here."
