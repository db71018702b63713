"""Reading a trajectory: the cursor, folds, filters, jumps, search, and what a step can be opened as."""

import re

import pytest
from factories import T0
from msgspec import structs

from agentdash.sessions.model.session import Change, Status, Step, StepKind, StepStatus, TurnMode, Usage
from agentdash.tui.dialogs.asking.naming import SaveScreen
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.table.pick import PickScreen
from agentdash.tui.screens.watch import WatchScreen
from agentdash.tui.services import external_programs
from pilot.examples import SESSIONS, STEPS, session
from pilot.gate import Gate
from pilot.house import counted


@pytest.fixture
def reading(dashboard):
    """The dashboard with the keys in the steps of the first session, at their beginning."""

    class Reading:
        def __init__(self, *args, **options):
            self.running = dashboard(*args, **options)

        async def __aenter__(self):
            d = await self.running.__aenter__()
            await d.press("enter")
            await d.shows("also add a regression test")
            await d.press("g g")
            d.steps = d.main.detail.steps
            await d.until(lambda: d.steps.cursor == 0 and not d.steps.following)
            return d

        async def __aexit__(self, *exc):
            return await self.running.__aexit__(*exc)

    return Reading


def marked(d):
    """The lines at whose left edge the cursor stands, without the number of the step."""
    return [re.sub(r"^[ \d]{3}", "", line.split("▌")[1]) for line in d.text().split("\n") if "▌" in line]


def errors(manager, session_id, turn, text):
    """Let the agent of a session have printed a text to stderr."""
    manager.layout.session(session_id).errors(turn).write_text(text)


def copied(d):
    return d.app.clipboard


async def test_the_cursor_goes_from_step_to_step(reading):
    async with reading() as d:
        assert marked(d)[0].startswith("❯ fix the flaky login test in tests/login")  # noqa: RUF001
        await d.press("j")
        assert marked(d)[0].startswith("∴ The failure depends")
        await d.press("j")
        assert marked(d)[0].startswith("$ pytest -q tests/login")
        assert len(marked(d)) == 8
        await d.press("k", "k", "k")
        assert d.steps.cursor == 0
        await d.press("G")
        assert d.steps.cursor == len(STEPS) - 1
        assert d.steps.following


async def test_a_cursor_that_moves_within_the_screen_draws_nothing_but_its_mark(reading, monkeypatch):
    async with reading() as d:
        drawn = []
        monkeypatch.setattr(d.steps, "refresh", lambda *regions, **_: drawn.extend(regions))
        await d.press("j")
        assert d.steps.cursor == 1
        assert {(region.x, region.width) for region in drawn} == {(0, 1)}


async def test_new_steps_take_the_cursor_along_only_while_it_follows(reading):
    async with reading() as d:
        more = Step(turn=2, index=3, kind=StepKind.MESSAGE, text="All green.")
        d.manager.write("waiting1", [more])
        d.main.detail.viewer.read_on()
        await d.until(lambda: len(d.steps.steps) == len(STEPS) + 1)
        assert d.steps.cursor == 0
        await d.press("G")
        assert d.steps.current.text == "All green."
        d.manager.write("waiting1", [structs.replace(more, index=4, text="Even greener.")])
        d.main.detail.viewer.read_on()
        await d.shows("Even greener.")
        assert d.steps.current.text == "Even greener."


async def test_a_step_that_is_higher_than_the_screen_is_read_line_by_line(reading):
    async with reading(size=(100, 24)) as d:
        await d.press("j", "j", "l")
        assert d.steps.height(2) > d.steps.page_lines
        assert d.steps.top == (0, 0)
        await d.press("j", "j")
        assert d.steps.top == (1, 0)
        await d.press("j", "j")
        assert d.steps.top == (2, 1)
        assert d.steps.cursor == 2
        await d.press("k", "k")
        assert d.steps.cursor == 1


async def test_a_step_shows_more_or_less(reading):
    async with reading() as d:
        await d.press("j", "j")
        await d.shows("41 more lines")
        await d.press("l")
        await d.shows("line 20 of the output")
        await d.press("h", "h")
        await d.until(lambda: "line 0 of the output" not in d.text())
        assert len(marked(d)) == 1
        await d.press("right")
        await d.shows("41 more lines")


