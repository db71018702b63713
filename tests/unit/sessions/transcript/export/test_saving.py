"""An export on disk: whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdash.sessions.model.errors import SaveError, UsageError
from agentdash.sessions.transcript.export.saving import ExistsError, save


def test_the_file_holds_all_pieces_and_belongs_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert save(path, ["größer ", "\udcff", "\n"]) == 11
    assert path.read_text() == "größer ?\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_file_that_is_there_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("mine")
    with pytest.raises(UsageError, match=r"already exists; not overwritten\. Add --force to overwrite it"):
        save(path, ["new"])
    assert path.read_text() == "mine"
    save(path, ["new"], force=True)
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
def test_a_file_that_comes_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    path = tmp_path / "a.md"
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", _refused)

    def pieces() -> Iterator[str]:
        path.write_text("faster")
        yield "new"

    with pytest.raises(UsageError, match="already exists"):
        save(path, pieces())
    assert path.read_text() == "faster"
    assert os.listdir(tmp_path) == ["a.md"]


def _refused(*_: object) -> None:
    raise OSError(errno.EPERM, "no links here")


def test_a_file_system_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "hardlink_to", _refused)
    save(tmp_path / "a.md", ["new"])
    assert (tmp_path / "a.md").read_text() == "new"
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    save(tmp_path / "link.md", ["new"], force=True)
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text() == "new"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_that_the_user_did_not_mean_is_named_and_not_followed(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "home" / ".bash_aliases"
    target.parent.mkdir()
    if there:
        target.write_text("old")
    (tmp_path / "a.md").symlink_to(target)
    with pytest.raises(ExistsError, match=f"is a link to {target}"):
        save(tmp_path / "a.md", ["new"])
    assert target.exists() is there


@pytest.mark.parametrize(
    ("name", "message"),
    [("no/such/a.md", "no such folder"), ("folder", "is a folder"), ("pipe", "is not a regular file")],
)
@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_place_for_a_file(tmp_path: Path, name: str, message: str, force: bool) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=message):
        save(tmp_path / name, ["new"], force=force)
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    monkeypatch.setattr(tempfile, "mkstemp", denied)
    with pytest.raises(SaveError, match=r"a\.md: cannot be written: Permission denied"):
        save(tmp_path / "a.md", ["new"])


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SaveError, match=r"No space left on device\. No file was left"):
        save(tmp_path / "a.md", ["new"])
    assert os.listdir(tmp_path) == []


def test_a_document_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save(tmp_path / "a.md", pieces())
    assert os.listdir(tmp_path) == []
