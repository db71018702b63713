"""The archive and the trash in the dashboard: seen, marked as such, and brought back; many go there at once."""

import pytest
from msgspec import structs

from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Status
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.table.columns import ViewsScreen
from agentdash.tui.keys.keymap import keymap
from pilot.examples import SESSIONS, session
from pilot.gate import Gate
from pilot.house import counted, failing
from pilot.test_table import said, table


@pytest.fixture
def kept(manager):
    """One archived session and one in the trash."""
    manager.housekeeping.archive("stopped1")
    manager.delete("failed01")
    return manager


@pytest.mark.parametrize(("text", "shown", "word"), [
    ("is:archived", ["rename"], "ARCHIVED 1"), ("is:deleted", ["add"], "DELETED 1"),
    ("is:archived,deleted,live", ["fix", "split", "rename", "add"], "DELETED 1"),
])  # fmt: skip
async def test_a_filter_shows_what_was_put_away_marked_as_such(dashboard, kept, text, shown, word):
    async with dashboard() as d:
        assert table(d) == ["fix", "split", "write"]
        await d.press("slash", *text, "enter")
        await d.until(lambda: table(d) == shown)
        await d.shows(word)
        await d.press("escape")
        await d.until(lambda: table(d) == ["fix", "split", "write"])
        assert not d.main.pane.away.ids


@pytest.mark.parametrize(("name", "sid"), [("archived", "stopped1"), ("trash", "failed01")])
async def test_a_built_in_view_leads_there_and_u_brings_the_row_back(dashboard, kept, name, sid):
    async with dashboard() as d:
        await d.press("V")
        await d.screen(ViewsScreen)
        listed = d.text().partition("─ Views ─")[2].partition("╰")[0]
        names = [line.partition("│ ▌")[2].split("  ")[0] for line in listed.splitlines() if "│ ▌" in line]
        await d.press(*["j"] * names.index(name), "enter")
        await d.until(lambda: d.main.table.selected is not None and d.main.table.selected.id == sid)
        await d.shows(f"task of {sid}")  # its steps can be read
        await d.press("u")
        await d.shows("Restored")
        await d.shows("No matches.")
        await d.press("escape")
        await d.until(lambda: len(table(d)) == 4)
        assert d.main.table.session(sid) is not None


async def test_several_marked_rows_come_back_together(dashboard, kept):
    async with dashboard() as d:
        await d.press("slash", *"is:deleted,archived", "enter")
        await d.until(lambda: len(table(d)) == 2)
        await d.press("asterisk", "u")
        await d.shows("Restored 2 sessions: ")
        await d.press("escape")
        await d.until(lambda: len(table(d)) == 5)
        assert not d.main.table.marked


async def test_what_makes_no_sense_in_the_trash_is_refused_with_the_reason(dashboard, kept):
    async with dashboard() as d:
        await d.press("slash", *"is:deleted", "enter")
        await d.until(lambda: table(d) == ["add"])
        log, before = d.main.requests.log, kept.rows()
        told = [entry.text for entry in log.newest_first()]
        for key in ("i", "x", "X", "R", "D", "A", "r", "P", "N", "p"):
            told.insert(0, '"add dark mode" is in the trash: u restores it.')
            await d.press(key)
            await d.until(lambda: [entry.text for entry in log.newest_first()] == told, f"the refusal of {key}")
            assert d.app.screen is d.main
        assert kept.rows() == before


async def test_what_is_archived_is_not_archived_again_and_can_go_to_the_trash(dashboard, kept):
    async with dashboard() as d:
        await d.press("slash", *"is:archived", "enter")
        await d.until(lambda: table(d) == ["rename"])
        await d.press("A")
        await d.until(lambda: said(d) == '"rename the store" is already archived: u restores it.')
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.shows("No matches.")
        assert "stopped1" in kept.trash()


