"""Acts on the conversation of a session: go back in it, take that back, and fork another session from a step of it.

An act appends a mark and rewrites nothing.  What the agent did is not undone: files, commands, and prompts that wait.
The origin of a fork stays as it is.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field, structs

from agentdash.sessions.agents.base import AgentSettings
from agentdash.sessions.agents.planned import launch_of
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import MESSAGE_CHARACTERS, Session, StepKind
from agentdash.sessions.rules.conversation.continuation import Recorded
from agentdash.sessions.rules.conversation.history import History, Place, Root, ends_turn, place_text, place_words
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.launch import Launch, Start, requested_model
from agentdash.sessions.runner.queue.next_turn import with_instructions
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.runner.taking_up import TakenUp, taken_up
from agentdash.sessions.service.families.rights import acts
from agentdash.sessions.service.lifecycle.session_ref import at_work_error, check_free, check_here
from agentdash.sessions.service.lifecycle.starts.launch_plan import (
    checked_prompt,
    completed,
    plan_turn,
    recorded_profile,
    session_folder,
)
from agentdash.sessions.service.managing.housekeeping import ManagerPart, Shared
from agentdash.sessions.service.prompts.effects import Effect, scope
from agentdash.sessions.service.prompts.prompter import Prompter
from agentdash.sessions.settings.config import Config, Loaded
from agentdash.sessions.settings.toml_keys import merged
from agentdash.sessions.storage.queries import Recipe
from agentdash.sessions.transcript.visible.retelling import retold
from agentdash.sessions.transcript.visible.visible_steps import Source, source_of

Begin = Callable[[Start, Config, Launch, Mapping[str, str | None], Mark], Session]
"""Records a new session, under the settings and with the environment of its origin, and sends its runner."""


class Opened(Struct, frozen=True):
    """A session whose conversation is to be acted on, with its records."""

    source: Source
    recorded: Recorded

    @property
    def session(self) -> Session:
        """The session."""
        return self.source.session

    @property
    def newest_mark(self) -> int:
        """The number of the newest mark; 0 if there is none."""
        return max((mark.id for mark in self.source.marks), default=0)


class ForkOptions(Struct, frozen=True, kw_only=True):
    """The ways in which a fork may differ from its origin."""

    model: str | None = None
    """None for the model of the origin."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the agent's own section, which win over those of the origin."""
    title: str = ""
    """Empty for the beginning of the prompt."""


