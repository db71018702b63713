"""Keys for ten everyday tasks, each driven in a dashboard on a store of its own and checked by its result.

The sequences are data: change ``now`` when the dashboard has a shorter way.  ``before`` keeps the shortest ways of the
dashboard before its table had keys for the selected row; they were driven in the same way.  Words that the user types
count as no key.  A task that does not reach its result ends the program with its screen.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from measure import table
from msgspec import Struct
from task_driver import Desk, Until, Words, opened
from task_store import ANSWER, AT_WORK, CHANGED, FAILED, TASKS, Store, day, start

from agentdash.sessions.manager import SessionManager
from agentdash.tui.screens.changes import ChangesScreen

Keys = Sequence[str | Until]
"""Keys as users write them; typed words and waits count as no key."""


class Task(Struct, frozen=True, kw_only=True):
    """A task of a user."""

    name: str
    before: Keys | None
    """The keys that it took; None if the dashboard could not do it."""
    now: Keys
    done: Callable[[Desk], bool]
    """Returns whether the screen and the store have the result."""
    cursor: str
    """The session under the cursor at the beginning."""
    unread: Sequence[str] = ()
    """The sessions that were not opened yet."""
    prepare: Callable[[SessionManager, Store], dict[str, str]] = lambda *_: {}
    """Prepares the store; returns the ids of more sessions by name."""
    ready: Callable[[Desk], bool] = lambda _: True
    """Returns whether the screen shows what the user waits for before the first key."""


ANOTHER = "Upgrade terraform to the newest version"
READ_ONE = ("w", "Enter", "Esc")


def _answer_read(desk: Desk) -> bool:
    return ANSWER + TASKS["clock"][1] in desk.text and desk.session("clock").all_seen and desk.in_table


def _replied(desk: Desk) -> bool:
    return len(desk.reader.prompts(desk.ids["clock"])) == 2 and desk.selected == "orders" and desk.in_table


def _retried(desk: Desk) -> bool:
    return all(desk.session(name).turn == 2 and desk.session(name).status == "done" for name in FAILED)


def _changes_shown(desk: Desk) -> bool:
    return isinstance(desk.app.screen, ChangesScreen) and CHANGED in desk.text


def _busiest_stopped(desk: Desk) -> bool:
    return desk.session("busy").status == "stopped" and desk.session("idle").status == "running"


def _found(desk: Desk) -> bool:
    return desk.selected == "terraform" and desk.in_table


def _news_shown(desk: Desk) -> bool:
    return "new since" in desk.text and desk.selected == "queue"


def _shell_opened(desk: Desk) -> bool:
    where = desk.store.folder("api") / "where"
    return where.exists() and Path(where.read_text().strip()) == where.parent


def _all_read(desk: Desk) -> bool:
    return all(session.all_seen for session in desk.reader.sessions())


def _repeated(desk: Desk) -> bool:
    there = desk.reader.sessions(cwd=str(desk.store.folder("api")))
    return any(session.task == ANOTHER for session in there) and ANOTHER[:12] in desk.text


def _more_news(manager: SessionManager, store: Store) -> dict[str, str]:
    manager.wait([manager.inject(store.ids["queue"], "And the other queue?").id], timeout=60)
    return {}


def _at_work(manager: SessionManager, store: Store) -> dict[str, str]:
    return start(manager, store, AT_WORK)


BUSIEST = ("s", "p", Until(lambda desk: desk.first == "busy"), "g", "x", "y")
ALL_READ = (*READ_ONE,) * 5
UNREAD = ("clock", "orders", *FAILED)

TASKS_OF_A_DAY = (
    Task(
        name="next that needs me: read its answer", cursor="terraform", unread=["clock"],
        before=READ_ONE, now=READ_ONE, done=_answer_read,
    ),
    Task(
        name="reply and next", cursor="clock", unread=["clock", "orders"],
        before=("i", Words("go on"), "Enter", "Esc", "w"), now=("i", Words("go on"), "Enter", "Esc", "w"),
        done=_replied,
    ),
    Task(
        name="retry all failures", cursor="terraform", unread=FAILED,
        before=("3", "*", "R", "y"), now=("3", "*", "R", "y"), done=_retried,
    ),
    Task(name="what changed in this one", cursor="clock", before=("Enter", "c"), now=("c",), done=_changes_shown),
    Task(
        name="stop the busiest", cursor="terraform", prepare=_at_work, ready=lambda desk: desk.shows("busy", "idle"),
        before=BUSIEST, now=BUSIEST, done=_busiest_stopped,
    ),
    Task(
        name="find the session about X", cursor="clock",
        before=("/", Words("terraform"), "Enter"), now=("/", Words("terraform"), "Enter"), done=_found,
    ),
    Task(
        name="read what is new", cursor="queue", prepare=_more_news,
        before=("Enter", "."), now=("Enter", "."), done=_news_shown,
    ),
    Task(name="open its folder", cursor="clock", before=None, now=("!",), done=_shell_opened),
    Task(name="mark all read", cursor="terraform", unread=UNREAD, before=ALL_READ, now=ALL_READ, done=_all_read),
    Task(
        name="same again in another folder", cursor="terraform",
        before=("N", "Tab", "Tab", "Tab", Words("{api}"), "Enter"),
        now=("N", "Tab", "Tab", "Tab", Words("{api}"), "Enter"), done=_repeated,
    ),
)  # fmt: skip


def count(keys: Keys | None) -> int | str:
    """Return the number of keys; typed words and waits count as none."""
    return "-" if keys is None else sum(isinstance(key, str) and not isinstance(key, Words) for key in keys)


def written(keys: Keys) -> str:
    """Return a sequence in one line; a repeated one once, with its number."""
    names = ["words" if isinstance(key, Words) else key for key in keys if isinstance(key, str)]
    for length in range(1, len(names) // 3 + 1):
        if names == names[:length] * (len(names) // length):
            return f"({' '.join(names[:length])}) x{len(names) // length}"
    return " ".join(names)


async def drive(task: Task, store: Store) -> str:
    """Drive a task in a dashboard of its own; return "" if it reached its result, else its screen."""
    with store.copy() as manager:
        for name, session_id in store.ids.items():
            if name not in task.unread:
                manager.housekeeping.mark_seen(session_id)
        ids = store.ids | task.prepare(manager, store)
        async with opened(manager, store, ids) as desk:
            await desk.until(lambda: task.ready(desk))
            desk.select(task.cursor)
            await desk.press(*task.now)
            return "" if await desk.until(lambda: task.done(desk)) else desk.text


def note_folder_as_shell(store: Store) -> None:
    """Make a script the user's shell that notes its folder in a file and ends."""
    shell = store.scratch / "shell"
    shell.write_text("#!/bin/sh\npwd > where\n")
    shell.chmod(0o755)
    os.environ["SHELL"] = str(shell)


def main(wanted: Sequence[str]) -> None:
    """Drive all tasks, or those whose names contain one of the words; print the numbers of keys."""
    rows = []
    tasks = [task for task in TASKS_OF_A_DAY if not wanted or any(word in task.name for word in wanted)]
    with day() as store:
        note_folder_as_shell(store)
        for task in tasks:
            screen = asyncio.run(drive(task, store))
            if screen:
                sys.exit(f"{task.name}: {written(task.now)} did not reach the result.\n{screen}")
            rows.append([task.name, count(task.before), count(task.now), written(task.now)])
    table("keys for ten everyday tasks", ["task", "before", "now", "keys"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
