"""A view of exactly the sessions that another screen chose; it is never saved."""

from msgspec import structs

from agentdash.sessions.model.session import Session
from agentdash.tui.state.table_views import View
from agentdash.widgets.table.row_model import Chooser

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
