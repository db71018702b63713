"""What a runner records of its agent's reports about the user's plan."""

import json

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.runner.limits.plan_watch import PlanWatch
from agentdash.sessions.storage.store import Store


def event(status, used):
    info = {"status": status, "rateLimitType": "five_hour", "utilization": used}
    return json.dumps({"type": "rate_limit_event", "rate_limit_info": info}).encode()


def test_a_window_that_is_used_up_is_named_until_the_agent_reports_otherwise(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    watch = PlanWatch(store, agent_named("claude"), {}, 0)
    watch.feed(b'{"type":"assistant"}')
    assert (store.plan_windows.all(), watch.limited) == ([], None)
    watch.feed(event("rejected", 1.0))
    assert watch.limited == "claude 5 h limited"
    watch.feed(event("allowed", 0.1))
    assert watch.limited is None
    assert [one.used_percent for one in store.plan_windows.all()] == [10.0]
    store.close()


def test_codex_is_read_at_the_end_of_the_turn_from_its_transcript(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    thread = "019a0000-0000-7000-8000-000000000001"
    folder = tmp_path / "codex" / "archived_sessions"
    folder.mkdir(parents=True)
    limits = {"primary": {"used_percent": 91.0, "window_minutes": 300}}
    line = {"type": "event_msg", "payload": {"type": "token_count", "rate_limits": limits}}
    (folder / f"rollout-2026-01-01T00-00-00-{thread}.jsonl").write_text(json.dumps(line))
    watch = PlanWatch(store, agent_named("codex"), {"CODEX_HOME": str(tmp_path / "codex")}, 0)
    watch.finish(None)
    assert store.plan_windows.all() == []
    watch.finish(thread)
    assert [(one.window, one.used_percent) for one in store.plan_windows.all()] == [("5 h", 91.0)]
    store.close()
