"""How the screens look: the text cell by cell, and below it which cells share a style.

After a change that was meant: ``pytest tests/pilot/test_snapshots.py --snapshot-update``, and look at the difference.
"""

import time
from string import ascii_letters, digits

import pytest
from factories import T0
from msgspec import structs
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from agentdash.sessions.model.session import Activity, Change, Plan, Status, Step, StepKind
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.asking.conversation import ConversationScreen
from agentdash.tui.dialogs.asking.stopping import StoppingScreen
from agentdash.tui.dialogs.help import HelpScreen
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen, NoAgentScreen
from agentdash.tui.screens.usage import UsageScreen
from agentdash.widgets.table.ordering import Grouping
from pilot.examples import EVERY, SESSIONS, TALK, command, session
from pilot.month import MONTH, TODAY
from pilot.terminal import strips
from pilot.test_asks import drawn as drawn_card


class Screens(SingleFileSnapshotExtension):
    """One text file per screen."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def screen(snapshot):
    return snapshot.use_extension(Screens)


@pytest.fixture(autouse=True)
def fixed_words(place, tmp_path, monkeypatch):
    """Nothing on the screen depends on where and when the test runs."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("pilot.house.here", str)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr("agentdash.tui.dialogs.asking.stopping.monotonic", lambda: 0.0)


def drawn(app):
    """The screen as text, a grid of letters for its styles, and what the letters mean."""
    letters, text, grid = {}, [], []
    for strip in strips(app):
        cells = [(char, segment.style) for segment in strip for char in segment.text]
        text.append("".join(char for char, _ in cells).rstrip())
        marks = "".join(letters.setdefault(told(style), (ascii_letters + digits)[len(letters)]) for _, style in cells)
        grid.append(marks)
    legend = [f"{letter} {style}" for style, letter in letters.items()]
    return "\n".join([*text, "", *grid, "", *legend, ""])


def told(style):
    if style is None:
        return "none"
    colours = [colour.name if colour else "default" for colour in (style.color, style.bgcolor)]
    extra = [name for name in ("bold", "dim", "italic", "underline", "reverse") if getattr(style, name)]
    return " ".join([*colours[:1], "on", *colours[1:], *extra])


async def ready(d):
    await d.shows("fix the flaky")
    if d.main.detail.display:
        await d.shows("also add a regression test")


@pytest.mark.parametrize(
    "size", [(200, 50), (160, 45), (120, 35), (80, 24), (50, 24), (30, 8)], ids="{0[0]}x{0[1]}".format
)
async def test_main(dashboard, screen, size):
    async with dashboard(size=size) as d:
        await ready(d)
        assert drawn(d.app) == screen


EIGHT = [
    session(
        "aaaaaaaa", Status.WAITING, "Add dark mode to the settings page", created=0, cwd="/home/ann/code/web",
        reason="may I?"
    ),
    session(
        "bbbbbbbb", Status.FAILED, "Upgrade the build", created=1,
        reason="401 invalid API key: the key was revoked"
    ),
    session("cccccccc", Status.DONE, "Choose a queue", created=2, asks="Redis or Postgres: which one do you prefer?"),
    session(
        "dddddddd", Status.RUNNING, "Split the monolith into services, step by step, and keep every test green",
        created=3,
        steps=12, activity=Activity(StepKind.COMMAND, "pytest -q tests/orders", T0 - 12_000, running=True),
        plan=Plan(1, 5, "Freeze the clock"),
    ),
    session(
        "eeeeeeee", Status.DONE, "Write the migration", created=4, steps=9,
        last_message="All 19 tests pass. Done."
    ),
    session(
        "ffffffff", Status.QUEUED, "Fix the flaky login test, add a regression test (1/2)", created=5,
        reason="1 ahead"
    ),
    session(
        "gggggggg", Status.QUEUED, "Fix the flaky login test, add a regression test (2/2)", created=6,
        reason="2 ahead"
    ),
    session("hhhhhhhh", Status.STOPPED, "Rename the store", created=7, seen_at=T0, seen_steps=0),
]  # fmt: skip
MANY = [
    structs.replace(EIGHT[number % 8], id=f"s{number:07}", title=f"{EIGHT[number % 8].title} {number}")
    for number in range(300)
]


