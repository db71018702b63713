"""What git says, from real repositories: states, totals, diffs, and repositories that try to run something."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentdash.sessions.runner.git import git_process
from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.service.changes import git as git_module
from agentdash.sessions.service.changes.git import ask_git, git_diffs
from agentdash.sessions.service.changes.model import GitTotals

ODD_NAMES = ("sp ace", "new\nline", "tab\tquote\"'", "žluť\u202e", "-x", ":(top)a", "*", "a\\b", "..dots")


class Repo:
    """A scratch repository."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self("init", "-q")
        self("config", "user.email", "ann@example.org")
        self("config", "user.name", "Ann")

    def __call__(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", str(self.top), *arguments], check=True, capture_output=True)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            self.put(name, text)

    def put(self, name: str, text: str) -> None:
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text)

    def commit(self, *names: str) -> None:
        for name in names:
            self.put(name, f"{name}\n")
        self("add", "-A")
        self("commit", "-q", "-m", "x")

    def codes(self, *names: str, cwd: Path | None = None) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Code and words of the files that git knows, by name."""
        _, states = ask_git(str(cwd or self.top), [str(self.top / name) for name in names])
        return {os.path.relpath(path, self.top): (state.code, state.words) for path, state in states.items()}

    def totals(self, *names: str) -> GitTotals | None:
        return ask_git(str(self.top), [str(self.top / name) for name in names])[0].totals

    def diff(self, name: str) -> str:
        return git_diffs(str(self.top))(str(self.top / name)).text


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The settings of the user who runs the tests have no effect on them."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global-settings"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repo(tmp_path: Path, require_tool: Callable[[str], str]) -> Repo:
    require_tool("git")
    return Repo(tmp_path / "code" / "api")


def test_each_state_has_its_letters_and_words(repo: Repo) -> None:
    repo.put(".gitignore", "build/\n")
    repo.commit("same", "edited", "staged", "both", "deleted", "removed")
    repo.write(edited="1", staged="1", both="1", fresh="1", untracked="1")
    repo("add", "staged", "both", "fresh")
    repo("rm", "-q", "removed")
    repo.put("both", "2")
    repo.put("build/out", "1")
    repo.put("new/deep/file", "1")
    (repo.top / "deleted").unlink()
    told: dict[str, tuple[str, tuple[str, ...]]] = {
        "same": ("  ", ("unchanged",)),
        "edited": (" M", ("unstaged",)),
        "staged": ("M ", ("staged",)),
        "both": ("MM", ("staged", "unstaged")),
        "fresh": ("A ", ("staged",)),
        "deleted": (" D", ("unstaged",)),
        "removed": ("D ", ("staged",)),
        "untracked": ("??", ("untracked",)),
        "build/out": ("!!", ("ignored",)),
        "new/deep/file": ("??", ("untracked",)),
    }
    assert repo.codes(*told, "nowhere") == told


def test_a_staged_rename_is_told_of_both_its_names(repo: Repo) -> None:
    repo.commit("old")
    repo("mv", "old", "new")
    assert repo.codes("old", "new") == {"old": ("D ", ("staged",)), "new": ("A ", ("staged",))}


def test_a_conflict_is_one(repo: Repo) -> None:
    repo.commit("file")
    repo("checkout", "-q", "-b", "other")
    repo.put("file", "theirs")
    repo.commit()
    repo("checkout", "-q", "-")
    repo.put("file", "ours")
    repo.commit()
    subprocess.run(["git", "-C", str(repo.top), "merge", "other"], check=False, capture_output=True)
    assert repo.codes("file") == {"file": ("UU", ("conflict",))}


def test_odd_names_are_names_and_no_patterns(repo: Repo) -> None:
    repo.commit("plain", *ODD_NAMES)
    for name in ODD_NAMES:
        repo.put(name, "changed")
    assert repo.codes("plain", *ODD_NAMES) == {
        "plain": ("  ", ("unchanged",)),
        **dict.fromkeys(ODD_NAMES, (" M", ("unstaged",))),
    }
    for name in ODD_NAMES:
        assert "+changed" in repo.diff(name)
    assert repo.diff("plain") == ""


def test_a_pattern_matches_no_file_it_does_not_name(repo: Repo) -> None:
    repo.commit("a", "b")
    repo.write(a="1", b="1")
    assert repo.codes("*", ".", ":/", "a") == {"a": (" M", ("unstaged",))}


@pytest.mark.parametrize("path", ["/etc/passwd", "/", "", "relative", "/a\0b", "/" + "x" * 9_999, "/\ud800", "/\udc80"])
def test_what_lies_elsewhere_or_nowhere_has_no_state_and_spoils_no_other(repo: Repo, path: str) -> None:
    repo.commit("a")
    inside = f"{repo.top}{path}"
    report, states = ask_git(str(repo.top), [path, inside, str(repo.top), str(repo.top / "a")])
    assert (report.answer, list(states)) == (GitAnswer.OK, [str(repo.top / "a")])


def test_other_repositories_inside_and_links_have_no_state(repo: Repo, tmp_path: Path) -> None:
    repo.commit("real/file")
    (repo.top / "link").symlink_to("real")
    (repo.top / "out").symlink_to(tmp_path)
    Repo(repo.top / "nested").put("file", "1")
    assert repo.codes("nested/file", "link/file", "out/x", ".git/config", "link") == {"link": ("??", ("untracked",))}


def test_a_folder_below_the_top_is_enough(repo: Repo) -> None:
    repo.commit("sub/a", "b")
    repo.put("b", "1")
    told = repo.codes("b", "sub/a", cwd=repo.top / "sub")
    assert told == {"b": (" M", ("unstaged",)), "sub/a": ("  ", ("unchanged",))}


def test_the_totals_are_of_the_whole_repository(repo: Repo) -> None:
    repo.commit("a", "b", "c")
    repo.write(a="1", b="1", u="1", v="1")
    repo("add", "b")
    repo.put("b", "2")
    assert repo.totals("a", "u") == GitTotals(staged=1, unstaged=2, untracked=2, others=2)
    assert repo.totals("a", "b", "u", "v", "c") == GitTotals(staged=1, unstaged=2, untracked=2, others=0)


def test_many_files_are_asked_for_in_several_calls(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_module, "_BATCH_BYTES", 50)
    names = [f"file-{n:03}" for n in range(40)]
    repo.commit(*names)
    repo.put("file-007", "1")
    told = repo.codes(*names)
    assert len(told) == 40
    assert [name for name, (code, _) in told.items() if code == " M"] == ["file-007"]


def test_more_output_than_is_read_leaves_states_unknown(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_module, "_TOTALS_BYTES", 100)
    repo.commit("a")
    for n in range(30):
        repo.put(f"file-{n:03}", "1")
    totals = repo.totals("a")
    assert totals is not None
    assert totals.cut
    assert 0 < totals.untracked < 30


def test_before_the_first_commit_there_are_states_and_no_diffs(repo: Repo) -> None:
    repo.write(a="1", b="1")
    repo("add", "a")
    report, states = ask_git(str(repo.top), [str(repo.top / "a"), str(repo.top / "b")])
    assert (report.answer, [state.code for state in states.values()]) == (GitAnswer.NO_COMMITS, ["A ", "??"])
    assert git_diffs(str(repo.top))(str(repo.top / "a")).answer is GitAnswer.NO_COMMITS


def test_a_diff_has_all_that_changed_since_the_last_commit(repo: Repo) -> None:
    repo.commit("a")
    repo.put("a", "staged\n")
    repo("add", "a")
    repo.put("a", "a\nlast\n")
    assert repo.diff("a").splitlines()[-3:] == ["@@ -1 +1,2 @@", " a", "+last"]
    repo.put("new", "1")
    assert repo.diff("new") == ""


def test_a_huge_diff_is_cut(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_module, "DIFF_BYTES", 1000)
    repo.commit("a")
    repo.put("a", "line\n" * 100_000)
    found = git_diffs(str(repo.top))(str(repo.top / "a"))
    assert (found.cut, len(found.text)) == (True, 1000)


def test_bytes_that_are_no_text_are_shown_as_far_as_they_are(repo: Repo) -> None:
    repo.commit("a")
    (repo.top / "a").write_bytes(b"caf\xe9\n")
    assert "+caf\ufffd" in repo.diff("a")


def test_a_folder_in_no_repository(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    require_tool("git")
    report, states = ask_git(str(tmp_path), [str(tmp_path / "a")])
    assert (report.answer, report.top, report.totals, states) == (GitAnswer.NO_REPOSITORY, None, None, {})
    assert git_diffs(str(tmp_path))(str(tmp_path / "a")).answer is GitAnswer.NO_REPOSITORY


def test_the_inside_of_a_repository_is_no_place_of_files(repo: Repo) -> None:
    assert ask_git(str(repo.top / ".git"), [])[0].answer is GitAnswer.NO_REPOSITORY


@pytest.mark.parametrize("folder", ["/home/ann/gone", "/home/ann/a\0b", "/etc/passwd"])
def test_a_folder_that_is_gone(folder: str) -> None:
    assert ask_git(folder, [])[0].answer is GitAnswer.NO_FOLDER


def test_a_system_without_git(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert ask_git(str(repo.top), [])[0].answer is GitAnswer.NO_GIT


def test_a_git_in_the_folder_we_are_in_is_not_run(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = program(tmp_path / "git", tmp_path / "trace")
    monkeypatch.chdir(fake.parent)
    monkeypatch.setenv("PATH", ".")
    assert ask_git(str(repo.top), [])[0].answer is GitAnswer.NO_GIT
    assert not (tmp_path / "trace").exists()


def test_a_git_that_does_not_answer_is_ended_with_all_it_started(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait_until: Callable[..., object]
) -> None:
    pid = tmp_path / "pid"
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {pid}\nwait\n")
    slow.chmod(0o700)
    monkeypatch.setenv("PATH", f"{slow.parent}:/usr/bin:/bin")
    monkeypatch.setattr(git_process, "SECONDS", 1.0)
    report, _ = ask_git(str(repo.top), [])
    assert (report.answer, report.detail) == (GitAnswer.TIMED_OUT, "no answer within 1 seconds")
    wait_until(lambda: not alive(int(pid.read_text())), what="the end of what it started")


def test_what_git_complains_about_is_passed_on(repo: Repo) -> None:
    repo.commit("a")
    with (repo.top / ".git" / "config").open("a") as file:
        file.write("[core]\nbare = \x1b[31mperhaps\n")
    report, _ = ask_git(str(repo.top), [])
    assert report.answer is GitAnswer.FAILED
    assert report.detail is not None
    assert "core.bare" in report.detail
    assert "\x1b" not in report.detail


def test_variables_about_another_repository_do_not_lead_astray(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repo(tmp_path / "other")
    repo.commit("a")
    for name in ("GIT_DIR", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(other.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert ask_git(str(repo.top), [])[0].top == str(repo.top)


def test_looking_leaves_the_index_as_it_was(repo: Repo) -> None:
    repo.commit("a")
    os.utime(repo.top / "a", (1, 1))  # git would note the new time of the file
    index = repo.top / ".git" / "index"
    before = (index.stat().st_mtime_ns, index.read_bytes())
    assert repo.codes("a") == {"a": ("  ", ("unchanged",))}
    assert (index.stat().st_mtime_ns, index.read_bytes()) == before


def program(path: Path, trace: Path) -> Path:
    """A program that leaves a trace."""
    path.write_text(f'#!/bin/sh\necho $0 "$@" >> {trace}\n')
    path.chmod(0o700)
    return path


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


@pytest.fixture
def trap(repo: Repo, tmp_path: Path) -> "Trap":
    return Trap(repo, tmp_path)


class Trap:
    """A repository whose configuration names a program wherever git would run one."""

    def __init__(self, repo: Repo, folder: Path) -> None:
        self.repo = repo
        self.trace = folder / "trace"
        self.program = str(program(folder / "program", self.trace))
        repo.commit("a", "b")

    def set(self, key: str, value: str | None = None) -> None:
        self.repo("config", key, value or self.program)

    def attributes(self, text: str) -> None:
        (self.repo.top / ".git" / "info").mkdir(exist_ok=True)
        (self.repo.top / ".git" / "info" / "attributes").write_text(text)

    def touch(self) -> None:
        """Make git look into the files."""
        self.repo.put("a", "changed\n")
        os.utime(self.repo.top / "b", (1, 1))

    def look(self) -> None:
        """Everything that agentdash asks of git."""
        self.touch()
        assert self.repo.codes("a", "b")["a"] == (" M", ("unstaged",))
        assert "+changed" in self.repo.diff("a")
        assert self.repo.diff("b") == ""

    def springs(self, *arguments: str) -> bool:
        """Whether git, asked plainly, would have run it: else the test would prove nothing."""
        self.touch()
        subprocess.run(["git", "-C", str(self.repo.top), *arguments], check=False, capture_output=True)
        sprung = self.trace.exists()
        self.trace.unlink(missing_ok=True)
        return sprung


def test_a_file_system_monitor_is_not_run(trap: Trap) -> None:
    trap.set("core.fsmonitor")
    trap.look()
    assert not trap.trace.exists()
    assert trap.springs("status")


def test_an_external_diff_program_is_not_run(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    trap.set("diff.external")
    trap.set("diff.own.command")
    trap.attributes("b diff=own\n")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", trap.program)
    trap.look()
    assert not trap.trace.exists()
    assert trap.springs("diff", "HEAD")


def test_a_text_conversion_is_not_run(trap: Trap) -> None:
    trap.set("diff.own.textconv")
    trap.attributes("* diff=own\n")
    trap.look()
    assert not trap.trace.exists()
    assert trap.springs("diff", "HEAD")


def test_a_hook_is_not_run(trap: Trap) -> None:
    hook = trap.repo.top / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    program(hook, trap.trace)
    trap.look()
    assert not trap.trace.exists()
    assert trap.springs("status")


@pytest.mark.parametrize("command", ["clean", "process"])
@pytest.mark.parametrize("name", ["own", "of several words", 'with "quotes"', "dotted.clean.name"])
def test_a_filter_is_not_run(trap: Trap, name: str, command: str) -> None:
    plain = name.isalpha()
    trap.attributes(f"* filter={name}\n" if plain else "")
    trap.set(f"filter.{name}.{command}")
    trap.set(f"filter.{name}.required", "true")
    trap.look()
    assert not trap.trace.exists()
    if plain:
        assert trap.springs("status")


def test_a_filter_that_cannot_be_switched_off_keeps_git_from_being_asked(trap: Trap) -> None:
    trap.attributes("* filter=a=b\n")
    trap.set("filter.a=b.clean")
    trap.touch()
    report, states = ask_git(str(trap.repo.top), [str(trap.repo.top / "a")])
    assert (report.answer, states) == (GitAnswer.FAILED, {})
    assert report.detail == "its config has filters that cannot be disabled"
    assert not trap.trace.exists()
    assert trap.springs("status")


def test_a_filter_of_an_included_file_is_not_run(trap: Trap, tmp_path: Path) -> None:
    included = tmp_path / "included"
    included.write_text(f'[filter "own"]\nclean = {trap.program}\n')
    trap.set("include.path", str(included))
    trap.attributes("* filter=own\n")
    trap.look()
    assert not trap.trace.exists()
    assert trap.springs("status")


def test_a_submodule_is_not_looked_into(trap: Trap, tmp_path: Path) -> None:
    Repo(tmp_path / "part").commit("x")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "part"), "part")
    trap.repo(*add)
    trap.repo("commit", "-q", "-m", "part")
    inner = trap.repo.top / "part"
    subprocess.run(["git", "-C", str(inner), "config", "filter.own.clean", trap.program], check=True)
    (trap.repo.top / ".git" / "modules" / "part" / "info" / "attributes").write_text("* filter=own\n")
    os.utime(inner / "x", (1, 1))
    trap.set("diff.submodule", "diff")
    trap.set("status.submoduleSummary", "true")
    trap.look()
    assert not trap.trace.exists()
    assert trap.springs("status")


def test_nothing_is_fetched_into_a_partial_clone(trap: Trap) -> None:
    trap.set("core.sshCommand")
    trap.set("core.gitProxy")
    trap.set("credential.helper")
    trap.set("remote.origin.url", "ssh://ann@example.org/api")
    trap.set("remote.origin.promisor", "true")
    trap.set("extensions.partialClone", "origin")
    blob = subprocess.run(
        ["git", "-C", str(trap.repo.top), "rev-parse", "HEAD:a"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (trap.repo.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    trap.touch()
    assert trap.repo.codes("a") == {"a": (" M", ("unstaged",))}
    found = git_diffs(str(trap.repo.top))(str(trap.repo.top / "a"))
    assert found.answer is GitAnswer.FAILED
    assert not trap.trace.exists()
    assert trap.springs("diff", "HEAD")


def test_pagers_aliases_and_editors_are_not_run(trap: Trap) -> None:
    for key in ("core.pager", "core.editor", "core.alternateRefsCommand"):
        trap.set(key)
    for command in ("status", "diff", "config", "ls-files", "rev-parse"):
        trap.set(f"pager.{command}")
        trap.set(f"alias.{command}", f"!{trap.program}")
    trap.look()
    assert not trap.trace.exists()


def test_a_configuration_that_never_ends_is_not_waited_for(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    fifo = trap.repo.top / "fifo"
    os.mkfifo(fifo)
    trap.set("include.path", str(fifo))
    monkeypatch.setattr(git_process, "SECONDS", 0.5)
    assert ask_git(str(trap.repo.top), [])[0].answer is GitAnswer.TIMED_OUT


def test_a_link_in_the_place_of_the_folder_shows_no_other_repository(tmp_path):
    private = Repo(tmp_path / "private")
    private.commit("secret")
    private.put("secret", "changed\n")
    folder = tmp_path / "lead" / "sub"
    Repo(folder).commit("a")
    folder.rename(tmp_path / "lead" / "old")
    folder.symlink_to(private.top)
    report, states = ask_git(str(folder), [str(folder / "secret")])
    assert (report.answer, report.top, states) == (GitAnswer.FAILED, None, {})
    assert "is a symbolic link now" in str(report.detail)
    assert git_diffs(str(folder))(str(folder / "secret")).text == ""


def test_a_folder_that_is_replaced_between_two_questions_shows_no_other_repository(tmp_path):
    private = Repo(tmp_path / "private")
    private.commit("secret")
    private.put("secret", "changed\n")
    folder = tmp_path / "lead" / "sub"
    Repo(folder).commit("secret")
    diff = git_diffs(str(folder))
    folder.rename(tmp_path / "lead" / "old")
    folder.symlink_to(private.top)
    assert diff(str(folder / "secret")).answer is GitAnswer.FAILED
