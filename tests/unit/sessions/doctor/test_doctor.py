"""The doctor: every check in its good and its bad states, as a person reads them."""

import ctypes
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from real_clis import EVERY_CLI, versions_of

from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.doctor import agents, files, machine
from agentdash.sessions.doctor.checks import CHECKS, examine, findings_of
from agentdash.sessions.doctor.machine import mount_of, parse_mounts
from agentdash.sessions.doctor.model import Answer, Check, Finding, Subject, ask, fail, ok, warn
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.schema import VERSION
from agentdash.sessions.storage.store import Store
from agentdash.tui.render.setup.doctor import findings_text
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing.glyphs import twins

SESSION = "0123456789abcdef"


class Patient:
    """A machine with a user, all below one scratch folder."""

    def __init__(self, folder: Path) -> None:
        self.layout = Layout(folder / "state")
        self.config = folder / "config.toml"
        self.root = folder / "root"
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.env: dict[str, str] = {"PATH": str(self.bin)}
        self.user = "ada"

    def told(self, check: Check) -> list[Finding]:
        """Everything a check says."""
        subject = Subject(layout=self.layout, config_path=self.config, env=self.env, user=self.user, root=self.root)
        return findings_of("the check", check, subject)

    def one(self, check: Check) -> Finding:
        """The one thing a check says."""
        (finding,) = self.told(check)
        return finding

    def named(self, check: Check, name: str) -> Finding:
        """What a check says about one thing."""
        return next(finding for finding in self.told(check) if finding.name == name)

    def file(self, path: str, text: str = "") -> None:
        """A file of the machine."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def command(self, name: str, script: str) -> Path:
        """A command in the user's PATH."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def store(self) -> Layout:
        """The state folder with an empty database."""
        self.layout.create()
        store = Store(self.layout.database)
        store.sessions()
        store.close()
        return self.layout

    def session(self, status: str = "running", **turn: str) -> None:
        """A session of this machine with one turn, and its folder."""
        self.store().session(SESSION).create()
        facts = {
            "boot_id": processes.boot_id(),
            "pid_ns": processes.pid_namespace(),
            "host": processes.host_name(),
        } | turn
        with sqlite3.connect(self.layout.database) as db:
            db.execute(
                "INSERT INTO sessions (id, agent, title, task, cwd, status, turn, host, created_at, updated_at)"
                " VALUES (?, 'command', 't', 't', '/', ?, 1, ?, 0, 0)",
                (SESSION, status, facts["host"]),
            )
            db.execute(
                "INSERT INTO turns (session, n, status, run_id, launch, created_at, boot_id, pid_ns)"
                " VALUES (?, 1, ?, 'r', '{}', 0, ?, ?)",
                (SESSION, status, facts["boot_id"], facts["pid_ns"]),
            )
        db.close()


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)


def test_versions_are_told(patient: Patient) -> None:
    assert [finding.name for finding in patient.told(agents.versions)] == ["agentdash", "Python", "SQLite"]
    assert {finding.state for finding in patient.told(agents.versions)} == {"ok"}


