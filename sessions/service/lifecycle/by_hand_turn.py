"""The turn by hand: what the user said in the agent's own interface, as a part of the agent's own transcript.

The part is copied into the turn's file, so that it stays readable if the agent removes its transcript.  The process
that does this holds the session's lock; it is the front end, or the next command after the front end was killed.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from msgspec import structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Session, Step, StepKind, TakenBy
from agentdash.sessions.model.taken_by import BY_HAND, Talk
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import Reported
from agentdash.sessions.runner.child import left_by_agent, owner
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.storage.files.line_reader import LineReader
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.takeovers import ByHand, Slice, Takeovers
from agentdash.sessions.storage.turns.turn_output import remove_output

FIRST_BYTES = 1 << 20
"""The part of a transcript in which its first time is searched."""

LineId = Callable[[bytes], str | None]

REMEMBERED_BYTES = 64 << 20
"""The part of a transcript before a turn by hand in which lines that are written again are searched."""

NOT_FOUND = "its transcript was not found"


def talk_of(agent: str, conversation: str, env: Mapping[str, str | None], at: int, since: int | None = None) -> Talk:
    """Return a conversation and the present end of its transcript.

    Args:
        env: the recorded environment of the session.
        at: the approximate start of the conversation, UTC ms.
        since: if the transcript was made after this time (UTC ms), all of it counts; None: it is an earlier one.
    """
    path = agent_named(agent).transcript(conversation, env, at)
    if path is None:
        return Talk(conversation=conversation)
    try:
        status = path.stat()
    except OSError:
        return Talk(conversation=conversation)
    fresh = since is not None and _first_time(path) >= since
    return Talk(conversation=conversation, path=str(path), begin=0 if fresh else status.st_size)


def _first_time(path: Path) -> int:
    """Return the first time that a transcript names, UTC ms; 0 if it is not found near its beginning."""
    import re

    from agentdash.sessions.agents.parsing.json_lines import milliseconds

    try:
        with path.open("rb") as file:
            found = re.search(rb'"timestamp":"([^"]{10,40})"', file.read(FIRST_BYTES))
    except OSError:
        return 0
    return (milliseconds(found[1].decode("ascii", "replace")) if found else None) or 0


def is_over(taken: TakenBy) -> bool:
    """Return whether the interface of a session whose lock is free has ended."""
    if not processes.is_here(taken.boot_id, taken.pid_ns):
        return True  # another boot; or a container that ended with its lock
    if taken.interface_pid is not None and taken.interface_start is not None:
        return not processes.alive(taken.interface_pid, taken.interface_start)
    tags = (processes.environment(pid).get(processes.RUN_TAG) for pid in processes.scan())
    return taken.run_id not in tags  # killed between the start and its record


def record_by_hand(
    layout: Layout, store: Store, session: Session, taken: TakenBy, exit_code: int | None = None
) -> ByHand:
    """Record what was said by hand as a turn, free the session, and begin the next turn of its queue.

    The caller holds the session's lock.  A turn is made if the user said something; if that cannot be read, only the
    mark with the reason is recorded.

    Raises:
        StoreError: it cannot be written; the session stays taken, and the next command that reads it tries again.
    """
    folder, n = layout.session(session.id), taken.turn + 1
    taken = _found(store, session, taken)
    done = ByHand(
        session=session.id,
        seconds=max(0, now_ms() - taken.since) / 1000,
        exit_code=exit_code,
        reason=NOT_FOUND if any(talk.path is None for talk in taken.talks) else None,
    )
    content = None
    try:
        if not folder.path.is_dir():
            folder.create()  # it was removed while the interface was open
        remove_output(layout, session.id, n)
        own_files = agent_named(session.agent).own_files
        if _copy(folder, n, taken.talks, own_files.line_id if own_files is not None else None):
            content, prompts = _read(store, folder, n, session, taken)
            done = structs.replace(done, turn=n if prompts else None, prompts=prompts)
    except _TranscriptError as error:
        done = structs.replace(done, reason=f"the transcript cannot be read: {error}")
    except OSError as error:
        raise StoreError(f"What was said by hand cannot be recorded now: {error.strerror or error}.") from None
    if done.turn is None:
        with suppress(OSError):
            remove_output(layout, session.id, n)
    finished = Takeovers(store).finish(session.id, taken, done, content, owner(), builder(layout, store))
    if not finished:
        raise StoreError(f"Session {session.short_id} was changed while it was taken over; nothing was recorded.")
    with suppress(OSError):
        write_identity(store, folder)
    return done


def _found(store: Store, session: Session, taken: TakenBy) -> TakenBy:
    """Return the holder with the transcripts that the agent has made since.

    A later conversation without a transcript has no prompt: claude writes its first line with the first prompt.
    """
    env, first = store.recipe(session.id).env, taken.talks[:1]
    talks = (
        talk if talk.path is not None
        else talk_of(session.agent, talk.conversation, env, taken.since, since=taken.since)
        for talk in taken.talks
    )  # fmt: skip
    kept = tuple(talk for talk in talks if talk.path is not None)
    begun = any(talk.conversation == first[0].conversation for talk in kept) if first else True
    return structs.replace(taken, talks=kept if begun else (*first, *kept))


class _TranscriptError(Exception):
    """A transcript cannot be read; the text is the reason."""


def _copy(folder: SessionFolder, n: int, talks: tuple[Talk, ...], line_id: LineId | None) -> int:
    """Copy what the transcripts have gained into the turn's file; return the number of bytes.

    Args:
        line_id: the agent's id of a line; a line with the id of an earlier one is left out.  None: no line has one.

    Raises:
        _TranscriptError: a transcript cannot be read.
        OSError: the file cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    for empty in (folder.errors(n), folder.output(n)):
        os.close(os.open(empty, flags, 0o600))
    with folder.output(n).open("wb") as target:
        return sum(target.write(line) for talk in talks for line in _gained(talk, line_id))


