"""Reconstruct the record of a session folder that has lost it, from the turn files."""

import re
from itertools import islice
from pathlib import Path

from ..agents.format_detection import LOOKED_AT, guess_agent
from ..agents.registry import agent_named
from ..launch import Launch
from ..model import Prompt, Session, Status, Turn, Usage
from ..rules.status import EndFacts, at_the_end
from ..rules.turn_facts import Facts
from ..storage.line_reader import LineReader
from ..storage.paths import SessionFolder
from ..storage.queries import Recipe
from ..storage.session_record import Identity
from ..storage.turn_output import own_output
from .launch_plan import title_of
from .reconcile import parsed_facts

UNKNOWN_FOLDER = "?"
"""The working folder of a session whose record is lost."""

_NOTE = "record lost and rebuilt from its files"


def salvaged(folder: SessionFolder, host: str) -> Identity | None:
    """Build the record from the folder's files, each of them as one turn; None if it has no turn file.

    The agent is guessed from its output, the prompts are those that it was given, and the outcome of each turn is read
    from the turn's own stream.
    """
    numbers = _turn_numbers(folder)
    if not numbers:
        return None
    agent = agent_named(_agent_of(next(filter(Path.exists, map(folder.output, numbers)))))
    turns, facts, thread = [], Facts(), Usage()
    for n in numbers:
        facts, steps = parsed_facts(own_output(folder, n).stdout, agent.parser(n))
        usage = facts.thread_usage.minus(thread) if facts.thread_usage.known else facts.usage
        thread = facts.thread_usage if facts.thread_usage.known else thread
        turns.append(_turn(folder, n, facts, usage, steps, good=agent.succeeded(facts, None)))
    prompts = tuple(_prompt(folder, n) for n in numbers)
    newest = turns[-1]
    total = Usage()
    for turn in turns:
        total = total.plus(turn.usage)
    costs = [turn.cost_usd for turn in turns if turn.cost_usd is not None]
    session = Session(
        id=folder.id, agent=agent.name, title=title_of(prompts[0].text), task=prompts[0].text, status=newest.status,
        reason=newest.reason, cwd=UNKNOWN_FOLDER, model=facts.model, turn=newest.n, usage=total,
        cost_usd=sum(costs) if costs else None, created_at=turns[0].created_at, updated_at=newest.ended_at or 0,
        ended_at=newest.ended_at, last_message=facts.last_message, agent_session=facts.agent_session,
        steps=sum(turn.steps for turn in turns), unknown=newest.unknown, host=host,
    )  # fmt: skip
    recipe = Recipe(options={}, command=(), env={})
    launches = tuple(Launch(argv=()) for _ in turns)
    return Identity(session=session, recipe=recipe, turns=tuple(turns), launches=launches, prompts=prompts)


_TURN_FILE = re.compile(r"turn_([1-9][0-9]{0,5})\.jsonl")
"""The name of a turn file as agentdash writes it; other notations of the number, and longer numbers, do not match."""


def _turn_numbers(folder: SessionFolder) -> list[int]:
    """Return the turn numbers from 1 to the last one with a file."""
    matches = [_TURN_FILE.fullmatch(path.name) for path in folder.turns.glob("turn_*.jsonl")]
    return list(range(1, max((int(match[1]) for match in matches if match), default=0) + 1))


def _agent_of(output: Path) -> str:
    with LineReader(output) as reader:
        return guess_agent(islice(reader.all_lines(), LOOKED_AT))


def _turn(folder: SessionFolder, n: int, facts: Facts, usage: Usage, steps: int, *, good: bool) -> Turn:
    verdict = at_the_end(EndFacts(facts=facts, succeeded=good))
    began, ended = _times(folder, n)
    return Turn(
        session=folder.id, n=n, status=verdict.status, run_id=f"{folder.id}.{n}", created_at=began, ended_at=ended,
        reason=_NOTE if verdict.status is Status.LOST else verdict.reason, rule=f"{_NOTE}; {verdict.rule}",
        end=facts.end, error=facts.error, usage=usage, thread_usage=facts.thread_usage, cost_usd=facts.cost_usd,
        steps=steps, unknown=facts.unknown, launches=1,
    )  # fmt: skip


def _prompt(folder: SessionFolder, n: int) -> Prompt:
    try:
        text = folder.prompt(n).read_text("utf-8", "replace")
    except OSError:
        text = "(prompt unknown)"
    return Prompt(id=n, session=folder.id, turn=n, text=text, state="seen", created_at=_times(folder, n)[0])


def _times(folder: SessionFolder, n: int) -> tuple[int, int]:
    """Estimate when a turn began and ended, UTC ms: its stderr file is created at the start and seldom written to."""
    moments = [path.stat().st_mtime_ns // 10**6 for path in (folder.errors(n), folder.output(n)) if path.exists()]
    moments = moments or [folder.path.stat().st_mtime_ns // 10**6]
    return min(moments), max(moments)
