"""Which rows the table has, in which order: no screen."""

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Load, Status, Usage
from agentdash.widgets.table.columns import COLUMNS
from agentdash.widgets.table.ordering import ORDERS, Arrangement, Grouping, TwoLines, heading_key
from agentdash.widgets.table.row_model import Chooser, Density, RowModel, level_for

NOW = 10_000_000


def session(name, status=Status.DONE, created=0, **own):
    times = {"created_at": created, "updated_at": created, "seen_at": NOW, "handled_at": own.get("seen_at", NOW)}
    times |= {"ended_at": created if status.ended else None, "last_event_at": created}
    times |= {"started_at": None if status.ended else created}
    return factories.session(name, status=status, title=name, **(times | own))


def table(*sessions, **order):
    rows = RowModel()
    rows.choose(None, NOW, Arrangement(**({"grouping": Grouping.FLAT} | order)))
    rows.update(sessions, (), NOW)
    return rows


def names(rows):
    return [rows.row(number).key for number in range(len(rows))]


def test_what_needs_somebody_stands_first_then_what_runs_then_the_newest():
    rows = table(
        session("old", created=1),
        session("new", created=9),
        session("runs", Status.RUNNING, created=2),
        session("unseen", created=3, seen_at=None),
        session("failed", Status.FAILED, created=4, seen_at=None),
        session("failed-seen", Status.FAILED, created=5),
        session("waits", Status.WAITING, created=0, seen_at=None),
        session("queued", Status.QUEUED, created=6),
    )
    assert names(rows) == ["waits", "failed", "runs", "unseen", "queued", "new", "failed-seen", "old"]


def test_the_order_inside_a_section_is_the_age_that_is_shown():
    rows = table(
        session("done-late", created=1, ended_at=90, seen_at=None),
        session("done-early", created=9, ended_at=50, seen_at=None),
        session("began-late", Status.RUNNING, created=1, started_at=80, last_event_at=81),
        session("began-early", Status.RUNNING, created=9, started_at=40, last_event_at=99),
        session("asks", created=2, ended_at=70, asks="Which?", handled_at=None),
        session("asked-late", Status.WAITING, created=1, asking=1, waits_since=95, last_event_at=20),
        session("asked-early", Status.WAITING, created=9, asking=1, waits_since=30, last_event_at=99),
        session("failed", Status.FAILED, created=3, ended_at=60, handled_at=None),
        session("seen-late", created=1, ended_at=8),
        session("seen-early", created=5, ended_at=7),
        grouping=Grouping.SECTIONS,
    )
    by_heading = [row.heading.sessions for row in map(rows.row, range(len(rows))) if row.heading]
    assert by_heading == [
        ("asked-early", "failed", "asks", "asked-late"),
        ("began-late", "began-early"),
        ("done-late", "done-early"),
        ("seen-late", "seen-early"),
    ]


def test_a_failure_that_was_only_opened_stays_until_it_was_dealt_with():
    rows = table(session("failed", Status.FAILED, created=4, handled_at=None), grouping=Grouping.SECTIONS)
    assert names(rows) == [heading_key("needs you"), "failed"]
    assert rows.update([session("failed", Status.FAILED, created=4)], (), NOW)
    assert names(rows) == [heading_key("seen"), "failed"]


def test_the_sessions_that_ask_are_known_without_a_pass_over_all():
    rows = table(session("a", asking=1), session("b"), session("c", asking=2))
    assert {one.id for one in rows.asking} == {"a", "c"}
    rows.update([session("a"), session("b", asking=1)], ["c"], NOW)
    assert [one.id for one in rows.asking] == ["b"]


def test_every_order_can_be_reversed_and_the_unknown_stays_last():
    known = [
        session("a", created=1, cost_usd=1.0, model="x", usage=Usage.of(1, output=1), started_at=1, steps=1, turn=1),
        session("b", created=2, cost_usd=2.0, model="y", usage=Usage.of(2, output=2), started_at=2, steps=2, turn=2),
    ]
    unknown = session("c", created=3, cost_usd=None, model=None)
    for sort in ORDERS:
        rows = table(*known, unknown, sort=sort)
        forward = names(rows)
        rows.choose(None, NOW, Arrangement(sort=sort, reverse=True))
        backward = names(rows)
        if sort in ("cost", "tok", "model", "time"):
            assert forward[-1] == backward[-1] == "c", sort
        if sort in ("cost", "tok", "model", "time", "turn", "what"):
            assert [name for name in forward if name != "c"] == [name for name in backward[::-1] if name != "c"], sort


