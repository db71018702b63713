"""``[orchestration]``: what agents that lead other agents may do."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ..rules.limits.admission import FamilyLimits
from ..values.membership import Budget


class OrchestrationSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[orchestration]``: the limits of sessions that agents start, and the reach of an agent's commands."""

    reach: Annotated[
        Literal["own", "all"],
        Meta(description="Sessions that a command from inside a session can change: its own workers, or all."),
    ] = "own"
    allowed_dirs: Annotated[
        tuple[str, ...] | None,
        Meta(
            description='Folders besides its own in which an agent can start workers; ["*"] allows any.',
            examples=[["~/src"]],
            extra={"default": "the caller's folder and below"},
        ),
    ] = None
    agents: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Agents that an agent can start as workers.",
            examples=[["claude", "codex"]],
            extra={"default": "all but command"},
        ),
    ] = None
    mode: Annotated[
        Literal["read-only", "edit", "full"],
        Meta(description="The greatest permissions of a worker whose lead runs outside agentdash and names none."),
    ] = "edit"
    max_depth: Annotated[int, Meta(ge=0, description="Greatest number of leads above a worker.")] = 3
    max_workers: Annotated[int, Meta(ge=0, description="Greatest number of workers that one lead can start.")] = 20
    max_open: Annotated[int, Meta(ge=0, description="Greatest number of workers of one lead that are not ended.")] = 8
    max_rounds: Annotated[
        int, Meta(ge=0, description="Greatest number of prompts that agents can send to one worker; 0: no limit.")
    ] = 0
    budget: Budget = Budget()
    wait_seconds: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(
            description="Longest wait of one call of wait_for.",
            examples=[270.0],
            extra={"default": "by the client: 270, or 45"},
        ),
    ] = None
    escalate_seconds: Annotated[
        float,
        Meta(ge=0, description="Time after which a worker that needs an answer of its lead needs the user."),
    ] = 120.0
    wakes: Annotated[
        int,
        Meta(ge=0, description="Prompts by which a lead is woken when its workers have ended; 0 wakes none."),
    ] = 20

    @property
    def limits(self) -> FamilyLimits:
        """The part that travels with a start."""
        return FamilyLimits(
            max_depth=self.max_depth,
            max_workers=self.max_workers,
            max_open=self.max_open,
            max_rounds=self.max_rounds,
            budget=self.budget,
        )

    def allows(self, agent: str) -> bool:
        """Return whether workers may be of this agent."""
        return self.agents is None or agent in self.agents
