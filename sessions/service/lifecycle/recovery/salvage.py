"""Reconstruct the record of a session folder that has lost it, from the turn files.

The turns of a live agent's stream, whose boundaries are lost, are found again from what the agent printed.  claude
(2.1.197, 2.1.330) names its folder in ``system/init`` and repeats a prompt as a ``user`` line; codex (app-server
0.169.0) names its folder in the thread, and repeats a prompt as an item.  ``codex exec`` names neither; its own
transcript of the thread begins with the folder (``session_meta``, 0.169.0 and 0.171.0).
"""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct, field, structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.dialogue import Delivery, Dialogue, Event, Received, TurnBegan, TurnEnded
from agentdash.sessions.agents.formats import LOOKED_AT, guess_agent, guess_transport
from agentdash.sessions.agents.parsing.line_parts import by_parts
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Prompt, Session, Status, Turn, Usage
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.status import EndFacts, at_the_end
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.service.lifecycle.recovery.reconcile import parsed_facts
from agentdash.sessions.service.lifecycle.starts.launch_plan import title_of
from agentdash.sessions.storage.files.line_reader import ArrivalTimes, FilePart, LineReader
from agentdash.sessions.storage.files.session_record import Identity
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.storage.queries import Recipe
from agentdash.sessions.storage.turns.live_log import OWN

LINES = 2_000
"""Lines at the beginning of a turn that are read."""


class Told(Struct, frozen=True):
    """The folder and the prompt; None if the stream does not name it."""

    cwd: str | None = None
    prompt: str | None = None


class _Text(Struct):
    type: str = ""
    text: str = ""


class _Message(Struct):
    content: list[_Text] | str = ""


class _Place(Struct):
    cwd: str | None = None


class _Item(Struct):
    type: str = ""
    content: list[_Text] = []


class _Parameters(Struct):
    thread: _Place | None = None
    item: _Item | None = None


class _Line(Struct):
    type: str = ""
    payload: _Place | None = None
    cwd: str | None = None
    is_replay: bool = field(default=False, name="isReplay")
    message: _Message | None = None
    params: _Parameters | None = None


def told(output: FilePart) -> Told:
    """Return the first folder and the first prompt that the lines of a turn, or of a transcript, name."""
    cwd = prompt = None
    with LineReader(output.path, output.begin, end=output.end) as reader:
        for line in islice(reader.all_lines(), LINES):
            try:
                read = _DECODER.decode(line)
            except msgspec.MsgspecError:
                continue
            parameters = read.params or _Parameters()
            meta = read.payload.cwd if read.type == "session_meta" and read.payload is not None else None
            cwd = cwd or read.cwd or meta or (parameters.thread.cwd if parameters.thread is not None else None)
            prompt = prompt or _prompt_in(read, parameters.item)
            if cwd and prompt:
                break
    return Told(cwd, prompt)


_DECODER = typed.decoder_of(_Line)


def _prompt_in(line: _Line, item: _Item | None) -> str | None:
    content: list[_Text] | str = ""
    if item is not None and item.type == "userMessage":
        content = item.content
    elif line.type == "user" and line.is_replay and line.message is not None:
        content = line.message.content
    texts = [content] if isinstance(content, str) else [part.text for part in content if part.type == "text"]
    return "\n".join(texts) or None


READ_SECONDS = 5.0
"""Time limit for reading a stream; the rest of it then belongs to the last turn."""


class Found(Struct, frozen=True):
    """One turn of a stream."""

    begin: int = 0
    """The offset of its output."""
    end: int | None = None
    """The offset behind its output; None for the end of the file."""
    own: bool = False
    """The agent began it by itself."""
    over: int | None = None
    """The offset behind the line with which it ended; None if it has no such line."""


def turns_in(output: Path, dialogue: Dialogue, most: int | None) -> list[Found]:
    """Return the turns of a stream, at least one.

    Args:
        dialogue: a new dialogue with the agent that wrote it.
        most: the number of turns that it can have, at least 1: the last one has all the rest.  None: any number.
    """
    found: list[Found] = []
    current, deadline, position = _Current(), monotonic() + READ_SECONDS, 0
    with LineReader(output) as reader:
        for position, line in by_parts(reader.lines()):
            for event in dialogue.feed(line):
                current.hear(event)
            if not current.over:
                continue
            if len(found) + 1 == most or monotonic() > deadline:
                break
            found.append(Found(current.begin, position, current.own, position))
            current = _Current(position)
    last = Found(current.begin, None, current.own, position if current.over else None)
    if found and not (current.began or current.over):  # what the agent printed behind its last turn belongs to that one
        last = structs.replace(found.pop(), end=None)
    return [*found, last]


