"""The meaning of a step's ending: one rule for the digest, the changes, the exports, the viewer and the loops."""

from ..model import Step, StepStatus


def took_effect(status: StepStatus | None) -> bool:
    """Return whether an edit with this ending changed its file: not if it failed, was refused, interrupted or runs."""
    return status in (None, StepStatus.OK)


def failed(step: Step) -> bool:
    """Return whether a step failed, by its status; by its exit code only if the agent reports no status.

    A refused or interrupted step has neither failed nor succeeded.
    """
    return step.status is StepStatus.FAILED or (step.status is None and bool(step.exit_code))
