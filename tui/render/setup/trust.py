"""The settings of a project as lines and as JSON, for the command line and the dialog."""

from collections.abc import Iterator
from typing import Any

from agentdash.sessions.agents.codex.own_config import toml_value
from agentdash.sessions.service.projects.review import Review, Value
from agentdash.sessions.service.projects.trust import Trusted
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import moment
from agentdash.widgets.drawing.short_forms import place

STATES = {
    "trusted": "trusted: the settings are in force",
    "untrusted": "not trusted: the settings are not in force",
    "changed": "changed since you trusted it: the settings are not in force",
    "refused": "cannot be trusted: it sets what no project may set, or is not valid",
    "unsafe": "cannot be trusted",
}
"""The states of a file in words."""


def review_lines(review: Review) -> Iterator[str]:
    """Yield the state of a file, the change since the last trust, and each setting beside the user's own."""
    yield f"{place(str(review.path))}: {STATES[review.state]}"
    if review.why:
        yield from ("", *(line.removeprefix(f"{review.path}:") for line in review.why.splitlines()))
    if diff := review.diff:
        yield from ("", *diff.splitlines())
    if values := list(review.values()):
        yield from ("", "Sets:", *(f"  {value_line(one)}" for one in values))
    elif review.config is not None:
        yield from ("", "It sets nothing.")


def value_line(one: Value) -> str:
    """Return a setting with the user's own value, and with the value in force if the project's is not."""
    line = f"{one.line}: {one.key} = {_text(one.value)}"
    if _plain(one.effective) == _plain(one.own):
        return f"{line}  (no effect: yours is {_text(one.own)})"
    forced = "" if _plain(one.effective) == _plain(one.value) else f", together: {_text(one.effective)}"
    return f"{line}  (yours: {_text(one.own)}{forced})"


def review_json(review: Review) -> dict[str, Any]:
    """Return a file, its state and its settings as a JSON object."""
    return {
        "path": str(review.path),
        "state": review.state,
        "reason": review.why or None,
        "sha256": review.file.sha256 if review.file is not None else None,
        "trusted_at": review.trusted.at if review.trusted is not None else None,
        "settings": [
            {"key": one.key, "line": one.line, "value": one.value, "own": one.own, "effective": one.effective}
            for one in review.values()
        ],
        "diff": review.diff or None,
    }


def trusted_line(one: Trusted, state: str) -> str:
    """Return a trusted file in one line."""
    return f"{moment(one.at)}  {state:<9} {one_line(one.path)}"


def trusted_json(one: Trusted, state: str) -> dict[str, Any]:
    """Return a trusted file as a JSON object."""
    return {"path": one.path, "state": state, "sha256": one.sha256, "trusted_at": one.at}


def _text(value: Any) -> str:
    return "not set" if value is None else one_line(toml_value(_plain(value)))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