def test_a_sqlite_without_strict_tables_is_too_old(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    assert patient.named(agents.versions, "SQLite").state == "fail"
    assert patient.named(agents.versions, "SQLite").found == "3.34.1 is too old"


def test_an_agent_that_is_installed_is_told_with_version_and_place(patient: Patient) -> None:
    # A CLI that reads its stdin gets an end of file, not the keyboard.
    path = patient.command("codex", "while read -r line; do :; done; echo codex-cli 0.169.0")
    assert patient.named(agents.agent_clis, "codex") == ok(
        "codex", f"0.169.0 ({path}), tested with 0.169.0 and 0.171.0"
    )


def test_an_agent_that_is_missing_is_told_with_how_to_get_it(patient: Patient) -> None:
    told = patient.told(agents.agent_clis)
    assert [(finding.name, finding.state, finding.found) for finding in told] == [
        ("codex", "warn", "not installed"),
        ("claude", "warn", "not installed"),
    ]
    assert "npm install" in str(told[0].remedy)


def test_an_agent_older_than_the_tested_one_is_told(patient: Patient) -> None:
    path = patient.command("claude", "echo '2.1.99 (Claude Code)'")
    finding = patient.named(agents.agent_clis, "claude")
    assert finding.state == "warn"
    assert finding.found == f"2.1.99 ({path}) is older than the tested 2.1.197"


@pytest.mark.parametrize("version", ["2.1.197", "2.1.250", "2.1.332"])
def test_an_agent_among_the_tested_versions_is_fine(patient: Patient, version: str) -> None:
    path = patient.command("claude", f"echo '{version} (Claude Code)'")
    tested = "tested with 2.1.197, 2.1.330 and 2.1.332"
    assert patient.named(agents.agent_clis, "claude") == ok("claude", f"{version} ({path}), {tested}")


def test_an_agent_newer_than_every_tested_one_is_told(patient: Patient) -> None:
    path = patient.command("claude", "echo '2.10.0 (Claude Code)'")
    finding = patient.named(agents.agent_clis, "claude")
    assert (finding.state, finding.found) == ("warn", f"2.10.0 ({path}) is newer than the tested 2.1.332")
    assert finding.remedy == "check the steps marked ??, or install 2.1.332"


def test_each_tested_version_runs_in_the_tests() -> None:
    tried = {(kind.partition("-")[0], version) for kind in EVERY_CLI for version in versions_of(kind)}
    agents = [agent_named(name) for name in agent_names()]
    assert tried == {(agent.name, version) for agent in agents for version in agent.tested_versions}


def test_an_agent_that_does_not_start_is_broken(patient: Patient) -> None:
    path = patient.command("codex", "echo 'no native binary' >&2; exit 3")
    finding = patient.named(agents.agent_clis, "codex")
    assert (finding.state, finding.found) == ("fail", f"{path} --version exited with code 3: no native binary")
    path.write_bytes(b"\x7fELF nothing")
    finding = patient.named(agents.agent_clis, "codex")
    assert (finding.state, finding.found) == ("fail", f"{path} cannot be started: Exec format error")


def test_the_command_of_the_settings_is_what_is_asked(patient: Patient) -> None:
    path = patient.command("my-codex", "echo 1.0.0")
    patient.config.write_text(f"[agents.codex]\nbin = '{path}'\n")
    assert patient.named(agents.agent_clis, "codex").found == f"1.0.0 ({path}) is newer than the tested 0.171.0"
    patient.config.write_text("[agents.codex]\nbin = 'her-codex'\n")
    assert patient.named(agents.agent_clis, "codex").found == "her-codex not found"
    patient.config.write_text("broken")
    assert patient.named(agents.agent_clis, "codex").found == "not installed"


@pytest.mark.parametrize(
    ("answer", "state", "found"),
    [
        (Answer(exit_code=None), "fail", "/bin/codex --version timed out"),
        (Answer(exit_code=0, text="\nhello\n"), "warn", "/bin/codex printed no version: hello"),
        (Answer(exit_code=-9), "fail", "/bin/codex --version exited with code -9"),
        (Answer(exit_code=0, text="\x1b[31mv0.9\x07"), "warn", "0.9 (/bin/codex) is older than the tested 0.169.0"),
    ],
)
def test_what_an_agent_answers_to_version(answer: Answer, state: str, found: str) -> None:
    finding = agents.judge(agent_named("codex"), "/bin/codex", answer)
    assert finding.state == state
    assert finding.found.startswith(found)
    assert finding.remedy


def test_a_command_that_does_not_answer_is_ended_with_all_it_started(tmp_path: Path, wait_until: Any) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    holder = os.open(fifo, os.O_RDWR)
    script = f'(read -r line < "{fifo}") & echo $! > "{tmp_path}/child"; wait'
    try:
        assert ask(["/bin/sh", "-c", script], os.environ, seconds=2) == Answer(exit_code=None)
        child = int((tmp_path / "child").read_text())
        wait_until(lambda: (found := processes.by_pid(child)) is None or found.zombie)
    finally:
        os.close(holder)


def test_settings_that_cannot_be_used_are_told_with_file_line_and_key(patient: Patient) -> None:
    assert patient.one(files.settings_file) == ok("settings", f"defaults ({patient.config} does not exist)")
    patient.config.write_text('default_agent = "codex"\n')
    assert patient.one(files.settings_file) == ok("settings", str(patient.config))
    patient.config.write_text('default_agent = "codex"\n[agents.codex]\nsandbocks = 1\n')
    finding = patient.one(files.settings_file)
    assert finding.state == "fail"
    assert finding.found.startswith(f"{patient.config}:3: agents.codex.sandbocks: Unknown key.")
    patient.config.write_text("a = \n")
    assert patient.one(files.settings_file).found.startswith(f"{patient.config}:1: ")


def test_limits_that_cannot_act_are_told_for_the_agents_that_are_installed(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient.env["CODEX_HOME"] = str(patient.root)
    assert patient.one(agents.limits) == ok("limits", "none configured")
    patient.config.write_text('[limits]\ntokens = 5\ncost_usd = 1.0\n[agents.codex]\nmodel = "gpt-nope"\n')
    assert patient.one(agents.limits) == ok("limits", "all configured limits work")  # codex is not there
    patient.command("codex", "echo codex-cli 0.169.0")
    finding = patient.one(agents.limits)
    assert finding.state == "warn"
    assert finding.found.startswith(
        "codex: The cost limit cannot work: codex reports no cost, and gpt-nope has no price"
    )
    assert "[prices]" in str(finding.remedy)
    with patient.config.open("a") as file:
        file.write('[prices."gpt-nope"]\ninput = 1.0\noutput = 2.0\n[agents.command.limits]\ntokens = 7\n')
    found = [finding.found for finding in patient.told(agents.limits)]
    assert found == [
        "command: The tokens limit cannot work: a command reports no tokens",
        "command: The cost limit cannot work: a command reports no cost",
    ]
    patient.config.write_text("broken")
    assert patient.told(agents.limits) == []


def test_a_state_folder_that_is_not_there_yet_is_fine_and_is_not_made(patient: Patient) -> None:
    home = patient.layout.home
    assert patient.one(files.folder) == ok("state folder", f"{home}, created on first use")
    for check in (files.permissions, machine.file_events):
        assert patient.told(check) == []
    assert not home.exists()
    patient.layout.create()
    assert patient.one(files.folder) == ok("state folder", str(home))


def test_a_state_folder_that_cannot_be_used_is_told(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    patient.layout.home.write_text("a file")
    finding = patient.one(files.folder)
    assert finding.state == "fail"
    assert finding.found.endswith("is not a folder")
    assert "AGENTDASH_HOME" in str(finding.remedy)
    patient.layout.home.unlink()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "cannot be written" in patient.one(files.folder).found


def test_what_others_can_read_is_told(patient: Patient) -> None:
    layout = patient.store()
    layout.session(SESSION).create()
    assert patient.one(files.permissions) == ok("permissions", "folders 0700, files 0600")
    layout.session(SESSION).path.chmod(0o755)
    finding = patient.one(files.permissions)
    assert finding == warn(
        "permissions",
        f"accessible to other users: {layout.sessions / SESSION} (0755)",
        f"chmod -R go-rwx {layout.home}",
    )
    layout.database.chmod(0o640)
    assert patient.one(files.permissions).found.endswith("agentdash.db (0640) and 1 more")


@pytest.mark.parametrize(
    ("free", "state", "found"),
    [
        (5_000_000_000, "ok", "5.0 GB free"),
        (999_000_000, "warn", "999 MB free"),
        (49_000_000, "fail", "49.0 MB free: too little to record a turn"),
    ],
)
def test_a_disk_that_is_nearly_full_is_told(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, free: int, state: str, found: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": free}))
    finding = patient.one(files.disk_space)
    assert (finding.state, finding.found, finding.remedy is None) == (state, found, state == "ok")


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_a_state_folder_on_a_network_is_told(patient: Patient, tmp_path: Path, kind: str) -> None:
    local = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    patient.file("proc/self/mountinfo", local)
    assert patient.one(files.file_system) == ok("file system", "ext4 on /")
    patient.file("proc/self/mountinfo", f"{local}30 22 0:40 / {tmp_path} rw - {kind} server:/home rw\n")
    finding = patient.one(files.file_system)
    assert finding.state == "warn"
    assert finding.found.startswith(f"{kind} on {tmp_path}: ")
    assert finding.remedy == "set AGENTDASH_HOME to a folder on a local disk"


def test_mounts_are_read_with_blanks_and_the_last_one_at_a_place_counts() -> None:
    text = (
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 8:2 / /my\\040disk rw shared:1 master:2 - nfs a:/b rw,vers=3\n"
        "3 1 8:3 / /my\\040disk rw - xfs /dev/sdb rw\n"
        "no mount at all\n"
    )
    mounts = parse_mounts(text)
    assert [(str(mount.point), mount.kind) for mount in mounts] == [
        ("/", "ext4"),
        ("/my disk", "nfs"),
        ("/my disk", "xfs"),
    ]
    found = mount_of(mounts, Path("/my disk/state"))
    assert found is not None
    assert found.kind == "xfs"
    other = mount_of(mounts, Path("/my disks"))
    assert other is not None
    assert other.kind == "ext4"
    assert mount_of([], Path("/")) is None


def test_no_database_is_fine_and_none_is_made(patient: Patient) -> None:
    patient.layout.create()
    assert patient.one(files.database) == ok("database", "none yet")
    assert patient.one(files.folders_and_rows) == ok("session folders", "none yet")
    assert not patient.layout.database.exists()


def test_a_whole_database_is_told_with_its_schema(patient: Patient) -> None:
    patient.store()
    assert patient.one(files.database) == ok("database", f"ok, schema {VERSION}")


def test_a_file_that_is_no_database_is_told(patient: Patient) -> None:
    patient.layout.create()
    patient.layout.database.write_bytes(b"something else entirely" * 100)
    finding = patient.one(files.database)
    assert (finding.state, finding.remedy) == ("fail", "agentdash doctor --rebuild")
    assert finding.found == f"{patient.layout.database} is damaged: file is not a database"
    # What needs the rows says nothing of its own about it.
    assert patient.told(files.folders_and_rows) == []
    assert patient.told(files.live_turns) == []


def test_a_damaged_page_is_told(patient: Patient) -> None:
    path = patient.store().database
    with path.open("r+b") as file:
        file.seek(4096 * 2)
        file.write(b"\xff" * 4096 * 2)
    finding = patient.one(files.database)
    assert (finding.state, finding.remedy) == ("fail", "agentdash doctor --rebuild")
    assert "damaged: " in finding.found
    assert "\n" not in finding.found


def test_a_database_that_cannot_be_opened_is_told(patient: Patient) -> None:
    patient.layout.create()
    patient.layout.database.mkdir()
    finding = patient.one(files.database)
    assert (finding.state, "cannot be read: " in finding.found) == ("fail", True)


@pytest.mark.parametrize(
    ("version", "state", "found", "remedy"),
    [
        (VERSION + 1, "fail", f"newer agentdash (schema {VERSION + 1})", "upgrade agentdash"),
        (1, "fail", f"older agentdash (schema 1; this one has {VERSION})", "agentdash doctor --rebuild"),
        (0, "warn", "empty", "agentdash ls gives it its tables"),
    ],
)
def test_another_schema_is_told(patient: Patient, version: int, state: str, found: str, remedy: str) -> None:
    path = patient.store().database
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    finding = patient.one(files.database)
    assert (finding.state, finding.remedy) == (state, remedy)
    assert found in finding.found


def test_the_sessions_of_an_older_schema_that_run_are_told(patient: Patient) -> None:
    patient.session()
    with sqlite3.connect(patient.layout.database) as db:
        db.execute("PRAGMA user_version = 14")
    db.close()
    with runner_lock.hold(patient.layout.session(SESSION).lock) or pytest.fail("another process has the lock"):
        finding = patient.one(files.database)
    assert "run and have to end first: 01234567" in finding.found
    assert finding.remedy == "agentdash stop ID, or wait; then agentdash doctor --rebuild"


def aged(folder: SessionFolder) -> SessionFolder:
    """The folder as it is an hour after it was made."""
    an_hour_ago = time.time() - 3600
    for path in (folder.turns, folder.path):
        os.utime(path, (an_hour_ago, an_hour_ago))
    return folder


def test_folders_and_rows_that_do_not_match_are_told_with_what_mends_each(patient: Patient) -> None:
    patient.session("done")
    layout = patient.layout
    assert patient.one(files.folders_and_rows) == ok("session folders", "1, all in the database")
    layout.session("fedcba9876543210").create()
    (layout.sessions / "no id").mkdir()
    # It may be a start that is under way.
    assert patient.one(files.folders_and_rows) == ok("session folders", "1, all in the database")
    aged(layout.session("fedcba9876543210"))
    empty = warn(
        "session folders",
        "1 (fedcba98) empty in sessions/ (interrupted starts)",
        "agentdash doctor --rebuild removes them",
    )
    assert patient.told(files.folders_and_rows) == [empty]
    shutil.rmtree(layout.session(SESSION).path)
    found = "1 (01234567) in the database, folder missing"
    assert patient.told(files.folders_and_rows) == [empty, warn("session folders", found, "agentdash rm 01234567")]


def test_a_folder_with_output_and_no_record_is_told(patient: Patient) -> None:
    patient.layout.create()
    folder = patient.layout.session("1" * 16)
    folder.create()
    folder.output(1).write_bytes(b"a line\n")
    assert patient.one(files.folders_and_rows) == warn(
        "session folders",
        "1 (11111111) in sessions/, missing in the database, session.json unreadable",
        "agentdash doctor --rebuild recovers them from their turn files",
    )
    folder.identity.write_text('{"format": 99}')
    assert patient.one(files.folders_and_rows).remedy == "upgrade agentdash"


def test_all_folders_are_unknown_once_the_database_is_gone(patient: Patient) -> None:
    patient.layout.create()
    for digit in "4321":
        patient.layout.session(digit * 16).create()
        aged(patient.layout.session(digit * 16))
    found = patient.one(files.folders_and_rows).found
    assert found == "4 (11111111, 22222222, 33333333, ...) empty in sessions/ (interrupted starts)"


def test_a_live_turn_needs_a_runner(patient: Patient) -> None:
    patient.session()
    with runner_lock.hold(patient.layout.session(SESSION).lock) or pytest.fail("another process has the lock"):
        assert patient.one(files.live_turns) == ok("live turns", "every live turn has its runner")
    assert patient.one(files.live_turns) == warn(
        "live turns", "1 (01234567) recorded as live, runner missing", "run agentdash ls"
    )


def test_an_agent_that_waits_for_prompts_needs_a_runner(patient: Patient) -> None:
    patient.session(status="done")
    with closing(sqlite3.connect(patient.layout.database)) as db, db:
        db.execute("UPDATE sessions SET warm_since = 5")
    with runner_lock.hold(patient.layout.session(SESSION).lock) or pytest.fail("another process has the lock"):
        assert patient.one(files.live_turns).state == "ok"
    assert patient.one(files.live_turns) == warn(
        "live turns", "1 (01234567) wait for prompts, runner missing", "run agentdash ls"
    )


@pytest.mark.parametrize(
    "facts", [{"status": "done"}, {"status": "queued"}, {"host": "elsewhere"}, {"pid_ns": "pid:[1]"}], ids=str
)
def test_what_is_not_live_here_needs_none(patient: Patient, facts: dict[str, str]) -> None:
    patient.session(**facts)
    assert patient.one(files.live_turns).state == "ok"


def test_the_kernel_of_this_machine_can_supervise(patient: Patient) -> None:
    for check in (machine.subreaper, machine.pidfd, machine.environments):
        assert patient.one(check).state == "ok"


def test_asking_for_subreapers_makes_none() -> None:
    code = (
        "import ctypes\n"
        "from agentdash.sessions.doctor.machine import subreaper_known\n"
        "assert subreaper_known()\n"
        "is_one = ctypes.c_int(7)\n"
        "ctypes.CDLL(None).prctl(37, ctypes.byref(is_one), 0, 0, 0)\n"
        "print(is_one.value)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "0\n"


def test_a_kernel_that_cannot_supervise_is_told(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(prctl=lambda *_: -1))
    monkeypatch.setattr(os, "pidfd_open", forbidden)
    assert patient.one(machine.subreaper).state == "warn"
    finding = patient.one(machine.pidfd)
    assert finding.state == "fail"
    assert finding.found.endswith("Operation not permitted")


def test_hidden_processes_matter_if_our_own_are_hidden(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    patient.file("proc/self/mountinfo", "22 1 0:21 / /proc rw,relatime - proc proc rw,hidepid=2\n")
    finding = patient.one(machine.environments)
    assert finding == ok("processes", "/proc is mounted with hidepid=2: tags of own processes are readable")
    monkeypatch.setattr(processes, "environment", lambda _: {})
    finding = patient.one(machine.environments)
    assert finding.state == "fail"
    assert finding.found.startswith("/proc is mounted with hidepid=2: tags of own processes are not readable")
    assert "hidepid=0" in str(finding.remedy)


@pytest.fixture
def tagged(patient: Patient) -> Iterator[subprocess.Popen[bytes]]:
    """A process of a session of the patient's state folder."""
    env = os.environ | {processes.SESSION_TAG: SESSION, "AGENTDASH_HOME": str(patient.layout.home)}
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, env=env) as process:
        yield process


def test_a_process_of_a_forgotten_session_is_told(patient: Patient, tagged: subprocess.Popen[bytes]) -> None:
    finding = patient.one(files.strays)
    assert finding == warn("strays", f"1 process of deleted sessions: cat {tagged.pid}", f"kill {tagged.pid}")


def test_a_process_of_a_known_session_is_none(patient: Patient, tagged: subprocess.Popen[bytes]) -> None:
    assert tagged.poll() is None
    patient.session("done")
    assert patient.one(files.strays) == ok("strays", "no processes of deleted sessions")
    # The folder alone will do: the database may be the broken part.
    patient.layout.database.write_bytes(b"something else entirely" * 100)
    assert patient.one(files.strays).state == "ok"


def test_a_process_of_another_state_folder_is_none(
    patient: Patient, tagged: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert tagged.poll() is None
    patient.layout = Layout(tmp_path / "another")
    assert patient.one(files.strays).state == "ok"


def inotify_limits(patient: Patient, instances: int, watches: int) -> Finding:
    patient.file("proc/sys/fs/inotify/max_user_instances", f"{instances}\n")
    patient.file("proc/sys/fs/inotify/max_user_watches", f"{watches}\n")
    return patient.one(machine.instances_and_watches)


def test_small_limits_of_inotify_are_told(patient: Patient) -> None:
    assert patient.told(machine.instances_and_watches) == []
    assert inotify_limits(patient, 128, 65536) == ok("inotify", "128 instances, 65536 watches for this user")
    assert "max_user_instances=" in str(inotify_limits(patient, 16, 65536).remedy)
    assert "max_user_watches=" in str(inotify_limits(patient, 128, 100).remedy)


def test_file_events_are_tried_in_the_state_folder_and_nothing_stays(patient: Patient) -> None:
    patient.layout.create()
    before = sorted(patient.layout.home.rglob("*"))
    assert patient.one(machine.file_events) == ok("file events", "writes in the state folder are reported")
    assert sorted(patient.layout.home.rglob("*")) == before


def test_a_kernel_that_reports_nothing_is_told(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    patient.layout.create()
    monkeypatch.setattr(machine, "watch_growth", lambda _: None)
    assert patient.one(machine.file_events).found.startswith("the kernel refuses a watch")
    reader, writer = os.pipe()
    monkeypatch.setattr(machine, "watch_growth", lambda _: reader)
    monkeypatch.setattr(machine, "_SECONDS", 0)
    finding = patient.one(machine.file_events)
    os.close(writer)
    assert finding.state == "warn"
    assert finding.found.startswith("writes in the state folder are not reported")


def systemd(patient: Patient, settings_text: str = "", *, linger: bool = False, below: str = "") -> Finding:
    """What is said on a machine with systemd."""
    patient.file("run/systemd/system/x")
    patient.file("etc/systemd/logind.conf", f"[Login]\n#KillUserProcesses=yes\n{settings_text}\n")
    patient.file("proc/self/cgroup", f"0::/user.slice/user-1000.slice/{below or 'session-2.scope'}\n")
    if linger:
        patient.file("var/lib/systemd/linger/ada")
    return patient.one(machine.logout)


def test_without_systemd_nothing_ends_agents(patient: Patient) -> None:
    patient.file("etc/systemd/logind.conf", "KillUserProcesses=yes\n")
    assert patient.one(machine.logout) == ok("logout", "no systemd that could end agents")


def test_a_logind_that_kills_is_told_with_the_way_out(patient: Patient) -> None:
    assert systemd(patient).state == "ok"
    finding = systemd(patient, "KillUserProcesses=yes")
    assert finding == warn(
        "logout",
        "kills agents at logout (KillUserProcesses=yes, no lingering)",
        "loginctl enable-linger, then start it with: systemd-run --user --scope agentdash",
    )


def test_lingering_saves_only_what_is_outside_of_the_login_session(patient: Patient) -> None:
    finding = systemd(patient, "KillUserProcesses = true", linger=True)
    assert finding.state == "warn"
    assert finding.remedy == "start it with: systemd-run --user --scope agentdash"
    below = "user@1000.service/app.slice/run-1.scope"
    assert systemd(patient, "KillUserProcesses=yes", linger=True, below=below).state == "ok"


def test_root_is_spared(patient: Patient) -> None:
    patient.user = "root"
    assert systemd(patient, "KillUserProcesses=yes").state == "ok"


def test_the_last_drop_in_wins_and_the_stronger_place_hides_its_namesake(patient: Patient) -> None:
    patient.file("usr/lib/systemd/logind.conf.d/50-kill.conf", "[Login]\nKillUserProcesses=yes\n")
    assert systemd(patient).state == "warn"
    patient.file("etc/systemd/logind.conf.d/50-kill.conf", "[Login]\n")
    assert systemd(patient).state == "ok"
    patient.file("run/systemd/logind.conf.d/60-kill.conf", "[Login]\nKillUserProcesses=yes\n")
    patient.file("etc/systemd/logind.conf.d/70-keep.conf", "[Login]\nKillUserProcesses=no\n")
    assert systemd(patient).state == "ok"


def test_logind_itself_is_believed_before_its_files(patient: Patient) -> None:
    patient.command("busctl", "echo b true")
    assert systemd(patient).state == "warn"
    patient.command("busctl", "echo b false")
    assert systemd(patient, "KillUserProcesses=yes").state == "ok"
    patient.command("busctl", "echo 'Failed to connect to bus' >&2; exit 1")
    assert systemd(patient, "KillUserProcesses=yes").state == "warn"


@pytest.mark.parametrize(
    ("limit", "state", "found"),
    [(256, "warn", "256 at most"), (1024, "ok", "1024 at most"), (resource.RLIM_INFINITY, "ok", "no limit")],
)
def test_small_limits_of_the_shell_are_told(limit: int, state: str, found: str) -> None:
    finding = machine.judge_limit("open files", "n", limit, machine.FEW_FILES)
    assert (finding.state, finding.found) == (state, found)
    assert finding.remedy == ("ulimit -n 4096, in the shell that starts agentdash" if state == "warn" else None)


def test_the_limits_of_this_process_are_looked_at(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", {resource.RLIMIT_NOFILE: (64, 64), resource.RLIMIT_NPROC: (99, 99)}.get)
    assert patient.one(machine.open_files).found == "64 at most"
    assert patient.one(machine.user_processes).found == "99 at most"


@pytest.mark.parametrize(
    ("env", "states", "found"),
    [
        (
            {"TERM": "xterm-256color", "LANG": "de_DE.UTF-8"},
            "ok ok ok",
            ["xterm-256color", "UTF-8 (de_DE.UTF-8)", "256 (TERM)"],
        ),
        (
            {"TERM": "tmux", "TMUX": "/tmp/x", "LC_ALL": "C.utf8", "COLORTERM": "truecolor"},
            "ok ok ok",
            ["tmux, inside tmux", "UTF-8 (C.utf8)", "16 million (COLORTERM)"],
        ),
        (
            {"TERM": "screen", "STY": "1.x", "LANG": "en_US.UTF-8", "LC_ALL": "POSIX", "NO_COLOR": "1"},
            "ok warn ok",
            ["screen, inside screen", "the locale POSIX is not UTF-8", "none (NO_COLOR)"],
        ),
        (
            {"TERM": "vt100", "LANG": "de_DE.UTF-8"},
            "ok ok ok",
            ["vt100", "UTF-8 (de_DE.UTF-8)", "none (TERM)"],
        ),
        (
            {"AGENTDASH_ASCII": "1"},
            "warn ok ok",
            ["TERM is not set: not supported by the dashboard", "ASCII (AGENTDASH_ASCII)", "none (TERM)"],
        ),
    ],
    ids=["plain", "tmux", "screen", "old", "nothing"],
)
def test_what_the_terminal_can_do(patient: Patient, env: dict[str, str], states: str, found: list[str]) -> None:
    patient.env |= env
    told = patient.told(machine.terminal)
    assert [finding.name for finding in told] == ["terminal", "characters", "colours"]
    assert [finding.found for finding in told] == found
    assert " ".join(finding.state for finding in told) == states


TMUX = 'case "$3" in allow-passthrough) {};; set-clipboard) {};; escape-time) echo 10;; esac'


def test_tmux_is_asked_only_inside_of_it(patient: Patient) -> None:
    patient.command("tmux", "echo off")
    assert patient.told(machine.tmux_options) == []


def test_a_tmux_that_lets_nothing_through_is_told(patient: Patient) -> None:
    patient.env["TMUX"] = "/tmp/tmux-0/default,1,0"
    patient.command("tmux", TMUX.format("echo off", "echo external"))
    through, clip, _ = patient.told(machine.tmux_options)
    assert (through.state, through.remedy) == ("warn", "add to ~/.tmux.conf: set -g allow-passthrough on")
    assert through.found == "allow-passthrough is off: notifications are blocked"
    assert (clip.state, clip.remedy) == ("warn", "add to ~/.tmux.conf: set -s set-clipboard on")
    assert clip.found == "set-clipboard is external: copying is blocked"


@pytest.mark.parametrize(("version", "value"), [("3.3a", "on"), ("3.4", "all"), ("next-3.6", "all")])
def test_a_tmux_is_told_to_pass_on_all_only_if_it_can(patient: Patient, version: str, value: str) -> None:
    patient.env["TMUX"] = "/tmp/tmux-0/default,1,0"
    tell = f'case "$1" in display-message) echo {version}; exit;; esac; '
    patient.command("tmux", tell + TMUX.format("echo off", "echo on"))
    assert patient.told(machine.tmux_options)[0].remedy == f"add to ~/.tmux.conf: set -g allow-passthrough {value}"
    patient.command("tmux", tell + TMUX.format("echo on", "echo on"))
    assert ("allow-passthrough all" in patient.told(machine.tmux_options)[0].found) is (value == "all")


def test_a_tmux_that_lets_it_through_is_fine(patient: Patient) -> None:
    patient.env["TMUX"] = "/tmp/tmux-0/default,1,0"
    patient.command("tmux", TMUX.format("echo all", "echo on"))
    assert [finding.state for finding in patient.told(machine.tmux_options)] == ["ok", "ok", "ok"]
    patient.command("tmux", TMUX.format("echo invalid option: allow-passthrough >&2; exit 1", "echo on"))
    assert [finding.state for finding in patient.told(machine.tmux_options)] == ["ok", "ok", "ok"]


@pytest.mark.parametrize(("milliseconds", "state"), [("500", "warn"), ("51", "warn"), ("50", "ok"), ("0", "ok")])
def test_a_tmux_that_holds_esc_back_is_told(patient: Patient, milliseconds: str, state: str) -> None:
    patient.env["TMUX"] = "/tmp/tmux-0/default,1,0"
    patient.command("tmux", TMUX.format("echo on", "echo on").replace("echo 10", f"echo {milliseconds}"))
    found = patient.told(machine.tmux_options)[2]
    assert (found.name, found.state) == ("tmux escape-time", state)
    assert found.found.startswith(f"escape-time is {milliseconds} ms")
    assert found.remedy == ("add to ~/.tmux.conf: set -sg escape-time 10" if state == "warn" else None)


def test_a_tmux_that_does_not_answer_is_told(patient: Patient) -> None:
    patient.env["TMUX"] = "/tmp/tmux-0/default,1,0"
    assert patient.one(machine.tmux_options).found == "inside tmux, but no tmux command in PATH"
    patient.command("tmux", "echo no server running >&2; exit 1")
    through, _, escape = patient.told(machine.tmux_options)
    assert (through.state, escape.state) == ("warn", "warn")
    assert through.found.startswith("allow-passthrough is not known (no server running)")
    assert escape.found.startswith("escape-time is not known (no server running)")


@pytest.mark.parametrize(
    ("env", "helper", "found"),
    [
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "wl-copy", "wl-copy, or OSC 52"),
        ({"DISPLAY": ":0"}, "xsel", "xsel, or OSC 52"),
        ({}, "pbcopy", "pbcopy, or OSC 52"),
        ({}, "xclip", "OSC 52 only, if the terminal supports it"),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "a b"}, "xclip", "OSC 52 only: over SSH"),
    ],
)
def test_how_something_gets_onto_the_clipboard(patient: Patient, env: dict[str, str], helper: str, found: str) -> None:
    patient.env |= env
    patient.command(helper, "exit")
    assert patient.one(machine.clipboard).found.startswith(found)


def test_a_check_that_breaks_is_a_finding(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Any) -> Any:
        raise RuntimeError("no\x1b[31m\nluck")

    monkeypatch.setattr(shutil, "disk_usage", broken)
    finding = next(f for f in examine(patient.layout, patient.config) if f.name == "disk space")
    assert finding.state == "fail"
    assert finding.found == "check failed: RuntimeError: no luck"
    assert "report" in str(finding.remedy)


def test_what_may_not_be_read_is_no_bug(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: object) -> None:
        raise PermissionError(13, "Permission denied", "/state")

    monkeypatch.setattr(shutil, "disk_usage", forbidden)
    finding = patient.one(files.disk_space)
    assert finding.found == "check failed: [Errno 13] Permission denied: '/state'"
    assert "owner" in str(finding.remedy)


def test_an_examination_needs_nothing_and_makes_nothing(patient: Patient, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    found = examine(patient.layout, patient.config)
    assert not [finding for finding in found if "check failed" in finding.found]
    assert sorted(tmp_path.rglob("*")) == before


def test_an_examination_of_a_ruin_says_so_and_goes_on(patient: Patient) -> None:
    patient.layout.create()
    patient.layout.database.write_bytes(b"something else entirely" * 100)
    patient.config.write_text("a = \n")
    found = {finding.name: finding for finding in examine(patient.layout, patient.config)}
    assert found["database"].state == found["settings"].state == "fail"
    assert found["disk space"].found.endswith("free")
    assert {name for name, _ in CHECKS if name.startswith("state")} <= set(found)


def test_every_finding_that_is_not_fine_says_what_to_do_below_it() -> None:
    findings = [ok("one", "good"), warn("second", "so so", "do\x1b[2J this"), fail("three", "bad", "do that")]
    assert findings_text(findings, Style()) == [
        "✓ one     good",
        "! second  so so",
        "  ↳ do this",
        "✗ three   bad",
        "  ↳ do that",
        "1 ok, 1 warning, 1 error",
    ]
    assert list(map(twins, findings_text(findings, Style())))[3:5] == ["x three   bad", "  > do that"]
    assert findings_text(findings, Style(colour=True))[3].startswith("\x1b[31m")


def test_the_start_of_the_mcp_server_is_measured(patient: Patient) -> None:
    finding = patient.one(agents.mcp_server)
    assert finding.state in ("ok", "warn")
    assert re.match(r"\d+ tools after \d+\.\d\d s", finding.found)


@pytest.mark.parametrize("script", ["exit 1", "echo no JSON; echo no JSON", "echo '{}'; echo '{}'"])
def test_an_mcp_server_that_lists_no_tools_is_an_error(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    broken = patient.command("broken", f"echo because >&2; {script}")
    monkeypatch.setattr(agents, "server_argv", lambda: (str(broken),))
    finding = patient.one(agents.mcp_server)
    assert finding.state == "fail"
    assert "did not list its tools" in finding.found


def test_a_slow_mcp_server_is_a_warning(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "MCP_PATIENCE", 0.0)
    finding = patient.one(agents.mcp_server)
    assert (finding.state, "codex waits 0 s" in finding.found) == ("warn", True)


def test_clients_that_know_the_mcp_server_are_found(patient: Patient, tmp_path: Path) -> None:
    patient.env |= {"CLAUDE_CONFIG_DIR": str(tmp_path), "CODEX_HOME": str(tmp_path)}
    assert patient.told(agents.mcp_clients) == []
    patient.command("claude", "exit 0")
    patient.command("codex", "exit 0")
    known = patient.command("agentdash", "exit 0")
    codex, claude = patient.told(agents.mcp_clients)
    assert codex.found == "not set up; spawn --lead needs no set-up, other starts do: agentdash mcp --config codex"
    assert claude.state == "ok"
    (tmp_path / ".claude.json").write_text("{")
    (tmp_path / "config.toml").write_text('[mcp_servers.agentdash]\ncommand = "gone"\n')
    codex, claude = patient.told(agents.mcp_clients)
    assert (codex.state, codex.found, codex.remedy) == (
        "warn", "its command gone is not found", "replace it: agentdash mcp --config codex",
    )  # fmt: skip
    assert (claude.state, "cannot be read" in claude.found) == ("warn", True)
    (tmp_path / "config.toml").write_text(f'[mcp_servers.agentdash]\ncommand = "{known}"\n')
    assert patient.told(agents.mcp_clients)[0].found == f"set up ({known})"


def test_a_session_that_can_change_the_own_files_is_named(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/usr")
    assert patient.one(files.own_files).state == "ok"
    patient.session()
    above = patient.layout.home.parent
    with sqlite3.connect(patient.layout.database) as db:
        db.execute("UPDATE sessions SET agent = 'codex', cwd = ?", (str(above),))
        db.execute("""UPDATE turns SET launch = '{"mode": {"permissions": "workspace-write"}}'""")
    finding = patient.one(files.own_files)
    assert (finding.state, SESSION[:8] in finding.found) == ("warn", True)
    with sqlite3.connect(patient.layout.database) as db:
        db.execute("""UPDATE turns SET launch = '{"mode": {"permissions": "read-only"}}'""")
    db.close()
    assert patient.one(files.own_files).state == "ok"


def test_a_current_folder_with_the_own_files_is_named(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    patient.store()
    monkeypatch.chdir(patient.layout.home.parent)
    assert "the current folder" in patient.one(files.own_files).found
