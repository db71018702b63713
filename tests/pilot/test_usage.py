"""The screen of usage: its keys, its sums, its sizes, and the way to the sessions and back."""

import pytest
from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.tui.dialogs.help import HelpScreen
from agentdash.tui.screens import usage as usage_screen
from agentdash.tui.screens import usage_figures
from agentdash.tui.screens.main import MainScreen
from agentdash.tui.screens.usage import UsageScreen
from agentdash.tui.state.ui_state import FILE
from pilot.examples import session
from pilot.house import counted
from pilot.month import MONTH, TODAY, used


@pytest.fixture(autouse=True)
def today(monkeypatch):
    monkeypatch.setattr(usage_screen, "day_of", lambda _: TODAY)


@pytest.fixture
def queries(manager, monkeypatch):
    """The queries of usage, each as the arguments of its call."""
    return counted(monkeypatch, manager.reader, "usage")


@pytest.fixture
def month(manager):
    manager.use(MONTH)
    return manager


async def opened(d):
    await d.press("dollar_sign")
    screen = await d.screen(UsageScreen)
    await d.until(lambda: screen.figures is not None)
    await d.settled()
    return screen


def line(d, text):
    return next((one for one in d.text().split("\n") if text in one), "")


def table_row(d, name):
    return next(one for one in reversed(d.text().split("\n")) if name in one)


def ids(d):
    return {session.id for session in d.main.table.sessions if d.main.table.position(session.id) is not None}


async def test_the_sums_have_their_marks(dashboard, month):
    async with dashboard() as d:
        await opened(d)
        head = line(d, "last 30 days, by model")
        assert "today ~$3.00" in head
        assert "this week ≥$3.00" in head
        assert "this month ≥$" in head
        sums = line(d, "of it ~").strip()
        assert sums.startswith("≥$")
        assert "computed (prices of 2026-11-01)" in sums
        assert "1 session unknown" in sums
        assert "75% cached" in sums


async def test_an_unknown_cost_is_never_zero(dashboard, manager):
    manager.use([used("failed01", 0, "haiku", 90_000, missing=1)])
    async with dashboard() as d:
        await opened(d)
        assert table_row(d, "haiku").split()[2] == "?"
        assert "$0.00" not in d.text()
        plot = [one for one in d.text().split("\n") if "│" in one]
        assert any(one.split("│")[1].strip()[:1] == "?" for one in plot)


async def test_d_w_and_m_change_the_length_of_a_column(dashboard, month, queries):
    async with dashboard() as d:
        await opened(d)
        for key, words in (("w", "last 26 weeks"), ("m", "last 12 months"), ("d", "last 30 days")):
            await d.press(key)
            await d.shows(words)
        assert [query.step for (query,) in queries if query.step] == ["day", "week", "month", "day"]
        await d.press("m")
        await d.shows("last 12 months")
        assert "Jan" in d.text()


async def test_g_changes_the_group_and_c_what_is_shown(dashboard, month):
    month.put(structs.replace(month.get("stopped1"), parent="waiting1"))
    async with dashboard() as d:
        await opened(d)
        for by, name in (
            ("agent", "codex"),
            ("folder", "code/api"),
            ("lead", "fix the flaky"),
            ("session", "rename the"),
        ):
            await d.press("g")
            await d.shows(f"by {by}")
            assert name in d.text()
        await d.press("g")
        await d.shows("by model")
        await d.press("c")
        await d.shows("today 682k")
        await d.press("c")
        await d.shows("today ~$3.00")


async def test_the_column_under_the_cursor_is_in_the_table(dashboard, month):
    async with dashboard() as d:
        await opened(d)
        assert "today" in line(d, "share")
        assert "$2.10" in table_row(d, "opus-4-8")
        await d.press("h")
        await d.until(lambda: "Nov 17" in line(d, "share"))
        await d.press("left", "left")
        await d.until(lambda: "Nov 15" in line(d, "share"))
        assert "$6.40" in table_row(d, "opus-4-8")
        await d.press("l", "right", "right", "l")
        await d.until(lambda: "today" in line(d, "share"))


async def test_enter_on_a_column_shows_its_sessions_and_esc_comes_back(dashboard, month):
    async with dashboard() as d:
        await opened(d)
        await d.press("h", "h", "h", "enter")
        await d.screen(MainScreen)
        await d.shows("usage of Nov 15")
        assert ids(d) == {"stopped1"}
        assert d.app.focused is d.main.table
        await d.press("escape")
        await d.screen(UsageScreen)
        await d.until(lambda: "Nov 15" in line(d, "share"))
        await d.press("escape")
        await d.screen(MainScreen)
        await d.until(lambda: len(ids(d)) > 1)
        assert "usage of" not in d.text()


async def test_enter_on_a_row_shows_its_sessions(dashboard, month):
    async with dashboard() as d:
        screen = await opened(d)
        await d.press("end", "k", "j")
        assert screen.view.group == screen.figures.table.rows[-1].group
        await d.press("enter")
        await d.screen(MainScreen)
        await d.shows("usage of last 30 days, model gpt-5.5")
        assert ids(d) == {"waiting1"}


