"""The first line of the screen, with counts and totals of the sessions: pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.costs.cost import Cost, CostCount, cost_words, tokens_words
from agentdash.sessions.rules.costs.usage_totals import lacks_tokens, session_cost
from agentdash.sessions.text.sanitize import cell_width
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.roles import MUTED

Span = tuple[str, str]
"""A text and its style, as style sheets have it."""

_GROUPS = (
    ("waiting", "waiting", glyphs.STATES[Status.WAITING], "$text-warning bold"),
    ("stuck", "stuck", glyphs.STUCK, "$text-warning bold"),
    ("asking", "asking", glyphs.STATES[Status.WAITING], "$text-warning bold"),
    ("running", "running", glyphs.STATES[Status.RUNNING], "$text-primary"),
    ("by hand", "by hand", glyphs.MARKS[MarkKind.TAKEOVER], "$text-primary"),
    ("queued", "queued", glyphs.STATES[Status.QUEUED], MUTED),
    ("failed new", "new", glyphs.STATES[Status.FAILED], "$text-error"),
    ("done new", "new", glyphs.STATES[Status.DONE], "$text-success"),
)
"""Each group's words, as in the table's state column; the short form for a narrow screen; its mark and its style."""
_MEMBERS = {
    Status.WAITING: "waiting",
    Status.STARTING: "running",
    Status.RUNNING: "running",
    Status.FINISHING: "running",
    Status.QUEUED: "queued",
}
_ENDED = {
    Status.DONE: "done new", Status.FAILED: "failed new", Status.LOST: "failed new", Status.STOPPED: "failed new",
}  # fmt: skip
"""The group of an ended session until the user has seen it; after that it has none."""

_NUMBERS = 2
"""The form of the counts without words."""


class Tally:
    """Counts and sums of all sessions, updated by changes."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self.groups: Counter[str] = Counter()
        self.tokens = 0
        self.tokens_missing = 0
        """The number of sessions with unknown tokens."""
        self._cost = CostCount()

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def sessions(self) -> Collection[Session]:
        """The counted sessions."""
        return self._sessions.values()

    @property
    def cost(self) -> Cost:
        """The sum of the costs."""
        return self._cost.cost

    def update(self, updated: Iterable[Session], removed: Iterable[str]) -> None:
        """Apply changes."""
        for session_id in removed:
            self._count(self._sessions.pop(session_id, None), -1)
        for session in updated:
            self._count(self._sessions.get(session.id), -1)
            self._count(session, 1)
            self._sessions[session.id] = session

    def _count(self, session: Session | None, by: int) -> None:
        if session is None:
            return
        self.groups[_group(session)] += by
        self.tokens += by * (session.usage.total_tokens or 0)
        self.tokens_missing += by * lacks_tokens(session)
        self._cost.count(session_cost(session), by)


STYLES = ("", "bold", MUTED, "$text-warning", *dict.fromkeys(style for *_, style in _GROUPS))
"""Every style of the line."""


def header(
    tally: Tally, where: str, width: int, *, note: str = "", plan: Sequence[str] = (), place: str = ""
) -> list[Span]:
    """The line: sessions that need the user first; a plan, the folder and the sums if there is room.

    ``place`` is where the cursor is in the table, at the end if there is room; empty if that is said elsewhere.
    """
    line = _counted(tally, where, width, note=note, plan=plan)
    if not place:
        return line
    if width - _cells(line) - len(place) < 3:
        beside = _counted(tally, where, width - len(place) - 3, note=note, plan=plan)
    else:
        beside = line
    room = width - _cells(beside)
    return [*beside, (f"{place:>{room}}", MUTED)] if len(place) + 2 <= room else line


def _counted(tally: Tally, where: str, width: int, *, note: str = "", plan: Sequence[str] = ()) -> list[Span]:
    for words in plan:
        beside = width - cell_width(words) - 2
        line = _counted(tally, where, beside, note=note)
        if beside > 0 and _cells(line) <= beside:
            room = width - _cells(line) - cell_width(words)
            return [*line, (" " * room, ""), (words, "$text-warning")]
    first = [(note, "$text-warning bold"), ("   ", "")] if note else []
    title = [*first, ("agentdash", "bold"), ("   ", "")] if width >= 70 else first
    placed = [*first, ("agentdash", "bold"), *([(f"  {where}", MUTED)] if where else []), ("   ", "")]
    sums = _sums(tally)
    beside = width - len(sums) - 2
    line = title
    # Drop the folder first, then shorten the words to keep the sums, then drop the sums to keep the words.
    forms = ((title, 0, beside), (title, 1, beside), (title, 0, width), (title, 1, width), (title, 2, width))
    for lead, form, room in ((placed, 0, beside), *forms) if width >= 100 else forms:
        line = [*lead, *_groups(tally, form)]
        if _cells(line) <= room:
            break
    gap = width - _cells(line) - len(sums)
    return [*line, (" " * gap + sums, MUTED)] if gap >= 2 else line


def _cells(line: Iterable[Span]) -> int:
    return sum(cell_width(text) for text, _ in line)


def _groups(tally: Tally, form: int) -> list[Span]:
    """The counts with words (form 0), with short words (1), or as numbers after their marks (2)."""
    parts: list[Span] = []
    for name, short, mark, style in _GROUPS:
        number = tally.groups[name]
        if form == _NUMBERS and name in ("waiting", "asking"):  # one mark, one number
            number = tally.groups["waiting"] + tally.groups["asking"] if name == "waiting" else 0
        if number:
            text = f"{mark} {number} {(name, short, '')[form]}"
            parts += [("   " if form == 0 else "  ", "")] if parts else []
            parts.append((text.rstrip(), style))
    return parts or [("nothing running", MUTED)]


def _sums(tally: Tally) -> str:
    tokens = f"{tokens_words(tally.tokens, tally.tokens_missing)} tok" if tally.tokens else ""
    cost = tally.cost
    return "  ".join(filter(None, (tokens, cost_words(cost) if cost.known_usd or cost.missing else "")))


def _group(session: Session) -> str:
    if session.taken_by is not None and not session.put_away:
        return "by hand"
    if session.is_stuck:
        return "stuck"
    if session.asks_user:
        return "asking"
    if session.status in _ENDED:
        return _ENDED[session.status] if session.attention else "seen"
    return _MEMBERS.get(session.status, "seen")
