"""The roles of colour that the parts of a step have in lists and documents."""

from ...sessions.model import StepStatus
from ...sessions.text.unified_diff import ADDED, HUNK, REMOVED

ENDING_ROLES = {
    StepStatus.OK: "dim",
    StepStatus.FAILED: "failure",
    StepStatus.DECLINED: "attention",
    StepStatus.INTERRUPTED: "dim",
    StepStatus.RUNNING: "running",
}
"""The meaning of how a step ended."""

DIFF_ROLES = {ADDED: "added", REMOVED: "removed", HUNK: "hunk"}
"""The meaning of a line of a diff, by its kind."""