async def test_a_filter_narrows_the_chosen_sessions_and_is_left_first(dashboard, month):
    async with dashboard() as d:
        await opened(d)
        await d.press("h", "l", "enter")
        await d.screen(MainScreen)
        await d.until(lambda: ids(d) == {"waiting1", "done0001"})
        await d.press("4")
        await d.until(lambda: ids(d) == {"done0001"})
        await d.press("escape")
        await d.until(lambda: ids(d) == {"waiting1", "done0001"})
        await d.press("escape")
        await d.screen(UsageScreen)


async def test_the_chosen_sessions_are_not_saved_with_the_view(dashboard, month):
    async with dashboard() as d:
        await opened(d)
        await d.press("h", "l", "enter")
        await d.screen(MainScreen)
        await d.press("S")
        await d.until((month.home / FILE).exists)
        assert "usage of" in d.text()
        saved = (month.home / FILE).read_text()
        assert "reverse = true" in saved
        assert "waiting1" not in saved
        assert "usage of" not in saved


async def test_a_column_without_sessions_says_so(dashboard, month):
    async with dashboard() as d:
        await opened(d)
        await d.press("h", "h", "enter")
        await d.shows("No session used anything here.")
        assert isinstance(d.app.screen, UsageScreen)


async def test_it_reads_again_after_a_change_only(dashboard, month, monkeypatch, queries):
    monkeypatch.setattr(usage_screen, "LEAST_SECONDS", 0.0)
    async with dashboard() as d:
        await opened(d)
        readings = len(queries)
        await d.settled()
        assert len(queries) == readings
        month.use([used("running1", 0, "haiku", 1_000, reported_usd=7.0)])
        month.put(month.get("running1"))
        await d.shows("today ~$10.00")


async def test_many_changes_in_a_few_seconds_are_one_reading(dashboard, month, monkeypatch):
    async with dashboard() as d:
        screen = await opened(d)
        timers = []
        monkeypatch.setattr(screen, "set_timer", lambda seconds, _: timers.append(seconds))
        for steps in range(101, 105):
            month.put(structs.replace(month.get("running1"), steps=steps))
            await d.until(lambda steps=steps: d.main.table.session("running1").steps == steps)
        assert len(timers) == 1
        assert 0 < timers[0] <= usage_screen.LEAST_SECONDS


async def test_nothing_used(dashboard, manager):
    async with dashboard(size=(80, 24)) as d:
        await opened(d)
        await d.shows("No usage in the last 30 days.")
        await d.press("j", "k", "h", "l", "home", "end", "pagedown", "pageup", "enter")
        await d.shows("No session used anything here.")


async def test_sixty_models_are_five_series_and_the_others(dashboard, manager):
    manager.use(used("done0001", n % 9, f"model-{n:02}", 1_000, reported_usd=60.0 - n) for n in range(60))
    async with dashboard() as d:
        await opened(d)
        await d.shows("55 others")
        await d.press("end")
        await d.until(lambda: "model-59" in d.text())


async def test_groups_beyond_the_most_are_counted_and_drawn_as_others(dashboard, manager, monkeypatch, queries):
    monkeypatch.setattr(usage_figures, "MOST", 20)
    manager.use(used("done0001", n % 9, f"model-{n:02}", 1_000, reported_usd=60.0 - n) for n in range(60))
    async with dashboard() as d:
        screen = await opened(d)
        assert {query.most for (query,) in queries if query.step} == {20}
        await d.shows("55 others")
        drawn = sum(sum(bar.parts) for bar in usage_figures.picture(screen.figures, screen.view).columns)
        assert drawn == pytest.approx(screen.figures.table.total.cost.known_usd)
        await d.press("end", "j", "pagedown")
        await d.until(lambda: "and 40 more" in d.text())
        assert screen.view.group == "model-19"
        assert "others" not in table_row(d, "model-19")
        await d.press("enter")
        await d.screen(MainScreen)
        await d.shows("model model-19")


async def test_the_group_without_a_lead_is_named(dashboard, manager):
    manager.use([used("done0001", 0, "haiku", 1_000, reported_usd=1.0)])
    async with dashboard() as d:
        await opened(d)
        await d.press("g", "g", "g")
        await d.shows("by lead")
        await d.until(lambda: d.text().count("no lead") == 2)  # the legend and the list
        await d.press("j", "enter")
        await d.shows("usage of last 30 days, lead no lead")


async def test_the_legend_keeps_the_ends_of_folders(dashboard, manager):
    folder = "/home/ann/code/long/path/of/a/client/project-{}"
    for n in range(3):
        manager.put(session(f"folder0{n}", Status.DONE, "x", created=n, cwd=folder.format(n)))
        manager.use([used(f"folder0{n}", 0, "haiku", 1_000, reported_usd=1.0)])
    async with dashboard(size=(100, 30)) as d:
        await opened(d)
        await d.press("g", "g")
        await d.shows("by folder")
        rows = [one for one in d.text().split("\n") if "│" in one]
        for n in range(3):
            assert any(f"project-{n} $1.00" in one for one in rows)


