"""agentdash changes over a real manager: a stand-in for codex with a transcript of its own, and a real repository."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.cli.main import run

THREAD = "01a1fdce-cc9c-7aa2-87db-8bf6bc97090b"

LOST = "Codex gave no diff for some edits and its transcript was not found: their lines are not counted."

STAND_IN = """#!{python}
import json, os, sys, time
from pathlib import Path

turn = 2 if "resume" in sys.argv else 1
home = Path(os.environ["CODEX_HOME"], "sessions", "2026", "11", "21")
home.mkdir(parents=True, exist_ok=True)
rollout = home / "rollout-2026-11-21T11-12-30-{thread}.jsonl"

def say(**event):
    print(json.dumps(event), flush=True)

def change(n, path, kind, recorded, status="completed"):
    path = os.path.abspath(path)
    item = {{"id": f"item_{{n}}", "type": "file_change", "changes": [{{"path": path, "kind": kind}}]}}
    say(type="item.started", item=item | {{"status": "in_progress"}})
    done = {{"type": "FileChange", "changes": {{path: {{"type": kind}} | recorded}}, "status": status}}
    event = {{"type": "item_completed", "item": done, "completed_at_ms": time.time_ns() // 1_000_000}}
    with rollout.open("a") as file:
        file.write(json.dumps({{"type": "event_msg", "payload": event}}) + "\\n")
    say(type="item.completed", item=item | {{"status": status}})

def diff(old, new):
    return {{"unified_diff": f"@@ -1 +1 @@\\n-{{old}}\\n+{{new}}\\n", "move_path": None}}

say(type="thread.started", thread_id="{thread}")
if turn == 1:
    Path("src").mkdir()
    Path("src/app.py").write_text("one\\ntwo\\n")
    change(0, "src/app.py", "add", {{"content": "one\\ntwo\\n"}})
    Path("kept.py").write_text("\\x1b[31m[/red]\\n")
    change(1, "kept.py", "update", diff("kept", "\\x1b[31m[/red]"))
    change(2, "/proc/no", "add", {{"content": "x\\n"}}, "failed")
else:
    Path("src/app.py").unlink()
    change(0, "src/app.py", "delete", {{"content": "one\\ntwo\\n"}})
say(type="turn.completed", usage={{"input_tokens": 1, "output_tokens": 1}})
"""


@pytest.fixture
def project(tmp_path: Path, require_tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two committed files."""
    require_tool("git")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-settings"))
    folder = tmp_path / "api"
    folder.mkdir()
    for name in ("kept.py", "same.py"):
        (folder / name).write_text(f"{name[:4]}\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)
    return folder


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in, and its home."""
    path = tmp_path / "stand-in"
    path.write_text(STAND_IN.format(python=sys.executable, thread=THREAD))
    path.chmod(0o755)
    (tmp_path / "config.toml").write_text(f"[agents.codex]\nlive = false\nbin = '{path}'\n")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex-home"))
    return tmp_path / "codex-home"


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SessionManager]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    with SessionManager() as opened:
        yield opened
        for session in opened.reader.sessions():
            if not session.status.ended:
                opened.stop(session.id, NOW)


@pytest.fixture
def worked(manager: SessionManager, codex: Path, project: Path) -> str:
    """The id of a session that has had two turns."""
    session = manager.spawn(Start("do it", agent="codex", cwd=str(project)))
    manager.wait([session.id], timeout=60)
    manager.prompts.inject(session.id, "and undo it")
    manager.wait([session.id], timeout=60)
    return session.id


@pytest.fixture
def told(capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., str]:
    """What a command prints, when it went well."""

    def tell(*arguments: str) -> str:
        capsysbinary.readouterr()
        code = run(list(arguments))
        out, err = capsysbinary.readouterr()
        assert (code, err) == (0, b"")
        return out.decode()

    return tell


@pytest.mark.smoke
def test_files_kinds_lines_edits_and_git(worked: str, told: Callable[..., str], project: Path) -> None:
    (project / "by hand").write_text("1")
    lines = told("changes", worked).splitlines()
    assert lines[0] == "net: 2 files  +2 -1  since the session's start"
    assert [line.split() for line in lines[1:3]] == [
        ["kept.py", "update", "+1", "-1"],
        ["by", "hand", "add", "+1", "-0", "by", "a", "command", "or", "others"],
    ]
    lines = lines[3:]
    assert lines[0] == "edits: 2 files changed  +3 -3"
    assert [line.split() for line in lines[1:4]] == [
        ["src/app.py", "delete", "+2", "-2", "2", "edits"],
        ["kept.py", "update", "+1", "-1", "1", "edit", "M", "unstaged"],
        ["/proc/no", "1", "failed"],
    ]
    assert lines[4].startswith("git: ")
    assert lines[4].endswith("api: 1 unstaged, 1 untracked (1 not by its edits)")
    assert len(lines) == 5


def test_one_turn_is_looked_at_alone(worked: str, told: Callable[..., str]) -> None:
    first = told("changes", worked, "--turn", "1", "--no-git").splitlines()
    assert first[0] == "2 files changed  +3 -1"
    assert first[1].split() == ["src/app.py", "add", "+2", "-0", "1", "edit"]
    assert told("changes", worked, "--turn", "2", "--no-git").splitlines()[0] == "1 file changed  +0 -2"


def test_diffs_are_printed_and_what_agents_write_is_text(worked: str, told: Callable[..., str]) -> None:
    out = told("changes", worked, "--diff")
    assert "\x1b" not in out
    lines = out.splitlines()
    at = lines.index("── kept.py: net update, +1 -1")
    assert lines[at + 1 : at + 4] == ["  @@ -1 +1 @@", "  -kept", "  +[/red]"]
    at = lines.index("── kept.py")
    assert lines[at + 1 : at + 5] == ["  turn 1, step 3: update +1 -1", "  @@ -1 +1 @@", "  -kept", "  +[/red]"]
    at = lines.index("── /proc/no")
    assert lines[at + 1 : at + 4] == ["  turn 1, step 4: add +1 -0, failed", "  @@ -0,0 +1,1 @@", "  +x"]


def test_the_json_is_documented_here(worked: str, told: Callable[..., str], project: Path) -> None:
    found = json.loads(told("changes", worked, "--json", "--diff"))
    assert list(found) == ["session", "cwd", "turn", "net", "files", "more", "git", "notes"]
    assert (found["session"], found["cwd"], found["turn"], found["more"]) == (worked, str(project), None, 0)
    assert found["notes"] == []
    assert found["net"] == {
        "basis": "start",
        "files": [
            {
                "path": "kept.py",
                "absolute": str(project / "kept.py"),
                "kind": "update",
                "content": "text",
                "added": 1,
                "removed": 1,
                "moved_from": None,
                "basis": "start",
                "by_edits": True,
                "diff": "@@ -1 +1 @@\n-kept\n+\x1b[31m[/red]\n",
                "cut": False,
            }
        ],
        "more": 0,
        "why": None,
    }
    assert found["git"] == {
        "answer": "ok",
        "detail": None,
        "top": str(project),
        "totals": {"staged": 0, "unstaged": 1, "untracked": 0, "others": 0, "cut": False},
    }
    app, kept, failed = found["files"]
    edit = kept["edits"].pop()
    assert kept == {
        "path": "kept.py",
        "absolute": str(project / "kept.py"),
        "kind": "update",
        "touched": 1,
        "added": 1,
        "removed": 1,
        "partial": False,
        "edits": [],
        "more_edits": 0,
        "git": {"code": " M", "words": ["unstaged"]},
    }
    assert edit.pop("at") > 1_700_000_000_000
    assert edit == {
        "turn": 1,
        "index": 3,
        "kind": "update",
        "status": "ok",
        "diff": "@@ -1 +1 @@\n-kept\n+\x1b[31m[/red]\n",
        "added": 1,
        "removed": 1,
        "cut": False,
        "moved_to": None,
        "moved_from": None,
    }
    assert (app["kind"], [e["kind"] for e in app["edits"]], app["git"]) == ("delete", ["add", "delete"], None)
    assert (failed["kind"], failed["touched"], failed["added"]) == (None, 0, None)


def test_without_diff_the_json_has_no_diffs_and_without_git_no_git(worked: str, told: Callable[..., str]) -> None:
    found = json.loads(told("changes", worked, "--json", "--no-git"))
    assert found["git"] is None
    assert {file["git"] for file in found["files"]} == {None}
    assert all("diff" not in edit for file in found["files"] for edit in file["edits"])
    assert (found["net"]["basis"], found["net"]["why"]) == ("edits", None)
    assert [(file["path"], "diff" in file, file["added"]) for file in found["net"]["files"]] == [("kept.py", False, 1)]


def test_a_lost_transcript_is_told_and_the_net_result_is_known(
    worked: str, told: Callable[..., str], codex: Path, manager: SessionManager
) -> None:
    (rollout,) = codex.rglob("rollout-*")
    rollout.unlink()
    found = manager.reader.steps.changes_of(worked)
    assert [(file.path, file.added, file.kind) for file in found.files if file.touched] == [
        ("src/app.py", None, "delete"),
        ("kept.py", None, "update"),
    ]
    out = told("changes", worked, "--diff")
    assert out.splitlines()[0] == "net: 1 file  +1 -1  since the session's start"
    assert "edits: 2 files changed" in out.splitlines()
    assert LOST in out
    assert "  -kept" in out.splitlines()
    assert "lines not known" in told("changes", worked, "--no-git")
    manager.reader.home.joinpath("sessions", worked, "start.json").unlink()
    assert told("changes", worked).splitlines()[0] == (
        "net: 1 file  +1 -1  against HEAD (the session's start was not recorded)"
    )


def test_git_fills_in_the_diffs_of_one_turn_whose_transcript_is_lost(
    worked: str, told: Callable[..., str], codex: Path
) -> None:
    (rollout,) = codex.rglob("rollout-*")
    rollout.unlink()
    out = told("changes", worked, "--turn", "1", "--diff")
    assert "  git diff HEAD, including changes by others:" in out
    assert "  -kept" in out.splitlines()
    assert "no diff from the agent, and none from git" in out
    assert "git diff HEAD" not in told("changes", worked, "--turn", "1", "--diff", "--no-git")


def test_no_changes_are_said_to_be_none(manager: SessionManager, told: Callable[..., str], tmp_path: Path) -> None:
    session = manager.run(("true",), cwd=str(tmp_path))
    manager.wait([session.id], timeout=60)
    assert told("changes", session.id, "--no-git") == "No edits in this session.\n"
    assert told("changes", session.id, "--no-git", "--turn", "1") == "No edits in turn 1.\n"
    lines = told("changes", session.id).splitlines()
    assert lines[1:] == ["git: not a repository"]
    assert json.loads(told("changes", session.id, "--json"))["files"] == []


def test_a_turn_that_there_is_not_is_no_valid_request(manager: SessionManager, tmp_path: Path) -> None:
    session = manager.run(("true",), cwd=str(tmp_path))
    with pytest.raises(UsageError, match="has no turn 7"):
        manager.reader.steps.changes_of(session.id, 7)
    assert run(["changes", session.id, "--turn", "7"]) == 2
    assert run(["changes", "no-such-session"]) == 1


def test_a_folder_that_is_gone_is_told(worked: str, manager: SessionManager, project: Path, tmp_path: Path) -> None:
    project.rename(tmp_path / "elsewhere")
    found = manager.reader.steps.changes_of(worked)
    assert found.git is not None
    assert (found.git.answer, len(found.files)) == (GitAnswer.NO_FOLDER, 3)


def test_looking_changes_no_byte_of_the_session(
    worked: str, manager: SessionManager, wait_until: Callable[..., object]
) -> None:
    lock = manager.layout.session(worked).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the runner to leave")

    def contents() -> dict[Path, tuple[int, bytes]]:
        files = [path for path in (manager.reader.home / "sessions").rglob("*") if path.is_file()]
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = contents()
    manager.reader.steps.changes_of(worked)
    assert contents() == before


def test_a_terminal_gets_colours(worked: str, project: Path) -> None:
    out = _on_a_terminal("changes", worked, "--diff", "--no-git")
    assert "  \x1b[32m+one\x1b[0m" in out
    assert "  \x1b[31m-kept\x1b[0m" in out


def _on_a_terminal(*arguments: str) -> str:
    ours, theirs = pty.openpty()
    command: list[Any] = [sys.executable, "-m", "agentdash", *arguments]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    out = b""
    try:
        while data := os.read(ours, 65_536):
            out += data
    except OSError:
        pass  # Linux: no process holds the other end
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return out.decode().replace("\r\n", "\n")
