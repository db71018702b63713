"""What has to hold of everything that an agent's words become, whatever they are."""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from rich.cells import cell_len
from transcript_files import merged

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.parsing.parser import MOST_OPEN
from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.model.session import Step, StepStatus
from agentdash.sessions.transcript.index import turn_index
from agentdash.sessions.transcript.index.block_table import BlockCache
from agentdash.sessions.transcript.index.turn_index import TurnIndex
from agentdash.widgets.drawing.spans import painted

AGENT_NAMES = (*agent_names(), "scripted")

VISIBLE = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs of scripts that Unicode counts among the format characters although they have a shape."""

JOINERS = "\u200c\u200d"


def forbidden(text: str, *, allowed: str = "") -> set[str]:
    """The characters of a text that no terminal may be given: controls, what reorders or hides, halves of others."""
    kept = VISIBLE.union(JOINERS, allowed)
    return {char for char in set(text) - kept if unicodedata.category(char) in ("Cc", "Cf", "Cs")}


def check_rows(rows: Iterable[Sequence[tuple[str, str]]], width: int) -> int:
    """Rows can be painted as they are, each within its width; how many there were."""
    number = 0
    for row in rows:
        number += 1
        text = "".join(part for part, _ in row)
        bad = forbidden(text)
        assert not bad, f"{sorted(map(ascii, bad))} in {text[:200]!a}"
        assert sum(cell_len(painted(part)) for part, _ in row) <= width, f"more than {width} cells: {text[:200]!a}"
    return number


def lines_of(path: Path) -> list[bytes]:
    """The lines of a file that hold anything."""
    return [line for line in path.read_bytes().split(b"\n") if line.strip()]


def parsed(path: Path, agent: Agent) -> list[Step]:
    """The steps as one pass over all lines gives them, as :class:`TurnIndex` numbers them."""
    parser = agent.parser(1)
    steps = [step for line in path.read_bytes().split(b"\n") if line for step in parser.feed(line)]
    return [structs.replace(step, index=step.index + 1) for step in merged(steps + parser.close())]


def check_lines(lines: Sequence[bytes], agent: Agent) -> list[Step]:
    """Each line is taken without an error, counted, and shown unless it has nothing to say; the steps."""
    parser = agent.parser(1)
    steps: dict[int, Step] = {}
    for number, line in enumerate(lines, 1):
        given = parser.feed(line)
        assert parser.facts.lines == number
        assert given or says_nothing(line), f"nothing is shown of {line[:200]!a}"
        assert len(parser.state.open) <= MOST_OPEN
        steps |= {step.index: step for step in given}
    steps |= {step.index: step for step in parser.close()}
    assert sorted(steps) == list(range(len(steps))), "steps are numbered without a gap"
    assert sum(step.status is StepStatus.RUNNING for step in steps.values()) <= max(0, len(steps) - MOST_OPEN)
    return list(steps.values())


_SILENT = {"turn.started", "stream_event", "tool_progress", "keep_alive"}


def says_nothing(line: bytes) -> bool:
    """Whether the events of a line have nothing to show; a terminal's escape sequences have nothing."""
    rest, decoder = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line.decode()).strip(), json.JSONDecoder()
    while rest:
        event, end = decoder.raw_decode(rest)
        if not _is_silent(event):
            return False
        rest = rest[end:].strip()
    return True


def _is_silent(event: Any) -> bool:
    """Whether an event has nothing to show: a turn that begins, a sign of life, a message without a piece."""
    content = event["message"].get("content") if event["type"] in ("assistant", "user") else "x"
    return event["type"] in _SILENT or content in ([], None)


def index_of(path: Path, agent: Agent, *, block_bytes: int = 300) -> TurnIndex:
    """A turn file read in small blocks, so that a short one has many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_index, "BLOCK_BYTES", block_bytes)
        patch.setattr(turn_index, "STATE_SHARE", 0)
        index = TurnIndex(path, path.with_suffix(".times"), agent, 1, BlockCache())
        while index.ahead:
            index.read_on(0.0)
        index.finish(None)
    return index


def check_blocks(path: Path, agent: Agent, *, block_bytes: int = 300) -> list[Step]:
    """A step parsed again is the same as in one pass, cut or whole; the steps, whole."""
    expected = parsed(path, agent)
    index = index_of(path, agent, block_bytes=block_bytes)
    assert len(index) == len(expected)
    for place, step in enumerate(expected):
        shown = index.step(place)
        assert shown == step or shown.cut, f"step {place} is another one when it is read again"
        assert (shown.kind, shown.index, shown.status) == (step.kind, step.index, step.status)
        assert index.whole(place) == step, f"step {place} is not whole"
    return expected


def named(name: str) -> Agent:
    """An adapter."""
    return agent_named(name)
