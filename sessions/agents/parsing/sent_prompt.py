"""The search for a prompt in the transcript that an agent CLI keeps for itself."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.agents.parsing.json_lines import milliseconds
from agentdash.sessions.agents.parsing.line_parts import each_part
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.storage.files.line_reader import LineReader

SEARCHED_BYTES = 64 << 20
"""Bytes at the end of a transcript that are searched: the prompt of a turn that has just crashed is near its end."""

CLOCK_MS = 1_000
"""Milliseconds by which the times of an agent may differ from ours."""


class SentPrompt(Struct, frozen=True, kw_only=True):
    """A prompt with which an agent's process was started, or which a live one was sent."""

    launch: Launch
    agent_session: str | None
    """The conversation, if the agent has named one."""
    env: Mapping[str, str | None]
    """The environment of the process, as far as it was recorded."""
    at: int
    """The start of the turn, UTC ms."""
    key: str = ""
    """The id with which a live agent was sent it; empty for a prompt with which a process was started."""
    recorded: str | None = None
    """The prompt of a live agent; None for that of the launch."""

    @property
    def text(self) -> str:
        """The prompt as the process was given it."""
        return self.recorded if self.recorded is not None else self.launch.stdin or ""


def has_prompt(
    path: Path, sent: SentPrompt, marks: Iterable[bytes], read: Callable[[bytes], tuple[str, str] | None]
) -> bool:
    """Return whether a transcript has a prompt since the start of its turn.

    Args:
        marks: bytes that each line with a prompt contains; other lines are not read.
        read: returns the text and the time (ISO 8601) of a line with a prompt; None for another line.

    Raises:
        OSError: the transcript cannot be read.
    """
    marks = tuple(marks)
    found = filter(None, map(read, marked_parts(path, lambda line: all(mark in line for mark in marks))))
    return any(text.strip() == sent.text.strip() and is_since(written, sent.at) for text, written in found)


def marked_parts(path: Path, is_marked: Callable[[bytes], bool]) -> Iterator[bytes]:
    """Yield the parts of those lines at the end of a transcript that are marked; other lines are not read.

    Raises:
        OSError: the transcript cannot be read.
    """
    with LineReader(path) as reader:
        reader.skip_to_tail(SEARCHED_BYTES)
        yield from each_part(filter(is_marked, reader.all_lines()))


def is_since(timestamp: str, at: int) -> bool:
    """Return whether a line of a transcript is from the turn that began at ``at``; True if its time is not known."""
    written = milliseconds(timestamp)
    return written is None or written >= at - CLOCK_MS


def is_readable(folder: Path) -> bool:
    """Return whether a folder exists and its entries can be listed."""
    return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)
