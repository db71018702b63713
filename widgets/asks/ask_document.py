"""The whole text of an ask as a document, with the facts that a line cuts; and the values that answer its questions."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain

from agentdash.sessions.rules.asks.answers import constraints, fault, taken, title_repeats_body
from agentdash.sessions.rules.asks.model import Ask, AskKind, Question, Verdict
from agentdash.sessions.text.relative_paths import below
from agentdash.sessions.text.sanitize import cell_width, shorten
from agentdash.sessions.text.unhidden import unhidden, unhidden_line
from agentdash.widgets.document.diff import Diff
from agentdash.widgets.document.flow import flow
from agentdash.widgets.document.markdown import Markdown
from agentdash.widgets.document.model import NAME, Block
from agentdash.widgets.document.plain import PlainText
from agentdash.widgets.document.syntax import Code, CodeBlock, language_of
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.steps.step_document import DIFF_READ, answer, nothing

YES, NO, UNSET = "yes", "no", "not set"
"""The words for the values of a boolean."""

_BOOLEANS = {YES: "true", NO: "false"}


def boolean(word: str) -> tuple[str, ...]:
    """Return the value of a word for a boolean; empty if it is not set."""
    return (_BOOLEANS[word],) if word in _BOOLEANS else ()


def combined(question: Question, marked: tuple[str, ...], words: str) -> tuple[str, ...]:
    """Return the answer of marked choices and words; in an answer that takes one value, words replace the choice."""
    typed = () if not words.strip() else (words if question.secret else words.strip(),)
    if question.several:
        return (*marked, *typed)
    return typed or marked[:1]


def problem(question: Question, values: tuple[str, ...]) -> str:
    """Return why the values do not answer a question, as a sentence; empty if they do."""
    reason = fault(question, values)
    return f"This must {reason}." if values and reason else "An answer is required." if reason else ""


def kind(question: Question) -> str:
    """Return the words behind a question: what its value must be, and if it must be answered."""
    what = "yes or no" if question.type == "boolean" else constraints(question)  # as its field offers it
    return ", ".join(filter(None, (what, "" if question.required else "optional")))


SHORT = 40
"""Cells of the line of a fact in a card of 50 columns; a fact that its line does not show whole is repeated below."""

_ALWAYS_CELLS = 4
"""Cells by which the line of the decision for always has less room than that of a fact."""

_PLACE_CELLS = 18
"""Cells of the position among all asks, behind the title."""

_BESIDE_CELLS = 12
"""Cells between the first file and the folder in their line, and of the number of other files."""

_DIFF = re.compile(r"^(?:@@(?: |$)|diff --git |--- .*\n\+\+\+ )", re.MULTILINE)
_LISTED = 1_000
"""Most paths, questions and choices that are listed; further paths are counted."""


class AskDocument:
    """Blocks below each other; only rows that are requested are made.

    Args:
        ask: the ask, whose texts are hostile.
        questions: True to show all questions, because no fields show them; else only those that a field cuts.
        room: cells of the lines above it that show the title and the reason.
    """

    def __init__(self, ask: Ask, *, questions: bool = False, room: int = SHORT) -> None:
        shown = map(_question, ask.questions[:_LISTED] if questions else cut_questions(ask, room))
        self._blocks: tuple[Block, ...] = (*_blocks(ask, room), *shown)
        self._heads = [bool(number) or bool(block.caption) for number, block in enumerate(self._blocks)]
        sizes = (int(head) + len(block) for head, block in zip(self._heads, self._blocks, strict=True))
        self._starts = tuple(accumulate(sizes, initial=0))

    def __len__(self) -> int:
        """The number of items."""
        return self._starts[-1]

    def rows(self, item: int, width: int) -> list[Row]:
        """The rows of an item, none wider than ``width`` cells.

        Raises:
            IndexError: there is no such item.
        """
        if not 0 <= item < len(self):
            raise IndexError(item)
        number = bisect_right(self._starts, item) - 1
        block, place = self._blocks[number], item - self._starts[number] - self._heads[number]
        if place >= 0:
            return block.rows(place, width)
        gap: list[Row] = [()] if number else []
        return gap + (flow(block.caption, width) if block.caption else [])

    def height(self, width: int, most: int) -> int:
        """The lines of the document at this width, counted up to ``most``."""
        lines = 0
        for item in range(len(self)):
            lines += len(self.rows(item, width))
            if lines >= most:
                return most
        return lines


def brief(text: str) -> str:
    """A hostile text on one clean line, cut with ``…`` behind as much as any screen shows."""
    most = 8 * NAME
    return shorten(unhidden_line(text[:most]) + ("…" if len(text) > most else ""), NAME)


def fits(text: str, room: int) -> bool:
    """True if one line of ``room`` cells shows a hostile text whole."""
    return "\n" not in text.strip() and cell_width(brief(text)) <= min(room, NAME - 1)


def cut_facts(ask: Ask, room: int) -> Sequence[tuple[str, str]]:
    """The name and the text of each fact that a line of ``room`` cells cuts, and that nothing else shows."""
    title = "" if title_repeats_body(ask) or are_asked(ask) else ask.title
    file = below(ask.paths[0], ask.cwd) or ask.paths[0] if ask.paths else ""
    beside = cell_width(brief(file)) + _BESIDE_CELLS if file else 0
    folder = "" if "\n" not in ask.cwd and fits(place(ask.cwd), room - beside) else ask.cwd
    facts = (
        ("asks to", title, room - _PLACE_CELLS), ("folder", folder, room - beside), ("why", ask.why, room),
        ("always covers", ask.always, room - _ALWAYS_CELLS),
    )  # fmt: skip
    return [(name, unhidden(text)) for name, text, cells in facts if not fits(text, cells)]


def are_asked(ask: Ask) -> bool:
    """True if the questions of an ask are shown one by one, so that its title repeats the first."""
    return ask.kind is AskKind.QUESTION and bool(ask.questions) and Verdict.ANSWER in taken(ask)


def cut_questions(ask: Ask, room: int) -> Sequence[Question]:
    """The questions of which a field of ``room`` cells cuts the text, a choice or its description."""
    return [one for one in ask.questions if not _fits_field(one, room)]


def _fits_field(question: Question, room: int) -> bool:
    """True if two lines show each text of a question, so that a field, which takes three, does not cut at words."""
    names = (f"{question.header} {question.text}", *(f"{one.label} {one.description}" for one in question.choices))
    kept = sum(map(cell_width, (question.key, kind(question)))) + 8
    return all("\n" not in name.strip() and cell_width(brief(name)) + kept <= 2 * room for name in names)


def _blocks(ask: Ask, room: int) -> Iterator[Block]:
    if ask.body.strip():
        yield _body(ask)
    elif ask.kind not in (AskKind.QUESTION, AskKind.FORM):
        yield nothing("The agent shows no details.")
    files = [below(path, ask.cwd) or path for path in ask.paths]
    if len(files) > 1 or any(not fits(path, SHORT) for path in files):
        more = [f"and {len(files) - _LISTED:,} more"] if len(files) > _LISTED else []
        yield PlainText("\n".join(chain(map(brief, files[:_LISTED]), more)), _caption("files"))
    for name, text in cut_facts(ask, room):
        yield PlainText(text, _caption(name))
    if ask.left_out:
        yield PlainText(f"{ask.left_out}: too long to be shown, so it can only be denied", _caption("left out"))


def _body(ask: Ask) -> Block:
    body = unhidden(ask.body)
    if ask.kind is AskKind.COMMAND:
        return CodeBlock(Code(body, "bash"))
    if ask.kind is AskKind.PLAN:
        return Markdown(body)
    if ask.kind is AskKind.EDIT:
        if len(body) <= DIFF_READ and _DIFF.search(body):
            return Diff(body)
        language = language_of(ask.paths[0]) if ask.paths else None
        return CodeBlock(Code(body, language), numbered=True)
    if ask.kind in (AskKind.QUESTION, AskKind.FORM):
        return PlainText(body)
    return answer(body, "arguments")


def _question(question: Question) -> Block:
    choices = [f"- {brief(one.label)}  {brief(one.description)}" for one in question.choices[:_LISTED]]
    return PlainText("\n".join([unhidden(question.text), *choices]), _caption(brief(question.header) or "question"))


def _caption(name: str) -> Row:
    return ((name, "strong"),)
