"""The windows of the plans of agents in the JSON of the status: the same records as those of the verb plan."""

import json

from verbs import verb

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.plan_windows import PlanWindow

HOUR_MS = 3_600_000


def printed(name):
    done = verb(*name.split(), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_status_has_the_windows_that_have_not_ended(manager):
    now = now_ms()
    manager.store.plan_windows.note(
        [
            PlanWindow(agent="claude", window="5 h", used_percent=82.0, resets_at=now + HOUR_MS, status="warning"),
            PlanWindow(agent="claude", window="week", used_percent=12.5, resets_at=now + 90 * HOUR_MS),
            PlanWindow(agent="codex", account="codex", window="5 h", used_percent=99.0, resets_at=now - HOUR_MS),
        ]
    )
    plans = printed("status")["plans"]
    assert [(one["agent"], one["window"], one["used_percent"]) for one in plans] == [
        ("claude", "5 h", 82.0), ("claude", "week", 12.5),
    ]  # fmt: skip
    assert plans == printed("usage plan")
    assert "claude 5 h 82 % until" in verb("status").stdout  # the line has only what the user should see
    assert "week" not in verb("status").stdout


def test_without_sessions_and_reports_there_are_no_windows():
    assert printed("status")["plans"] == []
