"""Sessions as a tree: each lead with the sum of its family, and its workers below it."""

from collections.abc import Sequence

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.costs.family_sums import Families, FamilySum
from agentdash.sessions.rules.family_facts import outside_name
from agentdash.sessions.text.sanitize import cell_width, cut
from agentdash.tui.render.sessions.table import LISTED, below, counts, row
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.table.columns import fitting, headings
from agentdash.widgets.table.ordering import Grouping, rows_of, section
from agentdash.widgets.table.row_cells import family_cells, lifecycle_sign


def whole_families(chosen: Sequence[Session], sessions: Sequence[Session]) -> list[Session]:
    """Return the chosen sessions with all members of their families, in the order of ``sessions``."""
    families = Families()
    families.update(sessions)
    meant = {session.id for session in chosen}
    for session in chosen:
        *_, root = (session.id, *families.above(session))
        meant.update((root, *families.below(root)))
    return [session for session in sessions if session.id in meant]


def tree_text(sessions: Sequence[Session], style: Style, *, older: Sequence[Session] = ()) -> list[str]:
    """Return a header with counts, a row per session below its lead, and a line with each lead's sum.

    ``older`` sessions have no row: they count in the header, and the last line shows how to list them.
    """
    families, there = Families(), {session.id: session for session in sessions}
    families.update(sessions)
    columns = fitting(LISTED, style.width)
    lines = [counts([*sessions, *older], style), style.paint(headings(columns, style.width), "dim")]
    for one in rows_of(sessions, Grouping.TREE, (), section):
        total = families.sum(one.key)
        if one.heading is not None and total is not None:
            lines.append(_outside(one.heading.lead, total, style))
        elif (session := there.get(one.key)) is not None:
            sign = lifecycle_sign(session)
            lines.append(row(session, columns, style, one.lead.replace("▾ ", "") + sign))
            lines += [_sum(total, style)] if total is not None else []
            lines += below(session, style)
    if older:
        lines.append(style.paint(f"… and {len(older):,} more (--all)", "dim"))
    return lines


def _outside(lead: str, total: FamilySum, style: Style) -> str:
    name = f"{outside_name(lead)} (outside) "
    return style.paint(cut(f"{name} {_words(total, style.width - cell_width(name))}", style.width), "strong")


def _sum(total: FamilySum, style: Style) -> str:
    return style.paint(cut(f"  {glyphs.BELOW} {_words(total, style.width - 3)}", style.width), "dim")


def _words(total: FamilySum, room: int) -> str:
    """Return the longest form of a sum that fits."""
    return " ".join(text for text, _ in family_cells(total, room))
