"""What is installed: exactly the package and its manual page, without a word from the build."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest
from places import BUILT_FILES, BUILT_FOLDERS, ROOT

from agentdash import __version__
from agentdash.sessions.storage.schema import VERSION

ROOMS = ("sessions", "tui", "widgets")
DATA = {
    "commit.txt",
    "py.typed",
    "sessions/transcript/export/page.css",
    "sessions/storage/schema.sql",
    "tui/agentdash.tcss",
    *(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "schema").iterdir()),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory, require_tool):
    """A commit of what is built, in a folder of another name, with a byte-code cache and a new folder in it."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in BUILT_FILES:
        shutil.copy(ROOT / name, copy)
    for folder in (*BUILT_FOLDERS, "bench"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("*.egg-info"), symlinks=True)
    (copy / "tests").mkdir()
    (copy / "tests" / "test_x.py").touch()
    new = copy / "sessions" / "brand_new"
    new.mkdir()
    (new / "__init__.py").touch()
    (new / "module.py").touch()
    # The same commit in each process of a run, because they share the wheel.
    dates = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    for words in (["init", "--quiet"], ["add", "--all", ":!*__pycache__*"], ["commit", "--quiet", "--message", "All"]):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
        subprocess.run([require_tool("git"), *identity, *words], cwd=copy, check=True, env=os.environ | dates)
    return copy


def commit_of(checkout):
    """The commit of a checkout, as `git describe` abbreviates it."""
    argv = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(argv, cwd=checkout, check=True, capture_output=True, text=True).stdout.strip()


def expected(source):
    """The names that a wheel must hold beside its metadata."""
    modules = {path.relative_to(source) for room in ROOMS for path in (source / room).rglob("*.py")}
    names = {f"agentdash/{name}" for name in {*map(str, modules), "__init__.py", "__main__.py", *DATA}}
    return names | {f"agentdash_tui-{__version__}.data/data/share/man/man1/agentdash.1"}


def warnings_in(printed):
    """What a build complained of."""
    return [line for line in printed.splitlines() if "Warning" in line or "would be ignored" in line]


@pytest.fixture(scope="module")
def wheel(source, pip, once_a_run):
    """The wheel's file, and what was printed while it was built."""

    def fill(folder):
        printed = pip("wheel", ".", "--quiet", "--wheel-dir", str(folder), cwd=source)
        (folder / "printed").write_text(printed)

    folder = once_a_run("wheel", fill)
    (path,) = folder.glob("*.whl")
    return path, (folder / "printed").read_text()


def test_a_wheel_holds_every_module_and_every_data_file_and_nothing_else(source, wheel):
    names = {name for name in zipfile.ZipFile(wheel[0]).namelist() if ".dist-info/" not in name}
    assert names == expected(source)
    assert "agentdash/sessions/brand_new/module.py" in names
    assert {f"agentdash/{name}" for name in DATA} <= names


def version_of(folder):
    """What the package in a folder answers to ``--version``."""
    script = "import sys; sys.path.insert(0, sys.argv.pop(1)); from agentdash.__main__ import main; main()"
    argv = [sys.executable, "-P", "-c", script, str(folder), "--version"]
    return subprocess.run(argv, check=True, capture_output=True, text=True, cwd=folder).stdout


def test_two_builds_can_be_told_apart_by_schema_and_commit(source, wheel, tmp_path):
    with zipfile.ZipFile(wheel[0]) as archive:
        archive.extractall(tmp_path)
    version = f"agentdash {__version__} (schema {VERSION}, commit"
    assert version_of(tmp_path) == f"{version} {commit_of(source)})\n"
    (tmp_path / "agentdash" / "commit.txt").unlink()
    assert version_of(tmp_path) == f"{version.removesuffix(', commit')})\n"
    checkout = tmp_path / "checkout"
    shutil.copytree(source, checkout, symlinks=True)
    (checkout / "README.md").write_text("changed")
    assert version_of(checkout / "src") == f"{version} {commit_of(source)}-dirty)\n"
    shutil.rmtree(checkout / ".git")  # an archive that was unpacked in the repository of another project
    shutil.copytree(source / ".git", checkout.parent / ".git")
    assert version_of(checkout / "src") == f"{version.removesuffix(', commit')})\n"


def test_a_build_prints_nothing(wheel):
    assert wheel[1] == ""


def test_an_install_warns_of_nothing_even_if_all_is_printed(source, pip, tmp_path):
    printed = pip("install", ".", "--verbose", "--target", str(tmp_path), cwd=source)
    assert warnings_in(printed) == []
    assert (tmp_path / "agentdash" / "tui" / "agentdash.tcss").exists()


def test_an_editable_install_warns_of_nothing_and_runs_these_sources(source, pip, tmp_path, builder):
    printed = pip("install", "--editable", ".", "--verbose", cwd=source)
    assert "Successfully installed" in printed
    assert warnings_in(printed) == []
    script = "import agentdash, agentdash.sessions.brand_new.module as new; print(agentdash.__file__, new.__file__)"
    done = subprocess.run([str(builder), "-P", "-c", script], check=True, capture_output=True, text=True, cwd=tmp_path)
    package = source / "src/agentdash"
    assert done.stdout.split() == [str(package / "__init__.py"), str(package / "sessions/brand_new/module.py")]
    assert builder.with_name("agentdash").exists()


def test_a_wheel_from_the_source_archive_is_the_same(source, wheel, pip, builder, tmp_path):
    script = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    subprocess.run([str(builder), "-c", script, str(tmp_path / "sdist")], cwd=source, check=True, capture_output=True)
    (archive,) = (tmp_path / "sdist").iterdir()
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    pip("wheel", ".", "--quiet", "--wheel-dir", str(tmp_path / "again"), cwd=unpacked)
    (again,) = (tmp_path / "again").iterdir()
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel[0]).namelist())
    assert zipfile.ZipFile(again).read("agentdash/commit.txt").decode().strip() == commit_of(source)
