"""The verb ``doctor``: exit codes, both ways of printing, and what it says about real sessions."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.paths import Layout
from agentdash.tui.cli.main import run

Doctor = Callable[[], dict[str, dict[str, Any]]]


@pytest.fixture
def doctor(capsysbinary: pytest.CaptureFixture[bytes]) -> Doctor:
    """What ``doctor --json`` says, by name."""

    def ask() -> dict[str, dict[str, Any]]:
        capsysbinary.readouterr()
        code = run(["doctor", "--json"])
        found = json.loads(capsysbinary.readouterr().out)
        assert [list(finding) for finding in found] == [["name", "state", "found", "remedy"]] * len(found)
        assert code == int("fail" in {finding["state"] for finding in found})
        return {finding["name"]: finding for finding in found}

    return ask


@pytest.mark.smoke
def test_doctor_says_what_is_broken_and_exits_1(tmp_path: Path) -> None:
    home = Path(os.environ["AGENTDASH_HOME"])
    Layout(home).create()
    (home / "agentdash.db").write_bytes(b"something else entirely" * 100)
    env = os.environ | {"LC_ALL": "C.UTF-8", "PATH": str(tmp_path)}
    env.pop("AGENTDASH_ASCII", None)
    argv = [sys.executable, "-P", "-m", "agentdash", "doctor"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("✗ database "))
    assert lines[at].endswith(f"{home / 'agentdash.db'} is damaged: file is not a database")
    assert lines[at + 1] == "  ↳ agentdash doctor --rebuild"
    assert any(line.split() == ["!", "codex", "not", "installed"] for line in lines)
    assert lines[-1].endswith(" warnings, 1 error")


def test_doctor_of_a_new_user_finds_nothing_broken_and_makes_nothing(doctor: Doctor) -> None:
    found = doctor()
    assert "fail" not in {finding["state"] for finding in found.values()}
    assert found["database"] == {"name": "database", "state": "ok", "found": "none yet", "remedy": None}
    assert not Path(os.environ["AGENTDASH_HOME"]).exists()


def test_doctor_does_not_load_the_screen() -> None:
    code = (
        "import sys, contextlib, io, agentdash.tui.cli.main as cli\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    cli.run(['doctor'])\n"
        "print({name.split('.')[0] for name in sys.modules} & {'textual', 'rich', 'watchfiles'})"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"


def test_a_check_that_breaks_is_told_and_the_others_too(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(shutil, "disk_usage", broken)
    found = doctor()
    assert found["disk space"]["found"] == "check failed: RuntimeError: no luck"
    assert found["state folder"]["state"] == "ok"


def test_a_runner_that_was_killed_is_told_until_it_is_settled(
    manager: SessionManager, doctor: Doctor, wait_until: Callable[..., Any]
) -> None:
    assert run(["run", "--", "sleep", "600"]) == 0
    session = manager.reader.sessions()[0].id
    wait_until(lambda: manager.reader.get(session).status == "running", what="the command to run")
    found = doctor()
    assert found["live turns"]["found"] == "every live turn has its runner"
    assert found["session folders"]["found"] == "1, all in the database"
    assert found["strays"]["state"] == "ok"
    turn = manager.reader.turns(session)[-1]
    assert turn.runner_pid is not None
    os.kill(turn.runner_pid, signal.SIGKILL)
    wait_until(lambda: not processes.alive(turn.runner_pid, turn.runner_start), what="the runner to be gone")
    found = doctor()
    assert found["live turns"]["found"] == f"1 ({session[:8]}) recorded as live, runner missing"
    assert run(["ls"]) == 0
    wait_until(lambda: doctor()["live turns"]["state"] == "ok", what="a new runner")