def test_every_column_has_an_order_that_follows_its_values():
    low = session(
        "a", created=1, started_at=1, cost_usd=1.0, model="x", usage=Usage.of(1, output=1), steps=1, turn=1, agent="a",
        cwd="/z/a", source="orchestrator:a", seen_at=None, context_tokens=1, context_window=9,
    )  # fmt: skip
    high = session(
        "b", Status.FAILED, created=2, started_at=2, cost_usd=2.0, model="y", usage=Usage.of(2, output=2), steps=2,
        turn=2, agent="b", cwd="/z/b", source="user", seen_at=None, context_tokens=1, context_window=3,
    )  # fmt: skip
    loads = {"a": Load(processes=1, rss_bytes=10, cpu=0.1), "b": Load(processes=2, rss_bytes=20, cpu=0.2)}
    for column in [*COLUMNS, "state", "what"]:
        orders = []
        for reverse in (False, True):
            rows = table(high, low, sort=column, reverse=reverse)
            rows.measured(loads, NOW)
            orders.append(names(rows))
        assert sorted(orders) == [["a", "b"], ["b", "a"]], column


def test_the_folder_column_is_ordered_by_what_it_shows():
    sessions = [session("a", cwd="/a/zebra"), session("b", cwd="/b/mule/"), session("c", cwd="/c/ant")]
    assert names(table(*sessions, sort="where")) == ["c", "b", "a"]
    assert names(table(*sessions, sort="folder")) == ["a", "b", "c"]


def test_what_was_measured_comes_first_and_moves_no_row_while_one_is_in_hand():
    rows = table(*(session(name, created=number) for number, name in enumerate("dcba")), sort="cpu")
    assert names(rows) == ["a", "b", "c", "d"]
    first = {"c": Load(processes=1, rss_bytes=0, cpu=None), "d": Load(processes=1, rss_bytes=0, cpu=None)}
    assert not rows.measured(first, NOW, hold="a")  # processor time is known only between two measurements
    second = {"c": Load(processes=1, rss_bytes=0, cpu=0.1), "d": Load(processes=1, rss_bytes=0, cpu=0.9)}
    assert rows.measured(second, NOW, hold="a")  # the order was just asked for
    assert names(rows) == ["d", "c", "a", "b"]
    busy = {"a": Load(processes=1, rss_bytes=0, cpu=2.0), "b": Load(processes=1, rss_bytes=0, cpu=None)}
    assert not rows.measured(busy, NOW, hold="c")
    assert names(rows) == ["d", "c", "a", "b"]
    rows.update([session("c", created=1, last_message="other words")], (), NOW, hold="c")
    assert names(rows) == ["d", "c", "a", "b"]
    assert rows.measured(busy, NOW)
    assert names(rows) == ["a", "b", "c", "d"]
    assert not rows.measured(busy, NOW)


def test_a_measurement_that_no_order_needs_moves_nothing_and_counts_once_one_does():
    rows = table(session("a", created=2), session("b", created=1))
    assert not rows.measured({"b": Load(processes=3, rss_bytes=0, cpu=None)}, NOW)
    rows.choose(None, NOW, Arrangement(sort="procs"))
    assert names(rows) == ["b", "a"]


def test_the_row_under_the_hand_stays_while_the_others_move_around_it():
    rows = table(*(session(name, created=number) for number, name in enumerate("dcba")))
    assert names(rows) == ["a", "b", "c", "d"]
    assert rows.update([session("d", Status.FAILED, seen_at=None)], (), NOW, hold="b")
    assert names(rows) == ["d", "b", "a", "c"]
    assert rows.update([session("new", Status.WAITING, created=9, seen_at=None)], (), NOW, hold="b")
    assert names(rows)[1] == "b"
    rows.update([], ["c"], NOW)
    assert names(rows) == ["d", "new", "a", "b"]