async def test_all_steps_show_more_or_less(reading):
    async with reading() as d:
        await d.press("z f")
        await d.shows("line 20 of the output")
        await d.shows("whole")
        await d.press("z f")
        await d.until(lambda: "of the output" not in d.text())
        await d.shows("one line each")
        await d.press("z f")
        await d.shows("41 more lines")


async def test_kinds_are_counted_and_filtered(reading):
    async with reading() as d:
        await d.shows("1 message · 1 thought · 2 commands · 1 tool call · 1 edit · 2 failed")
        await d.press("4")
        await d.until(lambda: "∴ The failure" not in d.text())
        await d.shows("1 ❯ 2  2 ✦ 1  3 ∴ 1  4 $ 2  5 ⚙ 1  6 ± 1  7 ! 2  8 · 3")  # noqa: RUF001
        assert "$ pytest -q tests/login" in d.text()
        assert "── turn 2 ──" in d.text()
        await d.press("7")
        await d.shows("stream disconnected: retrying")
        await d.press("4", "7")
        await d.shows("∴ The failure")
        await d.press("1", "0")
        await d.shows("∴ The failure")
        await d.shows("2 commands · 1 tool call")


async def test_a_low_screen_has_a_line_for_counts_only_while_they_are_needed(reading):
    async with reading(size=(80, 24)) as d:
        assert "2 commands" not in d.text()
        await d.press("4")
        await d.shows("4 $ 2")
        await d.press("4", "slash", *"clock", "enter")
        await d.shows("/clock  2 of 4")
        await d.press("escape", "z f")
        await d.shows("whole")
        await d.press("z f", "z f")
        await d.until(lambda: "2 commands" not in d.text())


async def test_what_is_filtered_out_is_shown_again_by_a_jump_to_it(reading):
    async with reading() as d:
        await d.press("1", "right_parenthesis")
        await d.until(lambda: d.steps.current.exit_code == 1)
        assert d.steps.groups == frozenset()


async def test_jumps_by_failure_turn_and_prompt_and_back(reading):
    async with reading() as d:
        await d.press("right_parenthesis")
        assert d.steps.current.exit_code == 1
        await d.press("right_parenthesis")
        assert d.steps.current.text == "stream disconnected: retrying"
        await d.press("right_parenthesis")
        await d.shows("no more failures")
        await d.press("right_square_bracket")
        assert (d.steps.current.turn, d.steps.current.index) == (2, 0)
        await d.press("j", "left_square_bracket")
        assert (d.steps.current.turn, d.steps.current.index) == (2, 0)
        await d.press("left_curly_bracket")
        assert (d.steps.current.turn, d.steps.current.index) == (1, 0)
        await d.press("backspace", "backspace")
        assert (d.steps.current.turn, d.steps.current.index) == (2, 1)


async def test_search_goes_to_each_place_and_counts(reading):
    async with reading() as d:
        await d.press("slash", *"clock", "enter")
        await d.shows("/clock  1 of 4")
        at = [d.steps.cursor]
        for _ in range(4):
            await d.press("n")
            at.append(d.steps.cursor)
        assert at == [1, 3, 5, 6, 1]
        await d.press("N")
        await d.shows("4 of 4")
        await d.press("escape")
        await d.until(lambda: "of 4" not in d.text())
        assert d.app.focused is d.steps


async def test_a_search_without_a_hit_says_so(reading):
    async with reading() as d:
        await d.press("slash", *"zebra", "enter")
        await d.shows('"zebra" not found.')
        await d.press("n")
        await d.shows("No matches.")


async def test_the_field_of_a_search_is_left_with_escape(reading):
    async with reading() as d:
        await d.press("slash", *"q", "escape")
        await d.until(lambda: d.app.focused is d.steps)
        assert d.app.is_running


async def test_without_a_search_n_starts_a_session_as_everywhere(reading):
    async with reading() as d:
        await d.press("slash", *"src", "enter", "n")
        assert d.app.screen is d.main
        await d.press("escape", "n")
        await d.screen(NewSessionScreen)


async def test_each_step_shows_the_number_that_goes_to_it(reading):
    async with reading() as d:
        await d.shows("  4 ⚙ search_docs")
        await d.press("number_sign", *"4", "enter")
        await d.until(lambda: marked(d)[0].startswith("⚙ search_docs"))
        await d.press("number_sign", *"2.1", "enter")
        await d.until(lambda: marked(d)[0].startswith("?? item.odd"))


