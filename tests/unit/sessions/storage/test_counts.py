"""The counts of sessions for a status line, with and without the urgency that older runners do not write."""

import pytest

from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.storage.counts import Counts, counts
from agentdash.sessions.storage.store import Store
from agentdash.tui.render.sessions.status_line import status_line


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    yield store
    store.close()


def add(store, session_id, status, title="", created_at=1, **facts):
    start = Start("true", agent="codex", title=title or session_id, cwd="/", session_id=session_id)
    store.create(start, Launch(argv=("true",)), f"run-{session_id}", host="here")
    facts |= {"status": status, "created_at": created_at}
    with store.database.transaction() as db:
        for name, value in facts.items():
            db.execute(f"UPDATE sessions SET {name} = ? WHERE id = ?", (value, session_id))


def test_each_kind_is_counted_without_the_archive(store):
    for number, status in enumerate(("running", "starting", "queued", "waiting", "failed", "lost", "done", "stopped")):
        add(store, f"session-{number}", status)
    add(store, "session-9", "failed", archived_at=1)
    assert counts(store.database) == Counts(needs_you=3, failed=2, at_work=3, queued=1, total=8, first="session-4")


def test_the_session_that_needs_the_user_for_the_longest_time_is_named(store):
    add(store, "session-1", "waiting", "older", 10)
    add(store, "session-2", "waiting", "newer", 20)
    add(store, "session-3", "failed", "failed", 30, ended_at=5)
    assert counts(store.database).first == "failed"
    assert store.database.run("UPDATE sessions SET waits_since = 1 WHERE id = 'session-2'")
    assert counts(store.database).first == "newer"


def test_nothing_makes_an_empty_line():
    assert status_line(Counts(total=5), tmux=True) == status_line(Counts(), tmux=False) == ""


def test_foreign_text_is_no_format_of_tmux():
    named = Counts(needs_you=1, first="#{pane_id}\x1b[31m #[bg=red]\n#(touch x)")
    line = status_line(named, tmux=True)
    assert line == "#[fg=yellow]1 needs you: ##{pane_id} ##[bg=red] ##(touch …#[default]"
    assert status_line(named, tmux=False) == "1 needs you: #{pane_id} #[bg=red] #(touch …"