def test_a_change_that_moves_nothing_says_so():
    rows = table(session("a"), session("b"))
    assert not rows.update([session("a", last_message="another")], (), NOW)
    assert not rows.update([], ["unknown"], NOW)


def test_only_what_was_chosen_is_shown_and_comes_and_goes_by_itself():
    rows = table(session("a"), session("b"))
    rows.choose(Chooser(lambda one, _: one.agent == "claude"), NOW)
    assert (names(rows), rows.total) == ([], 2)
    assert rows.update([session("a", agent="claude")], (), NOW)
    assert names(rows) == ["a"]
    assert rows.update([session("a")], (), NOW)
    assert names(rows) == []
    rows.choose(None, NOW)
    assert sorted(names(rows)) == ["a", "b"]


def test_groups_have_headings_that_count_and_fold():
    rows = table(
        session("a", cwd="/srv/api"),
        session("b", cwd="/srv/web", status=Status.FAILED, seen_at=None),
        session("c", cwd="/srv/web"),
        grouping=Grouping.FOLDER,
    )
    api, web = heading_key("/srv/api"), heading_key("/srv/web")
    assert names(rows) == [api, "a", web, "b", "c"]
    assert rows.row(2).heading.sessions == ("b", "c")
    assert rows.row(2).heading.attention == 1
    assert rows.fold(web, True)
    assert names(rows) == [api, "a", web]
    assert rows.shown == ["b", "a", "c"]
    assert not rows.fold(web, True)
    assert not rows.fold("a", True)
    assert rows.fold(web, False)
    assert names(rows) == [api, "a", web, "b", "c"]


def test_children_stand_below_their_parents():
    rows = table(
        session("root", created=1),
        session("child", created=2, parent="root"),
        session("grandchild", created=3, parent="child"),
        session("second", created=4, parent="root"),
        session("stranger", created=5, parent="gone"),
        sort="created",
        grouping=Grouping.TREE,
    )
    assert names(rows) == ["stranger", "root", "second", "child", "grandchild"]
    leads = [rows.row(number).lead for number in range(5)]
    assert leads == ["", "▾ ", "├ ", "└ ▾ ", "  └ "]
    assert rows.fold("root", True)
    assert names(rows) == ["stranger", "root"]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), max_size=6, unique_by=lambda t: t[0])
)
def test_no_family_hides_a_session(family):
    """Parents of all kinds: none, the session itself, each other."""
    sessions = [session(str(name), created=at, parent=str(parent)) for name, parent, at in family]
    rows = table(*sessions, grouping=Grouping.TREE)
    assert sorted(names(rows)) == sorted(one.id for one in sessions)
    assert rows.height == len(sessions)


@given(st.permutations(range(8)), st.sampled_from(list(ORDERS)), st.booleans())
def test_the_order_does_not_depend_on_the_way_there(order, sort, reverse):
    states = list(Status)[:8]
    sessions = [session(str(n), states[n], created=n % 3, cost_usd=n % 2 or None) for n in range(8)]
    at_once, one_by_one = RowModel(), RowModel()
    for rows in (at_once, one_by_one):
        rows.choose(None, NOW, Arrangement(sort=sort, reverse=reverse))
    at_once.update(sessions, (), NOW)
    for number in order:
        one_by_one.update([sessions[number]], (), NOW)
    assert names(at_once) == names(one_by_one)


def test_what_needs_the_user_comes_by_its_wait_and_pinned_ones_above_all():
    rows = table(
        session("failed", Status.FAILED, created=4, seen_at=None),
        session("stuck", Status.RUNNING, stuck="`pytest` failed 4 times in a row", stuck_at=1),
        session("denied", created=2, denied=2, seen_at=None),
        session("old", created=1, pinned_at=5),
        session("runs", Status.RUNNING),
    )
    assert names(rows) == ["old", "stuck", "denied", "failed", "runs"]
    rows.choose(None, NOW, Arrangement(sort="created"))
    assert names(rows)[0] == "old"


