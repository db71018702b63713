"""Texts about the questions of live agents: pure functions, so that the words can be tested."""

from collections.abc import Sequence

from textual.content import Content

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.asks.answers import due_words, taken
from agentdash.sessions.rules.asks.dangerous import scope
from agentdash.sessions.rules.asks.model import Ask, AskKind, Verdict
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.text.sanitize import cell_width, cut, cut_left
from agentdash.sessions.text.units import age
from agentdash.tui.texts.screen_texts import title
from agentdash.widgets.asks.ask_document import brief
from agentdash.widgets.asks.decisions import Decision
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.short_forms import below, place

READ_ONLY = "The dashboard is read-only: no answer."
TOO_EARLY = "This ask had just appeared: press the key again."
UNREAD = "The text was not shown to its end: PgDn shows it, then decide."
DENY_HINT = "words for the agent (optional)"

_KINDS = {
    AskKind.COMMAND: "command",
    AskKind.EDIT: "edit",
    AskKind.TOOL: "tool",
    AskKind.PERMISSIONS: "access",
    AskKind.PLAN: "plan",
    AskKind.QUESTION: "question",
    AskKind.FORM: "form",
}
_GAP = "   "
_TITLE_CELLS = 60
_LEAST_FOLDER = 8
_NAME_CELLS = 9
"""Cells of the names before the facts of a card."""


def card_title(session: Session, at: int, total: int, width: int) -> str:
    """Return the title of a card in ``width`` cells; with the ask's position if the session has asked several."""
    end = f'" asks{f" ({at} of {total})" if total > 1 else ""}'
    return f'"{title(session, max(1, min(_TITLE_CELLS, width - cell_width(end) - 1)))}{end}'


def fact_cells(width: int) -> int:
    """Return the cells of a fact in a line of ``width`` cells."""
    return max(0, width - _NAME_CELLS)


def what(ask: Ask, width: int) -> Content:
    """Return the line with the kind of an ask and the action that it is about."""
    name, tool = _KINDS[ask.kind], brief(ask.tool)
    room = fact_cells(width)
    shown = cut(brief(ask.title), room)
    beside = f"{_GAP}{tool}" if tool and tool not in shown and ask.kind is not AskKind.COMMAND else ""
    fits = cell_width(shown + beside) <= room
    return Content.assemble(_name(name), (shown, "bold"), (beside if fits else "", MUTED))


def where(ask: Ask, width: int) -> Content:
    """Return the line with the folder and the files of an ask; empty if it names none."""
    room = max(_LEAST_FOLDER, width - _NAME_CELLS)
    folder = place(brief(ask.cwd))
    if not ask.paths:
        return Content.assemble(_name("folder"), cut_left(folder, room)) if folder else Content("")
    more = f" +{len(ask.paths) - 1:,}" if len(ask.paths) > 1 else ""
    first = cut_left(below(brief(ask.paths[0]), brief(ask.cwd)), max(_LEAST_FOLDER, room - cell_width(more)))
    left = room - cell_width(f"{first}{more}{_GAP}in ")
    beside = f"{_GAP}in {cut_left(folder, left)}" if folder and left >= _LEAST_FOLDER else ""
    return Content.assemble(_name("files" if more else "file"), f"{first}{more}", (beside, MUTED))


def why(ask: Ask, width: int) -> Content:
    """Return the line with the agent's reason; empty if it gave none."""
    reason = cut(brief(ask.why), fact_cells(width))
    return Content.assemble(_name("why"), reason) if reason else Content("")


def since(recorded: RecordedAsk, now: int) -> Content:
    """Return the age of an ask, and the time until the settings decide."""
    asked = Content.assemble(_name("asked"), (f"{age(now - recorded.asked_at)} ago", MUTED))
    if recorded.due_at is None:
        return asked
    left = recorded.due_at - now
    until = due_words(recorded, now) if left > 0 else "its time is over"
    return Content.assemble(asked, (_GAP, ""), (until, "$text-warning"))


def _name(name: str) -> tuple[str, str]:
    return f"{name:<{_NAME_CELLS}}", MUTED


def decisions(ask: Ask) -> list[Decision]:
    """Return the decisions about an ask, in the agent's order."""
    offered = (_decision(ask, verdict) for verdict in taken(ask))
    return [one for one in offered if one is not None]


def _decision(ask: Ask, verdict: Verdict) -> Decision | None:
    asks_words = ask.kind in (AskKind.QUESTION, AskKind.FORM)
    if verdict is Verdict.ANSWER:
        return Decision(verdict=verdict, key="", text="answer") if ask.questions else None
    if verdict is Verdict.DENY:
        return Decision(
            verdict=verdict, key="d", text="do not answer" if asks_words else "deny, with words if you like"
        )
    if verdict is Verdict.STOP:
        return Decision(verdict=verdict, key="D", text="stop the turn" if asks_words else "deny and stop the turn")
    if verdict is Verdict.ALLOW:
        return Decision(verdict=verdict, key="y", text="approve the plan" if ask.kind is AskKind.PLAN else "allow once")
    return Decision(verdict=verdict, key="a", text=f"always: {brief(scope(ask))}")


def rows_below(number: int, counted: int) -> str:
    """Return the sign that rows are below the text, of which at most ``counted`` were counted; empty if none are."""
    if not number:
        return ""
    rows = "1 row" if number == 1 else f"more than {counted - 1:,} rows" if number >= counted else f"{number:,} rows"
    return f"{rows} below: PgDn"


def not_taken(ask: Ask, verdict: Verdict) -> str:
    """Return the reason why an ask does not take a decision."""
    if ask.left_out:
        return f"It can only be denied: it is too long to be shown ({ask.left_out})."
    return f"This ask does not take {verdict!s}. It takes: {', '.join(taken(ask))}."


def ended(fate: str) -> str:
    """Return the remark about the shown ask after its end, which is given as a clause: ``Denied by you.``"""
    return f"{fate[:1].upper()}{fate[1:]}."


def former_ended(fate: str) -> str:
    """Return the remark about the ask before the shown one: ``The one before: denied by you.``"""
    return f"The one before: {fate}."


def question_place(at: int, total: int) -> str:
    """Return the position among several questions."""
    return f"question {at} of {total:,}"


def keys(*, decides: bool, writes: bool, fields: bool, marks: bool, last: bool, back: bool) -> Sequence[str]:
    """Return the keys of a card that apply now, the most important first.

    Args:
        decides: the ask can be answered.
        writes: the field for the words of a denial has the keys.
        fields: a field of a question has the keys.
        marks: that field is a list of choices.
        last: Enter sends the answer, because no question follows.
        back: Esc goes back to the question before.
    """
    if writes:
        return ("Enter deny", "Esc back")
    close = "Esc back" if back else "Esc close"
    if not decides:
        return (close, "j k scroll")
    if fields:
        enter = "Enter answer" if last else "Enter next"
        return (enter, close, *(["Space mark"] if marks else []), "Tab next field")
    return ("Enter or letter decides", close, "Up Down choose", "j k scroll")
