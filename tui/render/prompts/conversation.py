"""Acts on a conversation as lines: the messages with those that were cut, the marks, the effect of an act."""

from collections.abc import Iterator, Mapping, Sequence

from agentdash.sessions.model.compaction import RecordedCompaction
from agentdash.sessions.model.session import Step, short_id
from agentdash.sessions.rules.conversation.history import place_text
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.rules.conversation.words import compaction_words, mark_words
from agentdash.sessions.service.prompts.effects import Effect, Scope
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import count
from agentdash.tui.render.steps import step_text, turn_heading
from agentdash.tui.render.style import Style

CUT = "| "
"""The beginning of each line of a step that was cut."""

WAYS = {
    "native": "The next prompt goes on there in the agent's own conversation.",
    "retold": "With the next prompt, the conversation is retold: the agent reads it as text.",
    "new": "The next prompt begins a new conversation.",
}
"""The way in which the agent goes on, by :attr:`....sessions.service.prompts.effects.Effect.how`."""


def conversation_text(
    steps: Sequence[Step], shown: Shown, style: Style, *, numbers: bool, marks: bool, hidden: int
) -> Iterator[str]:
    """Yield the lines of messages.

    Args:
        shown: the marks of the conversation, and what they cut.
        numbers: begin each message with its place.
        marks: show the marks between the turns.
        hidden: the number of messages that were left out.
    """
    waiting = list(shown.marks) if marks else []
    by_id = {mark.id: mark for mark in shown.marks}
    turn = None
    for step in steps:
        if step.turn != turn:
            turn = step.turn
            while waiting and waiting[0].after < turn:
                yield style.paint(mark_line(waiting.pop(0), by_id, shown), "strong")
            yield turn_heading(turn, style)
        cut = bool(shown.marks) and shown.cuts(step.turn, step.index)
        lead = style.paint(f"{place_text(step.turn, step.index)} ", "dim") if numbers else ""
        first, *rest = step_text(step, style)
        for line in [lead + first, *rest]:
            yield style.paint(CUT, "dim") + style.paint(line, "dim") if cut else line
    for mark in waiting:
        yield style.paint(mark_line(mark, by_id, shown), "strong")
    if hidden:
        yield style.paint(f"{count(hidden, 'message was', 'messages were')} cut: --all prints them too.", "dim")


def mark_line(mark: Mark, by_id: Mapping[int, Mark], shown: Shown) -> str:
    """Return a mark with its number, on one line."""
    return (
        f"mark {mark.id}: {mark_words(mark, undone=by_id.get(mark.undoes or 0), turns=shown.replaced.get(mark.id, 0))}"
    )


def marks_text(
    shown: Shown, session_id: str, style: Style, compactions: Sequence[RecordedCompaction] = ()
) -> Iterator[str]:
    """Yield a line for each mark of a session and each compaction of its agent, oldest first."""
    by_id = {mark.id: mark for mark in shown.marks}
    taken_back = {mark.undoes: mark.id for mark in shown.marks if mark.id not in shown.ignored}
    waiting = list(compactions)
    for mark in shown.marks:
        while waiting and waiting[0].at <= mark.at:
            yield compaction_line(waiting.pop(0))
        note = ""
        if mark.id in shown.ignored:
            note = "  (without effect)"
        elif mark.id in taken_back:
            note = f"  (taken back by mark {taken_back[mark.id]})"
        elif shown.undoable is not None and mark.id == shown.undoable.id:
            note = f"  (take it back: agentdash rewind {short_id(session_id)} --undo)"
        yield f"{mark_line(mark, by_id, shown)}{style.paint(note, 'dim') if note else ''}"
    yield from (compaction_line(one) for one in waiting)


def compaction_line(compaction: RecordedCompaction) -> str:
    """Return a compaction of the agent, on one line."""
    return f"turn {compaction.turn}: context compacted, {compaction_words(compaction)}".rstrip(", ")


def effect_text(effect: Effect) -> Iterator[str]:
    """Yield the effect of going back, or of taking that back: before it, or as a report."""
    short, done = short_id(effect.session), effect.mark is not None
    act = "took that back" if effect.kind is MarkKind.UNDO else "went back"
    would = "would take that back" if effect.kind is MarkKind.UNDO else "would go back"
    named = f" (mark {effect.mark.id})" if effect.mark is not None else ""
    yield f"Session {short} {act if done else would}: it goes on behind {effect.place}{named}."
    for verb, scope in (("Hidden", effect.hidden), ("Shown again", effect.shown)):
        if scope.steps:
            yield f"{verb}: {_amount(scope)}."
    yield WAYS.get(effect.how, "")
    kept = _not_undone(effect)
    if kept:
        yield f"Not undone: {kept}."
    if effect.mark is not None:
        number = f" {effect.mark.id}" if effect.kind is MarkKind.UNDO else ""
        yield f"Take it back: agentdash rewind {short} --undo{number}"


def _not_undone(effect: Effect) -> str:
    """Return what stays as it is: changed files, commands, prompts that wait; empty if there is nothing."""
    hidden = effect.hidden
    facts = [
        (hidden.files_changed, f"{count(hidden.files_changed, 'changed file')}{_files(hidden)}"),
        (hidden.commands, count(hidden.commands, "command")),
        (effect.waiting, f"{count(effect.waiting, 'prompt')} in the queue"),
    ]
    return ", ".join(words for number, words in facts if number)


def fork_text(effect: Effect) -> str:
    """Return where a fork goes on, and how."""
    ways = {
        "native": "It has the conversation up to there.",
        "retold": "The conversation is retold: the agent reads it as text.",
    }
    return f"Forked from session {short_id(effect.session)} behind {effect.place}. {ways.get(effect.how, '')}".rstrip()


def _amount(scope: Scope) -> str:
    return f"{count(scope.steps, 'step')} of {count(scope.turns, 'turn')} ({count(scope.messages, 'message')})"


def _files(scope: Scope) -> str:
    """Return the first names of the changed files."""
    named = [one_line(name, 60) for name in scope.files[:3]]
    more = ", …" if scope.files_changed > len(named) else ""
    return f" ({', '.join(named)}{more})" if named else ""
