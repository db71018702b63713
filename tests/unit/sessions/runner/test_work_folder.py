"""The folder of a session, opened as it was recorded."""

import os
from pathlib import Path

import pytest

from agentdash.sessions.runner.work_folder import FolderError, check, opened


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_a_folder_stays_the_one_that_was_opened(top: Path) -> None:
    (top / "a/b").mkdir(parents=True)
    (top / "elsewhere").mkdir()
    with opened(str(top / "a/b")) as name:
        (top / "a/b").rename(top / "a/old")
        (top / "a/b").symlink_to(top / "elsewhere")
        Path(name, "made").touch()
    assert os.listdir(top / "a/old") == ["made"]
    assert os.listdir(top / "elsewhere") == []


@pytest.mark.parametrize("swapped", ["a", "a/b", "a/b/c"])
def test_a_link_in_any_place_is_refused_and_named(top: Path, swapped: str) -> None:
    (top / "a/b/c").mkdir(parents=True)
    check(str(top / "a/b/c"))
    (top / swapped).rename(top / "moved")
    (top / swapped).symlink_to(top / "moved")
    with pytest.raises(FolderError, match=f"{top / swapped} is a symbolic link now"):
        check(str(top / "a/b/c"))


def test_a_folder_above_that_cannot_be_listed_can_be_passed(top: Path) -> None:
    (top / "a/b").mkdir(parents=True)
    (top / "a").chmod(0o311)
    check(str(top / "a/b"))
    (top / "a").chmod(0o700)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("{}/gone", "the folder {}/gone does not exist"),
        ("{}/file", "{}/file is not a folder"),
        ("{}/file/below", "{}/file is not a folder"),
        ("{}/x\0y", "cannot be opened"),
        ("relative", "the folder relative does not exist"),
        ("?", "does not exist"),
    ],
)
def test_a_folder_that_cannot_be_used_has_a_reason(top: Path, path: str, reason: str) -> None:
    (top / "file").touch()
    with pytest.raises(FolderError) as error:
        check(path.format(top))
    assert reason.format(top) in str(error.value)


def test_nothing_stays_open(top: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in (top, top / "gone"):
        try:
            check(str(path))
        except FolderError:
            pass
    assert len(os.listdir("/proc/self/fd")) == before