async def test_a_narrow_screen_has_no_room_for_numbers(dashboard):
    async with dashboard(size=(50, 24)) as d:
        await d.press("enter", "g g")
        await d.shows("⚙ search_docs")
        assert "4 ⚙" not in d.text()


async def test_go_to_a_step_by_its_number(reading):
    async with reading() as d:
        await d.press("number_sign", *"2.1", "enter")
        await d.until(lambda: (d.steps.current.turn, d.steps.current.index) == (2, 1))
        await d.press("number_sign", *"0", "enter")
        await d.until(lambda: (d.steps.current.turn, d.steps.current.index) == (2, 0))
        await d.press("number_sign", *"7.1", "enter")
        await d.shows("No turn 7.")
        await d.press("number_sign", *"x", "enter")
        await d.shows("'x' is not a step number")


async def test_a_session_is_opened_where_it_was_left(reading):
    async with reading() as d:
        await d.press("j", "j", "j", "4", "escape", "down")
        await d.shows("task of failed01")
        await d.press("up", "enter")
        await d.until(lambda: d.steps.groups == frozenset({"4"}))
        assert d.steps.current.command == "pytest -q tests/login" or d.steps.current.kind is StepKind.COMMAND
        assert not d.steps.following


async def test_enter_shows_the_whole_step_and_escape_goes_back(reading):
    async with reading() as d:
        await d.press("j", "j", "enter")
        await d.shows("output · 47 lines")
        assert d.app.focused is d.main.detail.viewer.pane
        await d.press("l")
        await d.shows("src/clock.py")
        assert d.steps.cursor == 3
        await d.press("h")
        await d.shows("output · 47 lines")
        await d.press("G")
        await d.shows("line 46 of the output")
        await d.press("escape")
        await d.until(lambda: d.app.focused is d.steps)
        assert not d.main.detail.viewer.pane.display


async def test_a_step_covers_the_list_until_escape_brings_it_back_at_the_same_place(reading):
    async with reading() as d:
        await d.press("j", "j", "j")

        def steps():  # without the table, whose ages go on
            return [line.rpartition("│")[2] for line in d.text().splitlines() if "│" in line]

        before = steps()
        await d.press("enter")
        await d.shows("± file change · turn 1 · step 3")
        assert "search_docs" not in d.text()
        pane = d.main.detail.viewer.pane
        assert pane.region.bottom == d.main.detail.viewer.region.bottom
        assert pane.size.height == d.main.detail.viewer.size.height
        await d.press("escape")
        await d.until(lambda: steps() == before)


async def test_the_keys_of_the_list_act_in_an_open_step(reading):
    async with reading() as d:
        viewer = d.main.detail.viewer
        await d.press("j", "enter", "number_sign", *"4", "enter")
        await d.shows("turn 1 · step 4")
        assert d.app.focused is viewer.pane
        await d.press("slash", *"clock", "enter")
        await d.shows("/clock  3 of 4")
        await d.shows("turn 1 · step 5")
        await d.press("n")
        await d.shows("turn 1 · step 6")
        await d.press("N", "N")
        await d.shows("turn 1 · step 3")
        await d.press("y")
        await d.until(lambda: copied(d) == "+a\n+b\n-c")
        await d.press("slash", "escape")
        assert d.app.focused is viewer.pane
        await d.press("escape")
        await d.until(lambda: d.app.focused is d.steps)
        assert d.steps.cursor == 3


ANSWERED = [
    *STEPS[:10],
    Step(turn=2, index=1, kind=StepKind.COMMAND, command="make", exit_code=2, status=StepStatus.FAILED),
    Step(turn=2, index=2, kind=StepKind.MESSAGE, text="Added the test."),
    Step(turn=2, index=3, kind=StepKind.USAGE, usage=Usage.of(5_200, 3_000, 3_000)),
]


def answered(manager, status=Status.DONE, steps=ANSWERED):
    """Put a session there whose second turn has ended."""
    used = Usage.of(5_200, 3_000, 3_000)
    manager.put(session("ended001", status, "answered", created=9, turn=2, usage=used), steps)