def test_the_usual_order_has_sections_with_counts_that_fold():
    rows = table(
        session("seen", created=1),
        session("runs", Status.RUNNING, created=2),
        session("unseen", created=3, seen_at=None),
        session("failed", Status.FAILED, created=4, seen_at=None),
        session("asks", created=5, asks="Which one?", seen_at=None),
        session("queued", Status.QUEUED, created=6),
        session("pinned", created=7, pinned_at=1),
        grouping=Grouping.SECTIONS,
    )
    sections = ["pinned", "needs you", "running", "done, unread", "queued", "seen"]
    members = {
        row.heading.name: row.heading.sessions for number in range(len(rows)) if (row := rows.row(number)).heading
    }
    assert list(members) == sections
    assert members["needs you"] == ("failed", "asks")
    assert rows.headings == 6
    assert rows.fold(heading_key("needs you"), True)
    assert "failed" not in names(rows)
    assert rows.update([session("failed", Status.FAILED, created=4)], (), NOW)
    counts = [(row.heading.name, len(row.heading.sessions)) for row in map(rows.row, range(len(rows))) if row.heading]
    assert counts[1:] == [("needs you", 1), ("running", 1), ("done, unread", 1), ("queued", 1), ("seen", 2)]


def test_archived_and_deleted_sessions_have_sections_of_their_own():
    rows = table(session("a", archived_at=1), session("b", deleted_at=1), session("c"), grouping=Grouping.SECTIONS)
    assert names(rows) == [heading_key("seen"), "c", heading_key("archived"), "a", heading_key("deleted"), "b"]


@pytest.mark.parametrize(("sort", "reverse"), [("cost", False), ("attention", True)])
def test_another_order_is_one_list(sort, reverse):
    rows = table(session("a"), session("b", Status.RUNNING), sort=sort, reverse=reverse, grouping=Grouping.SECTIONS)
    assert sorted(names(rows)) == ["a", "b"]


def test_the_row_in_hand_keeps_its_section_until_the_hand_leaves_it():
    running = [session(name, Status.RUNNING, created=number) for number, name in enumerate("cba")]
    rows = table(*running, grouping=Grouping.SECTIONS)
    head = heading_key("running")
    assert rows.update([session("b", created=1, seen_at=None)], (), NOW, hold="b")
    assert names(rows) == [head, "a", "b", "c"]
    assert rows.row(0).heading.count == 2  # it is counted where it belongs, not where it is held
    assert rows.update([session("new", Status.FAILED, created=9, seen_at=None)], (), NOW, hold="b")
    assert names(rows) == [heading_key("needs you"), "new", head, "a", "b", "c"]
    assert rows.let_go(NOW, "new", "new")
    assert names(rows) == [heading_key("needs you"), "new", head, "a", "c", heading_key("done, unread"), "b"]
    assert rows.update([session("new", created=9, seen_at=None)], (), NOW, hold="new")
    counts = {row.heading.name: row.heading.count for row in map(rows.row, range(len(rows))) if row.heading}
    assert counts == {"needs you": 0, "running": 2, "done, unread": 2}


def test_each_session_has_one_line_or_two_and_a_heading_one():
    rows = table(session("a"), session("b"), grouping=Grouping.SECTIONS)
    assert (rows.height, rows.set_level(TwoLines.ALL), rows.set_level(TwoLines.ALL)) == (3, True, False)
    assert [rows.top(number) for number in range(3)] == [0, 1, 3]
    assert (rows.height, rows.find(2), rows.find(3)) == (5, (1, 1), (2, 0))


def test_rows_that_need_the_user_or_run_have_two_lines_as_long_as_these_fit():
    rows = table(
        session("failed", Status.FAILED, handled_at=None),
        session("runs", Status.RUNNING),
        session("done", seen_at=None),
        *(session(f"seen{n}") for n in range(20)),
        grouping=Grouping.SECTIONS,
    )

    def lines(room):
        rows.set_level(level_for(Density.MIXED, rows, room))
        return [rows.lines(rows.position(name)) for name in ("failed", "runs", "done", "seen3")]

    assert lines(40) == lines(6) == [2, 2, 1, 1]
    assert lines(3) == [2, 1, 1, 1]
    assert lines(1) == [1, 1, 1, 1]
    assert rows.height == 4 + 23
    lines(40)
    assert rows.update([session("done", Status.RUNNING)], (), NOW)
    assert rows.lines(rows.position("done")) == 2
    assert level_for(Density.ONE, rows, 99) is TwoLines.NONE
    assert level_for(Density.TWO, rows, 9) is TwoLines.ALL
    assert Density("auto") is Density.MIXED