class _Current:
    """The turn that is being read."""

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        self.began = self.over = self._prompted = False

    @property
    def own(self) -> bool:
        return self.began and not self._prompted

    def hear(self, event: Event) -> None:
        match event:
            case TurnBegan(key=key):
                self.began = True
                self._prompted = self._prompted or key is not None
            case Received(delivery=Delivery.SEEN):
                self._prompted = True
            case TurnEnded():
                self.over = True


UNKNOWN_FOLDER = "?"
"""The working folder of a session whose record is lost, if its agent did not name it."""

_NO_PROMPT = "(prompt unknown)"

_NOTE = "record lost and rebuilt from its files"


def salvaged(folder: SessionFolder, host: str) -> Identity | None:
    """Build the record from the folder's files; None if it has no turn file.

    The agent is guessed from its output, the prompts are those that it was given or repeated, the folder is the one
    that it named, and the outcome of each turn is read from its output.  A file is one turn, or the turns of a live
    agent that its lines show.
    """
    matches = (_TURN_FILE.fullmatch(path.name) for path in folder.turns.glob("turn_*.jsonl"))
    numbers = range(1, max((int(match[1]) for match in matches if match), default=0) + 1)
    if not numbers:
        return None
    with LineReader(next(filter(Path.exists, map(folder.output, numbers)))) as reader:
        agent = agent_named(guess_agent(islice(reader.all_lines(), LOOKED_AT)))
    parts = _parts(folder, agent, numbers)
    turns, facts, thread, model, running = [], Facts(), Usage(), None, 0.0
    for part in parts:
        facts, steps = parsed_facts(part.output(folder), agent.parser(part.n, part.transport))
        usage = facts.thread_usage.minus(thread) if facts.thread_usage.known else facts.usage
        thread = facts.thread_usage if facts.thread_usage.known else thread
        model = facts.model or model
        facts.cost_usd, running = _cost(facts, running)
        turns.append(_turn(folder, part, facts, usage, steps, good=agent.succeeded(facts, None)))
    named = [told(part.output(folder)) for part in parts]
    prompts = tuple(
        _prompt(folder, turn, one.prompt) for part, turn, one in zip(parts, turns, named, strict=True) if not part.own
    )
    cwd = _whole_path(named) or _transcript_folder(agent, turns) or UNKNOWN_FOLDER
    newest = turns[-1]
    task = prompts[0].text if prompts else _NO_PROMPT
    total = reduce(Usage.plus, (turn.usage for turn in turns), Usage())
    costs = [turn.cost_usd for turn in turns if turn.cost_usd is not None]
    session = Session(
        id=folder.id, agent=agent.name, title=title_of(task), task=task, status=newest.status,
        reason=newest.reason, cwd=cwd, model=model, turn=newest.n, usage=total,
        cost_usd=sum(costs) if costs else None, created_at=turns[0].created_at, updated_at=newest.ended_at or 0,
        ended_at=newest.ended_at, last_message=facts.last_message, agent_session=facts.agent_session,
        steps=sum(turn.steps for turn in turns), unknown=newest.unknown, host=host,
    )  # fmt: skip
    recipe = Recipe(options={}, command=(), env={})
    launches = tuple(Launch(argv=(), transport=part.transport) for part in parts)
    return Identity(session=session, recipe=recipe, turns=tuple(turns), launches=launches, prompts=prompts)


class _Part(Found, frozen=True, kw_only=True):
    """A turn, and its part of a file."""

    n: int
    stream: int
    transport: str = ""

    def output(self, folder: SessionFolder) -> FilePart:
        return FilePart(folder.output(self.stream), self.begin, self.end)


