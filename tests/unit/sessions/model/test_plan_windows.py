"""The windows of plans: the shapes in which claude and codex report them, and when the user sees them."""

import json

import pytest

from agentdash.sessions.agents.parsing.plan_reports import rollout_report
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.plan_windows import PlanWindow, short_words, those_that_matter, window_words
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.use.plan_windows import MOST_KEPT

NOW = 1_795_430_400_000
LATER = NOW // 1000 + 3600
AWKWARD = [
    None, True, "82", "", [], {}, -1, -1e308, 1e308, 10**400, float("inf"), 253402300799, 253402300799999, 10**30, 0.5,
]  # fmt: skip


def claude(**info):
    return json.dumps({"type": "rate_limit_event", "rate_limit_info": info}).encode()


def server(**limits):
    return json.dumps({"method": "account/rateLimits/updated", "params": {"rateLimits": limits}}).encode()


def read(agent, line):
    plan = agent_named(agent).plan
    assert plan.mark in line
    return plan.windows(line)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    yield store
    store.close()


def test_claude_reports_a_part_of_one_of_its_window_and_of_those_beside_it():
    line = claude(
        status="allowed_warning",
        rateLimitType="five_hour",
        utilization=0.82,
        resetsAt=LATER,
        unifiedWindows={"five_hour": {"utilization": 0.8}, "seven_day": {"utilization": 0.4, "resetsAt": LATER + 9}},
    )
    five, week = read("claude", line)
    assert (five.window, five.used_percent, five.resets_at, five.status) == ("5 h", 82.0, LATER * 1000, "warning")
    assert (week.window, week.used_percent, week.status) == ("week", 40.0, "ok")


def test_codex_reports_percents_of_windows_by_their_minutes():
    both = {
        "limitId": "codex",
        "primary": {"usedPercent": 82, "windowDurationMins": 300, "resetsAt": LATER},
        "secondary": {"usedPercent": 12.5, "windowDurationMins": 10080, "resetsAt": LATER},
    }
    assert [(one.window, one.used_percent, one.status) for one in read("codex", server(**both))] == [
        ("5 h", 82.0, "ok"),
        ("week", 12.5, "ok"),
    ]
    limited = read("codex", server(**both, rateLimitReachedType="rate_limit_reached"))
    assert [one.status for one in limited] == ["limited", "ok"]


@pytest.mark.parametrize(
    ("hours", "name"),
    [(0.2, "1 h"), (24, "24 h"), (25, "25 h"), (47, "47 h"), (48, "2 days"), (72, "3 days"), (167, "week")],
)
def test_a_window_is_named_in_days_from_two_days_on(hours, name):
    primary = {"usedPercent": 82, "windowDurationMins": hours * 60, "resetsAt": LATER}
    (one,) = read("codex", server(limitId="codex", primary=primary))
    assert short_words(one) == f"codex {name} 82 %"


def test_the_newest_report_of_a_transcript_of_codex_counts_and_empty_ones_are_passed_over(tmp_path):
    def count(limits):
        return json.dumps({"type": "event_msg", "payload": {"type": "token_count", "rate_limits": limits}})

    full = {"limit_id": "codex", "primary": {"used_percent": 71.9, "window_minutes": 299, "resets_at": LATER}}
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join([count(full | {"primary": None}), count(full), count({"primary": None}), "not json"]))
    (one,) = rollout_report(path, "codex")
    assert (one.window, one.used_percent, one.resets_at) == ("5 h", 71.9, LATER * 1000)
    assert rollout_report(tmp_path / "none", "codex") == ()


@pytest.mark.parametrize("value", AWKWARD)
def test_no_value_of_an_agent_raises_or_is_taken_for_a_figure_that_it_is_not(value, store):
    shapes = [
        claude(status=value, rateLimitType=value, utilization=value, resetsAt=value),
        claude(rateLimitType="five_hour", utilization=value, resetsAt=value, unifiedWindows=value),
        claude(unifiedWindows={"seven_day": value, "x": {"utilization": value}}),
        json.dumps({"type": "rate_limit_event", "rate_limit_info": value}).encode(),
    ]
    limits = [
        {"primary": value, "secondary": value},
        {"limitId": value, "primary": {"usedPercent": value, "windowDurationMins": value, "resetsAt": value}},
    ]
    found = [one for line in shapes for one in read("claude", line)]
    found += [one for one in limits for one in read("codex", server(**one))]
    found += read("codex", json.dumps({"method": "account/rateLimits/updated", "params": value}).encode())
    for one in found:
        assert one.used_percent is None or 0 <= one.used_percent <= 100
        assert window_words(one, NOW)
        assert short_words(one)
    store.plan_windows.note(found)
    assert those_that_matter(store.plan_windows.all(), NOW) is not None


@pytest.mark.parametrize("line", [b'"rate_limit_event"', b'["rate_limit_event"]', b'{"type":"rate_limit_event"',
                                  b'"rate_limit_event"' + b"[" * 100_000])  # fmt: skip
def test_a_line_that_only_names_the_event_reports_nothing(line):
    assert read("claude", line) == ()


def window(used=82.0, status="ok", resets=LATER * 1000, name="5 h"):
    return PlanWindow(agent="codex", window=name, used_percent=used, resets_at=resets, status=status, seen_at=NOW)


@pytest.mark.parametrize(
    ("one", "shown"),
    [
        (window(69.9), False),
        (window(70.0), True),
        (window(None, "warning"), True),
        (window(1.0, "limited"), True),
        (window(90.0, resets=NOW), False),
        (window(90.0, resets=None), True),
    ],
)
def test_a_window_matters_from_70_percent_or_if_limited_until_it_resets(one, shown):
    assert one.matters(NOW) is shown


def test_a_window_is_written_only_if_a_whole_percent_or_its_state_or_its_end_changed(store):
    assert store.plan_windows.note([window(82.1)])
    assert not store.plan_windows.note([window(82.9, resets=LATER * 1000 + 30_000)])
    assert store.plan_windows.note([window(83.0)])
    assert store.plan_windows.note([window(83.0, "limited")])
    assert store.plan_windows.note([window(83.0, "limited", LATER * 1000 + 3_600_000)])
    assert [one.status for one in store.plan_windows.all()] == ["limited"]


def test_made_up_windows_do_not_fill_the_table(store):
    for n in range(100):
        store.plan_windows.note([window(name=f"w{n}")])
    assert len(store.plan_windows.all()) == MOST_KEPT


def test_the_words_name_the_end_in_local_time():
    assert window_words(window(), NOW).startswith("codex 5 h 82 % until ")
    assert short_words(window()) == "codex 5 h 82 %"
    assert window_words(window(100.0, "limited", None, "week"), NOW) == "codex week limited"
