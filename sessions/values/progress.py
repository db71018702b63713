"""The present activity of a running agent, and the progress of its plan."""

from msgspec import Struct

from .steps import StepKind


class Plan(Struct, frozen=True):
    """The progress of the agent's own todo list."""

    done: int
    total: int
    item: str
    """The item in progress or, without one, the first that is not done; "" if all are done.  One line."""


class Activity(Struct, frozen=True):
    """The present activity of an agent."""

    kind: StepKind
    text: str
    """One line: the command, the path, the query, the beginning of a thought."""
    since: int
    """Time at which it began, UTC ms."""
    running: bool
    """False if the step has ended and no other has begun: the agent thinks, or waits for its model."""
