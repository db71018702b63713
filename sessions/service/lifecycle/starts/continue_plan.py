"""Continue the conversation of one session in a new one, by any agent: the new agent is given what is visible as text.

This is the way on if the agent cannot resume its conversation: its folder or its transcript is gone, it is on another
machine, or another agent is wanted.  Nothing of the old session changes.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import UnknownSessionError, UsageError
from agentdash.sessions.model.session import Session, short_id
from agentdash.sessions.rules.conversation.history import Marked, Place
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.launch import Launch, Start, requested_model
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.session_ref import at_work_error, check_free, find_session
from agentdash.sessions.service.lifecycle.starts.launch_plan import (
    build_launch,
    checked_prompt,
    completed,
    session_folder,
)
from agentdash.sessions.settings.config import Loaded
from agentdash.sessions.settings.toml_keys import merged
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.queries import Queries, Recipe
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import count
from agentdash.sessions.transcript.visible.retelling import Record, framed, recorded
from agentdash.sessions.transcript.visible.visible_steps import Source, source_of

GO_ON = "Continue from where the conversation ended."
"""The prompt if the user gives none."""


class Continued(Struct, frozen=True, kw_only=True):
    """A new session that continues another one, before it is started."""

    source: Session
    start: Start
    """Its start, with the words of the user as the prompt."""
    launch: Launch
    """Its exact start, with the conversation before these words."""
    origin: str
    """The session in which :attr:`turn` is: the source, or the one that it was forked from, if it went back there."""
    turn: int | None
    step: int | None
    """The place behind which it goes on: the turn, and its last step (None: the whole turn)."""
    messages: int
    """Number of prompts and messages that the new agent reads."""
    actions: int
    """Number of commands, changes of files and other calls that it reads of, each in a line."""
    left_out: int
    """Number of old entries that are left out, because the conversation is too long."""

    @property
    def words(self) -> str:
        """Return what will happen, for the user."""
        rest = f" ({self.left_out} old entries are left out)" if self.left_out else ""
        read = f"{count(self.messages, 'message')} of {one_line(self.source.agent)}"
        return (
            f"{self.start.agent} reads {read} as text{rest}; "
            "files and commands are not repeated; the old session stays as it is."
        )

    def mark(self, asked_by: str) -> Mark:
        """Return the mark with which the new session begins; its number and its time are given when it is recorded."""
        facts = {"source": self.source.id, "agent": self.source.agent, "messages": self.messages}
        return Mark(
            id=0, session=self.start.session_id, kind=MarkKind.FORK, after=0, turn=self.turn, step=self.step,
            origin=self.origin, data=facts, asked_by=asked_by,
        )  # fmt: skip


def continue_plan(
    layout: Layout,
    queries: Queries,
    settings_in: Callable[[str], Loaded],
    ref: str,
    start: Start,
    *,
    inherits: bool = True,
    words: Callable[[str, str], str] | None = None,
) -> Continued:
    """Return the exact start of a session that continues another one; nothing is started or recorded.

    Args:
        settings_in: returns the settings of a start in a folder.
        ref: the session to continue; also one in the archive or in the trash.
        start: the request.  Empty fields are taken from the source, as far as the agent has them: its folder, its
            title, its limits; its model and its options if the agent is the same.
        words: returns the caller's prompt as an agent gets it (:meth:`...families.rights.Rights.prompt`); None for the
            user's, which stays as it is.
        inherits: False takes only the folder and the title: a dialog shows all other values.

    Raises:
        UnknownSessionError, AmbiguousSessionError: no such session, or several.
        SessionBusyError: the source is at work, or the user has taken it over.
        UsageError: it has no conversation, its folder is gone and no other is named, or an option that the agent does
            not take.
        StoreError: a turn file cannot be read.
    """
    session_id, recipe = _found(layout, queries, ref)
    source = source_of(layout, queries, session_id)
    if source is None:
        raise UnknownSessionError(f"Session {short_id(session_id)} was deleted.")
    start = _filled(source, recipe if inherits else None, start)
    settings = settings_in(start.cwd)
    start = completed(start, settings.config, _same(source.session, start.cwd))
    if not agent_named(start.agent).prompted:
        raise UsageError(f"A {start.agent} takes no prompts. Choose an agent: --agent NAME")
    if words is not None:
        start = structs.replace(start, prompt=words(start.prompt, start.agent))
    record = _record(source)
    expands = agent_named(start.agent).expands
    prompt = framed(record, start.prompt, _opening(source.session, start.cwd), expands)
    prompted = structs.replace(start, prompt=prompt)
    launch = build_launch(settings.config, prompted, notes=settings.notes)
    origin, turn, step = _place(source)
    return Continued(
        source=source.session, start=start, launch=structs.replace(launch, how="retold"),
        origin=origin, turn=turn, step=step,
        messages=record.messages, actions=record.actions, left_out=record.left_out,
    )  # fmt: skip


def _found(layout: Layout, queries: Queries, ref: str) -> tuple[str, Recipe]:
    """Return the id and the options of a session in the database, or of one in the trash."""
    try:
        session = find_session(queries, ref)
    except UnknownSessionError:
        deleted = trash.record(layout, trash.begins(layout, ref.strip().lower()) or "")
        if deleted is None:
            raise
        session, recipe = deleted.session, deleted.recipe
    else:
        _check_ended(session)
        recipe = queries.recipe(session.id)
    if not agent_named(session.agent).prompted:
        raise UsageError(f"Session {session.short_id} is a plain command: it has no conversation.")
    return session.id, recipe


def _check_ended(session: Session) -> None:
    """Refuse a session at work on this host: two agents would work on the same task.

    The record of a session on another host may be old, and its agent gone for ever.
    """
    if session.taken_by is None or session.taken_by.host == processes.host_name():
        check_free(session, "continued")
    if session.host == processes.host_name() and not session.status.ended:
        raise at_work_error(session, f"it can be continued when turn {session.turn} has ended")


def _same(session: Session, folder: str) -> str | None:
    """Return the folder of the source as it was recorded if a start names it; None if it names another one.

    Raises:
        UsageError: it is gone.
    """
    with suppress(OSError, RuntimeError):  # there is no such current folder, or no such user
        if os.path.normpath(Path(folder).expanduser().absolute()) == session.cwd:
            return session_folder(session)
    return None


def _filled(source: Source, recipe: Recipe | None, start: Start) -> Start:
    """Return the start with what it does not say taken from the source; without a recipe, no options.

    Another agent than the source's gets the limits alone.
    """
    session, mode = source.session, source.turns[-1].mode if source.turns else None
    agent, options, model = start.agent or session.agent, recipe.options if recipe is not None else {}, None
    if agent == session.agent:
        model = requested_model(options, mode) if recipe is not None else None
    else:
        options = {key: value for key, value in options.items() if key == "limits"}
    return structs.replace(
        start,
        prompt=checked_prompt(start.prompt.strip() or GO_ON),
        agent=agent,
        model=start.model or model,
        cwd=start.cwd or session_folder(session),
        title=start.title or session.label,
        options=merged(options, start.options),
    )


def _record(source: Source) -> Record:
    """Return the record of what is visible of the source."""
    record = recorded(source.visible())
    if record.empty:
        raise UsageError(f"Session {source.session.short_id} has no conversation yet: there is nothing to continue.")
    record.fit()
    return record


def _place(source: Source) -> tuple[str, int | None, int | None]:
    """Return the session, the turn and the step at which the source is.

    Behind a summary this is the step with the summary, and behind the beginning of a fork a place of its origin.
    """
    position = source.history().position
    if isinstance(position, Place):
        return source.session.id, position.turn, position.step
    mark = next((one for one in source.marks if isinstance(position, Marked) and one.id == position.mark), None)
    if mark is None:
        return source.session.id, None, None
    return (mark.origin if mark.kind == MarkKind.FORK else None) or source.session.id, mark.turn, mark.step


def _opening(session: Session, cwd: str) -> str:
    there = one_line(session.cwd)
    moved = "" if there == cwd else f" You work in {one_line(cwd)}."
    title = agent_named(session.agent).title
    return f"This continues an earlier conversation between the user and an agent ({title}) in {there}.{moved}"