async def test_what_is_put_away_comes_into_the_view_while_it_is_shown(dashboard, kept):
    async with dashboard() as d:
        await d.press("slash", *"is:archived", "enter")
        await d.until(lambda: table(d) == ["rename"])
        kept.housekeeping.archive("done0001")  # from another place
        await d.until(lambda: sorted(table(d)) == ["rename", "write"])
        await d.select("done0001")
        kept.housekeeping.restore("stopped1")
        await d.until(lambda: table(d) == ["write"])


def many(manager, count=12):
    for number in range(count):
        manager.put(session(f"many{number:04}", Status.DONE, f"many {number}", created=100 + number))


async def test_many_are_archived_in_one_call_and_the_question_says_what_undo_brings_back(
    dashboard, manager, monkeypatch
):
    many(manager)
    calls = counted(monkeypatch, manager.housekeeping, "archive_all")
    async with dashboard() as d:
        await d.press("slash", *"many", "enter", "asterisk", "A")
        await d.screen(ConfirmScreen)
        await d.shows("u to undo all 12")
        await d.press("y")
        await d.until(lambda: said(d).startswith("Archived 12 sessions: ") and said(d).endswith(" · u to undo all 12"))
        await d.shows("and 4 more · u to undo all 12")
        assert (len(calls), len(manager.archived())) == (1, 12)
        await d.press("u")
        await d.shows("Restored 12 sessions: ")
        await d.until(lambda: d.main.table.counts[1] == 17)


async def test_undo_during_a_bulk_archive_waits_for_it_and_progress_is_shown(dashboard, manager, monkeypatch):
    many(manager)
    archive_all, may_move = manager.housekeeping.archive_all, Gate()
    monkeypatch.setattr(
        manager.housekeeping, "archive_all", lambda *ids, **how: may_move.wait() and archive_all(*ids, **how)
    )
    async with dashboard() as d:
        await d.press("slash", *"many", "enter", "asterisk", "A")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.shows("Archiving 0 of 12…")
        await d.press("u")
        await d.until(lambda: said(d) == "Busy: undo runs next.")
        assert not manager.archived()
        may_move.set()
        await d.until(lambda: said(d).startswith("Restored 12 sessions: "))
        await d.until(lambda: d.main.table.counts[1] == 17)
        assert "Archiving" not in d.text().split("\n")[1]


async def test_a_session_that_was_restored_can_be_archived_again(dashboard, manager):
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("A")
        await d.shows("Archived")
        await d.press("slash", *"is:archived", "enter")
        await d.until(lambda: table(d) == ["rename"])
        await d.press("u", "escape")
        await d.until(lambda: len(table(d)) == 5)
        await d.select("stopped1")
        await d.press("A")
        await d.until(lambda: "stopped1" in manager.archived())
        await d.press("u", "u")
        await d.until(lambda: said(d) == "Nothing to undo.")


async def test_a_view_that_was_left_before_it_was_read_does_not_say_reading_any_more(dashboard, kept, monkeypatch):
    read, may_answer = kept.reader.put_away, Gate()

    def held(**asked):
        may_answer.wait()
        return read(**asked)

    monkeypatch.setattr(kept.reader, "put_away", held)
    async with dashboard() as d:
        await d.press("slash", *"is:archived", "enter")
        await d.shows("reading…")
        await d.press("escape")
        await d.until(lambda: table(d) == ["fix", "split", "write"])
        await d.press("slash", *"nowhere", "enter")
        await d.shows("No matches.")
        may_answer.set()
        await d.press("escape", "slash", *"is:archived", "enter")
        await d.until(lambda: table(d) == ["rename"])


@pytest.mark.parametrize("view", ["is:archived", "is:deleted"])
async def test_a_view_of_nothing_says_so_also_when_it_is_sorted_again(dashboard, manager, view):
    async with dashboard() as d:
        await d.press("slash", *view, "enter")
        await d.shows("No matches.")
        await d.press("S")
        await d.shows("No matches.")
        assert "reading…" not in d.text()