class SessionConversations(ManagerPart):
    """Rewinds and forks the conversations of sessions.

    Args:
        begin: records a new session and sends its runner.
    """

    def __init__(self, shared: Shared, prompter: Prompter, begin: Begin) -> None:
        super().__init__(shared)
        self._prompter = prompter
        self._begin = begin

    @acts("rewind")
    def rewind(self, ref: str, turn: int | None, step: int | None = None, *, dry_run: bool = False) -> Effect:
        """Go back: the next turn goes on behind an earlier step, also behind one that is hidden.

        Args:
            turn: the turn; None or 0 for the beginning.
            step: the last step of it that stays visible, 0 for its prompt; None for all of it.

        Raises:
            UsageError: it has no such turn or step, or the conversation is there already.
            SessionBusyError: it works, takes no prompts, runs on another host, or changed meanwhile.
        """
        opened = self._opened_to_change(ref)
        session, turn = opened.session, turn or None
        if turn is not None:
            step = self._checked_step(opened.source, turn, step)
        place = {"turn": turn, "step": step if turn is not None else None}
        mark = _next_mark(opened, MarkKind.REWIND, **place)
        effect = self._effect(opened, mark)
        if _history_with(opened.source, mark).position == opened.source.history().position:
            words = place_words(**place)
            raise UsageError(f"The conversation of session {session.short_id} goes on behind {words} already.")
        return effect if dry_run else self._made(opened, mark, effect)

    @acts("rewind")
    def undo(self, ref: str, mark: int | None = None, *, dry_run: bool = False) -> Effect:
        """Take the effect of a mark back: what was visible before it is visible again, exactly.

        Args:
            mark: the number of the mark; None for the newest rewind or compaction that was not taken back.

        Raises:
            UsageError: nothing can be taken back, or not this mark.
            SessionBusyError: as for :meth:`rewind`.
        """
        opened = self._opened_to_change(ref)
        session, history = opened.session, opened.source.history()
        if mark is None:
            newest = history.undoable()
            if newest is None:
                raise UsageError(f"Session {session.short_id} has no rewind or compaction to take back.")
            mark = newest.id
        if history.position_before(mark) is None:
            raise UsageError(
                f"Session {session.short_id} has no mark {mark} that can be taken back. "
                f"List them: agentdash rewind {session.short_id} --list"
            )
        undo = _next_mark(opened, MarkKind.UNDO, undoes=mark)
        effect = self._effect(opened, undo)
        return effect if dry_run else self._made(opened, undo, effect)

    def _effect(self, opened: Opened, mark: Mark) -> Effect:
        session, source, recorded = opened.session, opened.source, opened.recorded
        before, after = source.history(), _history_with(source, mark)
        place = after.position
        if not isinstance(place, Place):  # turn 0 is the beginning
            place = Place(0 if isinstance(place, Root) else after.parts(place)[0].turn or 0)
        loaded, recipe = self._settings(source)
        taken = taken_up(
            self._layout,
            self._store,
            session.id,
            structs.replace(recorded, marks=(*recorded.marks, mark)),
            loaded.config.settings_for(session.agent, recipe.options),
        )
        views = before.visible_turns(), after.visible_turns()
        return Effect(
            session=session.id,
            kind=MarkKind(mark.kind),
            turn=place.turn or None,
            step=place.step,
            how=taken.how or "native",
            hidden=scope(source, *views),
            shown=scope(source, *reversed(views)),
            waiting=len(self._store.queue.waiting(session.id)),
        )

    def _made(self, opened: Opened, mark: Mark, effect: Effect) -> Effect:
        """Record a mark, and close the process that remembers what the mark hides."""
        session, source = opened.session, opened.source
        last_message = self._last_message(source, _history_with(source, mark))
        mark = structs.replace(mark, id=0, asked_by=self.asker)
        made = self._store.marks.add(mark, newest=opened.newest_mark, last_message=last_message)
        folder = self._layout.session(session.id)
        if session.warm_since is not None:
            self._store.request_close(session, "you")
            poke(folder.poke)
        if folder.path.is_dir():
            self._housekeeping.record(folder)
        return structs.replace(effect, mark=made)

    def _last_message(self, source: Source, history: History) -> str | None:
        """Return the last visible message of the agent, as long as a row keeps it; None if the session has none."""
        # The newest visible part with a message has the last one; a part without a turn begins the conversation.
        for part in reversed(history.parts()):
            if part.turn is None:
                return None
            last = None
            for step in source.steps((part.turn,)):
                if step.kind is StepKind.MESSAGE and step.parent is None:
                    last = step.text if part.through is None or step.index <= part.through else last
            if last is not None:
                return last if len(last) <= MESSAGE_CHARACTERS else last[: MESSAGE_CHARACTERS - 1] + "…"
        return None

    def preview_fork(self, ref: str, turn: int | None = None, step: int | None = None) -> Effect:
        """Return from where a fork would go on, and how; the arguments and errors are those of :meth:`fork`."""
        opened = self._opened(ref)
        source = opened.source
        turn, step = self._fork_place(source, turn, step)
        loaded, recipe = self._settings(source)
        settings = loaded.config.settings_for(source.session.agent, recipe.options)
        taken = self._taken("", _fork_mark(opened, turn, step, self.asker), settings)
        return Effect(session=source.session.id, kind=MarkKind.FORK, turn=turn, step=step, how=taken.how)

    def fork(
        self, ref: str, turn: int | None, step: int | None, prompt: str, options: ForkOptions | None = None
    ) -> Session:
        """Start a session that begins with the conversation of another one up to a step; the other stays as it is.

        Args:
            turn: a turn of it, also a hidden one; None for the place at which its own next turn would go on.
            step: the last step of that turn that the fork has; None for all of it.

        Raises:
            UsageError: no such turn or step, an empty prompt, or an option that the agent does not take.
            SessionBusyError: the turn has not ended, or the origin takes no prompts or runs on another host.
        """
        prompt, options = checked_prompt(prompt), options or ForkOptions()
        self._layout.check_writable()
        opened = self._opened(ref)
        source = opened.source
        turn, step = self._fork_place(source, turn, step)
        origin = source.session
        prompt = self.rights.prompt(prompt, origin.agent)
        loaded, recipe = self._settings(source)
        newest = source.turns[-1] if source.turns else None
        kept = {key: value for key, value in recipe.options.items() if key != "model"}
        start = completed(
            Start(
                prompt,
                agent=origin.agent,
                model=options.model or requested_model(recipe.options, newest.mode if newest is not None else None),
                title=options.title,
                options=merged(kept, options.settings),
                source=MarkKind.FORK,
            ),
            loaded.config,
            session_folder(origin),
        )
        plan, _ = plan_turn(loaded.config, start, notes=loaded.notes)
        mark = _fork_mark(opened, turn, step, self.asker)
        settings = loaded.config.settings_for(start.agent, start.options)
        taken = self._taken(start.session_id, mark, settings).with_prompt(agent_named(start.agent), prompt)
        text = prompt
        if taken.how == "retold":
            steps = source.visible(source.history().parts(Place(turn, step)))
            text = retold(origin.cwd, steps, prompt, agent_named(start.agent).expands)
        elif taken.follows is not None:
            before = self._store.one_turn(*taken.follows)
            text = with_instructions(before.mode if before is not None else None, plan.terms.mode, prompt)
        launch = launch_of(
            plan, agent_named(start.agent), prompt=text, cwd=start.cwd, session_id=start.session_id, turn=1,
            agent_session=taken.conversation, fork=taken.fork, how=taken.how,
        )  # fmt: skip
        return self._begin(start, loaded.config, launch, recipe.env, mark)

    def _fork_place(self, source: Source, turn: int | None, step: int | None) -> tuple[int, int | None]:
        session = source.session
        check_here(session, "fork it")
        if turn is None:
            shown = source.history().parts()[-1:]
            turn, step = next(((part.turn, part.through) for part in shown), (None, None))
            if shown and shown[0].mark is not None and shown[0].mark.kind in (MarkKind.COMPACT, MarkKind.CLEAR):
                turn = shown[0].mark.turn
        if not turn:
            raise UsageError("A fork begins behind a step. To begin with nothing, start a session: agentdash spawn")
        if turn == session.turn and not session.status.ended:
            raise at_work_error(session, f"turn {turn} can be forked when it has ended")
        return turn, self._checked_step(source, turn, step)

    def _taken(self, session_id: str, fork: Mark, settings: AgentSettings) -> TakenUp:
        """Return how the first turn of a fork takes up its conversation."""
        return taken_up(self._layout, self._store, session_id, Recorded(None, (fork,)), settings)

    def _opened(self, ref: str) -> Opened:
        """Return a session that takes prompts, with its records."""
        session = self._housekeeping.settled(ref)
        if agent_named(session.agent).conversations is None:
            raise SessionBusyError(f"Session {session.short_id} is a {session.agent} and has no conversation.")
        source = source_of(self._layout, self._store, session.id)
        if source is None:
            raise UnknownSessionError(f"Session {session.short_id} was deleted.")
        conversations = {turn.n: turn.agent_session for turn in source.turns}
        return Opened(source, Recorded(source.session.agent_session, tuple(source.marks), conversations))

    def _opened_to_change(self, ref: str) -> Opened:
        """Return a session that has ended, with its records.

        Raises:
            SessionBusyError: it works, takes no prompts, runs on another host, or has processes of a lost turn.
        """
        self._layout.check_writable()
        opened = self._opened(ref)
        session = opened.session
        if not session.status.ended or session.id in self._store.queue.under_way():
            raise at_work_error(session, f"turn {session.turn} has to end first")
        check_free(session, "changed")
        self._prompter.check_reachable(session)
        return opened

    def _checked_step(self, source: Source, turn: int, step: int | None) -> int | None:
        """Return a step of a turn; None for the end of the turn, also if what follows the step adds nothing."""
        session = source.session
        if not any(one.n == turn for one in source.turns):
            raise UsageError(f"Session {session.short_id} has no turn {turn}: its newest is {session.turn}.")
        if step is None:
            return None
        steps = list(source.steps((turn,)))
        if not any(one.index == step for one in steps):
            last = max((one.index for one in steps), default=0)
            raise UsageError(
                f"Session {session.short_id} has no step {place_text(turn, step)}: "
                f"the last step of turn {turn} is {place_text(turn, last)}."
            )
        return None if ends_turn(steps, step) else step

    def _settings(self, source: Source) -> tuple[Loaded, Recipe]:
        """Return the settings under the profile with which a session began, and its own."""
        recipe = self._store.recipe(source.session.id)
        return self._reader.settings.in_folder(source.session.cwd, recorded_profile(recipe.env), later=True), recipe


def _next_mark(opened: Opened, kind: MarkKind, **fields: int | None) -> Mark:
    session = opened.session
    return Mark(id=opened.newest_mark + 1, session=session.id, kind=kind, after=session.turn, **fields)  # type: ignore[arg-type]


def _history_with(source: Source, mark: Mark) -> History:
    return History((turn.n for turn in source.turns), [*source.marks, mark])


def _fork_mark(opened: Opened, turn: int, step: int | None, asker: str) -> Mark:
    """Return the mark of a fork; it names the conversation of the agent, if there is one to be forked."""
    conversation = opened.recorded.conversations.get(turn)
    data = {"conversation": conversation} if conversation is not None else {}
    origin = opened.session.id
    return Mark(
        id=1, session="", kind=MarkKind.FORK, after=0, turn=turn, step=step, origin=origin, data=data, asked_by=asker
    )
