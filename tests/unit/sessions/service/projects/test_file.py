"""The settings file of a project: where it is found, and which files are not read."""

import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from agentdash.sessions.service.projects import file as project_file
from agentdash.sessions.service.projects.file import MOST_BYTES, NAME, UnsafeFileError, find, read

from .conftest import Place


def test_the_nearest_file_upwards_applies(place: Place) -> None:
    place.write("")
    assert find(place.folder) == place.file
    (place.folder / NAME).write_text("")
    assert find(place.folder) == place.folder / NAME


def test_the_search_ends_at_the_root_of_the_repository(place: Place) -> None:
    (place.root.parent / "other").mkdir()
    inner = place.root / "vendored"
    (inner / "deep").mkdir(parents=True)
    (inner / ".git").touch()  # a worktree has a file
    place.write("")
    assert find(inner / "deep") is None
    assert find(inner.parent) == place.file


def test_the_home_folder_is_not_a_project(place: Place, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("")
    (tmp_path / "loose").mkdir()
    assert find(tmp_path) is None
    assert find(tmp_path / "loose") is None


def test_the_search_ends_at_the_border_of_a_file_system(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("")
    (place.root / ".git").rmdir()
    monkeypatch.setattr(project_file, "_device", lambda folder: len(folder.parts) < len(place.folder.parts))
    assert find(place.folder) is None


def test_a_link_to_a_folder_leads_to_the_project_of_the_real_one(place: Place, tmp_path: Path) -> None:
    place.write("")
    (tmp_path / "link").symlink_to(place.folder)
    assert find(tmp_path / "link") == place.file


def test_the_bytes_and_their_hash_are_read(place: Place) -> None:
    place.write("a = 1\n")
    found = read(place.file)
    assert (found.data, found.sha256) == (b"a = 1\n", sha256(b"a = 1\n").hexdigest())


def test_a_fifo_is_refused_and_does_not_block(place: Place) -> None:
    os.mkfifo(place.file)
    with pytest.raises(UnsafeFileError, match="not a regular file"):
        read(place.file)


def test_a_symbolic_link_is_refused(place: Place, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("")
    place.file.symlink_to(tmp_path / "elsewhere.toml")
    assert find(place.folder) == place.file
    with pytest.raises(UnsafeFileError, match="symbolic link"):
        read(place.file)


def test_a_file_that_becomes_a_link_before_it_is_opened_is_refused(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("")
    facts = os.lstat(place.file)
    place.file.rename(tmp_path / "moved.toml")
    place.file.symlink_to(tmp_path / "moved.toml")
    monkeypatch.setattr(os, "lstat", lambda _: facts)
    with pytest.raises(UnsafeFileError, match="cannot be read"):
        read(place.file)


def test_a_file_of_another_user_is_refused_and_one_of_root_is_read(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("")
    owner = place.file.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 4321)
    if owner == 0:
        assert read(place.file).data == b""
        os.chown(place.file, 4000, -1)
    with pytest.raises(UnsafeFileError, match="belongs to another user"):
        read(place.file)


@pytest.mark.parametrize(("mode", "why"), [(0o602, "all users can write it"), (0o620, "its group can write it")])
def test_a_file_that_others_can_write_is_refused(
    place: Place, mode: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_file, "_is_private", lambda _: False)
    place.write("")
    place.file.chmod(mode)
    with pytest.raises(UnsafeFileError, match=why):
        read(place.file)


def test_the_group_of_the_user_alone_may_write_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    import grp
    import pwd

    place.write("")
    place.file.chmod(0o660)
    name = pwd.getpwuid(os.geteuid()).pw_name
    for members, shared in (([], False), ([name], False), ([name, "mallory"], True)):
        monkeypatch.setattr(grp, "getgrgid", lambda gid, m=members: grp.struct_group((name, "x", gid, m)))
        if shared:
            with pytest.raises(UnsafeFileError, match="its group"):
                read(place.file)
        else:
            assert read(place.file).data == b""


@pytest.mark.parametrize("size", [MOST_BYTES, MOST_BYTES + 1, 1 << 20])
def test_a_large_file_is_refused(place: Place, size: int) -> None:
    place.write("#" * size)
    if size <= MOST_BYTES:
        assert len(read(place.file).data) == size
        return
    with pytest.raises(UnsafeFileError, match="larger than 64 KiB"):
        read(place.file)


def test_a_file_that_grows_while_it_is_read_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("#" * (MOST_BYTES + 1))
    small = os.stat_result((stat.S_IFREG | 0o600, 1, 1, 1, os.geteuid(), 0, 5, 0, 0, 0))
    monkeypatch.setattr(os, "lstat", lambda _: small)
    monkeypatch.setattr(os, "fstat", lambda _: small)
    with pytest.raises(UnsafeFileError, match="larger than 64 KiB"):
        read(place.file)


def test_a_folder_is_not_a_file(place: Place) -> None:
    place.file.mkdir()
    with pytest.raises(UnsafeFileError, match="not a regular file"):
        read(place.file)
