"""Refusals in the words of the tools: the manager's errors name shell commands, which a model does not have."""

from collections.abc import Iterator
from contextlib import contextmanager

from agentdash.sessions.model import errors
from agentdash.sessions.model.errors import AgentdashError, NotAllowedError, RefusalError

_CELLS = 600
"""The most characters of an error's own text."""

_NEXT: tuple[tuple[type[AgentdashError], str, str], ...] = (
    (errors.UnknownSessionError, "unknown_session", "list_sessions shows your workers."),
    (errors.AmbiguousSessionError, "ambiguous", "give more characters of the id."),
    (errors.NotYoursError, "not_yours", "list_sessions shows the workers that you can change."),
    (errors.SessionBusyError, "busy", "wait_for it, or stop_sessions."),
    (errors.ConfigError, "settings_broken", "ask the user to correct the settings."),
    (errors.UsageError, "bad_request", "correct the arguments."),
    (errors.StoreError, "store_unusable", "ask the user to run: agentdash doctor"),
)
"""The code and the next step for each kind of error; the first that fits is used."""


_ALLOWED = {
    "folder_not_allowed": "use one of these, or ask the user to change orchestration.allowed_dirs.",
    "agent_not_allowed": "use another agent, or ask the user to change orchestration.agents.",
    "mode_not_allowed": "give the worker a mode that does no more than yours, or ask the user.",
}
"""The next step for each code of a start that is not allowed."""


def refusal(code: str, fact: str, next_step: str) -> RefusalError:
    """Return a refusal: what is the case, and the next step."""
    from agentdash.sessions.text.sanitize import one_line, shorten

    return RefusalError(code, f"{shorten(one_line(fact), _CELLS)} Next: {next_step}")


_SHOWN = "list_sessions shows the state of your workers."


def refusal_of(error: AgentdashError, code: str, next_step: str = _SHOWN) -> RefusalError:
    """Return an error of the manager as a refusal; ``code`` and ``next_step`` are for one of no known kind."""
    if isinstance(error, RefusalError):
        return error
    if isinstance(error, NotAllowedError):
        return refusal(error.code, error.fact, _ALLOWED.get(error.code, "ask the user."))
    known = ((its_code, its_next) for kind, its_code, its_next in _NEXT if isinstance(error, kind))
    code, next_step = next(known, (code, next_step))
    return refusal(code, error.fact, next_step)


@contextmanager
def refused(code: str = "failed", next_step: str = _SHOWN) -> Iterator[None]:
    """Turn each error of the manager into a refusal; the arguments are for errors of no known kind."""
    try:
        yield
    except AgentdashError as error:
        raise refusal_of(error, code, next_step) from None
