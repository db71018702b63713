"""A commit becomes visible only after its fsync, and the kernel reports nothing then: it is seen all the same."""

import asyncio
import subprocess
import sys
from contextlib import aclosing

import pytest
from inotify import until_watched
from places import TESTS

from agentdash.sessions.service import watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for inotify watches")

HELD_COMMIT = TESTS / "held_commit.py"


@pytest.fixture
def rename_held_back(manager, tmp_path):
    """Starts a process that renames the only session and whose commit waits for the file ``go``."""
    session = manager.run(["true"])
    manager.wait([session.id], timeout=60)
    started = []

    def start(title):
        started.append(subprocess.Popen([sys.executable, str(HELD_COMMIT), str(tmp_path), title]))

    yield start
    (tmp_path / "go").touch()
    for process in started:
        assert process.wait(60) == 0


async def test_a_commit_whose_fsync_takes_long_is_seen_without_a_sweep(
    manager, rename_held_back, tmp_path, monkeypatch
):
    held, go = tmp_path / "held", tmp_path / "go"
    monkeypatch.setattr(watch, "SWEEP_SECONDS", 600.0)
    # A busy machine may take longer from `go` to the end of the commit than the last look is away.
    monkeypatch.setattr(watch, "RECHECK_SECONDS", (*watch.RECHECK_SECONDS, 3.0, 9.0, 27.0))
    seq = manager.reader.changes(0).seq
    titles = []
    async with asyncio.timeout(90), aclosing(watch.changes(manager.reader.home, manager.reader.live_dir)) as stream:
        await anext(stream)
        upcoming = asyncio.ensure_future(anext(stream))
        await until_watched(manager.reader.home)
        rename_held_back("held back")
        while "held back" not in titles:
            assert not (await upcoming).sweep
            in_vain = held.exists() and not go.exists()
            found = await asyncio.to_thread(manager.reader.changes, seq)
            seq = found.seq
            titles += [session.title for session in found.updated]
            if in_vain:
                assert "held back" not in titles
                go.touch()
            upcoming = asyncio.ensure_future(anext(stream))
        upcoming.cancel()
        await asyncio.gather(upcoming, return_exceptions=True)
    assert go.exists()
