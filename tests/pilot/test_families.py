"""Leads and their workers on the screen: the tree with its sums, the ways between steps, the stop of a lead."""

import asyncio

import pytest
from factories import T0

from agentdash.sessions.model.session import Budget, Ended, Receipt, Status, Step, StepKind, StepStatus
from agentdash.sessions.rules.launch import Ladder
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.asking.stopping import StoppingScreen
from agentdash.widgets.table.ordering import Grouping
from pilot.examples import session

SIZES = [(160, 45), (80, 24), (50, 24)]

LEAD = session("lead0001", Status.RUNNING, "port the tests", created=900, seen_at=T0, budget=Budget(cost_usd=5.0))


def worker(number, status=Status.RUNNING, **own):
    facts = {"parent": "lead0001", "depth": 1, "lifecycle": "linked", "seen_at": T0, "created": 800 - number}
    return session(f"worker0{number}", status, f"folder {number}", **(facts | own))


WORKERS = [
    worker(1, call="call_1"),
    worker(2, Status.DONE, call="call_2"),
    worker(3, Status.FAILED, lifecycle="ephemeral", call="call_3"),
    worker(4),
    worker(5, lifecycle="detached"),
]
OUTSIDE = session("outside1", Status.RUNNING, "from outside", created=600, lead="codex:0199aaaa-bbbb", seen_at=T0)
STEPS = [
    Step(turn=1, index=0, kind=StepKind.PROMPT, text="Port the tests, one worker per folder"),
    *(
        Step(turn=1, index=n, kind=StepKind.TOOL_CALL, server="agentdash", tool="delegate", call_id=f"call_{n}",
             arguments={"task": f"folder {n}"}, status=StepStatus.OK, at=T0, ended_at=T0 + 10)
        for n in (1, 2, 3)
    ),
    Step(turn=1, index=4, kind=StepKind.COMMAND, command="agentdash spawn a; agentdash spawn b", exit_code=0,
         status=StepStatus.OK, output="worker04\nworker05\n"),
    Step(turn=1, index=5, kind=StepKind.COMMAND, command="ls", exit_code=0, status=StepStatus.OK, output="worker04"),
]  # fmt: skip


@pytest.fixture
def family(manager):
    """A lead that is at work, with five workers, and the worker of an outside lead."""
    for one in (LEAD, *WORKERS, OUTSIDE):
        manager.put(one)
        manager.tell(one.id, [Step(turn=1, index=0, kind=StepKind.PROMPT, text=f"the task of {one.title}")])
    manager.tell("lead0001", STEPS)
    return manager


async def reading(d, index):
    """Open the steps of the lead, with the cursor on a step."""
    await d.select("lead0001")
    await d.press("enter", "g g", *["j"] * index)
    await d.until(lambda: d.main.detail.steps.current is not None and d.main.detail.steps.current.index == index)


def shows_task(d, title):
    """Say if the steps of the session with this title are open."""
    current = d.main.detail.steps.current
    return current is not None and current.text == f"the task of {title}"


@pytest.mark.parametrize("size", SIZES)
async def test_h_and_l_fold_a_lead_to_the_sum_of_its_workers(dashboard, family, size):
    async with dashboard(size=size) as d:
        d.main.pane.group_by(Grouping.TREE)
        await d.select("lead0001")
        await d.shows("├ ⊸ folder 4")
        await d.press("h")
        await d.until(lambda: "folder 4" not in d.text())
        words = {160: "5 workers: 3 ● 1 ✓ 1 ✗  109k  $1.86", 80: "$1.86", 50: "3● 1✓ 1✗"}[size[0]]
        await d.shows(words)
        await d.press("l")
        await d.shows("├ ⊸ folder 4")
        assert words not in d.text() or size[0] == 50


