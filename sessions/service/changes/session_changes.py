"""One session's changes to files: from its stream, from the agent's own transcript for missing diffs, and from git."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Session, Step, Turn
from agentdash.sessions.service.changes.from_steps import Collected, collect
from agentdash.sessions.service.changes.git import ask_git
from agentdash.sessions.service.changes.model import SessionChanges
from agentdash.sessions.service.changes.recorded import Recorded, with_diffs
from agentdash.sessions.text.units import count


def session_changes(
    session: Session,
    steps: Iterable[Step],
    turns: Sequence[Turn],
    env: Mapping[str, str | None],
    *,
    turn: int | None = None,
    git: bool = True,
) -> SessionChanges:
    """Fold the steps as they come, and ask git about their files: a few calls of at most five seconds each.

    Args:
        steps: all steps, or those of one turn; never all of them in memory.
        env: the environment that was recorded with the session.
        turn: the turn of the steps; None for all turns.
        git: True to ask git.
    """
    agent = agent_named(session.agent)
    recorded = recorded_of(session, turns, env)
    collected = collect(with_diffs(recorded, steps), session.cwd)
    files, report = collected.files, None
    if git:
        report, states = ask_git(session.cwd, [file.absolute for file in files])
        files = tuple(structs.replace(file, git=states.get(file.absolute)) for file in files)
    return SessionChanges(
        session=session.id, cwd=session.cwd, turn=turn, files=files, more=collected.more, git=report,
        notes=tuple(_notes(agent, collected, recorded)),
    )  # fmt: skip


def recorded_of(session: Session, turns: Sequence[Turn], env: Mapping[str, str | None]) -> Recorded:
    """Return the transcripts of a session's agent; none is opened before a step needs it."""
    own_files = agent_named(session.agent).own_files
    edits = own_files.edits if own_files is not None else None
    if edits is None:
        return Recorded(None)
    return Recorded(lambda thread, at: edits(thread, env, at), turns, session.agent_session)


def _notes(agent: Agent, collected: Collected, recorded: Recorded) -> Iterator[str]:
    if any(file.touched and (file.partial or file.added is None) for file in collected.files):
        vainly = " and its transcript was not found" if recorded.sought_in_vain else ""
        yield f"{agent.title} gave no diff for some edits{vainly}: their lines are not counted."
    if collected.more:
        listed, others = count(len(collected.files), "file"), count(collected.more, "edit")
        yield f"Showing the first {listed}; {others} to other files not shown."