def test_a_row_that_stays_in_place_gets_the_lines_of_its_new_state():
    rows = table(session("a", Status.RUNNING), sort="created")
    rows.set_level(TwoLines.WORKS)
    assert rows.height == 2
    assert rows.update([session("a")], (), NOW)
    assert (rows.height, rows.lines(0)) == (1, 1)


def test_another_key_that_moves_no_row_says_so():
    rows = table(*(session(name, cost_usd=cost) for name, cost in (("a", 9.0), ("b", 5.0), ("c", 1.0))), sort="cost")
    assert not rows.update([session("b", cost_usd=8.0)], (), NOW)
    assert not rows.update([session("a", cost_usd=20.0), session("b", cost_usd=10.0)], (), NOW)
    assert rows.update([session("c", cost_usd=15.0)], (), NOW)
    assert names(rows) == ["a", "c", "b"]


def test_a_held_row_goes_to_its_place_when_the_hand_is_gone():
    rows = table(*(session(name, cost_usd=cost) for name, cost in (("a", 9.0), ("b", 5.0), ("c", 1.0))), sort="cost")
    assert not rows.update([session("c", cost_usd=20.0)], (), NOW, hold="c")
    assert names(rows) == ["a", "b", "c"]
    assert not rows.update([session("b", cost_usd=6.0)], (), NOW, hold="c")
    assert rows.update([session("b", cost_usd=7.0)], (), NOW)
    assert names(rows) == ["c", "a", "b"]


def test_a_row_that_was_left_just_now_stays_until_the_hand_is_off_the_table():
    rows = table(*(session(name, cost_usd=cost) for name, cost in (("a", 9.0), ("b", 5.0), ("c", 1.0))), sort="cost")
    assert not rows.update([session("c", cost_usd=20.0)], (), NOW, hold="c")
    assert not rows.update([session("b", cost_usd=6.0)], (), NOW, hold="b")
    assert names(rows) == ["a", "b", "c"]
    assert rows.let_go(NOW, "b", "b")
    assert names(rows) == ["c", "b", "a"]
    assert not rows.let_go(NOW, "b", "b")
    assert rows.let_go(NOW, None, None)
    assert names(rows) == ["c", "a", "b"]
    assert not rows.let_go(NOW, None, None)


def test_what_somebody_reads_is_not_filtered_away_before_he_leaves_it():
    unseen = [session(name, Status.FAILED, seen_at=None) for name in "ab"]
    rows = table(*unseen, sort="what")
    rows.choose(Chooser(lambda session, _: session.attention), NOW)
    assert not rows.update([session("a", Status.FAILED)], (), NOW, keep="a")
    assert names(rows) == ["a", "b"]
    assert not rows.let_go(NOW, None, "a")
    assert rows.let_go(NOW, None, "b")
    assert names(rows) == ["b"]
    assert rows.update([session("b", Status.FAILED)], (), NOW, keep="a")
    assert names(rows) == []