def _gained(talk: Talk, line_id: LineId | None) -> Iterator[bytes]:
    """Yield the lines that a transcript has gained since the interface began to show its conversation.

    Raises:
        _TranscriptError: it is gone, is not a plain file, or became shorter.
    """
    if talk.path is None:
        return
    try:
        # A FIFO in its place must not make us wait: the agent's folder is not ours.
        with open(os.open(talk.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            left = status.st_size - talk.begin
            if not stat.S_ISREG(status.st_mode) or left < 0:
                raise _TranscriptError("it became shorter" if left < 0 else "it is not a plain file")
            known = _ids_before(file, talk.begin, line_id) if line_id is not None else set()
            file.seek(talk.begin)
            while left > 0 and (line := file.readline(left)):
                left -= len(line)
                if line_id is None or line_id(line) not in known:
                    yield line
    except OSError as error:
        raise _TranscriptError(error.strerror or str(error)) from None


def _ids_before(file: IO[bytes], end: int, line_id: LineId) -> set[str]:
    """Return the ids of the lines before an offset, as far as they are in the last `REMEMBERED_BYTES`."""
    file.seek(max(0, end - REMEMBERED_BYTES))
    known = set()
    while (left := end - file.tell()) > 0 and (line := file.readline(left)):
        if (name := line_id(line)) is not None:
            known.add(name)
    return known


class _Counts:
    """Counts the steps and the user's prompts.

    A command such as ``/clear`` is a prompt only if the agent worked on it: most act on the interface alone.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.prompts = 0
        self._commanded = False

    def add(self, step: Step) -> None:
        self.steps = max(self.steps, step.index + 1)
        if step.parent is not None:
            return
        if step.kind is StepKind.PROMPT:
            self._commanded = step.text.startswith("/")
            self.prompts += not self._commanded
        elif self._commanded and step.kind in _WORK:
            self.prompts += 1
            self._commanded = False


_WORK = frozenset({
    StepKind.MESSAGE, StepKind.REASONING, StepKind.COMMAND, StepKind.TOOL_CALL, StepKind.FILE_CHANGE,
})  # fmt: skip


def _read(store: Store, folder: SessionFolder, n: int, session: Session, taken: TakenBy) -> tuple[Slice, int]:
    """Return the content of the turn's file, at the prices of the turn before, and the number of prompts in it."""
    agent, before, counts = agent_named(session.agent), store.launch(session.id, taken.turn), _Counts()
    parser = agent.parser(n, BY_HAND)
    facts = parser.facts
    facts.reported = Reported(Pricing(before.prices if before is not None else {}), session.model)
    with LineReader(folder.output(n)) as reader:
        for line in reader.most_lines():
            for step in parser.feed(line):
                counts.add(step)
    for step in parser.close():
        counts.add(step)
    facts.agent_session = taken.talks[-1].conversation if taken.talks else session.agent_session
    facts.end, facts.error = "completed", None
    # The calls of each conversation, and of its sub-agents, count if the agent wrote no sum of them.
    env = store.recipe(session.id).env
    for talk in taken.talks:
        agent.count_broken_off(structs.replace(facts, agent_session=talk.conversation), env, taken.since)
    left = left_by_agent(SessionProcesses(session.id, folder.lock, folder.procs).find())
    return Slice(facts=facts, steps=counts.steps, left=left), counts.prompts
