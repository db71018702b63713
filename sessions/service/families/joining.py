"""The place, folder and agent of a session that a caller starts."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from agentdash.sessions.model.errors import NotAllowedError
from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Session, short_id
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.settings.sections import OrchestrationSettings
from agentdash.sessions.text.sanitize import one_line

if TYPE_CHECKING:
    from agentdash.sessions.storage.queries import Queries

ANY_FOLDER = "*"


def parent_of(caller: Caller, sessions: "Queries") -> Session | None:
    """Return the session from inside which a start is requested; None if it is requested by the user or from outside.

    Raises:
        NotAllowedError: that session was deleted: no limit and no budget would count what it starts.
    """
    if caller.session is None:
        return None
    found = sessions.session(caller.session)
    if found is None:
        short = short_id(caller.session)
        fact = f"Session {short} was deleted, and this process of it cannot start sessions."
        raise NotAllowedError("lead_deleted", fact, f"Ask the user, who can restore it: agentdash restore {short}")
    return found


def membership(caller: Caller, parent: Session | None, start: Start) -> Membership:
    """Return the place of a new session.

    Args:
        parent: the session from inside which it is asked for.
    """
    return Membership(
        parent=parent.id if parent is not None else None,
        lead=caller.lead if parent is None else None,
        depth=parent.depth + 1 if parent is not None else 0,
        lifecycle=start.lifecycle,
        key=start.key or None,
        call=start.call or caller.call,
        budget=start.budget if start.budget != Budget() else None,
    )


def source_of(caller: Caller, start: Start) -> str:
    """Return what is recorded as the source of a session: that of the start, or ``orchestrator:`` and the agent's id.

    Of a lead outside it is the beginning of its conversation's id, or ``outside``.
    """
    if caller.session is not None:
        return f"orchestrator:{short_id(caller.session)}"
    if caller.lead is None and caller.acts_for_user:
        return start.source
    return f"orchestrator:{short_id((caller.lead or '').partition(':')[2]) or 'outside'}"


def joined(caller: Caller, parent: Session | None, start: Start, settings: OrchestrationSettings) -> Start:
    """Return the start as it may be carried out: for an agent that leads, in the folder without symbolic links.

    Raises:
        NotAllowedError: the settings allow the folder or the agent to none that leads.
    """
    if parent is None and caller.acts_for_user:
        return start
    check_agent(start.agent, settings)
    root = parent.cwd if parent is not None else str(Path.cwd())
    return structs.replace(start, cwd=allowed_folder(start.cwd, root, settings.allowed_dirs))


def check_agent(name: str, settings: OrchestrationSettings) -> None:
    """Refuse an agent that the settings do not allow to workers; a plain command needs full permissions instead.

    Raises:
        NotAllowedError: ``orchestration.agents`` does not have it.
    """
    if not settings.allows(name):
        names = ", ".join(settings.agents or ()) or "none"
        raise NotAllowedError("agent_not_allowed", f"An agent cannot start {name}; the settings allow {names}.")


def allowed_folder(folder: str, root: str, allowed: Sequence[str] | None) -> str:
    """Return a folder without symbolic links, if an agent can start workers in it.

    Args:
        folder: the absolute folder of the worker.
        root: the folder of the lead as it was recorded, without symbolic links: it and what is below it is always
            allowed, and relative folders of the settings belong to it.
        allowed: ``orchestration.allowed_dirs``.

    Raises:
        NotAllowedError: it is neither an allowed folder nor below one.
    """
    real = Path(os.path.realpath(folder))
    if allowed is not None and ANY_FOLDER in allowed:
        return str(real)
    home = Path(root)
    others = (Path(os.path.normpath(home / Path(one).expanduser())) for one in allowed or ())
    # A folder below the lead's own is allowed anyway.  The lead can replace it with a link, so it is not resolved.
    roots = [home, *(Path(os.path.realpath(one)) for one in others if home not in (one, *one.parents))]
    if any(real == one or one in real.parents for one in roots):
        return str(real)
    names = ", ".join(map(one_line, map(str, roots)))
    raise NotAllowedError(
        "folder_not_allowed",
        f"An agent cannot start a worker in {one_line(str(real))}; it can in these folders and below: {names}.",
    )
