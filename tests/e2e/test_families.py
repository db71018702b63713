"""Families of real processes: one stop for a lead and its workers, and no act of a worker outside its own family."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.caller import CLAUDE_SESSION, Caller
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.manager import SessionManager

WORKERS = 10
AGENTDASH = [sys.executable, "-P", "-m", "agentdash"]
STRIPPED = ("AGENTDASH_SESSION_ID", "AGENTDASH_RUN_ID", "AGENTDASH_HOME", "AGENTDASH_CONFIG")


@pytest.fixture
def place(scripted_agent, manager, tmp_path):
    manager.reader.settings.path.write_text("[queue]\nmax_running = 40\n")
    return tmp_path


def inside(session):
    return SessionManager(caller=Caller(session=session.id, evidence="environment"))


def verb(*words, env=None):
    result = subprocess.run(
        [*AGENTDASH, *words],
        capture_output=True,
        check=False,
        text=True,
        env=env,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    return result.returncode, result.stdout, result.stderr


def tagged(manager):
    """The living processes of all sessions of a state folder, without runners."""
    home = str(manager.layout.home)
    found = []
    for pid in processes.scan():
        env = processes.environment(pid)
        process = processes.by_pid(pid)
        if env.get(processes.HOME) == home and processes.SESSION_TAG in env and process and not process.zombie:
            found.append(process)
    return found


def family(manager, at, place):
    """A lead with ten linked workers at work, and one detached."""
    with open(os.environ["AGENTDASH_CONFIG"], "a") as settings:
        settings.write("[orchestration]\nmax_open = 20\n")
    lead = manager.spawn(Start("lead", agent="scripted", options={"script": "long"}))
    with inside(lead) as caller:
        start = Start("work", agent="scripted", options={"script": "tree"}, lifecycle="linked")
        workers = [caller.spawn(start) for _ in range(WORKERS)]
        free = caller.spawn(Start("free", agent="scripted", options={"script": "long"}))
    for session in (lead, *workers, free):
        at(session, 1, Status.RUNNING)
    return lead, workers, free


@pytest.mark.smoke
@pytest.mark.parametrize("runner_killed", [False, True])
def test_one_stop_ends_a_lead_and_its_linked_workers(manager, at, place, runner_killed, wait_until):
    lead, workers, free = family(manager, at, place)
    if runner_killed:
        turn = manager.store.newest_turn(lead.id)
        os.kill(turn.runner_pid, signal.SIGKILL)
    code, out, err = verb("stop", "--json", lead.id)
    assert code == 0, err
    [receipt] = json.loads(out)
    assert receipt["session"] == lead.id
    assert sorted(receipt["workers"]) == sorted(one.id for one in workers)
    assert len(receipt["ended"]) >= WORKERS + 1
    assert receipt["left"] == []
    assert all(manager.reader.by_id(one.id).status is Status.STOPPED for one in (lead, *workers))
    assert manager.reader.by_id(free.id).status is Status.RUNNING
    code, out, err = verb("stop", "--json", free.id)
    assert (code, json.loads(out)[0]["workers"]) == (0, [])
    wait_until(lambda: not tagged(manager), what="no process of a session is left")


def test_a_lead_that_was_lost_leaves_its_workers_until_it_is_stopped(manager, at, place, wait_until):
    lead = manager.spawn(Start("lead", agent="scripted", options={"script": "quick", "speed": 900}))
    at(lead, 1, Status.DONE)
    with inside(lead) as caller:
        worker = caller.spawn(Start("work", agent="scripted", options={"script": "long"}, lifecycle="linked"))
    at(worker, 1, Status.RUNNING)
    assert manager.stop(lead.id).workers == (worker.id,)
    assert manager.reader.by_id(lead.id).status is Status.DONE
    assert manager.reader.by_id(worker.id).status is Status.STOPPED
    wait_until(lambda: not tagged(manager), what="no process of a session is left")


def test_archiving_and_deleting_a_lead_ends_its_linked_workers(manager, at, place):
    for act in (manager.housekeeping.archive, lambda ref: manager.housekeeping.archive_all([ref]), manager.delete):
        lead = manager.spawn(Start("lead", agent="scripted", options={"script": "quick", "speed": 900}))
        at(lead, 1, Status.DONE)
        with inside(lead) as caller:
            worker = caller.spawn(Start("work", agent="scripted", options={"script": "long"}, lifecycle="linked"))
        at(worker, 1, Status.RUNNING)
        act(lead.id)
        assert manager.reader.by_id(worker.id).status is Status.STOPPED


def test_a_limit_that_ends_a_lead_ends_its_linked_workers(manager, at, place):
    lead = manager.spawn(Start("lead", agent="scripted", options={"script": "long", "limits": {"wall_seconds": 4}}))
    with inside(lead) as caller:
        worker = caller.spawn(Start("work", agent="scripted", options={"script": "long"}, lifecycle="linked"))
        third = SessionManager(caller=Caller(session=worker.id, evidence="environment"))
        below = third.spawn(Start("work", agent="scripted", options={"script": "long"}, lifecycle="linked"))
    at(lead, 1, Status.STOPPED)
    for one in (worker, below):
        reason = at(one, 1, Status.STOPPED).reason
        assert reason.startswith(f"stopped by its lead's limit: {lead.short_id} "), reason
        assert "ran longer than 4s" in reason
        facts = json.loads(verb("explain", "--json", one.id)[1])["facts"]
        [asked] = [fact["value"] for fact in facts if fact["name"] == "stop requested"]
        assert asked.startswith(f"by its lead's limit: {lead.short_id}")


def test_a_lead_that_stops_a_worker_by_command_line_gives_the_reason(manager, at, place):
    lead = manager.spawn(Start("lead", agent="scripted", options={"script": "long"}))
    with inside(lead) as caller:
        worker = caller.spawn(Start("work", agent="scripted", options={"script": "long"}, lifecycle="linked"))
    at(worker, 1, Status.RUNNING)
    env = os.environ | {processes.SESSION_TAG: lead.id}
    code, out, err = verb("stop", "--json", "--reason", "wrong\x1b[31m\nfolder " + "x" * 900, worker.id, env=env)
    assert code == 0, err
    [receipt] = json.loads(out)
    assert receipt["reason"].startswith("wrong")
    assert len(receipt["reason"]) <= 200
    assert receipt["reason"].isprintable()
    assert manager.reader.by_id(worker.id).reason.startswith("stopped by its lead: wrong")
    assert json.loads(verb("stop", "--json", "--reason", "lunch", lead.id)[1])[0]["reason"] == "lunch"
    assert manager.reader.by_id(lead.id).reason.startswith("stopped by you: lunch")


def test_an_ephemeral_worker_is_archived_once_it_is_done_and_read(manager, at, place):
    lead = manager.spawn(Start("lead", agent="scripted", options={"script": "quick", "speed": 900}))
    with inside(lead) as caller:
        worker = caller.spawn(
            Start("x", agent="scripted", options={"script": "quick", "speed": 900}, lifecycle="ephemeral")
        )
        failed = caller.spawn(
            Start("x", agent="scripted", options={"script": "fail", "speed": 900}, lifecycle="ephemeral")
        )
    at(worker, 1, Status.DONE)
    at(failed, 1, Status.FAILED)
    assert manager.reader.by_id(worker.id).archived_at is None
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET reported_turn = turn")
    manager.housekeeping.settle()
    assert manager.reader.by_id(worker.id).archived_at is not None
    assert manager.reader.by_id(failed.id).archived_at is None


def facts(session):
    return session.id, session.title, session.status, session.queued, session.archived_at, session.pinned_at


SCRIPT = """
for target in {targets}; do
  for act in "stop" "rm --yes" "archive" "retry" "interrupt" "pin"; do
    {prefix} {agentdash} $act $target >> {out} 2>&1; echo "exit $?" >> {out}
  done
  {prefix} {agentdash} inject $target 'do something else' >> {out} 2>&1; echo "exit $?" >> {out}
  {prefix} {agentdash} rename $target 'another name' >> {out} 2>&1; echo "exit $?" >> {out}
