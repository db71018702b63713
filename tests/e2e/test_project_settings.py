"""The settings of a project on the command line: what a start says, the verb that trusts, the origin of each value."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from agentdash.sessions.runner.processes import processes

FILE = """\
default_agent = "scripted"
[agents.scripted]
model = "scripted-2"
limits.silence_seconds = 300.0
[limits]
output_mb = 900
wall_seconds = 600.0
[presets.look]
prompt = "Look at {prompt}."
"""


class Project:
    """A folder with a file of settings, and the command line in it."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "repository"
        self.root.mkdir()
        (self.root / ".git").mkdir()
        self.own = tmp_path / "config.toml"
        self.own.write_text("[limits]\noutput_mb = 500\n[agents.scripted]\nspeed = 500.0\n")
        self.file = self.root / ".agentdash.toml"
        self.write(FILE)

    def write(self, text: str) -> None:
        self.file.write_text(text)
        self.file.chmod(0o600)

    def run(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "agentdash", *arguments]
        return subprocess.run(
            command, cwd=self.root, env=os.environ | env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def at_a_terminal(self, answer: str, *arguments: str) -> int:
        """Run a verb whose input is a terminal; return its exit code."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "agentdash", *arguments],
            cwd=self.root, stdin=slave, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(slave)
        os.write(master, f"{answer}\n".encode())
        code = process.wait(60)
        os.close(master)
        return code


@pytest.fixture
def project(scripted_agent: object, tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.smoke
def test_an_untrusted_project_warns_once_and_changes_nothing(project: Project) -> None:
    done = project.run("spawn", "--wait", "--agent", "scripted", "--json", "go")
    assert done.returncode == 0, done.stderr
    warned = [line for line in done.stderr.splitlines() if "is not trusted, so it is not in force" in line]
    assert len(warned) == 1
    assert "Review it: agentdash trust" in warned[0]
    assert json.loads(done.stdout)["warnings"] == [json.loads(warned[0])["notice"]["message"]]
    assert "unknown preset" in project.run("spawn", "--preset", "look", "x").stderr.lower()


def test_trust_asks_at_a_terminal_and_only_yes_trusts(project: Project) -> None:
    asked = project.run("trust")
    assert (asked.returncode, "add --yes" in asked.stderr) == (1, True)
    assert 'default_agent = "scripted"  (yours: "codex")' in asked.stdout
    assert "limits.output_mb = 900  (no effect: yours is 500.0)" in asked.stdout
    assert project.at_a_terminal("n", "trust") == 1
    assert project.at_a_terminal("", "trust") == 1
    assert project.at_a_terminal("y", "trust") == 0
    started = project.run("spawn", "--preset", "look", "--wait", "--json", "this")
    assert started.returncode == 0, started.stderr
    session = json.loads(started.stdout)
    assert (session["agent"], session["warnings"]) == ("scripted", [])


def test_json_shows_the_state_and_trusts_only_with_yes(project: Project) -> None:
    shown = project.run("trust", "--json")
    found = json.loads(shown.stdout)
    assert (shown.returncode, found["state"], found["trusted_at"], found["diff"]) == (1, "untrusted", None, None)
    [output] = [one for one in found["settings"] if one["key"] == "limits.output_mb"]
    assert output == {"key": "limits.output_mb", "line": 6, "value": 900, "own": 500.0, "effective": 500.0}
    done = project.run("trust", "--yes", "--json")
    assert (done.returncode, json.loads(done.stdout)["state"]) == (0, "trusted")
    [listed] = json.loads(project.run("trust", "--list", "--json").stdout)
    assert (listed["path"], listed["sha256"]) == (str(project.file), found["sha256"])
    forgotten = project.run("trust", "--forget", ".", "--json")
    assert json.loads(forgotten.stdout) == {"path": str(project.file), "state": "untrusted"}
    assert project.run("trust", "--forget", ".").returncode == 1


def test_a_change_is_shown_as_a_diff_and_is_not_in_force(project: Project) -> None:
    assert project.run("trust", "--yes").returncode == 0
    project.write(project.file.read_text().replace("600.0", "60.0"))
    done = project.run("spawn", "--dry-run", "--agent", "scripted", "go")
    assert (done.returncode, "changed since you trusted it" in done.stderr) == (0, True)
    shown = project.run("trust")
    assert "-wall_seconds = 600.0\n+wall_seconds = 60.0\n" in shown.stdout
    assert project.run("trust", "--yes").returncode == 0
    assert project.run("trust").stdout.splitlines()[0].endswith("trusted: the settings are in force")


def test_the_list_names_the_origin_of_each_value(project: Project) -> None:
    project.run("trust", "--yes")
    for arguments, cwd in ((("--cwd",), True), (("--project", str(project.root)), True), ((), False)):
        rows = {one["key"]: one for one in json.loads(project.run("config", "list", "--json", *arguments).stdout)}
        found = {key: (rows[key]["origin"], rows[key]["line"]) for key in ("default_agent", "limits.output_mb")}
        in_project = {"default_agent": ("project", 1), "limits.output_mb": ("forced", 2)}
        assert found == (in_project if cwd else {"default_agent": ("default", None), "limits.output_mb": ("file", 2)})
    assert project.run("config", "list", "--cwd", "--project", ".").returncode == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[agents.scripted]\nbin = '/bin/sh'\n", ".agentdash.toml:2: agents.scripted.bin: A project cannot set it."),
        ("default_agent = 'scripted'\n[queue]\n", ".agentdash.toml:2: queue: A project cannot set it."),
        ("[limits]\ntokens = \n", ".agentdash.toml:2: limits.tokens: Invalid value"),
    ],
)
def test_a_file_that_cannot_be_in_force_is_a_clear_error(project: Project, text: str, message: str) -> None:
    project.write(text)
    for arguments in (["trust"], ["trust", "--yes"]):
        done = project.run(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    refused = project.run("trust", "--json", "--yes")
    assert (refused.returncode, json.loads(refused.stdout)["state"]) == (2, "refused")
    assert project.run("trust", "--list").stdout == "No trusted projects.\n"
    assert project.run("spawn", "--dry-run", "--agent", "scripted", "go").returncode == 0


def test_a_link_a_missing_file_and_an_agent_are_refused(project: Project, tmp_path: Path) -> None:
    inside = project.run("trust", "--yes", **{processes.SESSION_TAG: "12345678-aaaa"})
    assert (inside.returncode, "An agent cannot change" in inside.stderr) == (2, True)
    project.file.rename(tmp_path / "elsewhere.toml")
    assert project.run("trust").stderr == "agentdash: No .agentdash.toml in the current folder or above it.\n"
    project.file.symlink_to(tmp_path / "elsewhere.toml")
    done = project.run("trust", "--yes")
    assert (done.returncode, "it is a symbolic link" in done.stderr) == (1, True)
    assert project.run("trust", "x", "--list").returncode == 2


def test_a_later_turn_reports_that_the_settings_in_force_changed(project: Project) -> None:
    project.run("trust", "--yes")
    first = json.loads(project.run("spawn", "--agent", "scripted", "--wait", "--json", "go").stdout)
    project.write(FILE.replace("600.0", "6.0"))
    later = project.run("inject", first["id"], "--wait", "--json", "more")
    assert later.returncode == 0, later.stderr
    assert any("changed since you trusted it" in warning for warning in json.loads(later.stdout)["warnings"])