@pytest.mark.parametrize("size", [(160, 45), (120, 35), (80, 24), (50, 24)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("sessions", [[], EIGHT, MANY], ids=["none", "eight", "many"])
async def test_sections(dashboard, screen, manager, monkeypatch, tmp_path, sessions, size):
    monkeypatch.chdir(tmp_path)
    manager.empty()
    for one in sessions:
        manager.put(one)
    async with dashboard(size=size) as d:
        await d.until(lambda: len(d.main.table.sessions) == len(sessions))
        await d.shows("NEEDS YOU" if sessions else "No sessions yet.")
        if sessions and d.main.detail.display:
            await d.shows(f"task of {d.main.table.selected.id}")
        assert drawn(d.app) == screen


@pytest.mark.parametrize("theme", ["light", "safe-dark", "safe-light", "terminal"])
async def test_theme(dashboard, screen, theme):
    async with dashboard(size=(160, 24)) as d:
        d.app.theme = f"agentdash-{theme}"
        await ready(d)
        assert drawn(d.app) == screen


async def test_ascii(dashboard, screen):
    async with dashboard(size=(160, 24), plain_ascii=True) as d:
        await ready(d)
        assert drawn(d.app) == screen


async def test_one_pane_of_a_narrow_screen(dashboard, screen):
    async with dashboard(size=(50, 24)) as d:
        await d.press("enter")
        await d.shows("also add a regression test")
        assert drawn(d.app) == screen


async def test_reading_from_the_beginning(dashboard, screen):
    async with dashboard(size=(80, 24)) as d:
        await d.press("enter")
        await d.shows("also add a regression test")
        await d.press("g g")
        await d.shows("── turn 1 ──")
        assert drawn(d.app) == screen


async def test_writing_a_prompt(dashboard, screen):
    async with dashboard(size=(80, 24)) as d:
        await d.select("done0001")
        await d.press("i", *"now the second table,", "ctrl+j", *"and its index")
        assert drawn(d.app) == screen


async def test_no_sessions(dashboard, screen, manager, monkeypatch, tmp_path):
    manager.empty()
    monkeypatch.chdir(tmp_path)
    async with dashboard(size=(80, 24)) as d:
        await d.shows("No sessions yet.")
        assert drawn(d.app) == screen


async def test_new_session(dashboard, screen, manager):
    manager.put(structs.replace(manager.get("waiting1"), cwd="/tmp"))
    async with dashboard(size=(80, 24)) as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"fix it", "tab")
        await d.shows("model · in /tmp")
        assert drawn(d.app) == screen


async def test_new_session_that_cannot_start(dashboard, screen):
    async with dashboard(size=(80, 24)) as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"go", "tab", "tab", "tab", *["backspace"] * 60, *"/x")
        await d.shows("The folder /x does not exist.")
        assert drawn(d.app) == screen


async def test_no_agent_installed(dashboard, screen, manager, monkeypatch):
    missing = [AgentInfo(name="codex", title="Codex", installed=False, hint="npm install -g @openai/codex")]
    monkeypatch.setattr(manager.reader.settings, "agents", lambda folder=None: missing)
    async with dashboard(size=(80, 24)) as d:
        await d.press("n")
        await d.screen(NoAgentScreen)
        await d.shows("No agent installed")
        assert drawn(d.app) == screen


async def test_confirming_a_stop(dashboard, screen):
    async with dashboard(size=(80, 24)) as d:
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("4188 bash")
        assert drawn(d.app) == screen


async def test_counting_down(dashboard, screen):
    async with dashboard(size=(80, 24)) as d:
        d.manager.may_end.clear()
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.screen(StoppingScreen)
        await d.shows("SIGTERM in")
        assert drawn(d.app) == screen
        d.manager.may_end.set()


async def test_receipt(dashboard, screen):
    async with dashboard(size=(80, 24)) as d:
        await d.select("running1")
        await d.press("X")
        await d.screen(StoppingScreen)
        await d.shows('Stopped "split')
        await d.until(lambda: any(line.startswith("  ■   0s") for line in d.text().split("\n")))
        assert drawn(d.app) == screen


async def test_help(dashboard, screen):
    async with dashboard(size=(80, 24), tour=[("table.down table.up", "move"), ("stop", "stop the tree")]) as d:
        await ready(d)
        await d.press("question_mark")
        await d.screen(HelpScreen)
        await d.shows("next for you")
        assert drawn(d.app) == screen


async def test_silence(dashboard, screen, manager):
    quiet = next(one for one in SESSIONS if one.id == "running1")
    manager.put(structs.replace(quiet, last_event_at=T0 - 240_000))
    async with dashboard(size=(80, 24)) as d:
        await d.shows("no output for 4m")
        await ready(d)
        assert drawn(d.app) == screen


async def test_too_small(dashboard, screen):
    async with dashboard(size=(28, 10)) as d:
        await d.shows("too small: 28x10")
        assert drawn(d.app) == screen


