"""The first line of the screen: counts of the sessions that need the user, and the totals of all sessions."""

from collections import Counter
from collections.abc import Collection, Iterable

from textual.content import Content

from ...sessions.costs.usage_totals import dollars, lacks_cost, lacks_tokens
from ...sessions.model import Session, Status
from ...sessions.text import units
from ..drawing.glyphs import UNICODE, Signs
from ..drawing.line import Line
from ..drawing.roles import MUTED

_GROUPS = (
    ("waiting", "waiting", Status.WAITING, "$text-warning bold"),
    ("stuck", "stuck", None, "$text-warning bold"),
    ("asking", "asking", Status.WAITING, "$text-warning bold"),
    ("running", "running", Status.RUNNING, "$text-primary"),
    ("queued", "queued", Status.QUEUED, MUTED),
    ("failed new", "new", Status.FAILED, "$text-error"),
    ("done new", "new", Status.DONE, "$text-success"),
)
"""Each group's words, as in the table's state column; the short form for a narrow screen."""
_MEMBERS = {
    Status.WAITING: "waiting",
    Status.STARTING: "running",
    Status.RUNNING: "running",
    Status.FINISHING: "running",
    Status.QUEUED: "queued",
}
_ENDED = {Status.DONE: "done new", Status.FAILED: "failed new", Status.LOST: "failed new"}
"""The group of an ended session until the user has seen it; after that it has none."""


_NUMBERS = 2
"""The form of the counts without words."""


class Tally:
    """Counts and sums of all sessions, updated by changes."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self.groups: Counter[str] = Counter()
        self.tokens = 0
        self._millionths = 0
        """Millionths of a dollar: a sum of integers is exactly 0 when all sessions are gone."""
        self.estimated = 0
        """The number of sessions whose cost is estimated in part."""
        self.tokens_missing = self.dollars_missing = 0
        """The number of sessions with unknown tokens, or unknown cost."""

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def sessions(self) -> Collection[Session]:
        """The counted sessions."""
        return self._sessions.values()

    @property
    def dollars(self) -> float:
        """The sum of the known costs and the estimated ones."""
        return self._millionths / 1e6

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
        self._millionths += by * round((dollars(session) or 0.0) * 1e6)
        self.estimated += by * (session.cost_about_usd is not None)
        self.tokens_missing += by * lacks_tokens(session)
        self.dollars_missing += by * lacks_cost(session)


class StatusLine(Line):
    """Counts on the left, tokens and money on the right."""

    def __init__(self, *, signs: Signs = UNICODE, note: str = "", id: str | None = None) -> None:  # noqa: A002
        """Create the line; ``note`` comes before everything else."""
        super().__init__(signs=signs, id=id)
        self._signs = signs
        self._note = note

    def show(self, tally: Tally, where: str) -> None:
        """Show the current counts."""
        self.show_text(counts(tally, where, self.size.width, self._signs, note=self._note))


def counts(tally: Tally, where: str, width: int, signs: Signs = UNICODE, *, note: str = "") -> Content:
    """The line: sessions that need the user first; the folder and the sums if there is room."""
    first = Content.assemble((note, "$text-warning bold"), "   ") if note else Content("")
    title = first + Content.assemble(("agentdash", "bold"), "   ") if width >= 70 else first
    placed = first + Content.assemble(("agentdash", "bold"), (f"  {where}" if where else "", MUTED), "   ")
    sums = signs.plain(_sums(tally))
    beside = width - len(sums) - 2
    line = title
    # Drop the folder first, then shorten the words to keep the sums, then drop the sums to keep the words.
    forms = ((title, 0, beside), (title, 1, beside), (title, 0, width), (title, 1, width), (title, 2, width))
    for lead, form, room in ((placed, 0, beside), *forms) if width >= 100 else forms:
        line = lead + _groups(tally, signs, form)
        if line.cell_length <= room:
            break
    gap = width - line.cell_length - len(sums)
    return line + Content.styled(" " * gap + sums, MUTED) if gap >= 2 else line


def _groups(tally: Tally, signs: Signs, form: int) -> Content:
    """The counts with words (form 0), with short words (1), or as numbers after their marks (2)."""
    parts = []
    for name, short, status, style in _GROUPS:
        number = tally.groups[name]
        if form == _NUMBERS and status is Status.WAITING:  # one mark, one number
            number = tally.groups["waiting"] + tally.groups["asking"] if name == "waiting" else 0
        if number:
            mark = signs.states[status] if status else signs.stuck
            text = f"{mark} {number} {(name, short, '')[form]}"
            parts.append(Content.styled(text.rstrip(), style))
    return Content("   " if form == 0 else "  ").join(parts) if parts else Content.styled("nothing running", MUTED)


def _sums(tally: Tally) -> str:
    tokens = f"{units.tokens(tally.tokens)}{'+' if tally.tokens_missing else ''} tok" if tally.tokens else ""
    about, more = "≈" if tally.estimated else "", "+" if tally.dollars_missing else ""
    cost = f"{about}{units.money(tally.dollars)}{more}" if tally.dollars else ""
    return "  ".join(filter(None, (tokens, cost)))


def _group(session: Session) -> str:
    if session.is_stuck:
        return "stuck"
    if session.asks_user:
        return "asking"
    if session.status in _ENDED:
        return _ENDED[session.status] if session.attention else "seen"
    return _MEMBERS.get(session.status, "seen")
