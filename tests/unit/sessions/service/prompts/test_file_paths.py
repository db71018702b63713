"""The paths that complete ``@`` in a prompt."""

import os
import subprocess
from pathlib import Path

import pytest

from agentdash.sessions.runner.git.git_process import branch_of
from agentdash.sessions.service.prompts import file_paths
from agentdash.sessions.service.prompts.file_paths import best_paths, paths_below


def git(folder, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def files(tmp_path):
    """Make a folder with these files; return its path."""

    def make(*names):
        for name in names:
            path = tmp_path / "work" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
        return str(tmp_path / "work")

    return make


def test_a_folder_without_a_repository_is_walked_without_hidden_files(files):
    folder = files("b.py", "src/a.py", "src/deep/c.py", ".env", ".cache/x.py", "src/.hidden/y.py")
    assert paths_below(folder) == ["b.py", "src/a.py", "src/deep/c.py"]


def test_a_repository_lists_its_files_and_new_ones_but_no_ignored_or_deleted_one(files):
    folder = files("kept.py", "gone.py", "build/out.o", ".gitignore")
    git(folder, "init", "-q")
    Path(folder, ".gitignore").write_text("build/\n")
    git(folder, "add", "kept.py", "gone.py")
    Path(folder, "gone.py").unlink()
    files("new.py")
    assert sorted(paths_below(folder)) == ["kept.py", "new.py"]


def test_the_paths_of_a_folder_inside_a_repository_begin_there(files):
    folder = files("top.py", "src/a.py")
    git(folder, "init", "-q")
    assert paths_below(f"{folder}/src") == ["a.py"]


def test_the_number_of_files_and_folders_is_limited(files, monkeypatch):
    folder = files(*(f"d{n}/f{m}.py" for n in range(5) for m in range(5)))
    monkeypatch.setattr(file_paths, "MOST_FILES", 7)
    assert len(paths_below(folder)) == 7
    monkeypatch.setattr(file_paths, "MOST_FOLDERS", 2)
    assert {path.partition("/")[0] for path in paths_below(folder)} == {"d0"}


def test_a_loop_of_links_ends(files):
    folder = files("a.py")
    Path(folder, "loop").symlink_to(folder)
    assert paths_below(folder) == ["a.py", "loop"]


@pytest.mark.parametrize("folder", ["/nowhere/at/all", "", "a\0b"])
def test_a_folder_that_cannot_be_read_has_no_paths(folder):
    assert paths_below(folder) == []


def test_a_name_that_no_prompt_can_have_is_left_out(files):
    folder = files("line\nbreak.py", "esc\x1b[31m.py", "fine name.py")
    Path(folder, os.fsdecode(b"latin\xff.py")).touch()
    assert paths_below(folder) == ["fine name.py"]


def test_the_best_path_is_first():
    paths = ["tests/api/test_login.py", "docs/login.md", "src/login.py", "login/form.py", "src/lost_origin.py"]
    assert best_paths(paths, "login", 9) == [
        "src/login.py", "docs/login.md", "login/form.py", "tests/api/test_login.py",
    ]  # fmt: skip
    assert best_paths(paths, "LOGIN.M", 9) == ["docs/login.md"]
    assert best_paths(paths, "src/", 9) == ["src/login.py", "src/lost_origin.py"]
    assert best_paths(paths, "zzz", 9) == []
    assert len(best_paths(paths, "", 2)) == 2


def test_the_branch_of_a_folder(files):
    folder = files("src/a.py")
    assert branch_of(folder) is None
    git(folder, "init", "-q")
    assert branch_of(f"{folder}/src") == "main"
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    git(folder, "checkout", "-q", "--detach")
    assert branch_of(folder) is None
