"""The scripted agent: a real process whose script shows everything once."""

import json
import signal
import subprocess
import sys

import pytest
from transcript_files import merged

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.parsing.parser import MOST_OPEN
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import StepKind, StepStatus
from scripted.adapter import Scripted, ScriptedSettings
from scripted.script import SCRIPTS, load_script

ALL_KINDS = set(StepKind) - {StepKind.PROMPT, StepKind.UNKNOWN}


@pytest.fixture(autouse=True)
def memory(monkeypatch, tmp_path, scripted_agent):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "state").mkdir()


def request(prompt, cwd, **own):
    return LaunchRequest(prompt=prompt, cwd=str(cwd), session_id="0123456789abcdef", **own)


def play(prompt, cwd, **own):
    """Run one turn; its parser, steps and exit code."""
    launch = Scripted().command(request(prompt, cwd, **own))
    done = subprocess.run(launch.argv, input=launch.stdin.encode(), capture_output=True, cwd=cwd, check=False)
    assert done.stderr == b""
    parser = Scripted().parser()
    steps = [step for line in done.stdout.split(b"\n") for step in parser.feed(line)]
    return parser, merged(steps), done.returncode


def test_quick_shows_every_kind_of_step(tmp_path):
    parser, steps, code = play("[[script:quick]] a bug", tmp_path)
    assert code == 0
    assert {step.kind for step in steps} == ALL_KINDS
    assert parser.facts.end == "completed"
    assert parser.facts.unknown == 0
    assert parser.facts.last_message == "a message about [[script:quick]] a bug"
    assert parser.facts.usage.total_tokens == 110
    command = next(step for step in steps if step.kind is StepKind.COMMAND)
    assert (command.exit_code, command.status) == (3, StepStatus.FAILED)
    assert sorted(command.output.split()) == ["err", "out"]
    changes = [step.changes[0] for step in steps if step.kind is StepKind.FILE_CHANGE]
    assert [change.kind for change in changes] == ["add", "update"]
    assert "-second\n+third" in changes[1].diff
    assert (tmp_path / "scripted.txt").read_text() == "first\nthird\n"


def test_a_follow_up_remembers_what_was_said(tmp_path):
    play("[[script:quick]] the first words", tmp_path)
    parser, _, _ = play("the second words", tmp_path, turn=2, agent_session="0123456789abcdef")
    assert "This is prompt 2 of our conversation: the second words" in parser.facts.last_message
    assert "the first words" in parser.facts.last_message


def test_a_failing_script_ends_as_failed_with_its_reason(tmp_path):
    parser, steps, code = play("x", tmp_path, settings=ScriptedSettings(script="fail", speed=1000))
    assert code == 1
    assert parser.facts.end == "failed"
    assert parser.facts.error.startswith("401 invalid API key")
    assert steps[-1].fatal


@pytest.mark.parametrize("name", ["ask", "edit", "plan", "question"])
def test_a_process_of_one_turn_cannot_ask_and_goes_on_without_permission(name, tmp_path):
    parser, steps, code = play("x", tmp_path, settings=ScriptedSettings(script=name, speed=1000))
    assert (code, parser.facts.end, parser.facts.denied, parser.facts.unknown) == (0, "completed", 1, 0)
    [declined] = [step for step in steps if step.status is StepStatus.DECLINED]
    assert "I may not ask you" in parser.facts.last_message
    assert declined.text


def test_sigint_ends_it_quickly_with_its_command(tmp_path, wait_until):
    launch = Scripted().command(request("x", tmp_path, settings=ScriptedSettings(script="tree", speed=1000)))
    player = subprocess.Popen(
        launch.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=tmp_path, start_new_session=True
    )
    wait_until(lambda: json.loads(player.stdout.readline())["type"] == "command.started", what="the command")
    player.send_signal(signal.SIGINT)
    assert player.wait(timeout=60) == 130
    player.stdout.close()
    subprocess.run(["pkill", "-KILL", "-f", "stubborn-watcher"], check=False)
    subprocess.run(["pkill", "-f", "^(/bin/sh -c )?sleep 180[1-5]"], check=False)


def test_every_script_loads_and_ends():
    for name in SCRIPTS:
        beats = load_script(name)
        assert beats[-1].end is not None, name
        assert [beat for beat in beats[:-1] if beat.end is not None and beat.unless is None] == [], name


@pytest.mark.parametrize(
    ("settings", "message"),
    [(ScriptedSettings(script="none"), "Unknown script 'none'")],
)
def test_a_setting_that_cannot_be_played_is_refused(tmp_path, settings, message):
    with pytest.raises(UsageError, match=message):
        Scripted().command(request("x", tmp_path, settings=settings))


@pytest.mark.parametrize("line", [b"42", b"{", b"\xff", b'{"type":"new"}', b'{"type":"message"}', b"plain"])
def test_what_it_does_not_know_is_kept(line):
    parser = Scripted().parser()
    (step,) = parser.feed(line)
    assert step.kind is StepKind.UNKNOWN
    assert parser.facts.unknown == parser.facts.lines == 1


def test_it_runs_with_this_interpreter(tmp_path):
    assert Scripted().command(request("x", tmp_path)).argv[0] == sys.executable


def test_a_stream_of_beginnings_does_not_eat_the_memory():
    parser = Scripted().parser()
    for n in range(MOST_OPEN + 50):
        parser.feed(json.dumps({"type": "command.started", "id": f"c{n}", "command": "true"}).encode())
    assert len(parser.close()) == MOST_OPEN
