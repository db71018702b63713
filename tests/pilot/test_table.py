"""The table by its keys: what is shown, in which order, which columns, and several sessions at once."""

from factories import T0
from msgspec import structs

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.tui.app import Dashboard
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.asking.naming import RenameScreen
from agentdash.tui.dialogs.table.columns import ColumnsScreen, ViewsScreen
from agentdash.tui.dialogs.table.pick import PickScreen
from agentdash.tui.state.ui_state import UiState
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.table.columns import COLUMNS, Choice
from pilot.conftest import Driver, key_event
from pilot.examples import SESSIONS, session
from pilot.gate import Gate
from pilot.house import counted


def table(d):
    """The titles of the rows, from above."""
    return [s.title.split()[0] for s in d.main.table.on_screen]


def said(d):
    """What was told last, however long it is."""
    entries = d.main.requests.log.newest_first()
    return entries[0].text if entries else ""


async def test_words_and_fields_choose_while_they_are_typed(dashboard):
    async with dashboard() as d:
        assert table(d) == ["fix", "add", "split", "write", "rename"]
        await d.press("slash", *"agent:claude")
        await d.until(lambda: table(d) == ["add", "write"])
        await d.press("space", *"!web")
        await d.until(lambda: table(d) == ["write"])
        await d.shows("1 of 5")
        await d.press("enter")
        assert d.app.focused is d.main.table
        await d.shows("/agent:claude !web   1 of 5   Esc clear")
        await d.press("escape")
        await d.until(lambda: len(table(d)) == 5)
        assert "Esc clear" not in d.text()


async def test_the_steps_are_those_of_the_row_that_a_filter_left(dashboard):
    async with dashboard() as d:
        await d.press("slash", *"dark")
        await d.shows("task of failed01")
        await d.shows("│ add dark mode")
        await d.shows("✗ failed · claude")


async def test_escape_while_typing_takes_the_former_filter_back(dashboard):
    async with dashboard() as d:
        await d.press("slash", *"dark", "enter")
        await d.press("slash", *"zzz")
        await d.shows("No matches.")
        await d.press("escape")
        await d.until(lambda: table(d) == ["add"])


async def test_a_filter_that_cannot_be_understood_says_why_and_hides_nothing(dashboard):
    async with dashboard() as d:
        await d.press("slash", *"stat:failed")
        await d.shows("Unknown field stat: did you mean state:?")
        assert len(table(d)) == 5
        await d.press("enter")
        assert isinstance(d.app.focused, HistoryInput)
        await d.press("escape")
        await d.until(lambda: "did you mean" not in d.text())


async def test_right_completes_a_word(dashboard):
    async with dashboard() as d:
        await d.press("slash", *"state:fa")
        await d.shows("state:failed")
        await d.press("right", "enter")
        await d.shows("/state:failed")


async def test_what_changes_comes_into_the_filter_and_leaves_it(dashboard):
    async with dashboard() as d:
        await d.press("3")
        await d.until(lambda: table(d) == ["add"])
        d.manager.put(structs.replace(SESSIONS[2], status=Status.FAILED, reason="exit 1"))
        await d.until(lambda: table(d) == ["write", "add"])  # it has waited longer
        await d.press("k")
        d.manager.put(structs.replace(SESSIONS[1], status=Status.RUNNING))
        await d.until(lambda: table(d) == ["write"])
        await d.shows("failed   1 of 5")


