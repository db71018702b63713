"""The first line of the screen: how many sessions need somebody, and what all of them took."""

from collections import Counter
from collections.abc import Iterable

from textual.content import Content

from ...sessions.costs.usage_totals import lacks_cost, lacks_tokens
from ...sessions.model import Session, Status
from ...sessions.text import units
from ..drawing.glyphs import UNICODE, Signs
from ..drawing.line import Line
from ..drawing.roles import MUTED

_GROUPS = (
    ("waiting", "waiting", Status.WAITING, "$text-warning bold"),
    ("stuck", "stuck", None, "$text-warning bold"),
    ("running", "running", Status.RUNNING, "$text-primary"),
    ("queued", "queued", Status.QUEUED, MUTED),
    ("failed new", "new", Status.FAILED, "$text-error"),
    ("done new", "new", Status.DONE, "$text-success"),
)
"""Each group's words, which are those of the table's state column; what is left of them on a narrow screen."""
_MEMBERS = {
    Status.WAITING: "waiting",
    Status.STARTING: "running",
    Status.RUNNING: "running",
    Status.FINISHING: "running",
    Status.QUEUED: "queued",
}
_ENDED = {Status.DONE: "done new", Status.FAILED: "failed new", Status.LOST: "failed new"}
"""The group of an end until the user has seen it; then it is in none."""


class Tally:
    """Counts and sums of all sessions, kept up by what changes."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self.groups: Counter[str] = Counter()
        self.tokens = 0
        self._millionths = 0
        """Of a dollar: a sum of whole numbers is 0 again when all of them are gone."""
        self.tokens_missing = self.dollars_missing = 0
        """Sessions of which the tokens, or the cost, are not known."""

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def dollars(self) -> float:
        """The sum of the costs that are known."""
        return self._millionths / 1e6

    def update(self, updated: Iterable[Session], removed: Iterable[str]) -> None:
        """Take over what changed."""
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
        self._millionths += by * round((session.cost_usd or 0.0) * 1e6)
        self.tokens_missing += by * lacks_tokens(session)
        self.dollars_missing += by * lacks_cost(session)


class StatusLine(Line):
    """Counts on the left of the line, tokens and money on its right."""

    def __init__(self, *, signs: Signs = UNICODE, note: str = "", id: str | None = None) -> None:  # noqa: A002
        """``note`` stands before everything else."""
        super().__init__(signs=signs, id=id)
        self._signs = signs
        self._note = note

    def show(self, tally: Tally, where: str) -> None:
        """Say how things stand."""
        self.say(counts(tally, where, self.size.width, self._signs, note=self._note))


def counts(tally: Tally, where: str, width: int, signs: Signs = UNICODE, *, note: str = "") -> Content:
    """The line: what needs attention first; the folder and the sums where there is room."""
    first = Content.assemble((note, "$text-warning bold"), "   ") if note else Content("")
    title = first + Content.assemble(("agentdash", "bold"), "   ") if width >= 70 else first
    placed = first + Content.assemble(("agentdash", "bold"), (f"  {where}", MUTED), "   ")
    sums = _sums(tally)
    beside = width - len(sums) - 2
    line = title
    # The folder goes first; shorter words rather than no sums, but words rather than sums.
    forms = ((title, 0, beside), (title, 1, beside), (title, 0, width), (title, 1, width), (title, 2, width))
    for lead, form, room in ((placed, 0, beside), *forms) if width >= 100 else forms:
        line = lead + _groups(tally, signs, form)
        if line.cell_length <= room:
            break
    gap = width - line.cell_length - len(sums)
    return line + Content.styled(" " * gap + sums, MUTED) if gap >= 2 else line


def _groups(tally: Tally, signs: Signs, form: int) -> Content:
    """The counts in words (form 0), in short words (1), or as numbers behind their marks (2)."""
    parts = []
    for name, short, status, style in _GROUPS:
        if tally.groups[name]:
            mark = signs.states[status] if status else signs.stuck
            told = f"{mark} {tally.groups[name]} {(name, short, '')[form]}"
            parts.append(Content.styled(told.rstrip(), style))
    return Content("   " if form == 0 else "  ").join(parts) if parts else Content.styled("nothing running", MUTED)


def _sums(tally: Tally) -> str:
    tokens = f"{units.tokens(tally.tokens)} tok{' known' if tally.tokens_missing else ''}" if tally.tokens else ""
    dollars = f"{units.money(tally.dollars)}{' known' if tally.dollars_missing else ''}" if tally.dollars else ""
    return "  ".join(filter(None, (tokens, dollars)))


def _group(session: Session) -> str:
    if session.is_stuck:
        return "stuck"
    if session.status in _ENDED:
        return _ENDED[session.status] if session.attention else "seen"
    return _MEMBERS.get(session.status, "seen")
