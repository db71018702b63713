"""Texts about the questions of live agents: pure functions, so that the words can be tested."""

from collections.abc import Sequence

from textual.content import Content

from agentdash.sessions.rules.asks.answers import due_words, taken, title_repeats_body
from agentdash.sessions.rules.asks.dangerous import scope
from agentdash.sessions.rules.asks.model import Ask, AskKind, Verdict
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.text.sanitize import cell_width, cut, cut_left
from agentdash.sessions.text.units import age, count
from agentdash.tui.texts.screen_texts import quoted
from agentdash.widgets.asks.ask_document import are_asked, brief
from agentdash.widgets.asks.decisions import Decision
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.short_forms import below, place

READ_ONLY = "The dashboard is read-only: no answer."
TOO_EARLY = "Read it first, then press the key again."
UNREAD = "Read it first: PgDn shows the rest, then decide."
DENY_HINT = "words for the agent (optional)"

_GAP = "   "
_LEAST_FOLDER = 8
_NAME_CELLS = 9
"""Cells of the names before the facts of a card."""

_NAMED_CELLS = 24
"""Most cells of the next session's title in a message."""

_LEAST_SINCE = 40
"""Cells for the age of an ask and the time that is left, behind its folder."""


def card_title(ask: Ask, at: int, total: int, page: tuple[int, int], width: int) -> str:
    """Return the title of a card in ``width`` cells: what is asked for, and its position among all asks.

    Args:
        page: the position of the shown question, and the number of questions.
    """
    place = f" · {at} of {total} asks" if total > 1 else ""
    return cut(what(ask, page), max(1, width - cell_width(place))) + place


def what(ask: Ask, page: tuple[int, int] = (1, 1)) -> str:
    """Return what an ask is about, on one line, without what its text repeats."""
    if are_asked(ask):
        return "question" if page[1] == 1 else question_place(*page)
    title = brief(ask.title)
    if ask.kind is AskKind.EDIT or not title_repeats_body(ask):
        return title
    lead = title.partition(": ")[0]
    return "run a command" if lead == "run" else lead


def fact_cells(width: int) -> int:
    """Return the cells of a fact in a line of ``width`` cells."""
    return max(0, width - _NAME_CELLS)


def where(ask: Ask, width: int) -> Content:
    """Return the line with the folder and the files of an ask; empty if it names none, or its title names the file."""
    room = max(_LEAST_FOLDER, width - _NAME_CELLS)
    folder = place(brief(ask.cwd))
    if not ask.paths or (len(ask.paths) == 1 and below(brief(ask.paths[0]), brief(ask.cwd)) in what(ask)):
        return Content.assemble(_name("folder"), cut_left(folder, room)) if folder else Content("")
    more = f" +{len(ask.paths) - 1:,}" if len(ask.paths) > 1 else ""
    first = cut_left(below(brief(ask.paths[0]), brief(ask.cwd)), max(_LEAST_FOLDER, room - cell_width(more)))
    left = room - cell_width(f"{first}{more}{_GAP}in ")
    beside = f"{_GAP}in {cut_left(folder, left)}" if folder and left >= _LEAST_FOLDER else ""
    return Content.assemble(_name("files" if more else "file"), f"{first}{more}", (beside, MUTED))


def has_room_for_age(line: Content, width: int) -> bool:
    """Return whether the age of an ask fits behind its folder at any age."""
    return 0 < line.cell_length <= width - _LEAST_SINCE


def why(ask: Ask, width: int) -> Content:
    """Return the line with the agent's reason; empty if it gave none."""
    reason = cut(brief(ask.why), fact_cells(width))
    return Content.assemble(_name("why"), reason) if reason else Content("")


def since(recorded: RecordedAsk, now: int, *, beside: Content | None = None) -> Content:
    """Return the age of an ask, and the time until the settings decide; behind a line if there is one."""
    old = (f"{age(now - recorded.asked_at)} ago", MUTED)
    asked = Content.assemble(_name("asked"), old) if beside is None else beside + Content.assemble(f"{_GAP}asked ", old)
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
        return Decision(verdict=verdict, key="d", text="do not answer" if asks_words else "deny")
    if verdict is Verdict.STOP:
        return Decision(verdict=verdict, key="D", text="stop the turn" if asks_words else "deny and stop")
    if verdict is Verdict.ALLOW:
        return Decision(verdict=verdict, key="y", text="approve the plan" if ask.kind is AskKind.PLAN else "allow once")
    return Decision(verdict=verdict, key="s", text=f"always: {brief(scope(ask))}")


def rows_below(number: int, counted: int) -> str:
    """Return the sign that rows are below the text, of which at most ``counted`` were counted; empty if none are."""
    if not number:
        return ""
    rows = "1 row" if number == 1 else f"more than {counted - 1:,} rows" if number >= counted else f"{number:,} rows"
    return f"{rows} below: PgDn"


_KEY_WORDS = {
    Verdict.ALLOW: "yes",
    Verdict.ALWAYS: "always",
    Verdict.DENY: "no",
    Verdict.STOP: "stop",
    Verdict.ANSWER: "answer",
}


def not_taken(ask: Ask, verdict: Verdict) -> str:
    """Return the reason why an ask does not take a decision."""
    if ask.left_out:
        return f"It can only be denied: it is too long to be shown ({ask.left_out})."
    if Verdict.ANSWER in taken(ask):
        return f"A question has no {_KEY_WORDS[verdict]}: choose an answer, or d."
    return f"It does not take {_KEY_WORDS[verdict]}: only {' or '.join(_KEY_WORDS[one] for one in taken(ask))}."


def ended(fate: str) -> str:
    """Return the remark about the shown ask after its end, which is given as a clause: ``Denied by you.``"""
    return f"{fate[:1].upper()}{fate[1:]}."


def former_ended(fate: str) -> str:
    """Return the remark about the ask before the shown one: ``The one before: denied by you.``"""
    return f"The one before: {fate}."


def question_place(at: int, total: int) -> str:
    """Return the position among several questions."""
    return f"question {at} of {total:,}"


def keys(
    *, decides: bool, writes: bool, fields: bool, marks: bool, last: bool, back: bool
) -> Sequence[tuple[str, str]]:
    """Return the keys of a card that apply now, the most important first, beside those of the decisions.

    Args:
        decides: the ask can be answered.
        writes: the field for the words of a denial has the keys.
        fields: a field of a question has the keys.
        marks: that field is a list of choices.
        last: Enter sends the answer, because no question follows.
        back: Esc goes back to the question before.
    """
    if writes:
        return (("Enter", "deny"), ("Esc", "back"))
    close = ("Esc", "back" if back else "leave")
    if not decides:
        return (close, ("j k", "scroll"))
    if fields:
        enter = ("Enter", "answer" if last else "next")
        return (enter, close, *([("1-9", "choose"), ("Space", "mark")] if marks else []), ("Tab", "next field"))
    return (close, ("j k", "scroll"), ("Left Right", "choose"))


def key_words(pairs: Sequence[tuple[str, str]], width: int) -> Content:
    """Return keys and their labels in a line of ``width`` cells: as many as fit, at least two."""
    kept = list(pairs)
    while len(kept) > 2 and sum(cell_width(f"{key} {label}{_GAP}") for key, label in kept) > width:
        kept.pop()
    return Content(_GAP).join(Content.assemble((key, "bold $foreground"), f" {label}") for key, label in kept)


def more_asks(number: int, name: str, key: str) -> str:
    """Return the name of the next ask, and the key that shows it; empty if there is none."""
    return f" · {count(number, 'more ask')}: {quoted(name, _NAMED_CELLS)} · {key}" if number else ""
