"""Evidence for a full disk: what counts, what does not, and what a check costs."""

import errno
import os
import resource
from types import SimpleNamespace

import pytest

from agentdash.sessions.model.errors import DiskFullError, StoreError
from agentdash.sessions.runner import disk
from agentdash.sessions.runner.disk import BLOCK_BYTES, DiskWatch, give_back, take_reserve


@pytest.fixture
def output(tmp_path):
    path = tmp_path / "turn_1.jsonl"
    path.write_bytes(b"a line\n")
    return path


@pytest.fixture
def no_room(monkeypatch):
    """Let each write of a whole block fail, as on a full disk; counts the tries."""
    tries = []
    write = os.write

    def refuse(descriptor, data):
        if len(data) < BLOCK_BYTES:
            return write(descriptor, data)
        tries.append(data)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", refuse)
    return tries


@pytest.fixture
def free(monkeypatch):
    """Set the free space that the file system reports, in bytes."""

    def set_to(free_bytes):
        monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=free_bytes, f_frsize=1))

    return set_to


def test_a_disk_with_room_is_never_called_full(output, free):
    free(10**9)
    watch = DiskWatch(output)
    watch.check()
    assert watch.trouble is None
    assert watch.at_the_end("No space left on device", proven=False) is None
    assert list(output.parent.iterdir()) == [output]


def test_a_nearly_full_disk_is_called_full_only_if_a_write_fails(output, free, monkeypatch):
    free(0)
    watch = DiskWatch(output)
    watch.check()
    assert watch.at_the_end("", proven=False) is None


def test_a_failed_test_write_is_evidence_also_if_there_is_room_again_at_the_end(output, free, no_room, monkeypatch):
    free(4096)
    watch = DiskWatch(output)
    watch.check()
    free(10**9)
    found = watch.at_the_end("", proven=True)
    assert (found.what, found.cut) == ("the disk was full", False)
    assert "No space left on device" in found.evidence
    assert len(no_room) == 1
    assert watch.trouble == "the disk was full"


def test_a_quota_that_statvfs_does_not_show_is_found_at_the_end(output, free, monkeypatch):
    def refuse(_, data):
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "write", refuse)
    free(10**9)
    found = DiskWatch(output).at_the_end("", proven=False)
    assert found.what == "the disk quota was used up"


def test_a_proven_end_on_a_disk_with_room_needs_no_test_write(output, free, no_room):
    free(10**9)
    assert DiskWatch(output).at_the_end("", proven=True) is None
    assert no_room == []


@pytest.mark.parametrize(
    ("written", "cut"), [(b'{"type"', True), (b"x" * 4095 + b"\n", True), (b"a line\n", False), (b"", False)]
)
def test_a_full_disk_cuts_within_a_line_or_at_the_end_of_a_page(output, free, no_room, written, cut):
    output.write_bytes(written)
    free(0)
    assert DiskWatch(output).at_the_end("", proven=False).cut is cut


def test_an_agent_that_waited_for_room_and_went_on_was_not_cut(output, free, no_room, monkeypatch):
    free(0)
    watch = DiskWatch(output)
    watch.check()
    assert watch.trouble is not None
    free(10**9)
    monkeypatch.undo()
    output.write_bytes(output.read_bytes() + b"the rest, without a newline")
    found = watch.at_the_end("", proven=False)
    assert (found.what, found.cut) == ("the disk was full", False)


def test_a_file_that_grew_beyond_the_limit_shows_that_it_was_lifted(output, free, monkeypatch):
    free(10**9)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (len(output.read_bytes()), -1))
    assert DiskWatch(output).at_the_end("", proven=False).cut
    monkeypatch.setattr(resource, "getrlimit", lambda _: (3, -1))
    assert DiskWatch(output).at_the_end("", proven=False) is None


def test_stderr_that_names_the_error_counts_only_together_with_a_torn_output(output, free):
    free(10**9)
    said = "cat: write error: No space left on device"
    assert DiskWatch(output).at_the_end(said, proven=False) is None
    output.write_bytes(b"a log that ends without a newline")
    assert DiskWatch(output).at_the_end(said, proven=False) is None
    output.write_bytes(b'{"half":'.ljust(disk.BLOCK_BYTES, b" "))
    assert "No space left on device" in DiskWatch(output).at_the_end(said, proven=False).evidence
    assert DiskWatch(output).at_the_end("something else", proven=False) is None


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (DiskFullError("The disk is full"), True),
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (StoreError("The database is damaged"), False),
    ],
)
def test_an_error_of_our_own_recording_is_evidence_if_it_is_a_full_disk(output, free, error, found):
    free(10**9)
    watch = DiskWatch(output)
    watch.blame(error)
    assert (watch.at_the_end("", proven=True) is not None) is found


def test_the_reserve_takes_space_and_gives_it_back(tmp_path):
    reserve = tmp_path / "reserve"
    take_reserve(reserve)
    assert reserve.stat().st_blocks * 512 >= disk.RESERVE_BYTES
    assert give_back(reserve)
    assert not give_back(reserve)


def test_without_room_there_is_no_reserve(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    take_reserve(tmp_path / "reserve")
    assert list(tmp_path.iterdir()) == []
