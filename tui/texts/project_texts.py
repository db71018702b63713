"""Texts about the settings of a project."""

from pathlib import Path

from agentdash.sessions.service.projects.review import Review
from agentdash.widgets.drawing.short_forms import place


def project_line(review: Review | None, key: str) -> str:
    """Return the state of a folder's project for the dialog that starts a session; empty if it has none.

    ``key`` shows the project's settings; empty if no key does.
    """
    if review is None:
        return ""
    path = place(str(review.path))
    reason = {
        "trusted": "in force.",
        "untrusted": f"not trusted, not in force.{_shows(key, 'it')}",
        "changed": f"changed since you trusted it, not in force.{_shows(key, 'the change')}",
        "refused": f"cannot be used.{_shows(key, 'why')}",
        "unsafe": f"not in force: {review.why}.",
    }[review.state]
    return f"{path}: {reason}"


def _shows(key: str, what: str) -> str:
    return f" {key} shows {what}." if key else ""


def trusted(path: Path) -> str:
    """Report that the settings of a project are in force."""
    return f"Trusted {place(str(path))}. New turns use it."


def forgotten(path: Path) -> str:
    """Report that the settings of a project are not in force."""
    return f"Not trusted: {place(str(path))}. New turns use your own settings."


def no_project(folder: str) -> str:
    """Report that a folder has no settings of a project."""
    return f"No .agentdash.toml in {place(folder)} or above it."