async def test_what_is_in_hand_leaves_the_filter_when_the_hand_is_gone(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.press("3")
        await d.until(lambda: table(d) == ["add"])
        d.main.table.select("failed01")
        d.manager.put(structs.replace(SESSIONS[1], status=Status.RUNNING))
        await d.shows("●   0s add dark mode")
        assert d.main.table.selected.id == "failed01"
        d.manager.put(structs.replace(SESSIONS[2], status=Status.FAILED, reason="exit 1"))
        await d.shows("failed   2 of 5")
        d.main.table.select("done0001")
        monkeypatch.setattr(d.main.table, "_clock", lambda: T0 + 20_000)
        d.main.table.tick()
        await d.shows("failed   1 of 5")


async def test_numbers_choose_a_state_and_0_all(dashboard):
    async with dashboard() as d:
        for key, shown in {
            "1": ["fix", "add"], "2": ["fix", "split"], "3": ["add"], "4": ["write"], "5": [],
        }.items():  # fmt: skip
            await d.press(key)
            await d.until(lambda shown=shown: table(d) == shown, key)
        for again in ("3", "0"):
            await d.press("3")
            await d.until(lambda: table(d) == ["add"])
            await d.press(again)
            await d.until(lambda: len(table(d)) == 5)


async def test_only_this_folder(dashboard):
    async with dashboard() as d:
        await d.press("j", "full_stop")
        await d.until(lambda: table(d) == ["add"])
        await d.shows("only ~/code/web")
        await d.press("full_stop")
        await d.until(lambda: len(table(d)) == 5)


async def test_s_asks_for_an_order_and_capital_s_turns_it_round(dashboard):
    async with dashboard() as d:
        await d.press("s")
        await d.screen(PickScreen)
        await d.shows("most expensive first")
        await d.press("w")
        await d.until(lambda: table(d) == ["add", "fix", "rename", "split", "write"])
        await d.shows("what▾")
        await d.press("S")
        await d.until(lambda: table(d) == ["write", "split", "rename", "fix", "add"])
        await d.shows("by what, reversed")


async def test_the_selected_row_does_not_move_under_the_hand(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.press("j", "j")
        assert table(d)[2] == "split"
        d.manager.put(structs.replace(SESSIONS[3], status=Status.WAITING, reason="may I?"))
        await d.shows("may I?")
        assert table(d)[2] == "split"
        assert d.main.table.selected.id == "running1"
        await d.press("G")
        monkeypatch.setattr(d.main.table, "_clock", lambda: T0 + 20_000)
        d.main.table.tick()
        await d.until(lambda: table(d)[:3] == ["fix", "add", "split"])
        await d.shows("NEEDS YOU 3")


def headed(d, column):
    """Whether the table has a column."""
    return column in next(line for line in d.text().split("\n") if " what" in line).split("│")[0].split()


async def test_groups_and_the_tree_fold(dashboard):
    async with dashboard() as d:
        d.manager.put(session("child001", Status.RUNNING, "extract users", created=0, parent="stopped1"))
        await d.shows("extract users")
        await d.press("T")
        await d.shows("as a tree")
        await d.shows("└ extract users")
        d.main.table.select("child001")
        await d.press("h")
        await d.until(lambda: "extract users" not in d.text())
        assert d.main.table.selected.id == "stopped1"
        await d.press("l")
        await d.shows("└ extract users")
        await d.press("T")
        await d.shows("▾ ~/code/web  1 session · 1 needs you")
        assert not headed(d, "where"), "the heading has the folder"
        await d.press("g g", "enter")
        await d.shows("▸ ~/code/api  5 sessions · 1 needs you")
        await d.press("T")
        await d.shows("▾ claude  2 sessions")
        await d.press("T")
        await d.shows("one list")
        await d.press("T")
        await d.shows("NEEDS YOU 2")


async def test_w_goes_round_what_needs_somebody(dashboard):
    async with dashboard() as d:
        at = lambda: d.main.table.selected.id  # noqa: E731
        await d.press("G", "w")
        assert at() == "waiting1"
        await d.press("w")
        assert at() == "failed01"
        await d.press("W", "W")
        assert at() == "done0001"


async def test_a_failure_that_was_only_opened_needs_the_user_until_it_is_marked_read(dashboard):
    async with dashboard() as d:
        d.main.table.select("failed01")
        await d.press("enter")
        await d.until(lambda: d.manager.get("failed01").seen_at is not None)
        await d.shows("NEEDS YOU 2")
        assert d.manager.get("failed01").attention
        await d.press("U")
        await d.until(lambda: d.manager.get("failed01").is_handled)
        await d.shows("NEEDS YOU 1")


async def test_w_says_when_nothing_does(dashboard, manager):
    for one in SESSIONS[:3]:
        manager.put(structs.replace(one, seen_at=T0 + 1, handled_at=T0 + 1))
    async with dashboard() as d:
        await d.press("w")
        await d.shows("No other session needs you.")


async def test_marks_one_by_one_a_range_all_and_none(dashboard):
    async with dashboard() as d:
        marked = lambda: [one.id for one in d.main.table.marked]  # noqa: E731
        await d.press("space", "j", "space")
        assert marked() == ["waiting1", "running1"]
        await d.shows("2 marked")
        await d.press("escape")
        assert marked() == []
        await d.press("g g", "v", "j", "j")
        assert marked() == ["waiting1", "failed01", "running1"]
        await d.press("k", "v", "G")
        assert marked() == ["waiting1", "failed01"]
        await d.press("asterisk")
        assert len(marked()) == 5
        await d.press("asterisk")
        assert marked() == []


async def test_several_are_stopped_after_one_question_that_lists_them(dashboard):
    async with dashboard() as d:
        await d.press("asterisk", "x")
        await d.screen(ConfirmScreen)
        await d.shows("Stop 2 sessions?")
        await d.shows("? waiting   codex    fix the flaky login test")
        await d.shows("● running   codex    split [/red] the monolith")
        await d.press("y")
        await d.requested("waiting1", "stop")
        await d.requested("running1", "stop")
        await d.shows("Stopped 2 sessions:")


async def test_several_are_deleted_and_archived_after_one_question(dashboard):
    async with dashboard() as d:
        await d.press("j", "space", "j", "space", "A")
        await d.screen(ConfirmScreen)
        await d.shows("Archive 2 sessions?")
        await d.press("n")
        await d.until(lambda: d.app.screen is d.main)
        assert not d.manager.reader.sessions(archived=True)
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.shows("Deleted 2 sessions: ")
        assert d.manager.trash() == {"failed01", "done0001"}


async def test_a_prompt_for_several_asks_and_says_who_could_not_take_it(dashboard, manager, monkeypatch):
    given = manager.prompts.inject

    def inject(ref, text, options):
        if ref == "failed01":
            raise SessionBusyError("It runs on another machine.")
        return given(ref, text, options)

    monkeypatch.setattr(manager.prompts, "inject", inject)
    async with dashboard() as d:
        await d.press("j", "space", "j", "space", "i")
        await d.shows("→ 2 marked sessions (asks first)")
        await d.press(*"go on", "enter")
        await d.screen(ConfirmScreen)
        await d.shows('Sends "go on" to each.')
        await d.press("y")
        await d.sent("done0001", "go on")
        await d.shows("It runs on another machine.")
        await d.sent("failed01")


async def test_columns_are_chosen_ordered_sized_and_remembered(dashboard, manager):
    async with dashboard() as d:
        heading = lambda: next(line for line in d.text().split("\n") if " what " in line)  # noqa: E731
        await d.press("C")
        await d.screen(ColumnsScreen)
        await d.press("space")  # age goes
        await d.press(*["j"] * 5, "space", *["K"] * 5, "plus", "plus")  # turn comes first, two cells wider
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.until(lambda: "age" not in heading().split())
        assert heading().split("│")[0].split() == ["turn", "new", "what", "where", "·", "agent"]
        await d.until(lambda: UiState(manager.home).now.widths == {"turn": 6})
    async with dashboard() as d:
        await d.shows("  turn new what")
        await d.press("C")
        await d.screen(ColumnsScreen)
        await d.press("0", "escape")
        await d.shows("    age new what")


async def test_views_are_saved_by_name_shown_and_forgotten(dashboard, manager):
    async with dashboard() as d:
        await d.press("slash", *"agent:claude", "enter")
        await d.press("V")
        await d.screen(ViewsScreen)
        await d.press("tab", *"mine", "enter")
        await d.until(lambda: "mine" in UiState(manager.home).now.views)
        await d.press("escape")
        await d.until(lambda: len(table(d)) == 5)
        await d.press("V")
        await d.shows("mine             agent:claude")
        await d.press("enter")
        await d.until(lambda: table(d) == ["add", "write"])
        await d.press("V")
        await d.screen(ViewsScreen)
        await d.press("D", "escape")
        await d.until(lambda: UiState(manager.home).now.views == {})


async def test_a_filter_is_not_remembered_but_the_order_is(dashboard):
    async with dashboard() as d:
        await d.press("s", "w", "3")
        await d.until(lambda: table(d) == ["add"])
    async with dashboard() as d:
        await d.until(lambda: table(d) == ["add", "fix", "rename", "split", "write"])


async def test_the_split_moves_and_is_remembered(dashboard, manager):
    async with dashboard() as d:
        width = d.main.pane.size.width
        await d.press("less_than_sign", "less_than_sign")
        await d.until(lambda: d.main.pane.size.width < width - 10)
        smaller = d.main.pane.size.width
        await d.until(lambda: UiState(manager.home).now.shares == {"wide": 45})
    async with dashboard() as d:
        await d.until(lambda: d.main.pane.size.width == smaller)
        await d.press(*["greater_than_sign"] * 20)
        await d.until(lambda: UiState(manager.home).now.shares == {"wide": 85})
        assert d.main.detail.size.width > 10
    async with dashboard(size=(110, 40)) as d:
        height = d.main.pane.size.height
        await d.press("greater_than_sign")
        await d.until(lambda: d.main.pane.size.height > height)


async def test_one_pane_takes_the_whole_screen_and_gives_it_back(dashboard):
    async with dashboard() as d:
        await d.press("plus")
        await d.until(lambda: d.main.pane.size.width == 158)
        assert not d.main.detail.display
        await d.press("enter")
        await d.until(lambda: d.main.detail.display)
        await d.press("escape", "plus")
        await d.until(lambda: d.main.detail.display and d.main.pane.display)
        await d.press("tab", "plus")
        await d.until(lambda: not d.main.pane.display)
        await d.press("plus")
        await d.until(lambda: d.main.pane.display)


async def test_the_table_alone_opens_in_its_own_place(dashboard):
    async with dashboard(size=(90, 20), alone=True) as d:
        assert not d.main.detail.display
        await d.press("enter")
        await d.until(lambda: d.main.detail.display and not d.main.pane.display)
        await d.press("escape")
        await d.until(lambda: d.main.pane.display and not d.main.detail.display)


async def test_what_was_said_last_stands_below_a_table_without_steps(dashboard, manager):
    manager.put(structs.replace(SESSIONS[0], last_message="I would like to remove [build]."))
    async with dashboard(size=(50, 24)) as d:
        await d.shows("I would like to remove [build].")


async def test_with_one_line_a_row_the_need_of_the_selected_session_is_below_the_table(dashboard, manager):
    denial = "1 permission denied: Write"
    manager.put(structs.replace(SESSIONS[2], reason=denial, denied=1, last_message="I could not write the file."))
    async with dashboard(size=(80, 12)) as d:
        d.main.table.select("done0001")
        await d.shows("I could not write the file.")  # the row has two lines, and the denial
        await d.press("d")
        await d.shows("1 permission denied: Write · I could not write the file.")


async def test_the_meter_reads_nothing_on_a_quiet_screen_and_goes_again(dashboard):
    async with dashboard() as d:
        await d.press("f3")
        await d.shows("CPU ")
        await d.shows(" B/s")
        await d.press("f3")
        await d.until(lambda: "CPU " not in d.text())
        assert not d.main.foot.meter.running


async def test_processes_are_measured_only_while_a_column_shows_them(dashboard, manager, monkeypatch):
    looked_at = []

    def processes(ref):
        looked_at.append(ref)
        return [ProcessInfo(pid=4121 + n, parent=1, command="codex exec --json", age_s=60.0) for n in range(3)]

    monkeypatch.setattr(manager.reader, "processes", processes)
    async with dashboard() as d:
        assert not looked_at
        await d.press("C")
        await d.screen(ColumnsScreen)
        last = len(COLUMNS) - 1
        await d.press(*["j"] * last, "space", *["K"] * last, "escape")
        await d.shows("procs")
        await d.until(lambda: {"waiting1", "running1"} == set(looked_at))
        await d.shows("●     3")


async def test_a_heading_has_no_session(dashboard):
    async with dashboard() as d:
        await d.press("T", "T", "g g")
        assert d.main.table.selected is None
        before = d.manager.rows()
        await d.press("x", "D", "R", "A")
        assert d.manager.rows() == before
        assert isinstance(d.main.table.sessions[0], Session)


async def test_on_a_heading_and_with_marks_the_prompt_box_says_that_several_get_the_prompt(dashboard):
    async with dashboard() as d:
        await d.press("T", "T", "g g")
        await d.shows("One prompt for all of them")
        assert "Describe a task" not in d.text()
        await d.press("j", "asterisk")
        await d.shows("One prompt for all of them")
        await d.press("escape")
        await d.until(lambda: "One prompt" not in d.text())


async def test_the_first_screen_says_that_more_is_coming(manager, calls, painting, monkeypatch):
    may_come = Gate()
    given = manager.reader.changes
    monkeypatch.setattr(manager.reader, "changes", lambda since: may_come.wait() and given(since))
    app = Dashboard(manager, first=(SESSIONS[:2], 5))
    async with app.run_test(size=(160, 45)) as pilot:
        d = Driver(app, pilot, manager, calls, painting)
        await d.shows("loading 3 more")
        assert table(d) == ["fix", "add"]
        may_come.set()
        await d.until(lambda: len(table(d)) == 5)
        await d.until(lambda: "reading" not in d.text())


async def test_several_are_tried_again_after_one_question_that_lists_only_those_that_can_be(dashboard):
    async with dashboard() as d:
        await d.press("asterisk", "R")
        await d.screen(ConfirmScreen)
        await d.shows("Retry 2 sessions?")
        assert "write the migration" not in d.text().split("Retry 2 sessions?")[1].split("Resends the last")[0]
        await d.press("y")
        await d.shows("Retried 2 sessions: ")
        assert [d.manager.get(sid).turn for sid in ("failed01", "stopped1")] == [2, 2]


async def test_the_heading_of_a_group_stands_for_all_of_it_folded_or_not(dashboard):
    async with dashboard() as d:
        await d.press("T", "T", "g g")
        await d.shows("▾ ~/code/api")
        group = {one.id for one in d.main.table.group}
        assert group == {"waiting1", "done0001", "running1", "stopped1"}
        await d.press("h")
        await d.shows("▸ ~/code/api")
        assert {one.id for one in d.main.table.group} == group
        await d.shows("→ 4 sessions of the group (asks first)")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("Stop 2 sessions?")
        await d.press("n", "space")
        await d.shows("4 marked")
        await d.press("space")
        await d.until(lambda: not d.main.table.marked)


async def test_one_marked_session_is_what_the_keys_mean(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("space")
        assert d.main.table.selected.id == "done0001"
        await d.shows("(queued #1, after turn 1)")
        await d.press("X")
        await d.screen(ConfirmScreen)
        await d.shows("Kill 1 session?")
        await d.shows("split [/red] the monolith")
        await d.press("n", "i", *"go on", "enter")
        await d.sent("running1", "go on")


async def test_what_is_done_to_one_session_is_done_to_the_one_under_the_cursor(dashboard):
    async with dashboard() as d:
        await d.select("failed01")
        await d.press("space")
        assert d.main.table.selected.id == "running1"
        await d.press("r")
        await d.screen(RenameScreen)
        await d.shows("split [/red] the monolith")


async def test_a_key_that_does_nothing_says_why(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("x")
        await d.shows('"write the migration" is not running.')
        await d.select("running1")
        await d.press("A")
        await d.until(lambda: "is not finished yet." in said(d))


async def test_one_undo_brings_back_what_one_key_put_away(dashboard):
    async with dashboard() as d:
        await d.press("j", "space", "j", "space", "D")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.shows("Deleted 2 sessions: ")
        await d.press("u")
        await d.shows("Restored 2 sessions: ")
        assert d.manager.trash() == set()
        assert len(d.manager.reader.sessions()) == 5


async def test_two_presses_ask_once(dashboard, manager, monkeypatch):
    archived = counted(monkeypatch, manager.housekeeping, "archive")
    async with dashboard() as d:
        await d.select("done0001")
        d.burst("DD")
        await d.screen(ConfirmScreen)
        await d.press("n")
        await d.until(lambda: d.app.screen is d.main)
        d.burst("AA")
        await d.settled()
        assert [ref for ref, *_ in archived] == ["done0001"]


async def test_a_key_that_was_typed_before_the_row_went_away_does_not_archive_the_next_one(
    dashboard, manager, monkeypatch
):
    archived = counted(monkeypatch, manager.housekeeping, "archive")
    async with dashboard() as d:
        await d.select("done0001")
        late = key_event("A")
        await d.press("A")
        await d.until(lambda: d.main.table.selected.id != "done0001")
        d.app.post_message(late)
        await d.settled()
        assert [ref for ref, *_ in archived] == ["done0001"]
        await d.press("A")
        await d.until(lambda: len(d.manager.archived()) == 2)


async def test_a_stop_says_what_becomes_of_the_sessions_that_it_started(dashboard, manager):
    manager.put(session("child001", Status.RUNNING, "extract users", created=0, parent="running1"))
    async with dashboard() as d:
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("1 session started by it keeps running.")
        await d.shows("y stop   a stop these too   n cancel")
        await d.press("a")
        await d.requested("running1", "stop")
        await d.requested("child001", "stop")
        await d.shows("Stopped 2 sessions:")


async def test_a_stop_of_a_session_that_started_none_offers_nothing_more(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        assert "these too" not in d.text()
        await d.press("a")
        assert isinstance(d.app.screen, ConfirmScreen)


async def test_a_pinned_row_goes_where_it_belongs(dashboard):
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("P")
        await d.until(lambda: table(d)[0] == "rename")
        assert d.main.table.selected.id == "stopped1"


async def test_letters_move_in_a_list_of_choices(dashboard):
    async with dashboard() as d:
        await d.press("s")
        await d.screen(PickScreen)
        await d.press("j", "j", "k", "enter")
        await d.until(lambda: d.main.table.order.sort == "created")


async def test_a_session_that_goes_while_the_rest_is_read_leaves_no_word_of_it(manager, calls, painting):
    app = Dashboard(manager, first=(SESSIONS[:4], 6))
    async with app.run_test(size=(160, 45)) as pilot:
        d = Driver(app, pilot, manager, calls, painting)
        await d.until(lambda: len(table(d)) == 5)
        await d.until(lambda: "reading" not in d.text())


async def test_a_range_marks_what_stands_between_on_the_screen(dashboard):
    async with dashboard() as d:
        marked = lambda: [one.id for one in d.main.table.marked]  # noqa: E731
        await d.press("T", "T")
        await d.shows("▾ ~/code/web")
        d.main.table.select("waiting1")
        await d.press("v", "j")
        assert marked() == ["waiting1", "running1"]
        d.manager.drop("waiting1")
        await d.until(lambda: marked() == ["running1"])
        assert not d.main.table.ranging


async def test_a_dearer_session_that_stays_in_its_place_is_drawn_alone(dashboard, monkeypatch):
    async with dashboard() as d:
        d.main.table.show_columns(Choice(("age", "cost")))
        await d.press("s", "d")
        await d.until(lambda: d.main.table.order.sort == "cost")
        d.paint()
        first = d.main.table.on_screen[0]
        drawn = []
        monkeypatch.setattr(d.main.table, "refresh", lambda *regions, **_: drawn.append(regions))
        d.main.table.update_rows([structs.replace(first, cost_usd=first.cost_usd + 1)])
        assert [[region.height for region in regions] for regions in drawn] == [[1]]


async def test_a_session_grows_out_of_a_filter_over_its_age(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.press("slash", *"age:<1m", "enter")
        await d.until(lambda: table(d) == ["fix", "add", "split"])
        await d.select("running1")
        monkeypatch.setattr(d.main.table, "_clock", lambda: T0 + 58_000)
        d.main.table.tick()
        await d.until(lambda: table(d) == ["split"])
        await d.shows("1 of 5")


async def test_leaving_the_field_keeps_the_filter(dashboard):
    async with dashboard() as d:
        await d.press("slash", *"agent:claude", "tab")
        await d.until(lambda: not d.main.pane.has_class("-asking"))
        await d.shows("/agent:claude   2 of 5   Esc clear")
        d.app.set_focus(d.main.table)
        await d.press("space", "escape")
        assert table(d) == ["add", "write"]
        await d.press("slash")
        await d.until(lambda: d.main.pane.has_class("-asking"))
        await d.press("up")
        assert d.main.query_one("#filter", HistoryInput).value == "agent:claude"


async def test_leaving_the_field_with_what_cannot_be_understood_keeps_on_saying_why(dashboard):
    async with dashboard() as d:
        await d.press("slash", *"stat:failed", "tab")
        await d.until(lambda: d.app.focused is not d.main.query_one("#filter"))
        await d.shows("did you mean state:?")
        assert d.main.pane.has_class("-asking")


async def test_a_filter_is_still_being_written_when_the_terminal_comes_back(dashboard):
    async with dashboard() as d:
        await d.press("slash", *"dark")
        d.app.app_focus = False
        await d.until(lambda: d.app.focused is None)
        d.app.app_focus = True
        await d.press("escape")
        await d.until(lambda: len(table(d)) == 5)


async def test_who_opens_a_session_stays_with_it_though_it_needs_nobody_any_more(dashboard):
    async with dashboard() as d:
        await d.press("slash", *"is:attention", "enter")
        await d.until(lambda: len(table(d)) == 3)
        await d.select("done0001")
        await d.press("enter")
        await d.until(lambda: d.main.table.session("done0001").seen_at == T0)
        assert d.main.table.selected.id == "done0001"
        await d.press("i", *"now the docs", "enter")
        await d.sent("done0001", "now the docs")


async def test_leaving_a_filter_goes_back_to_the_row_where_one_was(dashboard):
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("slash", *"state:waiting")
        await d.until(lambda: d.main.table.selected.id == "waiting1")
        await d.press("escape")
        await d.until(lambda: len(table(d)) == 5)
        assert d.main.table.selected.id == "stopped1"


async def test_the_first_line_below_the_headings_is_never_the_second_of_a_row(dashboard, manager):
    for number in range(30):
        manager.put(session(f"bad{number:05}", Status.FAILED, f"task {number}", created=number, reason="exit 1"))
    async with dashboard(size=(80, 24)) as d:
        await d.press("d", "d")
        await d.shows("task 1")
        for key in [*["j"] * 12, "G", "k", "k"]:
            await d.press(key)
            assert not d.text().split("\n")[2].startswith("     ")
            assert d.main.table.selected in d.main.table.on_screen


async def test_a_row_in_hand_goes_to_its_place_when_the_hand_is_gone(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.select("running1")
        d.manager.put(structs.replace(d.manager.get("running1"), status=Status.WAITING, reason="may I?"))
        await d.shows("may I?")
        await d.shows("RUNNING 0")  # its row is held there, and counted where it belongs
        await d.shows("NEEDS YOU 3")
        monkeypatch.setattr(d.main.table, "_clock", lambda: T0 + 20_000)
        d.main.table.tick()
        assert "RUNNING 0" in d.text()
        await d.press("j")
        monkeypatch.setattr(d.main.table, "_clock", lambda: T0 + 40_000)
        d.main.table.tick()
        await d.until(lambda: "RUNNING" not in d.text())


async def test_one_marked_session_that_nobody_looks_at_is_not_retried_or_archived_without_a_question(dashboard):
    async with dashboard() as d:
        await d.select("failed01")
        await d.press("space")
        await d.select("running1")
        before = d.manager.rows()
        for key, question in (("R", "Retry 1 session?"), ("A", "Archive 1 session?")):
            await d.press(key)
            await d.screen(ConfirmScreen)
            await d.shows(question)
            await d.press("n")
            await d.until(lambda: d.app.screen is d.main)
        assert d.manager.rows() == before


async def test_marks_that_a_filter_hides_are_told(dashboard):
    async with dashboard() as d:
        await d.select("failed01")
        await d.press("space", "2")
        await d.shows("1 marked, 1 not shown")
        await d.press("2")
        await d.until(lambda: "not shown" not in d.text())