def test_a_clock_that_goes_back_does_not_hold_up_a_filter_over_time():
    rows = table(session("a", created=0), session("b", created=0))
    rows.choose(Chooser(lambda session, now: session.id == "a" or now < NOW, timed=True), NOW)
    assert names(rows) == ["a"]
    assert rows.chosen_anew(NOW - 3_600_000)
    assert sorted(names(rows)) == ["a", "b"]


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 6), st.none() | st.integers(0, 5), st.sampled_from("abc")),
        max_size=12,
    ),
    st.sampled_from(list(Grouping)),
)
def test_rows_are_told_to_move_when_they_do_and_only_then(changes, grouping):
    """Whatever changes and is held: the order is that of a table which was filled at once, but for what a hand is on,
    or was on since all rows were put in order last."""
    order = Arrangement(sort="cost", grouping=grouping)
    rows = table(*(session(str(name), cost_usd=name) for name in range(6)), sort="cost", grouping=grouping)
    hands = set()
    for name, cost, hold, agent in changes:
        held = None if hold is None else str(hold)
        before = [rows.row(number) for number in range(len(rows))]
        changed = session(str(name), cost_usd=cost, cwd=agent, parent=agent)
        moved = rows.update([changed], (), NOW, held)
        after = [rows.row(number) for number in range(len(rows))]
        assert moved is (before != after)
        fresh = RowModel()
        fresh.choose(None, NOW, order)
        fresh.update(list(rows), (), NOW)
        held = held if grouping in (Grouping.FLAT, Grouping.SECTIONS) else None
        hands = set() if held is None else {held} if moved else {held, *hands}
        assert [key for key in names(rows) if key not in hands] == [key for key in names(fresh) if key not in hands]


STATES = (Status.RUNNING, Status.FAILED, Status.DONE, Status.QUEUED)


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(STATES), st.booleans(), st.none() | st.integers(0, 5)), max_size=12
    )
)
def test_sections_are_those_of_a_table_that_was_filled_at_once(changes):
    rows = table(*(session(str(name), created=name) for name in range(6)), grouping=Grouping.SECTIONS)
    hands = set()
    for name, status, seen, hold in changes:
        held = None if hold is None else str(hold)
        before = [rows.row(number) for number in range(len(rows))]
        moved = rows.update([session(str(name), status, created=name, seen_at=NOW if seen else None)], (), NOW, held)
        after = [rows.row(number) for number in range(len(rows))]
        assert moved is (before != after)
        hands = set() if held is None else {held} if moved else {held, *hands}
        settled = table(*rows, grouping=Grouping.SECTIONS)
        where = [{row.key: row.parent for row in map(model.row, range(len(model)))} for model in (rows, settled)]
        shown = [[(key, parents[key]) for key in parents if key not in hands and parents[key]] for parents in where]
        assert shown[0] == shown[1]
        before = names(rows)
        assert rows.let_go(NOW, None, None) is (before != names(rows))
        assert names(rows) == names(settled)
        hands = set()


@pytest.mark.parametrize("grouping", [Grouping.FOLDER, Grouping.AGENT])
def test_a_heading_counts_again_when_the_user_dealt_with_it(grouping):
    unseen = session("a", Status.FAILED, seen_at=None)
    rows = table(unseen, session("b"), sort="created", grouping=grouping)
    assert rows.row(0).heading.attention == 1
    assert rows.update([session("a", Status.FAILED)], (), NOW)
    assert rows.row(0).heading.attention == 0
    assert not rows.update([session("a", Status.FAILED, last_message="another")], (), NOW)


def test_a_chain_of_three_thousand_generations_is_shown_and_leaves_room_for_titles():
    chain = [session(str(n), created=n, parent=str(n - 1)) for n in range(3_000)]
    rows = table(*chain, grouping=Grouping.TREE)
    assert names(rows) == [str(n) for n in range(3_000)]
    assert max(len(rows.row(number).lead) for number in range(3_000)) == 16
    assert rows.row(2_999).lead.endswith("└ ")
    assert rows.row(2).lead == "  └ ▾ "
    assert rows.fold("1", True)
    assert names(rows) == ["0", "1"]


def test_a_choice_by_time_is_made_again_but_not_at_every_moment():
    rows = table(session("old", created=NOW - 60_000), session("new", created=NOW))
    rows.choose(Chooser(lambda one, now: now - one.created_at < 65_000, timed=True), NOW)
    assert names(rows) == ["new", "old"]
    assert not rows.chosen_anew(NOW + 9_000)
    assert rows.chosen_anew(NOW + 10_000)
    assert names(rows) == ["new"]
    assert not rows.chosen_anew(NOW + 20_000)
    rows.choose(Chooser(lambda one, now: now < NOW), NOW - 1)
    assert not rows.chosen_anew(NOW + 100_000)
    assert len(rows) == 2
