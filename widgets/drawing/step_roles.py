"""The roles of the parts of a step in lists and documents."""

from ...sessions.model import StepStatus
from ...sessions.text.unified_diff import ADDED, HUNK, REMOVED

ENDING_ROLES = {
    StepStatus.OK: "dim",
    StepStatus.FAILED: "failure",
    StepStatus.DECLINED: "attention",
    StepStatus.INTERRUPTED: "dim",
    StepStatus.RUNNING: "running",
}
"""The role of each step ending."""


def error_role(fatal: bool | None) -> str:
    """Return the role of an error: a failure, unless the turn went on after it."""
    return "attention" if fatal is False else "failure"


DIFF_ROLES = {ADDED: "added", REMOVED: "removed", HUNK: "hunk"}
"""The role of each kind of diff line."""
