"""The fields of a step that foreign data fill: functions that describe an item return them, and mypy checks each."""

from typing import Any, TypedDict, Unpack, cast

from msgspec import structs

from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage


class Details(TypedDict, total=False):
    """The fields beside its place, its kind, its text and its time; :class:`Step` describes them."""

    status: StepStatus | None
    ended_at: int | None
    sender: str | None
    parent: str | None
    call_id: str | None
    command: str | None
    exit_code: int | None
    output: str | None
    server: str | None
    tool: str | None
    arguments: Any
    changes: tuple[Change, ...]
    items: tuple[PlanItem, ...]
    fatal: bool | None
    usage: Usage | None
    whole_thread: bool
    turn_usage: Usage | None
    cost_usd: float | None
    model: str | None
    agent_session: str | None
    event: str | None
    about_tokens: int | None


class StepFields(Details, total=False):
    """Adds the kind and the text: the description of an item as a whole, or of a change of one."""

    kind: StepKind
    text: str


def changed(step: Step, fields: StepFields, **more: Unpack[StepFields]) -> Step:
    """Return a step with other values of these fields."""
    return structs.replace(step, **(fields | more))


def known(fields: StepFields) -> StepFields:
    """Return the fields without those that are None."""
    return cast("StepFields", {key: value for key, value in fields.items() if value is not None})


def plan(items: tuple[PlanItem, ...]) -> StepFields:
    """Return the fields of a plan that are made from its items."""
    done = sum(item.status == "completed" for item in items)
    return {"kind": StepKind.PLAN, "text": f"{done} of {len(items)} done", "items": items}
