"""The descriptions of steps: they can hold what a step holds, and nothing else."""

from typing import get_type_hints

import pytest

from agentdash.sessions.agents.parsing.parser import StepFields, changed, known, plan
from agentdash.sessions.model.session import PlanItem, Step, StepKind, StepStatus

PLACE = {"turn", "index", "at", "cut"}
"""Where and when a step is, and what a list leaves out: nothing that a description says."""


def test_a_description_has_the_fields_of_a_step_with_their_types() -> None:
    of_step = get_type_hints(Step)
    assert get_type_hints(StepFields) == {name: kind for name, kind in of_step.items() if name not in PLACE}


def test_a_step_is_changed_in_the_named_fields_alone() -> None:
    step = Step(kind=StepKind.COMMAND, text="make", command="make", at=5)
    after = changed(step, {"output": "done", "status": StepStatus.OK}, ended_at=9)
    assert after == Step(
        kind=StepKind.COMMAND, text="make", command="make", at=5, output="done", status=StepStatus.OK, ended_at=9
    )


def test_what_is_not_known_changes_nothing() -> None:
    assert known({"output": None, "text": "", "exit_code": 0}) == {"text": "", "exit_code": 0}


@pytest.mark.parametrize(("states", "text"), [([], "0 of 0 done"), (["completed", "pending"], "1 of 2 done")])
def test_a_plan_says_how_much_of_it_is_done(states: list[str], text: str) -> None:
    items = tuple(PlanItem(text="a", status=state) for state in states)
    assert plan(items) == {"kind": StepKind.PLAN, "text": text, "items": items}