async def test_what_could_not_be_restored_can_be_undone_later(dashboard, manager, monkeypatch):
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.until(lambda: "stopped1" in manager.trash() and len(table(d)) == 4)

        with monkeypatch.context() as patch:
            patch.setattr(manager.housekeeping, "restore", failing(StoreError("its folder cannot be moved")))
            await d.press("u")
            await d.until(lambda: said(d) == "1 not restored:\nits folder cannot be moved")
            assert len(table(d)) == 4
        await d.press("u")
        await d.until(lambda: said(d) == 'Restored "rename the store"')
        await d.until(lambda: len(table(d)) == 5)
        await d.press("u")
        await d.until(lambda: said(d) == "Nothing to undo.")


def only_one(manager):
    """Let there be no session but one."""
    for one in SESSIONS[:-1]:
        manager.drop(one.id)


@pytest.mark.parametrize(("archived", "deleted", "told"), [
    (5, 0, ["5 archived: g a shows them"]), (0, 5, ["5 in the trash: g t shows them"]),
    (3, 2, ["3 archived: g a shows them", "2 in the trash: g t shows them"]),
])  # fmt: skip
async def test_an_empty_table_says_where_the_sessions_are_and_how_to_see_them(
    dashboard, manager, archived, deleted, told
):
    ids = [session.id for session in SESSIONS]
    for number, sid in enumerate(ids):
        manager.put(structs.replace(manager.get(sid), status=Status.DONE))
        (manager.housekeeping.archive if number < archived else manager.delete)(sid)
    async with dashboard() as d:
        for line in told:
            await d.shows(line)
        await d.shows("start one")
        assert "No sessions yet" not in d.text()
        await d.press("slash", *"nowhere", "enter")
        await d.shows("No matches.")
        assert not any(line in d.text() for line in told)
        await d.press("escape")
        await d.shows(told[0])
        await d.press(*told[0].partition(": ")[2].split()[:2])
        await d.until(lambda: len(table(d)) == max(archived, deleted))


async def test_the_table_that_one_empties_by_archiving_says_so_and_undo_fills_it_again(dashboard, manager):
    for one in SESSIONS[1:]:
        manager.put(structs.replace(one, status=Status.DONE))
        manager.housekeeping.archive(one.id)
    manager.put(structs.replace(SESSIONS[0], status=Status.DONE))
    async with dashboard() as d:
        await d.until(lambda: len(table(d)) == 1)
        await d.press("A")
        await d.shows("5 archived: g a shows them")
        await d.press("u")
        await d.until(lambda: table(d) == ["fix"])


async def test_of_one_session_it_speaks_of_one_and_of_the_key_that_was_chosen(dashboard, manager):
    only_one(manager)
    manager.housekeeping.archive("stopped1")
    async with dashboard(keymap=keymap({"table.archived": "f7"})) as d:
        await d.shows("1 archived: F7 shows it")


async def test_what_others_put_away_is_counted_while_the_table_stands_empty(dashboard, manager):
    only_one(manager)
    manager.delete("stopped1")
    async with dashboard() as d:
        await d.shows("1 in the trash: g t shows it")
        manager.put(session("another1", Status.DONE, "another", created=7))
        await d.until(lambda: table(d) == ["another"])
        manager.housekeeping.archive("another1")
        await d.shows("1 archived: g a shows it")
        await d.shows("1 in the trash: g t shows it")


@pytest.mark.parametrize("size", [(30, 20), (36, 20), (44, 30)], ids=str)
async def test_in_a_narrow_table_the_key_is_not_cut_off(dashboard, manager, size):
    for number, one in enumerate(SESSIONS):
        manager.put(structs.replace(one, status=Status.DONE))
        (manager.housekeeping.archive if number % 2 else manager.delete)(one.id)
    async with dashboard(size=size) as d:
        await d.shows("g t shows")
        shown = " ".join(line.strip() for line in d.text().split("\n"))
        assert "2 archived: g a shows them 3 in the trash: g t shows them" in " ".join(shown.split())
