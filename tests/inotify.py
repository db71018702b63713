"""Whether the kernel watches a folder for this process: a condition to wait for before something is changed in it."""

import asyncio
from contextlib import suppress
from pathlib import Path


def is_watched(folder):
    """Whether an inotify watch of this process is on the folder, as ``/proc`` lists them."""
    wanted = f" ino:{folder.stat().st_ino:x} "
    for entry in Path("/proc/self/fdinfo").iterdir():
        with suppress(OSError):
            if any(line.startswith("inotify ") and wanted in line for line in entry.read_text().split("\n")):
                return True
    return False


async def until_watched(*folders):
    """Wait until all of these are watched, or for ever."""
    while not all(map(is_watched, folders)):  # noqa: ASYNC110 - the kernel sets no event
        await asyncio.sleep(0.005)