done
echo over >> {out}
sleep 600
"""


@pytest.mark.parametrize("prefix", ["", "env -i", "env -u AGENTDASH_SESSION_ID -u AGENTDASH_RUN_ID"])
def test_a_worker_changes_no_sibling_lead_or_stranger_by_command_line(manager, at, place, prefix, wait_until):
    long = Start("x", agent="scripted", options={"script": "long"})
    lead, stranger = manager.spawn(long), manager.spawn(long)
    with inside(lead) as caller:
        sibling = caller.spawn(long)
        targets, out = [sibling, lead, stranger], place / "out"
        script = SCRIPT.format(
            targets=" ".join(one.short_id for one in targets),
            prefix=prefix,
            agentdash=" ".join(AGENTDASH),
            out=out,
        )
        for one in targets:
            at(one, 1, Status.RUNNING)
        seen = [facts(manager.reader.by_id(one.id)) for one in targets]
        worker = caller.run(["sh", "-c", script])
    wait_until(lambda: out.exists() and out.read_text().endswith("over\n"), timeout=240, what="all commands")
    text = out.read_text()
    assert text.count("exit 1\n") == 8 * len(targets), text
    assert text.count(f"Session {worker.short_id} cannot") == 8 * len(targets), text
    assert [facts(manager.reader.by_id(one.id)) for one in targets] == seen
    assert not manager.store.database.rows("SELECT 1 FROM requests")


def test_a_command_of_a_claude_outside_any_session_acts_for_the_user(manager, at, place):
    stranger = manager.spawn(Start("x", agent="scripted", options={"script": "long"}))
    at(stranger, 1, Status.RUNNING)
    outside = os.environ | {CLAUDE_SESSION: "a-talk"}
    code, out, err = verb("spawn", "--json", "--agent", "scripted", "--set", "script=long", "go", env=outside)
    assert code == 0, err
    assert manager.reader.by_id(json.loads(out)["id"]).lead == "claude:a-talk"
    code, _, err = verb("stop", stranger.short_id, env=outside)
    assert code == 0, err
    assert manager.reader.by_id(stranger.id).status is Status.STOPPED


def test_explain_names_the_place_in_the_family_and_the_caller(manager, at, place):
    lead = manager.spawn(Start("lead", agent="scripted", options={"script": "long"}))
    at(lead, 1, Status.RUNNING)
    tag = os.environ | {processes.SESSION_TAG: lead.id}
    words = [
        "spawn",
        "--json",
        "--agent",
        "scripted",
        "--set",
        "script=long",
        "--lifecycle",
        "linked",
        "--key",
        "api",
        "go",
    ]
    code, out, err = verb(*words, env=tag)
    assert code == 0, err
    worker = json.loads(out)
    assert (worker["parent"], worker["depth"], worker["lifecycle"], worker["key"]) == (lead.id, 1, "linked", "api")
    code, out, _ = verb("explain", worker["id"], env=tag)
    assert code == 0
    for text in (f"session {lead.short_id}, depth 1", "linked: stopped with its lead", f"session {lead.short_id}, by",
                  f"only itself and the sessions below it: {worker['id'][:8]}"):  # fmt: skip
        assert text in out
    code, out, _ = verb("explain", worker["id"])
    assert "the user" in out
    assert "all sessions" in out
    code, _, err = verb("spawn", "--lifecycle", "linked", "x")
    assert code == 2
    assert "needs a lead" in err


def test_a_key_that_two_processes_ask_for_at_once_is_one_worker(manager, at, place):
    lead = manager.spawn(Start("lead", agent="scripted", options={"script": "long"}))
    at(lead, 1, Status.RUNNING)
    words = ["spawn", "--json", "--agent", "scripted", "--set", "script=long", "--key", "api", "go"]
    tag = os.environ | {processes.SESSION_TAG: lead.id}
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: verb(*words, env=tag), range(4)))
    assert [code for code, _, _ in results] == [0] * 4, results
    [worker] = {json.loads(out)["id"] for _, out, _ in results}
    assert [one.id for one in manager.reader.descendants(lead.id)] == [worker]
    turn = manager.store.newest_turn(worker)
    os.kill(turn.runner_pid, signal.SIGKILL)
    code, out, _ = verb(*words, env=tag)
    assert (code, json.loads(out)["id"]) == (0, worker)
    other = verb(*words)  # the user's own task of this name
    assert json.loads(other[1])["id"] != worker
    assert json.loads(verb(*words)[1])["id"] == json.loads(other[1])["id"]


def test_a_worker_stays_in_the_folder_of_its_lead(manager, at, place):
    (place / "below").mkdir()
    (place / "link").symlink_to("/")
    lead = manager.spawn(Start("lead", agent="scripted", options={"script": "long"}))
    tag = os.environ | {processes.SESSION_TAG: lead.id}
    words = ["spawn", "--json", "--agent", "scripted", "--set", "script=quick", "go", "-C"]
    code, out, _ = verb(*words, str(place / "below"), env=tag)
    assert (code, json.loads(out)["cwd"]) == (0, str((place / "below").resolve()))
    code, _, err = verb(*words, str(place / "link" / "usr"), env=tag)
    assert code == 1
    assert "cannot start a worker in /usr" in err
    manager.reader.settings.path.write_text('[orchestration]\nagents = ["claude"]\n')
    code, _, err = verb(*words, str(place / "below"), env=tag)
    assert code == 1
    assert "cannot start scripted" in err