@pytest.mark.parametrize(
    ("status", "first"),
    [(Status.DONE, "✦ Added the test."), (Status.STOPPED, "✦ Added the test."), (Status.FAILED, "$ make")],
)
async def test_an_ended_session_is_opened_at_its_answer_or_at_what_failed(dashboard, manager, status, first):
    answered(manager, status)
    async with dashboard() as d:
        await d.select("ended001")
        await d.shows("Σ 5.2k in")
        await d.press("enter")
        await d.until(lambda: marked(d) and marked(d)[0].startswith(first))
        await d.press("y")
        await d.until(lambda: copied(d) == first[2:])


async def test_a_turn_shows_its_changed_permissions_and_the_headline_those_of_the_newest(dashboard, manager):
    held = TurnMode(setting="sandbox", permissions="workspace-write", default="workspace-write")
    free = structs.replace(held, permissions="danger-full-access", dangerous=True, search=True)
    answered(manager)
    for turn, mode in ((1, held), (2, free)):
        manager.set_mode("ended001", turn, mode)
    async with dashboard() as d:
        await d.select("ended001")
        await d.shows("   sandbox: danger-full-access (was workspace-write) · search: on")
        lines = [line.split("│")[-1].strip() for line in d.text().split("\n") if "│" in line]
        at = next(n for n, line in enumerate(lines) if line.startswith("sandbox: "))
        assert lines[at - 1].startswith("── turn 2")
        assert lines[at + 1].endswith("also add a regression test")
        assert "sandbox: workspace-write" not in d.text()
        await d.shows("· danger-full-access · ")


async def test_a_long_answer_is_read_from_its_beginning(dashboard, manager):
    text = "\n\n".join(f"paragraph {n}" for n in range(60))
    answered(manager, steps=[*ANSWERED[:-2], structs.replace(ANSWERED[-2], text=text), ANSWERED[-1]])
    async with dashboard() as d:
        await d.select("ended001")
        await d.press("enter")
        await d.shows("✦ paragraph 0")
        await d.press("G")
        await d.shows("Σ 5.2k in")


async def test_the_next_turn_of_an_answered_session_is_followed(dashboard, manager):
    answered(manager)
    async with dashboard() as d:
        await d.select("ended001")
        await d.press("enter")
        await d.until(lambda: d.main.detail.steps.current.text == "Added the test.")
        manager.prompts.inject("ended001", "and now document it")
        d.main.detail.viewer.read_on()
        await d.until(lambda: d.main.detail.steps.current.text == "and now document it")


async def test_the_raw_line_stderr_and_the_reason_of_the_status(reading, manager):
    errors(manager, "waiting1", 1, "warning of turn 1\n\x1b[31mred\x1b[0m\n")
    async with reading() as d:
        await d.press("j", "r")
        await d.shows("raw line · at byte 0")
        await d.shows('"text": "The failure depends on the clock')
        await d.press("S")
        await d.shows("warning of turn 1")
        assert "\x1b" not in d.text()
        await d.press("equals_sign")
        await d.shows("the agent asked a question")
        await d.shows("turns.exit_code")
        await d.press("escape", "escape")
        await d.until(lambda: d.app.focused is d.main.table)


async def test_y_copies_what_the_step_is_about(reading):
    async with reading() as d:
        await d.press("j", "j", "y")
        await d.shows("Copied command: 21 characters.")
        assert copied(d) == "pytest -q tests/login"
        await d.press("j", "y")
        await d.until(lambda: copied(d) == "+a\n+b\n-c")


async def test_j_moves_in_the_menu_of_parts(reading):
    async with reading() as d:
        await d.press("j", "j", "Y")
        await d.screen(PickScreen)
        await d.shows("json")
        await d.press("j", "enter")
        await d.until(lambda: copied(d).startswith("line 0 of the output\n"))


async def test_capital_y_asks_which_part(reading):
    async with reading() as d:
        await d.press("j", "j", "Y")
        await d.screen(PickScreen)
        await d.shows("output")
        await d.press("o")
        await d.until(lambda: copied(d).startswith("line 0 of the output\n"))
        assert "\x1b" not in copied(d)
        await d.press("Y")
        await d.screen(PickScreen)
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


@pytest.fixture
def programs(monkeypatch):
    """What was run in the terminal: argv, and the text of the file."""
    ran = []

    def run(self, argv):
        with open(argv[-1], encoding="utf-8") as file:
            ran.append((list(argv), file.read()))

    monkeypatch.setattr(external_programs.ExternalPrograms, "_run", run)
    monkeypatch.setenv("PAGER", "less -S")
    monkeypatch.setenv("VISUAL", "nano --view")
    return ran


