"""The sessions that a caller may change, and the one place that every act on a session passes.

An agent changes only itself and the sessions below it: a session, or a client of the MCP server outside any session,
which has only those below it.  A command of an agent outside any session, such as the user's own claude, acts for the
user.  A method that changes sessions is marked with :func:`acts`.

Reading is free.  ``orchestration.reach = "all"`` in the settings file lifts the limit.  A guard is not a wall: it stops
accidents and confused models, and the sandbox of an agent is what holds a hostile one.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import AgentdashError, ConfigError, NotAllowedError, NotYoursError
from agentdash.sessions.model.facts import Fact
from agentdash.sessions.model.session import short_id
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.families.permissions import Bound, check_mode, narrowed

if TYPE_CHECKING:
    from agentdash.sessions.service.families.reach import InTrashToo

_NAMED = 5

_WAY_OUT = ", who can change it or set orchestration.reach"

_EVIDENCE = {
    "environment": "the tag in its environment",
    "ancestor": "an ancestor process",
    "lead key": "the conversation of its agent",
    "client": "the request of a client",
}


def only_the_user(what: str) -> NotAllowedError:
    """Return the refusal of what no agent can do."""
    return NotAllowedError("only_the_user", f"only_the_user: {what} is for the user only. Next: ask the user.")


class Rights:
    """The rights of a caller.

    Args:
        caller: who calls; the user is allowed every act.
        family: the query of families; without it a caller that is not the user reaches no session.
        session_of: returns the id of the session that a reference, a prompt or an ask names, or raises the error that
            the act itself would raise.
        reach: reads ``orchestration.reach`` of the settings file.
        bound: returns the greatest permissions that the caller can give.
    """

    def __init__(
        self,
        caller: Caller,
        family: "InTrashToo | None" = None,
        session_of: Callable[[object], str] = str,
        reach: Callable[[], str] = lambda: "own",
        bound: Callable[[], Bound | None] = lambda: None,
    ) -> None:
        self.caller = caller
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
        family = self._family
        if self._is_free():
            return
        for session_id in self._ids(target):
            if session_id == self.caller.session:
                if on_itself:
                    continue
                raise NotYoursError(f"{self._name()} cannot {verb} itself.")
            above = [one for one in (self.caller.session, self.caller.lead) if one]
            if family is None or not any(family.is_below(session_id, one) for one in above):
                raise self._not_yours(f"{verb} session {short_id(session_id)}")

    @property
    def states_settings(self) -> bool:
        """True if the settings that the caller reads are stored for all: an agent can choose its environment."""
        return self.caller.session is None and self.caller.evidence not in ("elsewhere", "namespace")

    def check_user(self, verb: str) -> None:
        """Refuse an act on all sessions to an agent.

        Raises:
            NotYoursError: the caller is a session or a client of the MCP server.
        """
        if not self._is_free():
            raise self._not_yours(verb)

    def check_no_agent(self, what: str) -> None:
        """Refuse what only the user can do, whatever the reach of agents is.

        Raises:
            NotAllowedError: an agent asks, inside agentdash or outside.
        """
        if self.is_agent:
            raise only_the_user(what)

    @property
    def is_agent(self) -> bool:
        """True if an agent calls, inside agentdash or outside."""
        return self.caller.lead is not None or not self.caller.acts_for_user

    def prompt(self, text: str, agent: str) -> str:
        """Return a prompt of the caller for an agent: the words of an agent are made inert, those of the user stay."""
        return agent_named(agent).expands.inert(text, at_first=True) if self.is_agent else text

    def check_mode(self, agent: str, mode: TurnMode | None, options: Collection[str] = ()) -> None:
        """Raise ``NotAllowedError`` for permissions that the caller cannot give: they are more than its own.

        Args:
            mode: its mode; None for a plain command.
            options: the keys of the agent's section that the request names itself.
        """
        if self.caller.acts_for_user:
            return
        check_mode(self._bound(), agent_named(agent), mode, options)

    def narrowed(self, agent: str, mode: TurnMode | None, options: Collection[str]) -> dict[str, Any]:
        """Return the options that bring a start without a mode of its own within the caller's permissions.

        Args:
            mode: its mode by the settings.
            options: the keys of the agent's section that the request names itself; a named mode is not changed.
        """
        adapter = agent_named(agent)
        key = adapter.modes.key if adapter.modes is not None else None
        if self.caller.acts_for_user or {key, "full_danger"} & set(options):
            return {}
        return narrowed(self._bound(), adapter, mode)

    def reach_text(self) -> str:
        """Name the sessions that the caller can change."""
        if self._is_free():
            return "all sessions"
        family, caller = self._family, self.caller
        below = [one.short_id for one in family.descendants(caller.session, caller.lead)] if family else []
        itself = "only itself" if self.caller.session is not None else ""
        if not below:
            return f"{itself or 'no session'}; it has started no sessions"
        more = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
        which = f"the sessions below it: {', '.join(below[:_NAMED])}{more}"
        return f"{itself} and {which}" if itself else f"only {which}"

    def caller_text(self) -> str:
        """Name the caller and the evidence."""
        if self.caller.session is not None:
            return f"session {short_id(self.caller.session)}, by {_EVIDENCE.get(self.caller.evidence, 'its request')}"
        if self.caller.evidence == "elsewhere":
            return "a session of another state folder"
        if self.caller.evidence == "namespace":
            return "a command in another pid namespace than sessions at work"
        return f"the outside lead {self.caller.lead}" if self.caller.lead else "the user"

    def facts(self) -> tuple[Fact, ...]:
        """Return who calls and which sessions the caller can change."""
        reach = Fact("caller can change", self.reach_text(), "orchestration.reach, sessions.parent")
        return Fact("caller", self.caller_text(), "environment, ancestor processes"), reach

    def _name(self) -> str:
        session, lead = self.caller.session, self.caller.lead
        if self.caller.evidence == "elsewhere":
            return f"Session {short_id((lead or '').partition(':')[2])} of another state folder"
        if self.caller.evidence == "namespace":
            return "A command in another pid namespace (a container) than sessions at work"
        return f"Session {short_id(session)}" if session is not None else f"The outside lead {lead}"

    def _not_yours(self, act: str) -> NotYoursError:
        fact = f"{self._name()} cannot {act}: it can change {self.reach_text()}."
        return NotYoursError(fact, None, f"Ask the user{_WAY_OUT if self.caller.session is None else ''}.")

    def _is_free(self) -> bool:
        """Return whether the caller can change all sessions."""
        if self.caller.acts_for_user:
            return True
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


P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
G = TypeVar("G", bound="Guarded")


class Guarded:
    """A part of the manager whose acts are checked against the rights of the caller.

    A text ``ref`` names a session as for :meth:`..reader.SessionReader.get`, whose errors each act can raise.

    Args:
        rights: those of the manager's caller; there is no default, so that no part acts for the user by omission.
    """

    def __init__(self, rights: Rights) -> None:
        self.rights = rights
        """The rights of the caller."""

    @property
    def inside(self) -> str | None:
        """The session from inside which the call comes; None if it comes from the user or from an outside lead."""
        return self.rights.caller.session

    @property
    def asker(self) -> str:
        """The recorded name of the caller: ``you``, or the session from inside which the call comes."""
        return f"session {short_id(self.inside)}" if self.inside else "you"


def acts(
    verb: str, *, on_itself: bool = True
) -> Callable[[Callable[Concatenate[G, T, P], R]], Callable[Concatenate[G, T, P], R]]:
    """Mark a method that changes the session, or the sessions, of its first argument, and check the caller's rights.

    A dry run changes nothing and is not checked.

    Args:
        verb: the act in the text of a refusal: ``stop``.
        on_itself: a session may do it to itself.
    """

    def marked(method: Callable[Concatenate[G, T, P], R]) -> Callable[Concatenate[G, T, P], R]:
        @wraps(method)
        def checked(self: G, target: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
            kept: Any = list(target) if isinstance(target, Iterable) and not isinstance(target, str) else target
            if not kwargs.get("dry_run"):
                self.rights.check(kept, verb, on_itself=on_itself)
            return method(self, kept, *args, **kwargs)

        checked.acts = verb  # type: ignore[attr-defined]
        return checked

    return marked
