"""An agent whose launcher is killed while its program goes on: the program is ended before its prompt is judged."""

import os
import signal

import pytest
from e2e.own_interface import THREAD

from agentdash.sessions.rules.launch import Start

LAUNCHER = """#!/bin/sh
exec 3<&0
{folder}/program <&3 &
wait
"""
PROGRAM = """#!/bin/sh
echo '{{"type":"thread.started","thread_id":"{thread}"}}'
: > {folder}/started
read line < {folder}/gate
cat > {folder}/said
echo '{{"type":"turn.completed","usage":{{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}}}'
"""


@pytest.fixture
def launched(manager, tmp_path, wait_until):
    """A session whose program waits at the gate below a launcher, as codex does; its turn."""
    folder = tmp_path / "npm"
    folder.mkdir()
    os.mkfifo(folder / "gate")
    for name, text in (("codex", LAUNCHER), ("program", PROGRAM)):
        (folder / name).write_text(text.format(folder=folder, thread=THREAD))
        (folder / name).chmod(0o700)
    session = manager.spawn(Start("go", agent="codex", options={"live": False, "bin": str(folder / "codex")}))
    wait_until((folder / "started").exists, what="the program")
    wait_until(lambda: manager.reader.turns(session.id)[0].agent_pid, what="the record of the agent")
    return manager.reader.turns(session.id)[0]


@pytest.mark.parametrize("victims", [("agent_pid",), ("runner_pid", "agent_pid")], ids=["launcher", "with its runner"])
def test_a_program_whose_launcher_was_killed_is_ended_and_cannot_take_its_prompt_later(
    manager, launched, leftovers, tmp_path, wait_until, victims
):
    for victim in victims:
        os.kill(getattr(launched, victim), signal.SIGKILL)

    def ended():
        manager.housekeeping.settle()
        return manager.reader.get(launched.session).status.ended

    wait_until(ended, what="the end of the turn")
    assert leftovers(launched.session) == []
    assert not (tmp_path / "npm" / "said").exists()
    assert manager.reader.get(launched.session).left == 0
