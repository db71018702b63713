"""What the verbs that list and read ask the store for, and what they say if rows are missing."""

import json
import shutil

import pytest
from factories import no_prompts
from verbs import verb

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.service.lifecycle.starts.launch_plan import PROMPT_CHARACTERS
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.reading.steps import StepsReader
from agentdash.sessions.storage import rows
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

LOST_TEXT = b"noise\n" * 200
ENDS = (Status.DONE, Status.DONE, Status.FAILED, Status.STOPPED, Status.LOST)


@pytest.fixture
def manager(isolated):
    with SessionManager() as manager:
        yield manager


def ended(manager, number, status=Status.DONE, *, seen=False, agent="codex"):
    """A session whose only turn has ended."""
    session_id = f"{number:08d}-0000-4000-8000-000000000000"
    folder = manager.layout.session(session_id)
    folder.create()
    start = Start(f"task {number}", agent=agent, title=f"task {number}", cwd="/", session_id=session_id)
    manager.store.create(start, Launch(argv=(agent,), model="m"), f"run-{number}", host="h")
    log = TurnLog(manager.store, session_id, 1, Owner(pid=1, start=1, boot_id="b", pid_ns="n"))
    log.claim()
    folder.output(1).write_bytes(LOST_TEXT)
    usage = Usage.of(100 * number, 10, 5) if number % 3 else Usage()
    facts = Facts(end="completed", usage=usage, cost_usd=0.25 if number % 2 else None)
    log.end(facts, Outcome(status=status, reason=None, exit_code=0, stop_by="you"), 5, no_prompts)
    if seen:
        manager.housekeeping.mark_seen(session_id)
    return session_id


def test_a_short_list_says_the_same_as_if_all_sessions_were_read(manager, monkeypatch):
    every = [ended(manager, n, ENDS[n % 5], seen=n % 4 != 0, agent="command" if n % 7 == 0 else "codex")
             for n in range(1, 120)]  # fmt: skip
    manager.housekeeping.pin(every[3])
    now = now_ms()
    monkeypatch.setattr("agentdash.tui.cli.commands.common.now_ms", lambda: now)
    made, make = [], rows.session_from
    monkeypatch.setattr("agentdash.sessions.storage.queries.session_from", lambda row: made.append(1) or make(row))
    short = verb("ls").stdout
    read = len(made)
    monkeypatch.setattr(
        "agentdash.sessions.service.reader.SessionReader.listed", lambda self, newest: (self.sessions(), [])
    )
    assert verb("ls").stdout == short
    assert "more (--all)" in short and "119 sessions" in short
    assert read < 90  # those that are shown, not the 119


def test_the_last_steps_are_read_from_the_end(manager, monkeypatch):
    session = ended(manager, 1)
    whole = verb("trajectory", "--lines", "all", session).stdout.splitlines()
    monkeypatch.setattr(StepsReader, "each_step", None)
    assert verb("trajectory", "-n", "3", session).stdout.splitlines()[-3:] == whole[-3:]
    assert len(json.loads(verb("trajectory", "-n", "3", "--json", session).stdout)) == 3


def test_a_list_without_rows_names_the_folders_that_the_database_does_not_have(manager):
    ended(manager, 1)
    database = manager.layout.database
    manager.close()
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink()
    listed = verb("ls")
    assert listed.stdout == ""
    assert listed.stderr.startswith("agentdash: 1 (00000001) in sessions/, missing in the database")
    assert "agentdash doctor --rebuild" in listed.stderr
    shutil.rmtree(manager.layout.sessions)
    assert verb("ls").stdout.startswith("No sessions yet.")


def test_the_trash_has_two_names_in_a_filter(manager):
    session = ended(manager, 1)
    manager.delete(session)
    assert verb("ls", "--filter", "is:trash", "--json").stdout == verb("ls", "--filter", "is:deleted", "--json").stdout
    assert session in verb("ls", "--filter", "is:trash", "--json").stdout


def test_a_prompt_that_is_too_long_is_refused_with_the_reason_and_nothing_is_recorded(manager):
    session = ended(manager, 1)
    done = verb("inject", session, "x" * (PROMPT_CHARACTERS + 1))
    assert done.returncode == 2
    assert "longer than 900,000 characters, which is more than the agents take" in done.stderr
    assert "name the file in the prompt" in done.stderr
    assert manager.reader.queued(session) == []


def test_the_task_of_a_session_is_cut_in_json(manager):
    session = ended(manager, 1)
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET task = ? WHERE id = ?", ("y" * 5_000, session))
    (listed,) = json.loads(verb("ls", "--json").stdout)
    assert len(listed["task"]) == 500
