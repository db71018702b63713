"""Keys for the tasks of a day, each driven in a dashboard on a store of its own and checked by its result.

The sequences are the data of ``WAYS``: when the dashboard has a shorter way, change the second of the pair.  The first
is the way before most keys moved into three menus; it was driven by hand on that dashboard.
Words that the user types count as no key.  A task that does not reach its result ends the program with its screen.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir

from measure import table
from msgspec import Struct
from task_driver import Desk, Until, Words, opened
from task_store import ANSWER, AT_WORK, CHANGED, FAILED, TASKS, Store, day, start

from agentdash.sessions.rules.asks.model import Ask, AskKind
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.screens.changes import ChangesScreen
from agentdash.tui.screens.usage import UsageScreen

Keys = Sequence[str | Until]
"""Keys as users write them; typed words and waits count as no key."""


CARDS = [Until(lambda desk, n=n: desk.has_read(f"{n} of 3 asks")) for n in (1, 2, 3)]  # type: ignore[misc]
"""The card of an ask takes keys only once it can have been read."""

REPEAT = (Words("{api}"), "Enter")
AGAIN = (Words("again"), "Enter")
DENY = ("d", Words("not now"), "Enter")

WAYS: Mapping[str, tuple[Keys, Keys]] = {
    "who needs me": (("w",), ("w",)),
    "read it": (("Enter",), ("Enter",)),
    "answer, next": (("i", Words("go on"), "Ctrl+N"), ("i", Words("go on"), "Ctrl+N")),
    "approve": ((";", "y"), ("a", CARDS[0], "y")),
    "deny with words": ((";", *DENY), ("a", CARDS[0], *DENY)),
    "three approvals in a row": ((";", "y") * 3, ("a", CARDS[0], "y", CARDS[1], "y", CARDS[2], "y")),
    "prompt to a busy one": (("i", Words("hurry"), "Enter"), ("i", Words("hurry"), "Enter")),
    "interrupt and say": (("i", Words("not that"), "Ctrl+T"), ("i", Words("not that"), "Ctrl+T")),
    "retry all failures": (("3", "*", "R", "y"), ("m", "R", "y")),
    "stop one": (("x", "y", "Enter"), ("x", "y", "Enter")),
    "changes": (("c",), ("c",)),
    "fork at a step": (("Enter", "k", "B", *AGAIN), ("Enter", "k", "m", "f", *AGAIN)),
    "export": (("Enter", "s", "Enter"), ("m", "s", "Enter")),
    "filter": (("/", Words("terraform"), "Enter"), ("/", Words("terraform"), "Enter")),
    "search in the steps": (
        ("Enter", "/", Words("answer"), "Enter", "n"),
        ("Enter", "/", Words("answer"), "Enter", "n"),
    ),
    "mark one read": (("U",), ("U",)),
    "mark all read": (("*", "U", "y"), ("*", "U", "y")),
    "archive one, undo": (("A", "u"), ("m", "A", Until(lambda desk: desk.session("clock").put_away), "u")),
    "same again in another folder": (("N", "Tab", "Tab", "Tab", *REPEAT), ("m", "N", "Tab", "Tab", "Tab", *REPEAT)),
    "take over, come back": (("H",), ("m", "h")),
    "usage": (("$",), ("g", "u")),
    "from a worker to its lead": (("^",), ("g", "L")),
}
"""The keys of each task: before most keys were in three menus, and now."""


def _ask_shown(desk: Desk) -> bool:
    return desk.shows(*ASKING) and sum(one.asking for one in desk.table_sessions) == len(ASKING)


def _work_shown(desk: Desk) -> bool:
    return desk.shows("busy", "idle")


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


def _asks(desk: Desk) -> int:
    """Return how many asks wait."""
    return sum(one.asking for one in desk.reader.sessions())


def _replied(desk: Desk) -> bool:
    return len(desk.reader.prompts(desk.ids["clock"])) == 2 and desk.selected == "orders" and desk.in_table


def _retried(desk: Desk) -> bool:
    return all(desk.session(name).turn == 2 and desk.session(name).status == "done" for name in FAILED)


def _queued(desk: Desk) -> bool:
    return desk.session("idle").queued == 1 and desk.in_table


def _interrupted(desk: Desk) -> bool:
    return len(desk.reader.prompts(desk.ids["idle"])) == 2 and desk.session("idle").turn == 2


def _stopped(desk: Desk) -> bool:
    return desk.session("busy").status == "stopped" and desk.session("idle").status == "running" and desk.in_table


def _changes_shown(desk: Desk) -> bool:
    return isinstance(desk.app.screen, ChangesScreen) and CHANGED in desk.text


def _exported(desk: Desk) -> bool:
    return any(desk.store.scratch.glob("*.md"))


def _all_read(desk: Desk) -> bool:
    return all(session.all_seen for session in desk.reader.sessions())


def _put_back(desk: Desk) -> bool:
    return not desk.session("clock").put_away and "Restored" in desk.text


def _repeated(desk: Desk) -> bool:
    there = desk.reader.sessions(cwd=str(desk.store.folder("api")))
    return any(session.task == ANOTHER for session in there) and ANOTHER[:12] in desk.text


def _taken_and_back(desk: Desk) -> bool:
    return (desk.store.folder("api") / "taken").exists() and desk.session("clock").taken_by is None and desk.in_table


def _at_work(manager: SessionManager, store: Store) -> dict[str, str]:
    return start(manager, store, AT_WORK)


def _asking(manager: SessionManager, store: Store) -> dict[str, str]:
    """Start sessions, each of which asks to run a command."""
    ids = start(manager, store, {name: ("api", f"Wait for the review {name}, an idle task") for name in ASKING})
    for name, session_id in ids.items():
        ask = Ask(key=name, kind=AskKind.COMMAND, tool="Bash", title="run: make", body="make", cwd=str(store.scratch))
        manager.store.asks.record(session_id, 1, 1, ask, None)
    return ids


def _with_worker(manager: SessionManager, store: Store) -> dict[str, str]:
    ids = start(manager, store, {"worker": ("api", "A part of it, an idle task")})
    with manager.store.database.transaction() as database:
        database.execute("UPDATE sessions SET parent = ? WHERE id = ?", (store.ids["clock"], ids["worker"]))
    return ids


ASKING = ("ask1", "ask2", "ask3")

TASKS_OF_A_DAY = (
    Task(name="who needs me", cursor="terraform", unread=["clock"], done=lambda desk: desk.selected == "clock"),
    Task(
        name="read it", cursor="clock", unread=["clock"],
        done=lambda desk: ANSWER + TASKS["clock"][1] in desk.text and desk.session("clock").all_seen,
    ),
    Task(name="answer, next", cursor="clock", unread=["clock", "orders"], done=_replied),
    Task(name="approve", cursor="ask1", prepare=_asking, ready=_ask_shown, done=lambda desk: _asks(desk) == 2),
    Task(name="deny with words", cursor="ask1", prepare=_asking, ready=_ask_shown, done=lambda desk: _asks(desk) == 2),
    Task(
        name="three approvals in a row", cursor="ask1", prepare=_asking, ready=_ask_shown,
        done=lambda desk: _asks(desk) == 0,
    ),
    Task(name="prompt to a busy one", cursor="idle", prepare=_at_work, ready=_work_shown, done=_queued),
    Task(name="interrupt and say", cursor="idle", prepare=_at_work, ready=_work_shown, done=_interrupted),
    Task(name="retry all failures", cursor="terraform", unread=FAILED, done=_retried),
    Task(name="stop one", cursor="busy", prepare=_at_work, ready=_work_shown, done=_stopped),
    Task(name="changes", cursor="clock", done=_changes_shown),
    Task(name="fork at a step", cursor="clock", done=lambda desk: any(
        one.id not in desk.ids.values() for one in desk.reader.sessions())),
    Task(name="export", cursor="clock", done=_exported),
    Task(name="filter", cursor="clock", done=lambda desk: desk.selected == "terraform" and desk.in_table),
    Task(name="search in the steps", cursor="clock", done=lambda desk: "/answer" in desk.text and "of" in desk.text),
    Task(name="mark one read", cursor="clock", unread=["clock"], done=lambda desk: desk.session("clock").all_seen),
    Task(name="mark all read", cursor="terraform", unread=["clock", "orders", *FAILED], done=_all_read),
    Task(name="archive one, undo", cursor="clock", done=_put_back),
    Task(name="same again in another folder", cursor="terraform", done=_repeated),
    Task(name="take over, come back", cursor="clock", done=_taken_and_back),
    Task(name="usage", cursor="clock", done=lambda desk: isinstance(desk.app.screen, UsageScreen)),
    Task(
        name="from a worker to its lead", cursor="worker", prepare=_with_worker,
        ready=lambda desk: desk.shows("worker"), done=lambda desk: desk.selected == "clock",
    ),
)  # fmt: skip


def count(keys: Keys) -> int:
    """Return the number of keys; typed words and waits count as none."""
    return sum(isinstance(key, str) and not isinstance(key, Words) for key in keys)


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
        read = [session_id for name, session_id in store.ids.items() if name not in task.unread]
        manager.housekeeping.mark_all_seen(read, seen=True)
        ids = store.ids | task.prepare(manager, store)
        async with opened(manager, store, ids) as desk:
            await desk.until(lambda: task.ready(desk))
            desk.select(task.cursor)
            await desk.press(*keys)
            return "" if await desk.until(lambda: task.done(desk)) else desk.text


def main(wanted: Sequence[str]) -> None:
    """Drive all tasks, or those whose names contain one of the words; print the numbers of keys."""
    rows = []
    tasks = [task for task in TASKS_OF_A_DAY if not wanted or any(word in task.name for word in wanted)]
    with day() as store, chdir(store.scratch):
        for task in tasks:
            before, now = WAYS[task.name]
            screen = asyncio.run(drive(task, now, store))
            if screen:
                sys.exit(f"{task.name}: {written(now)} did not reach the result.\n{screen}")
            rows.append([task.name, count(before), count(now), written(now)])
    table("keys for the tasks of a day", ["task", "before", "now", "keys"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
