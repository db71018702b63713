"""The rights of a manager's caller in its state folder: which session a reference, a prompt or an ask belongs to."""

from typing import TYPE_CHECKING

from msgspec import structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.session import Session
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.families.enclosing import enclosing, is_of_hook
from agentdash.sessions.service.families.permissions import Bound, bound_of
from agentdash.sessions.service.families.rights import Rights
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store

if TYPE_CHECKING:
    from agentdash.sessions.service.reader import SessionReader


MADE_INSIDE = "made_inside"
"""The row of ``settings`` of a state folder that was made from inside a session, such as that of a test."""


def known_caller(caller: Caller, layout: Layout, store: Store) -> Caller:
    """Return the caller as this state folder knows it: what it recorded decides, and not what an environment claims.

    A session of another state folder reaches only what it starts here, because its environment names this folder; in a
    folder that was made from inside a session it acts for the user.
    An outside lead whose conversation is that of a session here is this session, if agentdash gave the conversation
    its id: a stream can report any id, also that of another lead.
    A caller without a claim is the user, unless it is in another pid namespace than sessions that have processes.
    """

    def is_known(session: str) -> bool:
        here = store.session(session) is not None or (layout.trash / session).is_dir()
        return here or store.was_deleted(session)

    if caller.line:
        session = enclosing(caller.line, layout, store.families, is_known)
    else:
        session = caller.session if caller.session is not None and is_known(caller.session) else None
    if session is not None:
        evidence, found = caller.evidence if session == caller.session else "ancestor", store.session(session)
        # Its lead's key counts only if the conversation in it is recorded as that of the session.
        own = found is not None and caller.lead == f"{found.agent}:{found.agent_session}"
        return structs.replace(caller, session=session, evidence=evidence, lead=caller.lead if own else None)
    if caller.session is not None:
        return _of_another_folder(caller, layout, store)
    if caller.lead is None:
        return _hidden(caller, layout, store)
    agent, _, conversation = caller.lead.partition(":")
    known = store.families.of_conversation(agent, conversation)
    session = next((one for one in known if _gave(store, one, agent, conversation)), None)
    return structs.replace(caller, session=session, evidence="lead key") if session is not None else caller


def _hidden(caller: Caller, layout: Layout, store: Store) -> Caller:
    """Return a caller that claims nothing: it is not the user if processes of sessions could be above it unseen.

    A command in a pid namespace of its own sees no process outside of it.
    """
    if caller.evidence or not caller.line:
        return caller
    others = store.families.in_other_namespaces(processes.boot_id(), processes.pid_namespace())
    if not any(runner_lock.is_held(layout.session(one).lock) for one in others):
        return caller
    return structs.replace(caller, evidence="namespace")


def _gave(store: Store, session_id: str, agent: str, conversation: str) -> bool:
    named = agent_named(agent).conversations
    given = named.given if named is not None else None
    return given is not None and any(given(one) == conversation for one in store.launches(session_id).values())


def _of_another_folder(caller: Caller, layout: Layout, store: Store) -> Caller:
    if is_of_hook(caller.line, layout):
        return Caller(line=caller.line)
    if store.kept(MADE_INSIDE):
        return structs.replace(caller, session=None)
    return structs.replace(caller, session=None, lead=f"agentdash:{caller.session}", evidence="elsewhere")


def rights_of(caller: Caller, layout: Layout, reader: "SessionReader", store: Store) -> Rights:
    """Return the rights of a caller in a state folder."""

    def session_of(target: object) -> str:
        if isinstance(target, int):
            return reader.ask(target).session
        if not isinstance(target, str):
            return str(getattr(target, "session", None) or getattr(target, "id", ""))
        try:
            return reader.get(target).id
        except UnknownSessionError:
            return trash.find(layout, target).id

    def bound() -> Bound | None:
        return bound_of(caller, store, reader.settings.config().orchestration)

    return Rights(
        caller, InTrashToo(layout, store), session_of, lambda: reader.settings.config("").orchestration.reach, bound
    )


class InTrashToo:
    """The families of a state folder: a deleted session is below the session that was above it."""

    def __init__(self, layout: Layout, store: Store) -> None:
        self._layout = layout
        self._store = store

    def is_below(self, session_id: str, lead: str) -> bool:
        """Return whether a session descends from another one, or from an outside lead."""
        if self._store.session(session_id) is None and (deleted := trash.record(self._layout, session_id)) is not None:
            above = deleted.session.parent or deleted.session.lead
            return above is not None and (above == lead or self._store.families.is_below(above, lead))
        return self._store.families.is_below(session_id, lead)

    def descendants(self, session_id: str | None, lead: str | None) -> list[Session]:
        """Return the sessions below a session and below an outside lead."""
        return self._store.descendants(session_id, lead)