async def test_a_step_in_the_pager_and_in_the_editor(reading, programs):
    async with reading() as d:
        await d.press("j", "j", "o", "v")
        await d.until(lambda: len(programs) == 2)
        (pager, text), (editor, _) = programs
        assert pager[:2] == ["less", "-S"]
        assert editor[:2] == ["nano", "--view"]
        assert "line 20 of the output" in text
        assert "\x1b" not in text


async def test_the_raw_file_in_the_pager_at_the_step(reading, programs, manager):
    errors(manager, "waiting1", 1, "warning")
    folder = manager.layout.session("waiting1")
    at = len(folder.output(1).read_bytes().splitlines(keepends=True)[0])
    async with reading() as d:
        await d.press("j", "j", "O")
        await d.until(lambda: programs)
        assert programs[0][0][:3] == ["less", "-S", f"+{at}P"]
        await d.press("S", "O")
        await d.until(lambda: len(programs) == 2)
        assert programs[1][0][-1] == str(folder.errors(1))


async def test_save_as_a_file_and_replace_it(reading, tmp_path):
    async with reading() as d:
        await d.press("s")
        screen = await d.screen(SaveScreen)
        path = tmp_path / "x.html"
        path.write_text("mine")
        screen.query_one("#save-path").value = str(path)
        await d.press("enter")
        await d.shows("exists. Enter again replaces it.")
        assert path.read_text() == "mine"
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.main)
        assert "<html" in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600


async def test_a_name_that_says_no_format_keeps_the_dialog(reading, tmp_path):
    async with reading() as d:
        await d.press("s")
        screen = await d.screen(SaveScreen)
        screen.query_one("#save-path").value = str(tmp_path / "x.docx")
        await d.press("enter")
        await d.shows("unknown file extension .docx")


async def test_what_runs_shows_its_age_and_nothing_else_is_drawn(reading, monkeypatch):
    async with reading(size=(100, 24)) as d:
        running = Step(
            turn=2, index=2, kind=StepKind.COMMAND, command="rm -rf build/", status=StepStatus.RUNNING, at=T0
        )
        d.manager.write("waiting1", [running])
        d.main.detail.viewer.read_on()
        await d.press("G")
        await d.shows("● running  0s")
        drawn = []
        monkeypatch.setattr(d.steps, "refresh", lambda *regions, **_: drawn.extend(regions))
        d.steps.tick(T0 + 400)
        assert drawn == []
        d.steps.tick(T0 + 3_000)
        assert len(drawn) == 1
        monkeypatch.undo()
        d.steps.refresh()
        await d.shows("● running  3s")
        d.steps.following = False
        await d.press("g g")
        monkeypatch.setattr(d.steps, "refresh", lambda *regions, **_: drawn.extend(regions))
        drawn.clear()
        d.steps.tick(T0 + 9_000)
        assert drawn == []


async def test_marked_sessions_are_shown_side_by_side(dashboard):
    async with dashboard() as d:
        await d.press("space", "space")
        await d.shows("◆?")
        await d.press("vertical_line")
        screen = await d.screen(WatchScreen)
        await d.shows("also add a regression test")
        await d.shows("task of failed01")
        assert len(screen.details) == 2
        await d.until(lambda: d.manager.get("failed01").seen_at is not None)
        await d.press("k", "k")
        first, second = (detail.steps for detail in screen.details)
        assert (first.following, second.following) == (False, True)
        await d.press("tab")
        assert d.app.focused is second
        await d.press("i", *"go on")
        assert screen.current.id == "failed01"
        await d.press("enter")
        await d.sent("failed01", "go on")
        await d.until(lambda: d.app.focused is second)
        await d.press("q")
        await d.until(lambda: d.app.screen is d.main)
        assert d.main.table.marked == []


async def test_one_session_alone_fills_the_screen(dashboard):
    async with dashboard() as d:
        await d.press("vertical_line")
        await d.screen(WatchScreen)
        await d.shows("also add a regression test")
        assert "write the migration" not in d.text()
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_five_sessions_are_too_many(dashboard):
    async with dashboard() as d:
        await d.press(*["space"] * 5, "vertical_line")
        await d.shows("5 sessions marked: at most 4 fit side by side.")
        assert d.app.screen is d.main