def _parts(folder: SessionFolder, agent: Agent, numbers: Sequence[int]) -> list[_Part]:
    """Return the turns of all files, in order; a turn of which nothing was found has a file that does not exist."""
    parts: list[_Part] = []
    streams = [n for n in numbers if folder.output(n).exists()]
    # The number of a stream is that of its first turn, so that the next one bounds how many turns it has.
    for n, following in zip(streams, [*streams[1:], None], strict=True):
        parts += [_Part(n=missing, stream=missing) for missing in range(len(parts) + 1, n)]
        with LineReader(folder.output(n)) as reader:
            transport = guess_transport(agent, islice(reader.all_lines(), LOOKED_AT))
        dialogue = agent.dialogue(transport) if transport else None
        if dialogue is None:
            parts.append(_Part(n=n, stream=n))
            continue
        found = turns_in(folder.output(n), dialogue, None if following is None else following - n)
        parts += [_Part(*structs.astuple(one), n=n + at, stream=n, transport=transport) for at, one in enumerate(found)]
    return parts


_TURN_FILE = re.compile(r"turn_([1-9][0-9]{0,5})\.jsonl")
"""The name of a turn file as agentdash writes it; other notations of the number, and longer numbers, do not match."""


def _cost(facts: Facts, before: float) -> tuple[float | None, float]:
    """Return a turn's own cost, and the running total that a live agent reported.

    ``before`` is the running total of the turn before.  A lower total than before is that of a new process.
    """
    total = facts.running_cost_usd
    if facts.cost_usd is not None or total is None:
        return facts.cost_usd, before if total is None else total
    return total - (before if before <= total else 0.0), total


def _turn(folder: SessionFolder, part: _Part, facts: Facts, usage: Usage, steps: int, *, good: bool) -> Turn:
    verdict = at_the_end(EndFacts(facts=facts, succeeded=good))
    began, ended = _times(folder, part)
    return Turn(
        session=folder.id, n=part.n, status=verdict.status, run_id=f"{folder.id}.{part.n}", created_at=began,
        ended_at=ended, stream=part.stream if part.transport else None, begin_byte=part.begin, end_byte=part.end,
        asked_by=OWN if part.own else None,
        reason=_NOTE if verdict.status is Status.LOST else verdict.reason, rule=f"{_NOTE}; {verdict.rule}",
        agent_session=facts.agent_session, end=facts.end, error=facts.error, usage=usage,
        thread_usage=facts.thread_usage, cost_usd=facts.cost_usd,
        steps=steps, unknown=facts.unknown, launches=1,
    )  # fmt: skip


def _whole_path(named: Iterable[Told]) -> str | None:
    return next((one.cwd for one in named if one.cwd is not None and Path(one.cwd).is_absolute()), None)


def _transcript_folder(agent: Agent, turns: Sequence[Turn]) -> str | None:
    """Return the folder in the agent's own transcripts, which the present environment has to name; None without one."""
    conversations = {turn.agent_session: turn.created_at for turn in reversed(turns) if turn.agent_session is not None}
    for conversation, at in reversed(conversations.items()):
        path, folder = agent.transcript(conversation, os.environ, at), None
        with suppress(OSError):
            folder = _whole_path([told(FilePart(path))]) if path is not None else None
        if folder is not None:
            return folder
    return None


def _prompt(folder: SessionFolder, turn: Turn, repeated: str | None) -> Prompt:
    try:
        text = folder.prompt(turn.n).read_text("utf-8", "replace")
    except OSError:
        text = repeated or _NO_PROMPT
    return Prompt(id=turn.n, session=folder.id, turn=turn.n, text=text, state="seen", created_at=turn.created_at)


def _times(folder: SessionFolder, part: _Part) -> tuple[int, int]:
    """Estimate when a turn began and ended, UTC ms, by its files, and if it is a part of one by the arrival times.

    The stderr file is created at the start and seldom written to.
    """
    files = (folder.errors(part.stream), folder.output(part.stream))
    moments = [path.stat().st_mtime_ns // 10**6 for path in files if path.exists()]
    moments = moments or [folder.path.stat().st_mtime_ns // 10**6]
    began, ended = min(moments), max(moments)
    arrivals = ArrivalTimes(folder.times(part.stream), part.begin)
    if part.begin:
        began = arrivals.at(part.begin + 1) or began
    return began, (arrivals.at(part.over) or ended) if part.over is not None else ended
