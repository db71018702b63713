"""The environment that an agent gives to agentdash reaches neither sessions of the user nor the user's hook."""

import sys

from agentdash.sessions.model.session import Status

AGENTDASH = f"{sys.executable} -m agentdash"


def evil(tmp_path):
    """A script that each bash reads which has it as ``BASH_ENV``, and the file that it writes."""
    script, mark = tmp_path / "evil.sh", tmp_path / "evil.mark"
    script.write_text(f'echo "$0 $AGENTDASH_STATUS" >> {mark}\n')
    return script, mark


def test_a_queued_session_of_the_user_is_not_started_with_the_environment_of_an_agent(manager, tmp_path, wait_until):
    script, mark = evil(tmp_path)
    manager.reader.settings.path.write_text("[queue]\nmax_running = 1\n")
    manager.run(["bash", "-c", f"BASH_ENV={script} {AGENTDASH} run -- sleep 4"])
    worker = wait_until(
        lambda: [one for one in manager.reader.sessions() if one.parent and one.status is Status.RUNNING],
        what="the worker",
    )[0]
    queued = manager.run(["bash", "-c", "echo started"])
    assert queued.status is Status.QUEUED
    ended = manager.wait([worker.id, queued.id], timeout=120)
    assert [one.status for one in ended] == [Status.DONE, Status.DONE]
    assert not mark.exists()


def test_the_hook_of_the_user_is_not_run_with_the_environment_of_an_agent(manager, tmp_path, wait_until):
    script, mark = evil(tmp_path)
    hook, told = tmp_path / "hook", tmp_path / "told"
    hook.write_text(f'#!/bin/bash\necho "$AGENTDASH_STATUS" >> {told}\n')
    hook.chmod(0o755)
    manager.reader.settings.path.write_text(f'[notify]\nhook = ["{hook}"]\n')
    session = manager.run(["sh", "-c", f"BASH_ENV={script} {AGENTDASH} run -- true"])
    manager.wait([session.id], timeout=60)
    wait_until(lambda: told.exists() and told.read_text().count("done") == 2, what="the hook of both sessions")
    assert not mark.exists()
