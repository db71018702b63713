"""The header, the rows, the quick filters and the headings of groups count the same sessions under the same words."""

from collections import Counter

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.attention import SILENT_MS
from agentdash.tui.state.table_views import QUICK, View
from agentdash.widgets.drawing.glyphs import STATES
from agentdash.widgets.table.columns import STATE, Moment, fitted
from agentdash.widgets.table.header import Tally
from agentdash.widgets.table.ordering import Arrangement, Grouping
from agentdash.widgets.table.row_model import RowModel
from agentdash.widgets.table.status_line import counts

NOW = 10_000_000
LIKE_RUNNING = {"starting", "finishing"}


def session(name, status, *, seen=False, silent=False, stuck=False, denied=0):
    last = NOW - SILENT_MS * 2 if silent else NOW
    return factories.session(
        name, title=name, status=status, cwd=f"/srv/{len(name) % 3}", created_at=1, updated_at=2, last_event_at=last,
        ended_at=NOW if status.ended else None, seen_at=3 if seen else None,
        stuck="`make` failed 5 times in a row" if stuck else None, denied=denied,
    )  # fmt: skip


SESSIONS = st.lists(
    st.builds(
        dict, status=st.sampled_from(Status), seen=st.booleans(), silent=st.booleans(), stuck=st.booleans(),
        denied=st.integers(0, 1),
    ),
    max_size=12,
).map(lambda all_facts: [session("s" * (n + 8), **facts) for n, facts in enumerate(all_facts)])  # fmt: skip


def words(one):
    """The state of a row as the header says it."""
    text = fitted(STATE, one, Moment(NOW)).split(maxsplit=1)[1].rstrip()
    return "running" if text in LIKE_RUNNING else text.replace("lost", "failed")


def header(sessions, width=160):
    tally = Tally()
    tally.update(sessions, ())
    return counts(tally, "", width).plain


@given(SESSIONS)
def test_the_header_counts_what_the_state_column_shows(sessions):
    shown = Counter(map(words, sessions))
    for word in ("waiting", "stuck", "running", "queued", "failed new", "done new"):
        assert (f" {shown[word]} {word}" in header(sessions)) is (shown[word] > 0)


@given(SESSIONS)
def test_a_quick_filter_names_how_many_of_its_rows_the_header_counts(sessions):
    for key, word in {"3": "failed new", "4": "done new"}.items():
        rows = RowModel()
        rows.choose(View(quick=key).chooser(), NOW)
        rows.update(sessions, (), NOW)
        assert rows.chosen == sum(words(one).startswith(QUICK[key][0]) for one in sessions)
        assert (f" {rows.new} {word}" in header(sessions)) is (rows.new > 0)


@given(SESSIONS)
def test_the_headings_of_groups_count_what_needs_you_as_its_filter_does(sessions):
    chosen = RowModel()
    chosen.choose(View(quick="1").chooser(), NOW)
    chosen.update(sessions, (), NOW)
    grouped = RowModel()
    grouped.choose(None, NOW, Arrangement(grouping=Grouping.FOLDER))
    grouped.update(sessions, (), NOW)
    headings = [row.heading for row in map(grouped.row, range(len(grouped))) if row.heading]
    assert sum(heading.attention for heading in headings) == chosen.chosen


def test_silence_alone_needs_nobody():
    rows = RowModel()
    rows.choose(None, NOW, Arrangement(grouping=Grouping.FOLDER))
    rows.update([session("quiet", Status.RUNNING, silent=True)], (), NOW)
    assert rows.row(0).heading.attention == 0


@pytest.mark.parametrize(("width", "told"), [
    (160, "agentdash     ● 3 running   … 2 queued   ✗ 11 failed new   ✓ 286 done new"),
    (80, "agentdash   ● 3 running   … 2 queued   ✗ 11 failed new   ✓ 286 done new"),
    (50, "● 3 running  … 2 queued  ✗ 11 new  ✓ 286 new"),
    (30, "● 3  … 2  ✗ 11  ✓ 286"),
])  # fmt: skip
def test_the_header_says_new_at_every_width_that_has_room(width, told):
    many = {Status.RUNNING: 3, Status.QUEUED: 2, Status.FAILED: 11, Status.DONE: 286}
    sessions = [session(f"{status}-{n:08}", status) for status, count in many.items() for n in range(count)]
    line = header(sessions, width)
    assert " ".join(told.split()) == " ".join(line.split()).replace(STATES[Status.QUEUED], "…")
