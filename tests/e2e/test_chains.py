"""Chains with processes: sessions that start when others are done, without any front end that stays open."""

import json
import os
import signal
import subprocess
import sys

import pytest
from e2e.notebook import Notebook
from real_clis import NEWEST

from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes


def run(*words, code=0):
    """One command line, as a script runs it."""
    done = subprocess.run([sys.executable, "-m", "agentdash", *words], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def started(verb, *words, code=0):
    return json.loads(run(verb, "--json", *words, code=code).stdout)


class Gate:
    """A command that waits until the test opens its gate."""

    def __init__(self, path):
        os.mkfifo(path)
        self._path = path

    def __call__(self):
        return ("run", "--", "sh", "-c", f"read line < {self._path}; echo the gate is open")

    def open(self):
        self._path.write_text("\n")


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path / "gate")


def ended(manager, session_id):
    return manager.wait([session_id], timeout=120)[0]


def prompts(manager, session_id):
    return [step.text for step in manager.reader.steps.messages(session_id) if step.kind is StepKind.PROMPT]


@pytest.mark.smoke
@pytest.mark.usefixtures("scripted_agent")
def test_a_chain_of_three_runs_by_itself_and_hands_on_each_answer(manager, gate):
    first = started(*gate())
    second = started("spawn", "--agent", "scripted", "--after", first["id"], "[[script:quick]] Explain it.")
    third = started("spawn", "--agent", "scripted", "--after", second["id"], "[[script:quick]] Shorten: {answer}")
    assert (second["status"], second["after"]) == ("queued", first["id"])
    assert second["reason"].startswith(f"after {first['id'][:8]} (sh -c 'read line")
    listed = run("ls", "--filter", f"after:{first['id'][:8]}").stdout
    assert second["id"][:8] in listed
    assert third["id"][:8] not in listed
    assert f"after {first['id'][:8]}" in listed
    assert "starts when the session that it waits for is done" in run("explain", second["id"]).stdout
    assert prompts(manager, second["id"]) == ["[[script:quick]] Explain it."]
    gate.open()
    last = ended(manager, third["id"])
    assert (last.status, last.followed, last.after) == (Status.DONE, second["id"], None)
    (asked,) = prompts(manager, second["id"])
    assert asked.startswith("[[script:quick]] Explain it.\n\n")
    assert f"session {first['id'][:8]} (command" in asked
    assert asked.endswith("````text\nthe gate is open\n````")
    answer = manager.reader.steps.answer(second["id"])
    assert answer
    assert prompts(manager, third["id"]) == [f"[[script:quick]] Shorten: {answer}"]


def test_after_a_failure_it_waits_for_a_retry_and_two_can_wait_for_one(manager, tmp_path):
    flag = tmp_path / "flag"
    first = started("run", "--wait", "--", "test", "-e", str(flag), code=1)
    others = [started("run", "--after", first["id"], "--", "echo", name) for name in ("b", "c")]
    for other in others:
        assert other["blocked"]
        assert f"{first['id'][:8]} failed: waits; retry it" in other["reason"]
        assert other["attention"]["kind"] == "held"
    flag.touch()
    run("retry", first["id"])
    assert [ended(manager, other["id"]).status for other in others] == [Status.DONE] * 2


def test_a_wait_names_the_reason_why_a_session_is_not_started(manager):
    first = started("run", "--wait", "--", "false", code=1)
    other = started("run", "--after", first["id"], "--", "echo", "b")
    waited = run("wait", "--timeout", "1", other["id"], code=124)
    assert waited.stderr.count(f"{first['id'][:8]} failed: waits; retry it") == 1


def test_it_can_be_started_anyway_cancelled_and_made_to_wait_for_another(manager, gate):
    first = started(*gate())
    anyway, cancelled, moved = (started("run", "--after", first["id"], "--", "echo", name) for name in ("a", "c", "m"))
    run("start", anyway["id"])
    assert ended(manager, anyway["id"]).status is Status.DONE
    again = run("start", anyway["id"], code=1)
    assert "waits for no time and no other session" in again.stderr
    assert run("start", "--after", moved["id"], moved["id"], code=2).stderr.count("itself") == 1
    receipt = json.loads(run("stop", cancelled["id"], "--json").stdout)
    assert receipt[0]["note"] == "not started yet"
    run("start", "--after", anyway["id"], moved["id"])  # that one is done
    assert ended(manager, moved["id"]).followed == anyway["id"]
    gate.open()
    ended(manager, first["id"])
    assert manager.reader.get(cancelled["id"]).status is Status.STOPPED
    assert "unknown" not in run("spawn", "--after", "nosuchid", "x", code=1).stderr


def test_a_deleted_one_blocks_it_and_its_return_starts_it(manager):
    first = started("run", "--wait", "--", "false", code=1)
    other = started("run", "--after", first["id"], "--", "echo", "b")
    run("rm", first["id"])
    session = manager.reader.get(other["id"])
    assert (session.status, session.blocked) == (Status.QUEUED, True)
    assert "was deleted: waits; restore it" in session.reason
    run("restore", first["id"])
    assert "failed" in manager.reader.get(other["id"]).reason
    run("rm", first["id"])
    run("start", other["id"])
    assert ended(manager, other["id"]).status is Status.DONE


@pytest.mark.parametrize("words", ["wait at the gate", "wait at the gate and fail"])
def test_if_the_runner_is_killed_the_next_command_goes_on(manager, tmp_path, wait_until, words):
    notebook = Notebook(tmp_path / "notebook")
    options = {"live": False, "bin": str(notebook.command)}
    first = manager.spawn(Start(words, agent="codex", options=options))
    other = started("run", "--after", first.id, "--", "echo", "b")
    wait_until(lambda: notebook.said and manager.reader.get(first.id).agent_session, what="the first turn")
    turn = manager.reader.turns(first.id)[-1]
    os.kill(turn.runner_pid, signal.SIGKILL)
    wait_until(lambda: not processes.alive(turn.runner_pid, turn.runner_start), what="the runner to go")
    notebook.open_gate()
    wait_until(lambda: not processes.alive(turn.agent_pid, turn.agent_start), what="the agent to end")
    assert manager.reader.get(other["id"]).after == first.id
    run("ls")
    if "fail" in words:
        assert manager.reader.get(other["id"]).blocked
    else:
        assert ended(manager, other["id"]).followed == first.id


@pytest.mark.real
@pytest.mark.parametrize("live", [False, True])
def test_real_codex_hands_its_answer_to_real_claude(manager, use_agent, fake_model, tmp_path, live):
    use_agent("codex")
    use_agent(NEWEST)
    (tmp_path / "project").mkdir()

    def spawn(agent, prompt, after="", **options):
        return manager.spawn(
            Start(prompt, agent=agent, cwd=str(tmp_path / "project"), after=after, options={"live": live, **options})
        )

    first = spawn("codex", "[[fake:work]] please do it", sandbox="danger-full-access")
    word = f"shorten-{live}"
    second = spawn("claude", f"{word} this", first.id, permission_mode="bypassPermissions")
    session = ended(manager, second.id)
    assert session.status is Status.DONE, session.reason
    assert session.followed == first.id
    (sent,) = [one.text for one in manager.reader.prompts(second.id)]
    answer = manager.reader.steps.answer(first.id)
    assert answer == "Done: notes.txt was created and edited."
    assert sent.endswith(f"````text\n{answer}\n````")
    assert fake_model.was_shown(sent)
