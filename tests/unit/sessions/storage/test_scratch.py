"""The place of our short-lived files: no sandboxed agent can write there."""

import stat
from pathlib import Path

import pytest

from agentdash.sessions.storage import scratch
from agentdash.sessions.storage.scratch import scratch_folder, write_private


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The state folder, beside a temporary folder and without a runtime folder."""
    home = tmp_path / "state"
    home.mkdir()
    monkeypatch.setenv("AGENTDASH_HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return home


def modes(*paths):
    return [stat.S_IMODE(path.stat().st_mode) for path in paths]


def test_a_draft_is_below_the_state_folder_private_and_removed(home):
    with scratch_folder() as folder:
        write_private(folder / "prompt.md", "secret")
        assert folder.is_relative_to(home)
        assert modes(folder.parent, folder, folder / "prompt.md") == [0o700, 0o700, 0o600]
        with pytest.raises(FileExistsError):
            write_private(folder / "prompt.md", "again")
    assert not folder.exists()


def test_without_a_state_folder_it_is_below_the_runtime_folder_if_that_is_private(home, tmp_path, monkeypatch):
    home.rmdir()
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setattr(scratch, "_is_temporary", lambda folder: False)
    with scratch_folder() as folder:
        assert folder.is_relative_to(runtime)
    runtime.chmod(0o755)
    with scratch_folder() as folder:
        assert folder.is_relative_to(tmp_path / "cache")


def test_what_is_not_of_the_state_folder_leaves_it_as_it_is(home, tmp_path):
    with scratch_folder(of_state=False) as folder:
        assert folder.is_relative_to(tmp_path / "cache")
    assert not any(home.iterdir())


@pytest.mark.parametrize("temporary", ["/tmp", "/var/tmp"])
def test_a_temporary_folder_is_never_used(home, temporary):
    assert scratch._is_temporary(Path(temporary, "run"))
    assert not scratch._is_temporary(Path("/run/user/1000"))


def test_a_link_or_an_open_folder_in_its_place_is_not_used(home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (home / "scratch").symlink_to(tmp_path / "elsewhere")
    with scratch_folder() as folder:
        assert folder.is_relative_to(tmp_path / "cache")
    (home / "scratch").unlink()
    (home / "scratch").mkdir()
    (home / "scratch").chmod(0o777)
    with scratch_folder() as folder:
        assert folder.is_relative_to(tmp_path / "cache")
