"""Views of the table: filter, folder and order, to be saved by name; and exactly the sessions that a screen chose."""

from msgspec import Struct, structs

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.filter_query import parse
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.table.ordering import ORDERS, Arrangement, Grouping
from agentdash.widgets.table.row_model import Chooser

QUICK = {
    "0": ("all", ""),
    "1": ("needs you", "is:needs_you"),
    "2": ("running", "state:starting,running,waiting,finishing"),
    "3": ("failed", "state:failed,lost"),
    "4": ("done", "state:done"),
    "5": ("queued", "state:queued"),
}
"""Keys, names and filters of the states that users choose most."""

ENDS = ("3", "4")
"""Keys of the states that the header counts only until the user has seen the sessions."""


class View(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choice of sessions in the table, and their order."""

    filter: str = ""
    quick: str = ""
    """A key of :data:`QUICK`; empty shows every state."""
    folder: str = ""
    """Only sessions of this folder; empty shows all."""
    sort: str = "attention"
    reverse: bool = False
    grouping: Grouping = Grouping.SECTIONS

    @property
    def arrangement(self) -> Arrangement:
        """The order; the default if it is not known, as in a file of another version."""
        sort = self.sort if self.sort in ORDERS else Arrangement().sort
        return Arrangement(sort=sort, reverse=self.reverse, grouping=self.grouping)

    @property
    def filters(self) -> bool:
        """True if a filter, a state or a folder is chosen."""
        return bool(self.filter or self.quick or self.folder)

    @property
    def chooses(self) -> bool:
        """True if it hides any session."""
        return self.filters

    @property
    def away(self) -> frozenset[str]:
        """The kinds of sessions that the filter asks for: ``archived``, ``deleted``, both or neither.

        Raises:
            UsageError: the filter is not valid.
        """
        return parse(self.filter).away

    def chooser(self) -> Chooser | None:
        """Return the rule that selects the shown sessions; None if all are shown.

        Raises:
            UsageError: the filter is not valid.
        """
        filters = [asked for asked in (parse(self.filter), parse(QUICK.get(self.quick, ("", ""))[1])) if asked]
        folder = self.folder
        if not filters and not folder:
            return None

        def is_meant(session: Session, now: int) -> bool:
            return (not folder or session.cwd == folder) and all(asked.matches(session, now) for asked in filters)

        return Chooser(is_meant, any(asked.timed for asked in filters))

    @property
    def words(self) -> list[str]:
        """The filters, in words."""
        quick = QUICK[self.quick][0] if self.quick in QUICK else ""
        folder = f"only {place(self.folder)}" if self.folder else ""
        return [part for part in (f"/{self.filter}" if self.filter else "", quick, folder) if part]

    def hiding(self, session: Session, now: int) -> str:
        """Return what hides a session, in words; empty if it is shown.  ``now`` is UTC ms."""
        chooser = self.chooser()
        return " ".join(self.words) if chooser is not None and not chooser.meant(session, now) else ""


BUILT_IN = {
    "all": View(),
    "needs me": View(quick="1"),
    "most expensive": View(sort="cost"),
    "by folder": View(grouping=Grouping.FOLDER),
    "family tree": View(grouping=Grouping.TREE, sort="created"),
    "archived": View(filter="is:archived"),
    "trash": View(filter="is:deleted"),
}
"""Views that always exist."""

_AWAY = frozenset({"archived", "deleted"})


class ChosenSessions(View, frozen=True, kw_only=True):
    """Some sessions in the order of the table, also the archived and deleted ones of them."""

    named: str
    """The reason for which they were chosen, for the line above the table."""
    ids: frozenset[str]

    @property
    def chooses(self) -> bool:
        """True: all other sessions are hidden."""
        return True

    @property
    def words(self) -> list[str]:
        """Their name, and the filters."""
        return [self.named, *super().words]

    @property
    def away(self) -> frozenset[str]:
        """All kinds of sessions."""
        return _AWAY

    def chooser(self) -> Chooser:
        """Return the rule that selects the sessions, and of them those that a filter leaves.

        Raises:
            UsageError: the filter is not valid.
        """
        more = lasting(self).chooser()

        def is_chosen(session: Session, now: int) -> bool:
            return session.id in self.ids and (more is None or more.meant(session, now))

        return Chooser(is_chosen, more is not None and more.timed)


def lasting(view: View) -> View:
    """Return the part of a view that can be saved: without the sessions that another screen chose."""
    if not isinstance(view, ChosenSessions):
        return view
    return View(**{field.name: getattr(view, field.name) for field in structs.fields(View)})
