"""What keys do to marked sessions while the cursor is on another one: they mean, and name, the marked ones."""

import pytest
from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.keys.availability import BULK
from agentdash.tui.screens.watch import WatchScreen
from pilot.examples import session
from pilot.test_table import said

HERE = "under the cursor"
ENDED = [session(f"ended{n:03}", Status.DONE, f"ended {n}", created=20 + n) for n in range(3)]
RUNNING = [session(f"alive{n:03}", Status.RUNNING, f"alive {n}", created=30 + n) for n in range(3)]
COMMANDS = [structs.replace(one, id=f"shell{n:03}", agent="command") for n, one in enumerate(ENDED)]
UNSUITABLE = {
    "stop": (ENDED, "None of the 3 marked sessions is running."),
    "kill": (ENDED, "None of the 3 marked sessions is running."),
    "archive": (RUNNING, "None of the 3 marked sessions has ended."),
    "retry": (RUNNING, "None of the 3 marked sessions has failed, was stopped or was lost."),
    "write_prompt": (COMMANDS, "None of the 3 marked sessions takes prompts."),
    "template": (COMMANDS, "None of the 3 marked sessions takes prompts."),
}
"""Actions that ask something of a session, sessions that do not have it, and what is said of them."""
SUITABLE = {
    "stop": (RUNNING, "Stop 3 sessions?"),
    "kill": (RUNNING, "Kill 3 sessions?"),
    "archive": (ENDED, "Archive 3 sessions?"),
    "retry": ([structs.replace(one, status=Status.FAILED) for one in ENDED], "Retry 3 sessions?"),
    "delete": (ENDED, "Delete 3 sessions?"),
    "pin": (ENDED, "Pin 3 sessions?"),
    "mark_read": (ENDED, "Mark 3 sessions read?"),
    "write_prompt": (ENDED, "→ 3 marked sessions (asks first)"),
    "template": (ENDED, "Templates"),
}


async def marked(d, sessions, status):
    """Mark these, and put the cursor on a session of another kind."""
    d.manager.put(session("cursor01", status, HERE, created=0))
    for one in sessions:
        d.manager.put(one)
    await d.until(lambda: all(d.main.table.session(one.id) for one in [*sessions, d.manager.get("cursor01")]))
    for one in sessions:
        d.main.table.select(one.id)
        await d.press("space")
    await d.select("cursor01")
    assert [one.id for one in d.main.table.marked] == [one.id for one in sessions]


def test_every_action_over_marks_is_walked():
    assert set(SUITABLE) == set(BULK)


@pytest.mark.parametrize("count", [3, 1])
@pytest.mark.parametrize("action", UNSUITABLE)
async def test_a_refusal_names_the_marked_sessions(dashboard, action, count):
    sessions, words = UNSUITABLE[action]
    async with dashboard() as d:
        await marked(d, sessions[:count], Status.DONE)
        before = d.manager.rows()
        await press(d, action)
        await d.until(lambda: said(d) == words or (count == 1 and said(d).startswith(f'"{sessions[0].title}" ')), words)
        assert d.manager.rows() == before


@pytest.mark.parametrize("action", SUITABLE)
async def test_a_question_and_its_answer_are_about_the_marked_sessions(dashboard, manager, action):
    sessions, words = SUITABLE[action]
    manager.configure('[templates.rebase]\ntext = "Rebase {id}."\n')
    async with dashboard() as d:
        ran = action in ("retry", "write_prompt", "template")
        await marked(d, sessions, Status.RUNNING if ran else Status.DONE)
        await press(d, action)
        await d.shows(words)
        if action == "write_prompt":
            await d.press(*"go on", "enter")
        if action == "template":
            await d.press("enter")
        await d.screen(ConfirmScreen)
        asked = d.text().split(" sessions")[1].split("n cancel")[0]
        assert all(one.title in asked for one in sessions)
        assert HERE not in asked
        before = facts(d)
        await d.press("y")
        ids = {one.id for one in sessions}
        await d.until(lambda: changed(before, facts(d)) == ids, f"something to be done to {ids}")
        await d.until(lambda: "◆" not in d.text() and " marked" not in d.text(), "the marks to go")


@pytest.mark.parametrize(
    ("action", "words"), [("pin", "Unpinned 3 sessions: "), ("mark_read", "Marked 3 sessions as before: ")]
)
async def test_what_a_key_did_to_marked_sessions_is_asked_once_and_undone_at_once(dashboard, action, words):
    async with dashboard() as d:
        await marked(d, ENDED, Status.DONE)
        before = kept(d)
        await press(d, action)
        await d.press("n")
        assert kept(d) == before
        await d.shows("3 marked")  # what was not done keeps its marks
        await press(d, action)
        await d.press("y")
        await d.shows("u to undo all 3")
        await d.press("escape", "u")
        await d.shows(words)
        assert kept(d) == before


async def test_marking_many_sessions_shows_its_progress(dashboard, monkeypatch):
    monkeypatch.setattr("agentdash.tui.services.actions.bulk_actions.PART", 1)
    shown = []
    monkeypatch.setattr("agentdash.tui.services.actions.bulk_actions.SHOWN_EVERY_SECONDS", 0)
    many = [session(f"many{n:04}", Status.DONE, f"many {n}", created=20 + n) for n in range(12)]
    async with dashboard() as d:
        await marked(d, many, Status.DONE)
        d.app.home.operations.bulk.progress = shown.append
        await press(d, "mark_read")
        await d.press("y")
        await d.shows("Marked 12 sessions read: ")
    assert "Marking 5 of 12…" in shown
    assert shown[-1] == ""


async def test_side_by_side_goes_what_is_marked(dashboard):
    async with dashboard() as d:
        await marked(d, ENDED, Status.RUNNING)
        await d.press("vertical_line")
        screen = await d.screen(WatchScreen)
        await d.until(lambda: "ended 0" in d.text() and "ended 2" in d.text())
        assert HERE not in d.text()
        assert len(screen.details) == 3


async def test_the_first_escape_takes_a_refusal_away_and_the_second_the_marks(dashboard):
    async with dashboard() as d:
        await marked(d, ENDED, Status.DONE)
        await press(d, "stop")
        await d.shows("None of the 3 marked sessions is running.")
        await d.press("escape")
        await d.until(lambda: "None of the 3" not in d.text())
        assert len(d.main.table.marked) == 3
        await d.press("escape")
        assert not d.main.table.marked


async def test_a_message_of_success_needs_no_escape_of_its_own(dashboard):
    async with dashboard() as d:
        await marked(d, ENDED, Status.DONE)
        await press(d, "pin")
        await d.press("y")
        await d.shows("Pinned 3 sessions: ")
        await d.press("escape")
        await d.until(lambda: "Pinned 3 sessions: " not in d.text())
        assert not d.main.table.marked


def kept(d):
    """What the user did to the sessions."""
    return [(one.pinned_at, one.seen_at, one.seen_steps) for one in (d.manager.get(one.id) for one in ENDED)]


def facts(d):
    """What is recorded of each session, by its id."""
    return {one.id: one for one in d.manager.reader.sessions()}


def changed(before, now):
    """The sessions that something was done to."""
    return {sid for sid, one in before.items() if now.get(sid) != one}


async def press(d, action):
    keys = {
        "stop": "x", "kill": "X", "archive": "A", "retry": "R", "delete": "D", "pin": "P", "mark_read": "U",
        "write_prompt": "i", "template": "f8",
    }  # fmt: skip
    await d.press(keys[action])