async def test_what_is_new_since_somebody_looked_is_told_apart(dashboard, manager):
    seen = structs.replace(SESSIONS[0], steps=10, seen_steps=7, seen_at=T0 - 60_000)
    manager.put(seen)
    manager.count("waiting1", 1, 8)
    async with dashboard() as d:
        await d.press("enter")
        await d.shows("── 3 new since ")
        await d.shows("1 command")
        await d.press("full_stop")
        await d.until(lambda: (d.main.detail.steps.current.turn, d.main.detail.steps.current.index) == (1, 8))
        lines = d.text().split("\n")
        new = next(n for n, line in enumerate(lines) if "── 3 new since" in line)
        assert "Σ 15.2k in" in lines[new + 1]


@pytest.fixture
def unread(manager):
    """A session of 300 steps, of which the last 100 are new: more than fit on a screen."""
    seen = structs.replace(SESSIONS[0], steps=300, seen_steps=200, seen_at=T0 - 60_000)
    manager.put(seen)
    commands = [
        Step(
            turn=1,
            index=n + 1,
            kind=StepKind.COMMAND,
            command="make; ls",
            exit_code=int(n == 299),
            status=StepStatus.FAILED if n == 299 else StepStatus.OK,
        )
        for n in range(300)
    ]
    manager.tell("waiting1", [*commands, Step(turn=1, index=301, kind=StepKind.MESSAGE, text="All done.")])
    manager.count("waiting1", 1, 301)


DIGEST = r"\d+ new since [\d:]+   100 commands, 1 failed \(`make; ls` exit 1\)"


def news(d):
    return re.search(DIGEST, d.text())


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("keys", [["full_stop"], ["k", "G"], ["escape"], ["g g"]])
async def test_what_is_new_is_summed_up_above_the_steps_until_it_is_read(dashboard, keys):
    async with dashboard() as d:
        await d.press("enter")
        await d.until(lambda: news(d))
        await d.shows('last: "All done."')
        assert "── 100 new since" not in d.text()
        await d.press("k", "k")
        assert news(d)
        await d.press(*keys)
        await d.until(lambda: not news(d))


@pytest.mark.usefixtures("unread")
async def test_the_sum_of_what_is_new_takes_one_line_of_a_low_screen(dashboard):
    async with dashboard(size=(80, 24)) as d:
        await d.press("enter")
        await d.until(lambda: news(d))
        assert 'last: "All done."' not in d.text()


async def test_where_nothing_is_new_nothing_is_told(dashboard, manager):
    manager.put(structs.replace(SESSIONS[0], steps=10, seen_steps=10, seen_at=T0))
    async with dashboard() as d:
        await d.press("enter")
        await d.shows("also add a regression test")
        assert "new since" not in d.text()
        await d.press("full_stop")
        await d.shows("no unread steps")


async def test_a_number_key_without_steps_does_nothing(dashboard, manager):
    manager.tell("waiting1", [])
    async with dashboard() as d:
        await d.press("enter", "7", "z f", "right_parenthesis", "y", "g g", "G", "slash", "escape")
        await d.until(lambda: d.main.detail.steps.groups == frozenset({"7"}))
        assert d.app.is_running


async def test_a_filter_that_shows_nothing_keeps_the_place(dashboard, manager):
    manager.tell("waiting1", [Step(turn=1, index=n + 1, kind=StepKind.MESSAGE, text=f"m{n}") for n in range(300)])
    async with dashboard() as d:
        await d.press("enter")
        await d.until(lambda: d.main.detail.steps.cursor == 299)
        d.main.detail.viewer.go_to("201")
        await d.press("7")
        assert d.main.detail.steps.current is None
        await d.press("7")
        assert d.main.detail.steps.current.text == "m200"  # type: ignore[attr-defined]


async def test_while_another_session_is_read_keys_do_not_act_on_the_former_one(dashboard, manager, monkeypatch):
    gate = Gate()
    usual = manager.reader.steps.open_trajectory

    def slow(ref):
        opened = usual(ref)
        if ref != "waiting1":
            refresh = opened.refresh
            opened.refresh = lambda *given, **named: gate.wait() and refresh(*given, **named)
        return opened

    monkeypatch.setattr(manager.reader.steps, "open_trajectory", slow)
    async with dashboard() as d:
        try:
            await d.shows("also add a regression test")
            await d.press("j")
            await d.shows("reading…")
            assert d.main.detail.viewer.chosen is None
        finally:
            gate.set()
        await d.shows("task of failed01")


