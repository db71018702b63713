"""The sessions that a caller may change: from inside a session only itself and those below it.

Reading is free.  ``orchestration.reach = "all"`` in the settings file lifts the limit.  A guard is not a wall: it stops
accidents and confused models, and the sandbox of an agent is what holds a hostile one.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Protocol

from ..agents.registry import agent_named
from ..errors import AgentdashError, ConfigError, NotYoursError
from ..facts import Fact
from ..model import Session, short_id
from ..turn_mode import TurnMode
from .caller import Caller
from .permissions import Bound, check_mode

_NAMED = 5

_EVIDENCE = {
    "environment": "the tag in its environment",
    "ancestor": "an ancestor process",
    "lead key": "the conversation of its agent",
}


class Family(Protocol):
    """The query for the place of a session in its family."""

    def is_below(self, session_id: str, lead: str) -> bool:
        """Return whether a session descends from another one."""
        ...

    def descendants(self, session_id: str) -> list[Session]:
        """Return the sessions below a session."""
        ...


class Rights:
    """The rights of a caller.

    Args:
        caller: who calls; without a session every act is allowed.
        family: the query of families; None if there is no session.
        session_of: returns the id of the session that a reference, a prompt or an ask names, or raises the error that
            the act itself would raise.
        reach: reads ``orchestration.reach`` of the settings file.
        bound: returns the greatest permissions that the caller can give.
    """

    def __init__(
        self,
        caller: Caller | None = None,
        family: Family | None = None,
        session_of: Callable[[object], str] = str,
        reach: Callable[[], str] = lambda: "own",
        bound: Callable[[], Bound | None] = lambda: None,
    ) -> None:
        self.caller = caller or Caller()
        self._family = family
        self._session_of = session_of
        self._reach = reach
        self._bound = bound

    def check(self, target: object, verb: str, *, on_itself: bool = True) -> None:
        """Refuse an act on a session that the caller does not reach.

        Raises:
            NotYoursError: it is not the caller's session, nor below it; or it is the caller's, and the act is none that
                a session does to itself.
        """
        me, family = self.caller.session, self._family
        if me is None or family is None or self._reaches_all():
            return
        for session_id in self._ids(target):
            if session_id == me:
                if on_itself:
                    continue
                raise NotYoursError(f"Session {short_id(me)} cannot {verb} itself.")
            if not family.is_below(session_id, me):
                raise NotYoursError(
                    f"Session {short_id(me)} cannot {verb} session {short_id(session_id)}: "
                    f"it can change {self.reach_text()}."
                )

    def check_user(self, verb: str) -> None:
        """Refuse an act on all sessions from inside a session.

        Raises:
            NotYoursError: the caller is a session.
        """
        me = self.caller.session
        if me is not None and not self._reaches_all():
            raise NotYoursError(f"Session {short_id(me)} cannot {verb}: it can change {self.reach_text()}.")

    def check_mode(self, agent: str, mode: TurnMode | None, options: Collection[str] = ()) -> None:
        """Refuse permissions that the caller cannot give: they are more than its own.

        Args:
            agent: the agent that is to run.
            mode: its mode; None for a plain command.
            options: the keys of the agent's section that the request names itself.

        Raises:
            NotAllowedError: they are more than its own.
        """
        if self.caller.session is None and self.caller.lead is None:
            return
        check_mode(self._bound(), agent_named(agent), mode, options)

    def reach_text(self) -> str:
        """Name the sessions that the caller can change."""
        if self.caller.session is None or self._family is None or self._reaches_all():
            return "all sessions"
        below = [session.short_id for session in self._family.descendants(self.caller.session)]
        if not below:
            return "only itself; it has started no sessions"
        more = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
        return f"only itself and the sessions below it: {', '.join(below[:_NAMED])}{more}"

    def caller_text(self) -> str:
        """Name the caller and the evidence."""
        if self.caller.session is not None:
            return f"session {short_id(self.caller.session)}, by {_EVIDENCE.get(self.caller.evidence, 'its request')}"
        return f"the outside lead {self.caller.lead}" if self.caller.lead else "the user"

    def facts(self) -> tuple[Fact, ...]:
        """Return who calls and which sessions the caller can change."""
        reach = Fact("caller can change", self.reach_text(), "orchestration.reach, sessions.parent")
        return Fact("caller", self.caller_text(), "environment, ancestor processes"), reach

    def _reaches_all(self) -> bool:
        try:
            return self._reach() == "all"
        except ConfigError:
            return False  # settings that cannot be read give no rights

    def _ids(self, target: object) -> Iterator[str]:
        several = isinstance(target, Iterable) and not isinstance(target, str)
        for one in target if several else [target]:  # type: ignore[attr-defined]
            try:
                yield self._session_of(one)
            except AgentdashError:
                continue  # the act itself reports that there is no such session
