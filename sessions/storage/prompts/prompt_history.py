"""The prompts of all sessions, to find one again: the rows of ``prompts`` and ``queue``, no second copy of them."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.rows import struct_from

NEWEST_ROWS = 5_000
"""Number of rows of each table that are searched, the newest ones."""

MOST_PROMPTS = 10_000
"""Maximum number of prompts in the history."""

LONGEST = 10_000
"""Maximum characters of a prompt in the history: users do not go through whole documents there."""

MOST_CHARACTERS = 20_000_000
"""Maximum characters of all prompts in the history together; older ones are left out."""

_WRITTEN = "CASE WHEN sessions.followed IS NOT NULL AND newest.turn = 1 THEN sessions.task ELSE text END"
"""The user's own words, as SQL."""

_BY_AGENTDASH = "SELECT queue.text FROM wake_ends JOIN queue ON queue.id = wake_ends.prompt"
"""The prompts that woke leads, as SQL."""


class PastPrompt(Struct, frozen=True, kw_only=True):
    """A prompt that was requested, perhaps several times."""

    text: str
    session: str
    """The session to which it went last."""
    at: int
    """The time of its last request, UTC ms."""


def past_prompts(database: Database, unprompted: Sequence[str], limit: int = MOST_PROMPTS) -> list[PastPrompt]:
    """Return the newest prompts, newest first, each text once and without long documents.

    The first prompt of a session that followed another is there without the answer that it got from it.

    ``unprompted`` are the agents that take no prompts: the text of their turns is a command.
    """
    agents = ", ".join("?" * len(unprompted))
    both = " UNION ALL ".join(
        f"SELECT {text} AS written, session, newest.created_at AS asked"  # noqa: S608 - question marks
        f" FROM (SELECT * FROM {table} ORDER BY id DESC LIMIT ?) AS newest JOIN sessions ON sessions.id = session"
        f" WHERE agent NOT IN ({agents}) AND LENGTH(written) <= ? AND written NOT IN ({_BY_AGENTDASH})"
        for table, text in (("prompts", _WRITTEN), ("queue", "text"))
    )
    rows = database.rows(
        # SQLite takes the bare column `session` from the row with the maximum.
        f"SELECT written, session, MAX(asked) AS at FROM ({both}) GROUP BY written ORDER BY at DESC, written LIMIT ?",  # noqa: S608
        (NEWEST_ROWS, *unprompted, LONGEST) * 2 + (limit,),
    )
    found, characters = [], 0
    for row in rows:
        characters += len(row["written"])
        if characters > MOST_CHARACTERS:
            break
        found.append(struct_from(PastPrompt, row, text=row["written"]))
    return found


def requested_since(database: Database, text: str, at: int) -> bool:
    """Return whether a text was requested as a prompt at or after a time (UTC ms), also as that of a new session."""
    recorded = " UNION ALL ".join(
        f"SELECT 1 FROM {table} WHERE {column} IN (?1, ?2) AND created_at >= ?3"  # noqa: S608 - names from here
        for table, column in (("prompts", "text"), ("queue", "text"), ("sessions", "task"))
    )
    return bool(database.rows(f"{recorded} LIMIT 1", (text, text.strip(), at)))


def containing(prompts: Iterable[PastPrompt], text: str) -> list[PastPrompt]:
    """Return the prompts that contain all words of a text, in any case."""
    words = text.casefold().split()
    return [prompt for prompt in prompts if all(word in prompt.text.casefold() for word in words)]