async def test_stderr_in_the_pane_is_that_of_the_selected_session(dashboard, manager):
    errors(manager, "waiting1", 2, "stderr of waiting1")
    errors(manager, "failed01", 1, "stderr of failed01")
    async with dashboard() as d:
        await d.press("enter", "S")
        await d.shows("stderr of waiting1")
        d.main.table.select("failed01")
        await d.shows("stderr of failed01")


async def test_after_a_resize_the_cursor_is_still_on_the_screen(reading):
    async with reading() as d:
        d.steps.go(9)
        await d.resize(70, 14)
        await d.until(lambda: d.app.size.width == 70)
        await d.until(lambda: d.steps.cursor in d.steps.shown())


async def test_turns_are_reached_under_a_filter_that_hides_their_prompts(reading):
    async with reading() as d:
        await d.press("4", "right_square_bracket")
        assert d.steps.current.command == "rm -rf build/"
        assert d.steps.groups == frozenset({"4"})


async def test_what_is_too_much_for_the_terminals_clipboard_is_said_to_be(reading, monkeypatch):
    async with reading() as d:
        long = Step(turn=2, index=3, kind=StepKind.MESSAGE, text="word " * 20_000)
        d.manager.write("waiting1", [long])
        d.main.detail.viewer.read_on()
        await d.press("G")
        await d.until(lambda: d.steps.current.text.startswith("word word"))
        await d.press("y")
        await d.shows("Not copied: message")
        assert copied(d) == ""


async def test_a_search_shows_what_it_found_though_it_is_folded_away(reading):
    async with reading() as d:
        await d.press("slash", *"line 23 of", "enter")
        await d.shows("line 23 of the output")
        assert d.steps.current.exit_code == 1


async def test_a_filter_that_shows_nothing_says_so(dashboard, manager):
    manager.tell("waiting1", [Step(turn=1, index=1, kind=StepKind.MESSAGE, text="hi")])
    async with dashboard() as d:
        await d.press("enter", "4")
        await d.shows("no steps of this kind: 0 shows all")


async def test_while_a_turn_runs_a_sweep_reads_on_and_after_it_only_news_do(dashboard, manager, monkeypatch):
    async with dashboard() as d:
        await d.select("running1")
        looks = counted(monkeypatch, manager.trajectories["running1"], "refresh")
        d.main.turn_files_grew(frozenset(), sweep=True)
        await d.until(lambda: looks)
        manager.put(structs.replace(manager.get("running1"), status=Status.DONE))
        await d.until(lambda: d.main.detail.viewer.growth.turns[0].status.ended)
        looks.clear()
        d.main.turn_files_grew(frozenset(), sweep=True)
        await d.settled()
        assert looks == []
        manager.prompts.inject("running1", "one more word")
        await d.shows("one more word")


async def test_the_age_of_a_running_step_goes_on_by_itself_and_only_while_a_turn_runs(dashboard, manager, monkeypatch):
    async with dashboard() as d:
        await d.select("running1")
        running = Step(kind=StepKind.COMMAND, turn=1, index=1, command="make all", status=StepStatus.RUNNING, at=T0)
        manager.write("running1", [running])
        d.main.detail.viewer.read_on()
        await d.shows("make all")
        monkeypatch.setattr(d.main.detail.viewer, "_clock", lambda: T0 + 3 * 60_000)
        await d.until(lambda: re.search(r"make all.*running +3m", d.text()))
        manager.put(structs.replace(manager.get("running1"), status=Status.STOPPED))
        await d.until(lambda: d.main.detail.viewer.growth.turns[0].status.ended)
        ticks = []
        monkeypatch.setattr(d.main.detail.steps, "tick", ticks.append)
        settled = counted(monkeypatch, manager.housekeeping, "settle")
        await d.until(lambda: len(settled) > 1)  # a sweep comes every two seconds, a tick every second
        assert not ticks


async def test_runners_are_looked_after_while_any_should_live(dashboard, manager, monkeypatch):
    for one in SESSIONS:
        if not one.status.ended:
            manager.drop(one.id)
    settled = counted(monkeypatch, manager.housekeeping, "settle")
    async with dashboard() as d:
        await d.until(lambda: d.app._sweeps > 1)
        assert not settled
        manager.put(session("later001", Status.RUNNING, "the build", created=9))
        await d.until(lambda: settled)


