"""The meaning of a step's ending: one rule for the digest, the changes and the exports."""

from ..model import StepStatus


def took_effect(status: StepStatus | None) -> bool:
    """Return whether an edit with this ending changed its file: not if it failed, was refused, interrupted or runs."""
    return status in (None, StepStatus.OK)
