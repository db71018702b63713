"""An upgrade in place, or the removal of agentdash, under sessions that are at work."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from scripted.registration import FOLDER

from .another_version import move_modules
from .conftest import copy_sources

WAITS = 'until [ -e "$0" ]; do sleep 0.1; done; '


@pytest.fixture(scope="module")
def wheels(pip, once_a_run, tmp_path_factory):
    """The wheels of this version, and of one that has its modules elsewhere, each with the scripted agent for it."""

    def fill(folder):
        for name in ("this", "other"):
            sources = copy_sources(tmp_path_factory.mktemp(name))
            shutil.copytree(FOLDER, sources / "agents", ignore=shutil.ignore_patterns("__pycache__"))
            if name == "other":
                move_modules(sources)
            pip("wheel", ".", "--quiet", "--wheel-dir", str(folder / name), cwd=sources)
            shutil.copytree(sources / "agents", folder / name / "agents")

    return once_a_run("two-versions", fill)


class Installed:
    """An environment with agentdash in it, and the command of whichever version is there."""

    def __init__(self, folder, wheels):
        self._wheels, self.python = wheels, folder / "bin/python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        (self._site,) = (folder / "lib").glob("python*/site-packages")
        (self._site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self._install("this")

    def _install(self, version):
        (wheel,) = (self._wheels / version).glob("*.whl")
        self.pip("install", str(wheel))
        shutil.copytree(self._wheels / version / "agents", self._site, dirs_exist_ok=True)

    def pip(self, *words):
        flags = ["--no-deps", "--no-index", "--force-reinstall"] if words[0] == "install" else ["--yes"]
        argv = [sys.executable, "-m", "pip", "--python", str(self.python), *words, "--quiet", *flags]
        subprocess.run(argv, check=True, env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"})

    def upgrade(self):
        self._install("other")
        return self.python

    def remove(self):
        """Remove it; another installation still reads the state folder."""
        self.pip("uninstall", "agentdash-tui")
        return Path(sys.executable)


class User:
    """Uses the command line of one installation, in a folder."""

    def __init__(self, python, folder):
        self.python, self.folder = python, folder
        # An environment has the scripted agent in it; the tests' own Python finds it by the variable.
        own = {} if str(python) == sys.executable else {"PYTHONPATH": ""}
        self._env = os.environ | own

    def __call__(self, *words, code=0):
        argv = [str(self.python), "-P", "-m", "agentdash", *words]
        done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=120,
                              cwd=self.folder, env=self._env)  # fmt: skip
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout

    def json(self, *words):
        return json.loads(self(words[0], "--json", *words[1:]))

    def spawn(self, *words):
        return self.json("spawn", "-a", "scripted", *words)["id"]

    def run(self, script, word):
        return json.loads(self("run", "--json", "--", "sh", "-c", script, str(word)))["id"]

    def states(self):
        return {one["id"]: one["status"] for one in self.json("ls", "--all")}

    def runner(self, session):
        return self.json("show", session)["turns"][-1]["runner_pid"]


@pytest.fixture
def all_end(scripted_agent):
    """All sessions of the test are stopped at its end, by an installation that is still there."""
    yield
    with SessionManager() as manager:
        for session in manager.reader.sessions():
            with contextlib.suppress(AgentdashError):
                manager.stop(session.id, NOW)


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("all_end")
@pytest.mark.parametrize("act", ["upgrade", "remove"])
def test_sessions_at_work_go_on_while_their_installation_is_replaced_or_removed(wheels, tmp_path, wait_until, act):
    installed, go = Installed(tmp_path / "env", wheels), tmp_path / "go"
    user, live = User(installed.python, tmp_path), ("--set", "live=true", "--set", "speed=20")
    asks = user.spawn(*live, "[[script:ask]] clean")
    steered = user.spawn("--set", "live=true", "--set", "speed=0.3", "[[script:steer]] pages")
    stopped, failed, done = (user.run(WAITS + end, go) for end in ("sleep 600", "exit 3", "echo well"))
    chained = user.spawn("--set", "speed=20", "--after", done, "[[script:quick]] {answer}")
    queued = user.spawn("--set", "speed=0.1", "[[script:long]] first")
    user("inject", queued, "--next", "[[script:quick]] second")
    at_work = (asks, steered, stopped, failed, done, queued)

    def all_at_work():
        states = user.states()
        return states[asks] == "waiting" and all(states[one] in ("running", "waiting") for one in at_work)

    wait_until(all_at_work, timeout=200, what="all to be at work")
    runners = {one: user.runner(one) for one in at_work}

    user = User(getattr(installed, act)(), tmp_path)
    user("stop", stopped)
    go.touch()
    user("inject", steered, "and their titles")
    user("approve", asks, str(user.json("asks")[0]["id"]))
    user("wait", asks, done)
    user("wait", failed, code=1)
    wait_until(lambda: "titles" in user("messages", steered), timeout=120, what="the answer to the steered prompt")
    user("inject", asks, "[[script:quick]] go on")
    user("wait", asks)
    user("interrupt", queued)
    user("queue", queued, "release")
    user("wait", queued)

    states = user.states()
    ends = {one: states[one] for one in (asks, stopped, failed, done, queued)}
    assert ends == {asks: "done", stopped: "stopped", failed: "failed", done: "done", queued: "done"}
    assert "go on" in user("messages", asks)
    assert "second" in user("messages", queued)
    # None of them was ended and begun again: a live agent has one runner for all its turns.
    assert {one: user.runner(one) for one in (asks, steered, stopped, failed, done)} == {
        one: pid for one, pid in runners.items() if one != queued
    }
    user("stop", steered)
    if act == "upgrade":  # its runner is started by the runner of the session before it
        user("wait", chained)
    logs = [path.read_text() for path in (tmp_path / "state/sessions").glob("*/runner.log")]
    said = [log for log in logs if "Traceback" in log]
    assert said == []
