"""What an agent does now, from its steps."""

import pytest

from agentdash.sessions.model.session import Activity, Change, Plan, PlanItem, Step, StepKind, StepStatus
from agentdash.sessions.rules.activity import ActivityWatch

RUNNING, OK = StepStatus.RUNNING, StepStatus.OK


def watched(*steps):
    """A watch that saw each of these steps a second after the one before."""
    watch = ActivityWatch()
    for number, step in enumerate(steps):
        watch.feed(step, 1000 * number)
    return watch


def command(index, text, status=RUNNING, **facts):
    return Step(index=index, kind=StepKind.COMMAND, text=text, command=text, status=status, **facts)


def test_before_the_first_step_nothing_is_known():
    assert watched().activity is None
    assert watched().plan is None


def test_a_command_that_runs_is_shown_with_its_beginning():
    watch = watched(Step(kind=StepKind.START), command(1, "pytest -q"), command(1, "pytest -q tests"))
    assert watch.activity == Activity(StepKind.COMMAND, "pytest -q tests", 1000, running=True)


def test_a_command_that_ended_is_shown_until_something_else_begins():
    watch = watched(command(1, "make"), command(1, "make", OK))
    assert watch.activity == Activity(StepKind.COMMAND, "make", 0, running=False)
    watch.feed(Step(index=2, kind=StepKind.REASONING, text="The build\nis fine."), 5000)
    assert watch.activity == Activity(StepKind.REASONING, "The build is fine.", 5000, running=False)


def test_of_several_that_run_the_newest_is_shown_and_then_the_one_before():
    watch = watched(command(1, "make"), command(2, "sleep 9"))
    assert watch.activity.text == "sleep 9"
    watch.feed(command(2, "sleep 9", OK), 9000)
    assert (watch.activity.text, watch.activity.running) == ("make", True)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ((Change(path="src/clock.py", kind="update"),), "src/clock.py"),
        ((Change(path="a", kind="add"), Change(path="b", kind="add"), Change(path="c", kind="add")), "a +2"),
    ],
)
def test_changed_files_are_named(changes, text):
    assert watched(Step(kind=StepKind.FILE_CHANGE, changes=changes, status=RUNNING)).activity.text == text


def test_steps_of_a_sub_agent_and_reports_about_the_turn_change_nothing():
    watch = watched(
        Step(index=1, kind=StepKind.SUBAGENT, text="review the diff", status=RUNNING),
        command(2, "grep x", parent="call-1"),
        Step(index=3, kind=StepKind.NOTICE, text="rate limit"),
        Step(index=4, kind=StepKind.USAGE),
    )
    assert watch.activity.text == "review the diff"


def test_the_plan_names_the_item_in_progress():
    items = [("Read the test", "completed"), ("Freeze the clock", "in_progress"), ("Run it", "pending")]
    plan = Step(kind=StepKind.PLAN, items=tuple(PlanItem(text=text, status=status) for text, status in items))
    assert watched(plan).plan == Plan(1, 3, "Freeze the clock")
    assert watched(plan).activity is None


def test_a_plan_without_an_item_in_progress_names_the_next_one():
    items = (PlanItem(text="a", status="completed"), PlanItem(text="b", status="pending"))
    assert watched(Step(kind=StepKind.PLAN, items=items)).plan == Plan(1, 2, "b")
    assert watched(Step(kind=StepKind.PLAN, items=items[:1])).plan == Plan(1, 1, "")


def plan_of(index, text, status=OK):
    return Step(index=index, kind=StepKind.PLAN, items=(PlanItem(text=text, status="pending"),), status=status)


@pytest.mark.parametrize("status", [StepStatus.FAILED, StepStatus.DECLINED])
def test_a_plan_that_is_refused_gives_way_to_the_one_before(status):
    assert watched(plan_of(1, "a", RUNNING), plan_of(1, "a", status)).plan is None
    assert watched(plan_of(1, "a"), plan_of(2, "b", RUNNING), plan_of(2, "b", status)).plan == Plan(0, 1, "a")


def test_of_parallel_plans_the_one_that_ended_last_counts():
    watch = watched(plan_of(1, "a", RUNNING), plan_of(2, "b", RUNNING), plan_of(2, "a, b"), plan_of(1, "all"))
    assert watch.plan == Plan(0, 1, "all")


def test_a_plan_without_items_is_not_shown():
    assert watched(plan_of(1, "a"), Step(index=2, kind=StepKind.PLAN, text="a plan in words")).plan is None


def test_many_plans_take_bounded_memory():
    watch = watched(*(plan_of(number, str(number)) for number in range(1000)))
    assert watch.plan == Plan(0, 1, "999")
    assert len(watch._plans) <= 100


def test_texts_are_one_clean_short_line():
    hostile = watched(command(1, "\x1b[31mmake\n" + "x" * 1_000_000)).activity
    assert hostile.text.startswith("make xxx")
    assert len(hostile.text) <= 200


def test_steps_that_begin_and_never_end_take_bounded_memory():
    watch = watched(*(command(number, str(number)) for number in range(10_000)))
    assert watch.activity is not None
    assert len(watch._open) <= 100
