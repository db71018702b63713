"""Keys for ten everyday tasks, each driven in a dashboard on a store of its own and checked by its result.

The sequences are the data of ``WAYS``: when the dashboard has a shorter way, change the second of the pair.  The first
is the shortest way before the table had keys for the selected row; it was driven in the same way on that dashboard.
Words that the user types count as no key.  A task that does not reach its result ends the program with its screen.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from measure import table
from msgspec import Struct
from task_driver import Desk, Until, Words, opened
from task_store import ANSWER, AT_WORK, CHANGED, FAILED, TASKS, Store, day, start

from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.screens.changes import ChangesScreen

Keys = Sequence[str | Until]
"""Keys as users write them; typed words and waits count as no key."""


READ_ONE = ("w", "Enter", "Esc")
BUSIEST = ("s", "p", Until(lambda desk: desk.first == "busy"), "g", "x", "y")
REPLY = ("i", Words("go on"), "Enter", "Esc", "w")
REPEAT = ("N", "Tab", "Tab", "Tab", Words("{api}"), "Enter")

WAYS: Mapping[str, tuple[Keys | None, Keys]] = {
    "next that needs me: read its answer": (READ_ONE, ("w",)),
    "reply and next": (REPLY, ("i", Words("go on"), "Ctrl+N")),
    "retry all failures": (("3", "*", "R", "y"), ("3", "*", "R", "y")),
    "what changed in this one": (("Enter", "c"), ("c",)),
    "stop the busiest": (BUSIEST, BUSIEST),
    "find the session about X": (("/", Words("terraform"), "Enter"), ("/", Words("terraform"), "Enter")),
    "read what is new": (("Enter", "."), ("Enter",)),
    "open its folder": (None, ("!",)),
    "mark all read": (READ_ONE * 5, ("*", "U", "y")),
    "same again in another folder": (REPEAT, REPEAT),
}
"""The shortest keys of each task: before (None if there were none), and now."""


class Task(Struct, frozen=True, kw_only=True):
    """A task of a user."""

    name: str
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
    manager.wait([manager.prompts.inject(store.ids["queue"], "And the other queue?").session.id], timeout=60)
    return {}


def _at_work(manager: SessionManager, store: Store) -> dict[str, str]:
    return start(manager, store, AT_WORK)


TASKS_OF_A_DAY = (
    Task(name="next that needs me: read its answer", cursor="terraform", unread=["clock"], done=_answer_read),
    Task(name="reply and next", cursor="clock", unread=["clock", "orders"], done=_replied),
    Task(name="retry all failures", cursor="terraform", unread=FAILED, done=_retried),
    Task(name="what changed in this one", cursor="clock", done=_changes_shown),
    Task(
        name="stop the busiest",
        cursor="terraform",
        prepare=_at_work,
        ready=lambda desk: desk.shows("busy", "idle"),
        done=_busiest_stopped,
    ),
    Task(name="find the session about X", cursor="clock", done=_found),
    Task(name="read what is new", cursor="queue", prepare=_more_news, done=_news_shown),
    Task(name="open its folder", cursor="clock", done=_shell_opened),
    Task(name="mark all read", cursor="terraform", unread=["clock", "orders", *FAILED], done=_all_read),
    Task(name="same again in another folder", cursor="terraform", done=_repeated),
)


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


async def drive(task: Task, keys: Keys, store: Store) -> str:
    """Drive a task in a dashboard of its own; return "" if it reached its result, else its screen."""
    with store.copy() as manager:
        for name, session_id in store.ids.items():
            if name not in task.unread:
                manager.housekeeping.mark_seen(session_id)
        ids = store.ids | task.prepare(manager, store)
        async with opened(manager, store, ids) as desk:
            await desk.until(lambda: task.ready(desk))
            desk.select(task.cursor)
            await desk.press(*keys)
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
            before, now = WAYS[task.name]
            screen = asyncio.run(drive(task, now, store))
            if screen:
                sys.exit(f"{task.name}: {written(now)} did not reach the result.\n{screen}")
            rows.append([task.name, count(before), count(now), written(now)])
    table("keys for ten everyday tasks", ["task", "before", "now", "keys"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
