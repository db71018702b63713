"""What one session did to files: its stream, the agent's own transcript where the stream lacks diffs, and git now."""

from collections.abc import Iterator, Sequence

from msgspec import structs

from ..agents.base import Agent
from ..agents.table import agent_named
from ..layout import Layout, SessionFolder
from ..model import Session, Step, Turn
from ..store.store import Store
from ..trajectory import TurnReader
from .from_steps import Collected, collect
from .git import ask_git
from .model import SessionChanges
from .recorded import Recorded


def session_changes(
    layout: Layout, store: Store, session: Session, turn: int | None = None, *, git: bool = True
) -> SessionChanges:
    """Read all turns, or one, from their files, and ask git about what they touched.

    Steps are folded as they are read: a session may have any number of them.  Git is given a few times five seconds.
    """
    agent = agent_named(session.agent)
    turns = store.turns(session.id)
    env = store.recipe(session.id).env
    recorded = Recorded(lambda thread, at: agent.recorded_edits(thread, env, at), turns, session.agent_session)
    wanted = [found for found in turns if turn in (None, found.n)]
    steps = recorded.noting(_steps(layout.session(session.id), agent, wanted))
    collected = collect(steps, session.cwd, recorded.of)
    found = SessionChanges(
        session=session.id,
        cwd=session.cwd,
        turn=turn,
        files=collected.files,
        more=collected.more,
        notes=tuple(_notes(agent, collected, recorded)),
    )
    return _with_git(found) if git else found


def _steps(folder: SessionFolder, agent: Agent, turns: Sequence[Turn]) -> Iterator[Step]:
    for turn in turns:
        reader = TurnReader(folder, agent, turn.n, None)
        try:
            yield from reader.refresh(turn)
        finally:
            reader.close()


def _with_git(found: SessionChanges) -> SessionChanges:
    report, states = ask_git(found.cwd, [file.absolute for file in found.files])
    files = tuple(structs.replace(file, git=states.get(file.absolute)) for file in found.files)
    return structs.replace(found, files=files, git=report)


def _notes(agent: Agent, collected: Collected, recorded: Recorded) -> Iterator[str]:
    if recorded.sought_in_vain:
        yield f"{agent.title} prints no diffs, and its own transcript was not found: some lines are not counted."
    elif any(file.touched and (file.partial or file.added is None) for file in collected.files):
        yield f"{agent.title} gave no diff for some edits: their lines are not counted."
    if collected.more:
        yield f"Only the first {len(collected.files):,} files are listed; {collected.more:,} edits were of others."
