"""The sum of a family on the row of its lead: ``10 workers: 6 ● 3 ✓ 1 ✗  412k  $3.10``.  Pure."""

from collections.abc import Iterator, Sequence

from ...sessions.costs.cost import cost_words, tokens_words
from ...sessions.costs.family_sums import FamilySum
from ...sessions.model import Session, Status
from ...sessions.text import units
from ...sessions.text.sanitize import cell_width
from ..drawing import glyphs

Cell = tuple[str, str]
"""Text and the role of its colour."""

STUCK = "stuck"

_ROLES = {
    Status.WAITING: "attention",
    STUCK: "attention",
    Status.RUNNING: "running",
    Status.QUEUED: "dim",
    Status.DONE: "good",
    Status.FAILED: "failure",
    Status.STOPPED: "dim",
}


def family_cells(total: FamilySum, room: int) -> list[Cell]:
    """The longest form that fits into ``room`` cells, each cell with a blank before it; the shortest if none fits."""
    form: list[Cell] = []
    for form in _forms(total):
        if cells_taken(form) <= room:
            break
    return form


def cells_taken(cells: Sequence[Cell]) -> int:
    """Cells on the screen, each with the blank before it."""
    return sum(cell_width(text) + 1 for text, _ in cells)


def lifecycle_sign(session: Session) -> str:
    """The sign before the title of a worker that ends with its lead; empty for another session."""
    return "" if session.lifecycle == "detached" else f"{glyphs.LINKED} "


def _forms(total: FamilySum) -> Iterator[list[Cell]]:
    """The forms from the longest to the shortest: without tokens, without words, without money."""
    words = (f"{units.count(total.workers, 'worker')}:", "dim")
    spaced = [(f"{number} {_mark(state)}", _ROLES[_status(state)]) for state, number in total.states]
    dense = [(text.replace(" ", ""), role) for text, role in spaced]
    tokens = [(f" {text}", "dim")] if (text := _tokens(total)) else []
    money = [(f" {text}", "dim")] if (text := cost_words(total.cost)) else []
    yield [words, *spaced, *tokens, *money]
    yield [words, *spaced, *money]
    yield [*dense, *money]
    yield dense


def _status(state: str) -> str:
    return state if state == STUCK else Status(state)


def _mark(state: str) -> str:
    return glyphs.STUCK if state == STUCK else glyphs.STATES[Status(state)]


def _tokens(total: FamilySum) -> str:
    """The tokens: ``412k``; ``≥412k`` if some are not known; "" if none were used."""
    if total.tokens is None:
        return "? tok" if total.tokens_missing else ""
    return tokens_words(total.tokens, total.tokens_missing)
