import asyncio
import shutil
import sys

import pytest
from inotify import until_watched

from agentdash.sessions.service import watch
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.drafts import DraftFiles

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for inotify watches")

PATIENCE = 60


@pytest.fixture
def folders(tmp_path):
    home = tmp_path / "state"
    (home / "live").mkdir(parents=True)
    return home, home / "live"


@pytest.fixture
async def stream(folders):
    """The changes of two real folders."""
    changes = watch.changes(*folders)
    yield changes
    await changes.aclose()


async def after(poke, stream, wanted, folders):
    """The first wanted change after ``poke``, which waits until the kernel watches the folders."""
    looking = asyncio.create_task(first(stream, wanted))
    await until_watched(*folders)
    poke()
    return await asyncio.wait_for(looking, PATIENCE)


async def first(stream, wanted):
    """The next change that is wanted."""
    while not wanted(change := await anext(stream)):
        pass
    return change


def appending(path, text="x\n"):
    def append():
        with path.open("a") as file:
            file.write(text)

    return append


async def test_the_first_value_asks_for_everything(stream):
    assert await anext(stream) == watch.Change(database=True, sweep=True)


async def test_a_write_to_the_wal_is_a_change_of_the_database(stream, folders):
    wal = folders[0] / "agentdash.db-wal"
    change = await after(appending(wal), stream, lambda c: c.database and not c.sweep, folders)
    assert change.turn_files == frozenset()


async def test_an_append_names_the_turn_file(stream, folders):
    turn = folders[1] / "s1.1.jsonl"
    change = await after(appending(turn), stream, lambda c: c.turn_files and not c.sweep, folders)
    assert change == watch.Change(turn_files=frozenset({"s1.1.jsonl"}))


async def test_other_files_and_deeper_folders_say_nothing(stream, folders):
    deeper = folders[0] / "sessions" / "s1"
    deeper.mkdir(parents=True)
    assert (await anext(stream)).sweep
    noise = [appending(folders[0] / "dashboard.log"), appending(deeper / "turn_1.jsonl")]
    change = await after(lambda: [make() for make in noise], stream, lambda _: True, folders)
    assert change.sweep
    assert not change.turn_files


async def test_a_sweep_comes_by_itself(stream):
    assert (await anext(stream)).sweep
    assert await asyncio.wait_for(anext(stream), PATIENCE) == watch.Change(database=True, sweep=True)


async def test_without_watches_everything_is_asked_for_regularly(stream, folders, monkeypatch):
    def at_the_limit(*_, **__):
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr("watchfiles.awatch", at_the_limit)
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.02)
    await anext(stream)
    await anext(stream)  # a first poll: what comes from now on is new
    turn = folders[1] / "s1.1.jsonl"
    appending(turn)()
    change = await asyncio.wait_for(first(stream, lambda c: c.turn_files), PATIENCE)
    assert change.database
    assert change.turn_files == frozenset({"s1.1.jsonl"})


async def test_folders_that_are_deleted_and_made_again_are_watched_again(stream, folders, monkeypatch):
    monkeypatch.setattr(watch, "SWEEP_SECONDS", 0.1)
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.02)
    turn = folders[1] / "s1.1.jsonl"
    await after(appending(turn), stream, lambda c: c.turn_files, folders)
    shutil.rmtree(folders[0])
    for _ in range(5):
        await asyncio.wait_for(anext(stream), PATIENCE)
    folders[1].mkdir(parents=True)
    again = appending(folders[1] / "s2.1.jsonl")
    change = await after(again, stream, lambda c: "s2.1.jsonl" in c.turn_files, folders)
    assert change.turn_files == frozenset({"s2.1.jsonl"})


async def test_drafts_wake_nobody(stream, folders):
    layout = Layout(folders[0])
    layout.session("11111111").path.mkdir(parents=True)
    seen = []
    await anext(stream)

    def write():
        DraftFiles(layout).write("11111111", "a draft")

    await after(write, stream, lambda c: seen.append(c) or c.sweep, folders)
    assert layout.drafts.is_dir()
    assert seen == [watch.Change(database=True, sweep=True)]
