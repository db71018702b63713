"""The environment of a runner, and of the user's hook, if the process that starts it is inside a session.

Every process of agentdash serves the queue and concludes what a killed runner left, also a command of an agent: its
environment is the agent's choice, and with a variable such as ``BASH_ENV`` or ``LD_PRELOAD`` the agent would run code
in sessions of the user, or in the hook, which acts for the user.  So when a session begins, digests of its variables
are recorded (no values: secrets are never stored), and what a process inside a session starts for it gets only the
variables that have a recorded value.
"""

import os
from collections.abc import Mapping
from contextlib import suppress

from agentdash.sessions.model.session import Session
from agentdash.sessions.runner.processes.processes import HOOK_TAG, RUN_TAG, RUNNER_MARK, SESSION_TAG
from agentdash.sessions.storage.paths import Layout, SessionFolder, write_atomic
from agentdash.sessions.storage.queries import Queries

TAGS = frozenset({SESSION_TAG, RUN_TAG, HOOK_TAG, RUNNER_MARK})
"""The variables of one process of agentdash or of an agent, which nothing else inherits."""

_PLAIN = frozenset({"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER"})
"""The variables that are kept of a session that has no record, as after a rebuild."""

_DIGEST_BYTES = 12
_MOST_ABOVE = 100

_agents_choice: bool | None = None


def serves(store: Queries, session_id: str) -> None:
    """Name the session for which this process works as a runner or a waiter.

    A session that another one started gave it an environment that an agent chose.
    """
    global _agents_choice  # noqa: PLW0603 - one process serves one session
    session = store.session(session_id)
    _agents_choice = session is not None and session.parent is not None


def is_agents_choice() -> bool:
    """Return whether an agent chose the environment of this process: it works for a worker, or inside a session."""
    if _agents_choice is not None:
        return _agents_choice
    from agentdash.sessions.runner.caller import find_caller  # a runner needs it not

    return find_caller().session is not None


def record(folder: SessionFolder) -> None:
    """Record the environment of this process as that with which a session begins."""
    digests = sorted(_digest(folder.id, name, value) for name, value in os.environ.items() if name not in TAGS)
    with suppress(OSError):  # without a record the plain variables are kept
        write_atomic(folder.environment, " ".join(digests).encode())


def base_for(folder: SessionFolder) -> dict[str, str]:
    """Return our environment without the tags, and without what an agent may have put into it."""
    own = {name: value for name, value in os.environ.items() if name not in TAGS}
    if not is_agents_choice():
        return own
    try:
        known = frozenset(folder.environment.read_text("ascii").split())
    except (OSError, ValueError):
        return {name: value for name, value in own.items() if name in _PLAIN}
    return {name: value for name, value in own.items() if _digest(folder.id, name, value) in known}


def base_of_user(layout: Layout, store: Queries, session: Session) -> dict[str, str]:
    """Return the same for a command of the user about a session: what the user gave to the session above all others."""
    first = session
    for _ in range(_MOST_ABOVE):
        above = store.session(first.parent) if first.parent is not None else None
        if above is None:
            break
        first = above
    base = base_for(layout.session(first.id))
    return overridden(base, store.recipe(first.id).env) if is_agents_choice() else base


def overridden(base: Mapping[str, str], recorded: Mapping[str, str | None]) -> dict[str, str]:
    """Return an environment with the recorded values of variables; None: it was not set."""
    kept = {name: value for name, value in base.items() if name not in recorded}
    return kept | {name: value for name, value in recorded.items() if value is not None}


def _digest(session_id: str, name: str, value: str) -> str:
    from hashlib import blake2b  # few runners need it, and it loads OpenSSL

    data = os.fsencode(f"{session_id}\0{name}={value}")
    return blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