async def test_runners_of_agents_that_wait_are_looked_after_every_eight_seconds(dashboard, manager, monkeypatch):
    for one in SESSIONS:
        if not one.status.ended:
            manager.drop(one.id)
    manager.put(session("warm0001", Status.DONE, "the build", created=9, warm_since=T0))
    async with dashboard() as d:
        await d.until(lambda: d.app.feed.unsettled)
        settled = []
        monkeypatch.setattr(d.app, "_settle", lambda: settled.append(d.app._sweeps))
        for _ in range(8):
            d.app._sweep()
        assert [number % 4 for number in settled] == [0, 0]


DIFF = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"


def edited(index, path, status=StepStatus.OK, diff=None):
    change = Change(path=path, kind="update", diff=diff)
    return Step(turn=1, index=index, kind=StepKind.FILE_CHANGE, changes=(change,), status=status)


class Found:
    """The diffs that can be found outside of the turn files, by the numbers of the steps; and what was sought."""

    def __init__(self):
        self.diffs = {}
        self.sought = []

    def know(self, turns):
        """Each diff is known by its step."""

    def fill(self, step, conversation, key, number):
        self.sought.append(step.index)
        diff = self.diffs.get(step.index)
        return step if diff is None else structs.replace(step, changes=(structs.replace(step.changes[0], diff=diff),))


@pytest.fixture
def found(manager, monkeypatch):
    found, usual = Found(), manager.reader.steps.open_trajectory

    def opened(ref):
        steps = usual(ref)
        steps._diffs = found
        return steps

    monkeypatch.setattr(manager.reader.steps, "open_trajectory", opened)
    return found


def line_of(d, text):
    return next(n for n, line in enumerate(d.text().split("\n")) if text in line)


async def test_a_diff_that_comes_later_moves_nothing_under_the_eye(dashboard, manager, found):
    manager.tell("running1", [edited(n + 1, f"f{n:02}.py") for n in range(90)])
    async with dashboard() as d:
        d.main.table.select("running1")
        await d.shows("f89.py")
        await d.until(lambda: 90 in found.sought)
        await d.press("enter", "k", "k", "k")
        assert d.main.detail.steps.cursor == 86
        at = line_of(d, "f86.py")
        found.diffs = {85: DIFF, 86: DIFF, 89: DIFF}
        manager.write("running1", [Step(turn=1, index=91, kind=StepKind.MESSAGE, text="more")])
        d.main.detail.viewer.read_on()
        await d.shows("f85.py  +1 -1")
        await d.shows("f84.py  +1 -1")
        assert line_of(d, "f86.py") == at


async def test_only_what_is_on_the_screen_is_sought(dashboard, manager, found):
    manager.tell("stopped1", [edited(n + 1, f"f{n:03}.py") for n in range(300)])
    async with dashboard() as d:
        d.main.table.select("stopped1")
        await d.shows("f299.py")
        await d.until(lambda: 300 in found.sought)
        assert min(found.sought) > 200
        await d.press("enter", "g g")
        await d.until(lambda: 1 in found.sought)
        assert not set(range(100, 200)) & set(found.sought)


async def test_steps_with_diffs_and_steps_that_run_are_not_sought(dashboard, manager, found):
    own, running = edited(1, "own.py", diff=DIFF), edited(2, "running.py", StepStatus.RUNNING)
    manager.tell("running1", [own, running, edited(3, "lacking.py")])
    async with dashboard() as d:
        d.main.table.select("running1")
        await d.shows("lacking.py")
        await d.until(lambda: found.sought)
        assert set(found.sought) == {3}


async def test_an_open_pane_gets_the_diff_that_comes_later(dashboard, manager, found):
    manager.tell("running1", [edited(1, "late.py"), Step(turn=1, index=2, kind=StepKind.MESSAGE, text="said")])
    async with dashboard() as d:
        d.main.table.select("running1")
        await d.shows("late.py")
        await d.press("enter", "k", "enter")
        await d.shows("no diff from the agent")
        found.diffs = {1: DIFF}
        manager.write("running1", [Step(turn=1, index=3, kind=StepKind.MESSAGE, text="more")])
        d.main.detail.viewer.read_on()
        await d.until(lambda: "gave no diff" not in d.text())
        await d.shows("2   - two")
