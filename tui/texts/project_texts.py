"""Texts about the settings of a project."""

from pathlib import Path

from ...sessions.projects.review import Review
from ...widgets.drawing.short_forms import place


def project_line(review: Review | None) -> str:
    """Return the state of a folder's project for the dialog that starts a session; empty if it has none."""
    if review is None:
        return ""
    path = place(str(review.path))
    reason = {
        "trusted": "in force.",
        "untrusted": "not trusted, not in force. F4 shows it.",
        "changed": "changed since you trusted it, not in force. F4 shows the change.",
        "refused": "cannot be used. F4 shows why.",
        "unsafe": f"not in force: {review.why}.",
    }[review.state]
    return f"{path}: {reason}"


def trusted(path: Path) -> str:
    """Report that the settings of a project are in force."""
    return f"Trusted {place(str(path))}. New turns use it."


def forgotten(path: Path) -> str:
    """Report that the settings of a project are not in force."""
    return f"Not trusted: {place(str(path))}. New turns use your own settings."


def no_project(folder: str) -> str:
    """Report that a folder has no settings of a project."""
    return f"No .agentdash.toml in {place(folder)} or above it."