async def test_the_sum_of_a_folded_lead_follows_its_workers(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        d.main.pane.group_by(Grouping.TREE)
        await d.select("lead0001")
        await d.press("h")
        await d.shows("5 workers: 3 ● 1 ✓ 1 ✗")
        family.put(worker(1, Status.DONE, call="call_1"))
        await d.shows("5 workers: 2 ● 2 ✓ 1 ✗")
        family.drop("worker05")
        await d.shows("4 workers: 1 ● 2 ✓ 1 ✗")


async def test_the_workers_of_an_outside_lead_have_a_row_of_it(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        d.main.pane.group_by(Grouping.TREE)
        await d.shows("▾ codex 0199aaaa (outside) 1 worker: 1 ●")


async def test_enter_on_a_delegation_opens_the_worker_and_escape_returns_to_the_step(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        await reading(d, 2)
        await d.shows("Enter open worker")
        await d.press("enter")
        await d.until(lambda: d.main.current.id == "worker02" and shows_task(d, "folder 2"))
        assert "open worker" not in d.text()
        await d.press("escape")
        await d.until(lambda: d.main.current.id == "lead0001")
        await d.until(
            lambda: d.main.detail.steps.current is not None and d.main.detail.steps.current.call_id == "call_2"
        )
        await d.press("escape")
        assert d.main.table.has_focus


@pytest.mark.parametrize("size", SIZES[1:])
async def test_the_ways_work_on_a_narrow_screen(dashboard, family, size):
    async with dashboard(size=size) as d:
        await reading(d, 1)
        await d.press("enter")
        await d.until(lambda: d.main.current.id == "worker01" and shows_task(d, "folder 1"))
        await d.press("^")
        await d.until(lambda: d.main.current.id == "lead0001")
        await d.until(
            lambda: d.main.detail.steps.current is not None and d.main.detail.steps.current.call_id == "call_1"
        )


async def test_of_several_workers_of_one_step_the_user_chooses(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        await reading(d, 4)
        await d.press("enter")
        await d.shows("Open a worker")
        await d.shows("worker05")
        await d.press("2")
        await d.until(lambda: d.main.current.id == "worker05")


async def test_a_step_that_started_nothing_opens_as_a_document(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        await reading(d, 5)
        assert "open worker" not in d.text()
        await d.press("enter")
        await d.until(lambda: d.main.detail.viewer.pane.kind == "step")
        assert d.main.current.id == "lead0001"


async def test_a_worker_that_is_folded_away_is_unfolded(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        d.main.pane.group_by(Grouping.TREE)
        await d.select("lead0001")
        await d.press("h", "enter")
        await d.until(lambda: d.main.detail.steps.current is not None)
        await d.press("g g", "j", "enter")
        await d.until(lambda: d.main.current.id == "worker01")


async def test_the_key_from_the_table_goes_to_the_step_of_the_lead(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        await d.select("worker04")
        await d.press("^")
        await d.until(lambda: d.main.current.id == "lead0001")
        await d.until(lambda: d.main.detail.steps.current is not None and d.main.detail.steps.current.index == 4)
        assert d.main.detail.steps.has_focus


@pytest.mark.parametrize("size", SIZES)
async def test_a_question_about_many_processes_keeps_its_keys_on_the_screen(dashboard, size):
    lines = [f"{4000 + n} sleep {n}" for n in range(60)]
    consequence = "SIGINT now, SIGTERM after 3s, SIGKILL after 6s. Also ends 2 linked workers. 1 session keeps running."
    async with dashboard(size=size) as d:
        await d.app.push_screen(ConfirmScreen("Stop it?", lines, consequence, "stop", more="stop these too"))
        await d.shows("4000 sleep 0")
        await d.shows("keeps running.")
        await d.shows("n cancel")


async def test_a_session_without_a_lead_refuses_the_key_with_the_reason(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        await d.select("waiting1")
        await d.press("^")
        await d.shows("It has no lead among the sessions.")


async def test_a_worker_that_no_step_started_goes_to_its_lead(dashboard, family):
    family.put(worker(6, created=750))
    async with dashboard(size=(160, 45)) as d:
        await d.select("worker06")
        await d.press("^")
        await d.shows("Its lead has no step that started it.")
        await d.until(lambda: d.main.current.id == "lead0001")


async def test_the_headline_names_the_family(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        await d.select("worker01")
        await d.shows("worker of lead0001, linked, depth 1")
        await d.select("lead0001")
        await d.shows("budget $5.00")


async def test_the_stop_of_a_lead_names_the_workers_that_it_ends_and_those_that_go_on(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        await d.select("lead0001")
        await d.press("x")
        await d.shows("Also ends 2 linked workers.")
        await d.shows("1 session started by it keeps running.")
        d.manager.may_end.clear()
        await d.press("y")
        await d.requested("lead0001", "stop")
        await d.shows("It and 2 workers: each gets SIGINT, SIGTERM after 3s, SIGKILL after 6s")
        await d.press("X")
        await d.shows("SIGKILL to it and its workers")
        d.manager.may_end.set()


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_receipt_leaves_its_summary_and_its_keys_on_the_screen(dashboard, family, size):
    ended = tuple(Ended(pid=4000 + n, command=f"sleep {n}", signal="SIGTERM") for n in range(60))
    receipt = Receipt(session="lead0001", status=Status.STOPPED, ended=ended, workers=("worker01", "worker02"))
    async with dashboard(size=size) as d:
        screen = StoppingScreen("lead", Ladder(), asyncio.Event().wait, workers=2)
        await d.app.push_screen(screen)
        await d.shows("after 6s")
        screen.show_receipt(receipt)
        await d.shows("60 processes ended (SIGTERM 60)")
        await d.shows("Enter close")


async def test_the_stop_of_a_whole_family_has_one_receipt(dashboard, family):
    async with dashboard(size=(160, 45)) as d:
        await d.select("lead0001")
        await d.press("x")
        await d.shows("a stop these too")
        await d.press("a")
        await d.requested("lead0001", "stop")
        await d.shows("8 processes ended (SIGINT 4, SIGKILL 4) with 3 workers, 4 left, 1.2s")
        await d.shows("Stopped 4 sessions: 8 processes ended, 4 left")