_DIFF = """--- a/src/clock.py
+++ b/src/clock.py
@@ -1,4 +1,5 @@
 import time

-def now():
-    return int(time.time())
+def now(clock=time.time):
+    \"\"\"Return the time in whole seconds.\"\"\"
+    return int(clock())
"""
_COLOUR = Question(
    key="colour", text="Which colour should the button have?", header="Colour",
    choices=(Choice(label="Blue", description="as the header"), Choice(label="Red", description="as the alarm")),
)  # fmt: skip
_ASKS = {
    "command": command(verdicts=EVERY, always="Bash(rm -rf build) for this session"),
    "edit": Ask(
        key="e", kind=AskKind.EDIT, tool="Edit", title="edit src/clock.py", body=_DIFF, cwd="/home/ann/code/api",
        paths=("/home/ann/code/api/src/clock.py",), why="The test reads the real clock.",
    ),
    "question": Ask(
        key="q", kind=AskKind.QUESTION, tool="AskUserQuestion", title="answer 2 questions",
        questions=(_COLOUR, Question(key="name", text="What is its label?")),
        verdicts=(Verdict.ANSWER, Verdict.DENY, Verdict.STOP),
    ),
    "form": Ask(
        key="f", kind=AskKind.FORM, title="fill in: database", body="The server needs these values.",
        questions=(
            Question(key="port", text="Port", type="integer"), Question(key="debug", text="Debug", type="boolean"),
            Question(key="token", text="Token", secret=True, required=False),
        ),
        verdicts=(Verdict.ANSWER, Verdict.DENY),
    ),
    "plan": Ask(
        key="p", kind=AskKind.PLAN, tool="ExitPlanMode", title="approve a plan",
        body="# Freeze the clock\n\n1. Pass the clock as an argument.\n2. Add a *regression* test.\n\nNothing else.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("kind", sorted(_ASKS))
async def test_ask(dashboard, screen, manager, kind, size):
    manager.ask("running1", _ASKS[kind], due_in=250)
    async with dashboard(size=size) as d:
        await d.select("running1")
        await d.press("a")
        await drawn_card(d)
        assert drawn(d.app) == screen


@pytest.mark.parametrize("size", [(160, 45), (80, 24)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("state", [AskState.EXPIRED, AskState.SENT])
async def test_ask_that_ended(dashboard, screen, manager, state, size):
    number = manager.ask("running1", _ASKS["command"])
    async with dashboard(size=size) as d:
        await d.select("running1")
        await d.press("a")
        await drawn_card(d)
        manager.end_ask(number, state, Answer(verdict=Verdict.DENY), "session 3f2a")
        await d.shows("enied")
        assert drawn(d.app) == screen


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("key", ["B", "minus"], ids=["fork", "rewind"])
async def test_conversation(dashboard, screen, manager, key, size):
    changed = Step(turn=2, index=2, kind=StepKind.FILE_CHANGE, changes=(Change(path="src/table.py", kind="update"),))
    manager.tell("done0001", [*TALK, changed, Step(turn=2, index=3, kind=StepKind.COMMAND, command="make")])
    manager.mark("done0001", MarkKind.REWIND, turn=2)
    async with dashboard(size=size) as d:
        await d.select("done0001")
        await d.press("enter")
        await d.shows("went back")
        await d.until(lambda: "✓" not in d.text().splitlines()[0], "it to count as read")
        await d.press("g g", "j", "j", key)
        await d.screen(ConversationScreen)
        assert drawn(d.app) == screen


def family_of_workers():
    """A lead with workers of different fates, and the worker of a lead outside."""
    facts = {"parent": "lead0001", "depth": 1, "lifecycle": "linked", "seen_at": T0}
    return [
        session("lead0001", Status.RUNNING, "port the tests", created=900, seen_at=T0),
        session("worker01", Status.RUNNING, "port api", created=800, **facts),
        session("worker02", Status.DONE, "port web", created=799, **facts),
        session("worker03", Status.FAILED, "port auth", created=798, cost_usd=None, **facts),
        session("worker04", Status.RUNNING, "port one module", created=700, **(facts | {"parent": "worker01"})),
        session("outside1", Status.RUNNING, "write docs", created=600, lead="codex:0199aaaa-bbbb", seen_at=T0),
    ]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
@pytest.mark.parametrize("folded", [False, True])
async def test_a_family(dashboard, manager, screen, size, folded, plain):
    for one in family_of_workers():
        manager.put(one)
    async with dashboard(size=size, plain_ascii=plain) as d:
        d.main.pane.group_by(Grouping.TREE)
        await d.select("lead0001")
        if folded:
            await d.press("h")
        await d.settled()
        assert drawn(d.app) == screen


@pytest.mark.parametrize(
    ("size", "plain"), [((160, 45), False), ((80, 24), False), ((50, 24), False), ((80, 24), True)]
)
async def test_usage(dashboard, manager, monkeypatch, screen, size, plain):
    monkeypatch.setattr("agentdash.tui.screens.usage.day_of", lambda _: TODAY)
    manager.use(MONTH)
    async with dashboard(size=size, plain_ascii=plain) as d:
        await ready(d)
        await d.press("dollar_sign")
        usage = await d.screen(UsageScreen)
        await d.until(lambda: usage.figures is not None)
        await d.press("h", "h", "h")
        await d.settled()
        assert drawn(d.app) == screen