async def test_help_has_the_keys_of_usage_first_and_comes_back(dashboard, month):
    async with dashboard(size=(80, 40)) as d:
        await opened(d)
        await d.press("question_mark")
        await d.screen(HelpScreen)
        await d.shows("later column")
        text = d.text()
        first = text.partition("always")[0]
        for what in ("earlier column", "later column"):
            assert what in first
            assert text.count(what) == 1
        await d.press("escape")
        await d.screen(UsageScreen)


@pytest.mark.parametrize(
    ("width", "keys"),
    [
        (82, "Enter open  h j k l move  g group  ? help  Esc back  d w m period  c cost/tokens"),
        (80, "Enter open  h j k l move  g by  ? help  Esc back  c $/tokens  d w m period"),
        (50, "Enter open  h j k l move  g by  ? help  Esc back"),
        (42, "Enter open  h j k l move  g by  Esc back"),
    ],
)
async def test_the_most_useful_keys_fit(dashboard, month, width, keys):
    async with dashboard(size=(width, 24)) as d:
        await opened(d)
        assert d.text().rstrip("\n").split("\n")[-1].strip() == keys


async def test_the_line_above_the_chosen_sessions_names_what_escape_does(dashboard, month):
    async with dashboard() as d:
        await opened(d)
        await d.press("h", "l", "enter")
        await d.screen(MainScreen)
        await d.shows("Esc back to usage")
        await d.press("4")
        await d.shows("Esc clear")
        await d.press("escape")
        await d.shows("Esc back to usage")
        await d.press("escape")
        await d.screen(UsageScreen)


async def test_the_way_back_fits_into_fifty_columns(dashboard, month):
    async with dashboard(size=(50, 24)) as d:
        await opened(d)
        await d.press("j", "enter")
        await d.screen(MainScreen)
        await d.until(lambda: line(d, "usage of").rstrip().endswith("Esc back"))
        assert "2 of 5" in line(d, "usage of")


async def test_unknown_tokens_are_a_lower_bound(dashboard, manager):
    known, unknown = used("done0001", 0, "haiku", 1_000), used("failed01", 0, "haiku", 0, tokens_missing=1)
    manager.use([known | {"reported_usd": 1.0}, unknown])
    async with dashboard() as d:
        await opened(d)
        await d.press("c")
        await d.shows("today ≥1.1k")
        assert "?" in d.text()


async def test_the_unknown_sessions_fit_into_fifty_columns(dashboard, month):
    async with dashboard(size=(50, 24)) as d:
        await opened(d)
        assert line(d, "≥$1").strip() == "≥$140.10   1 session unknown"


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24), (30, 8)])
async def test_hostile_and_wide_names_stay_in_their_cells(dashboard, manager, size):
    names = ("模型" * 40, "\x1b[31mred\x1b[0m\r\n\x07", "\u202eevil", "", "é" * 300, "🧪👨‍👩‍👧" * 9)
    manager.use(used("done0001", n, name, 1_000, reported_usd=1.0) for n, name in enumerate(names))
    manager.use([used("done0001", 0, "endless", 1, reported_usd=float("inf"))])
    async with dashboard(size=size) as d:
        await opened(d)
        assert "\x1b" not in d.text()
        for key in "gggggcwmd":
            await d.press(key)
            await d.settled()


@pytest.mark.parametrize(("width", "there", "dropped"), [(160, "sessions", "zzz"), (80, "out", "sessions"),
                                                         (50, "today", "cached")])  # fmt: skip
async def test_columns_drop_from_the_right(dashboard, month, width, there, dropped):
    async with dashboard(size=(width, 24)) as d:
        await opened(d)
        heading = line(d, "share")
        assert there in heading
        assert dropped not in heading


async def test_the_marks_on_the_screen_are_explained_in_one_line(dashboard, month):
    async with dashboard(size=(80, 24)) as d:
        await opened(d)
        *_, marks, _keys = (one for one in d.text().split("\n") if one.strip())
        assert marks.strip() == "~ computed at list prices   ≥ at least, a part is not known   ? not known"


async def test_no_marks_no_explanation(dashboard, manager):
    manager.use([used("done0001", 0, "opus-4-8", 400_000, reported_usd=2.1)])
    async with dashboard() as d:
        await opened(d)
        assert "computed" not in d.text()
        assert "at least" not in d.text()


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
async def test_the_plot_has_the_lines_that_the_groups_leave(dashboard, month, size):
    async with dashboard(size=size) as d:
        screen = await opened(d)
        blank = [one for one in d.text().split("\n") if not one.strip()]
        assert len(blank) <= 3
        assert screen.list.size.height == min(screen.list.count(), size[1] * 45 // 100)


async def test_ascii(dashboard, month):
    async with dashboard(plain_ascii=True) as d:
        await opened(d)
        assert d.text().isascii()
        assert "#" in d.text()
        assert line(d, "of it").strip().startswith(">$")
        assert "~ computed" in d.text()


async def test_the_key_is_in_the_palette(dashboard, month):
    async with dashboard() as d:
        await d.press("ctrl+p", *"usage")
        await d.shows("usage (g u)")
        await d.press("enter")
        await d.screen(UsageScreen)
