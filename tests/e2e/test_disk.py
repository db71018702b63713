"""A disk that fills up under a running agent: the turn ends, and its reason names the disk."""

import contextlib
import json
import os
import re
import resource
import subprocess
import sys

import pytest
from e2e.notebook import Notebook
from isolation import work_folder

from agentdash.sessions.model.errors import DiskFullError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

PRINTS = "import sys\nfor _ in range(65000): sys.stdout.write('y' * 79 + '\\n')\n"
IGNORES_ERRORS = f"import os\ntry:\n    exec({PRINTS!r})\n    sys.stdout.flush()\nexcept OSError:\n    os._exit(0)\n"
"""A program that prints 5 MB, and ends with 0 also if they do not fit."""

EVIDENCE = (
    "the database could not be written"
    "|a write of the runner failed: No space left on device"
    "|a test write beside the turn file failed: No space left on device"
    "|its stderr says: No space left on device"
)
"""Whichever of these was found first shows that the disk was full."""


@pytest.fixture
def small_home(tmp_path, monkeypatch):
    """A state folder on a file system of 3 MB; skips where none can be mounted."""
    home = tmp_path / "small"
    home.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m,mode=0700", "agentdash-test", str(home)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    monkeypatch.setenv("AGENTDASH_HOME", str(home))
    yield home
    subprocess.run(["umount", "-l", str(home)], check=True)


@pytest.fixture
def manager(small_home):
    with SessionManager() as manager:
        yield manager
        for session in manager.reader.sessions():
            manager.stop(session.id, NOW)


def codex_that_prints(tmp_path, messages):
    """A stand-in for codex that prints a whole turn, and ends with 0 whatever became of its output."""
    items = [
        {"type": "item.completed", "item": {"id": f"item_{n}", "type": "agent_message", "text": "z" * 1000}}
        for n in range(messages)
    ]
    usage = {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}
    events = [{"type": "thread.started", "thread_id": "t1"}, *items, {"type": "turn.completed", "usage": usage}]
    (tmp_path / "stream.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    script = tmp_path / "codex"
    script.write_text(f"#!/bin/sh\ncat {tmp_path}/stream.jsonl\nexit 0\n")
    script.chmod(0o755)
    return str(script)


def rule_of(manager, session):
    return manager.reader.explain(session.id).rule


@pytest.mark.smoke
def test_an_agent_whose_stream_did_not_fit_has_failed_and_the_disk_is_the_reason(manager, tmp_path):
    codex = codex_that_prints(tmp_path, messages=5000)
    session = manager.spawn(Start("x", agent="codex", options={"live": False, "bin": codex}))
    [ended] = manager.wait([session.id], timeout=60)
    assert ended.status is Status.FAILED
    assert ended.reason == "the disk was full: ended without a final event (exit 0)"
    assert re.search(f"the disk was full .({EVIDENCE})", rule_of(manager, session))


def test_a_command_whose_output_did_not_fit_is_not_done(manager):
    session = manager.run([sys.executable, "-c", IGNORES_ERRORS])
    [ended] = manager.wait([session.id], timeout=60)
    assert (ended.status, ended.exit_code) == (Status.FAILED, 0)
    assert ended.reason == "its output is incomplete: the disk was full (exit 0)"
    assert ended.attention is not None
    assert len(manager.reader.outputs.part(session.id).read()) % 4096 == 0


def test_a_stream_that_fits_on_the_small_disk_names_no_disk(manager, tmp_path):
    codex = codex_that_prints(tmp_path, messages=250)
    session = manager.spawn(Start("x", agent="codex", options={"live": False, "bin": codex}))
    [ended] = manager.wait([session.id], timeout=60)
    assert (ended.status, ended.reason) == (Status.DONE, None)
    assert not manager.layout.session(session.id).reserve.exists()


def test_the_limit_of_file_sizes_is_named(tmp_path, monkeypatch):
    """Needs no root: to the agent, the limit is a disk without room."""
    limit = 1 << 20
    monkeypatch.setenv("AGENTDASH_HOME", str(tmp_path / "state"))
    done = subprocess.run(
        [sys.executable, "-m", "agentdash", "run", "--wait", "--json", "--", sys.executable, "-c", IGNORES_ERRORS],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 1
    session = json.loads(done.stdout)
    assert session["status"] == "failed"
    assert "its output reached the file size limit (ulimit -f)" in session["reason"]


def test_a_full_disk_refuses_a_prompt_in_words_and_keeps_those_that_wait(manager, small_home, tmp_path, wait_until):
    notebook = Notebook(tmp_path / "notebook")
    start = Start(
        "wait at the gate",
        agent="codex",
        cwd=work_folder(tmp_path),
        options={"live": False, "bin": str(notebook.command)},
    )
    session = manager.spawn(start)
    wait_until(lambda: notebook.said, what="the first turn")
    assert manager.prompts.inject(session.id, "one").answer == "queued #1, after turn 1"
    ballast = small_home / "ballast"
    with pytest.raises(DiskFullError, match="The disk is full"), ballast.open("wb", buffering=0) as file:
        fill(file)
        for _ in range(100):  # the log of the database may have a little room of its own
            manager.prompts.inject(session.id, "x" * 50_000)
    asked = manager.reader.get(session.id).queued
    ballast.unlink()
    notebook.open_gate()
    wait_until(lambda: manager.reader.get(session.id).turn == 1 + asked, what="the prompts to be sent")
    wait_until(lambda: len(notebook.said) == 1 + asked, what="the last prompt")
    assert notebook.said[:2] == ["wait at the gate", "one"]


def fill(file):
    """Take all the room there is."""
    for size in (1 << 16, 1 << 10, 1):
        with contextlib.suppress(OSError):
            while True:
                file.write(b"x" * size)
