"""Fork a session from a step of another one, which stays as it is."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from ..agents.base import AgentSettings
from ..agents.planned import launch_of
from ..agents.registry import agent_named
from ..conversation.continuation import Recorded
from ..conversation.history import Place
from ..conversation.marks import Mark, MarkKind
from ..errors import SessionBusyError, UsageError
from ..launch import Start, requested_model
from ..lifecycle.starts.launch_plan import checked_prompt, completed, plan_turn, session_folder
from ..model import Session
from ..processes import processes
from ..settings.merge import merged
from ..supervision.queue.next_turn import with_instructions
from ..supervision.taking_up import TakenUp, taken_up
from ..transcript.visible.retelling import retold
from ..transcript.visible.visible_steps import Source, visible_steps
from .conversation_records import ConversationRecords, Opened, busy
from .effects import Effect


class ForkOptions(Struct, frozen=True, kw_only=True):
    """The ways in which a fork may differ from its origin."""

    model: str | None = None
    """None for the model of the origin."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the agent's own section, which win over those of the origin."""
    title: str = ""
    """Empty for the beginning of the prompt."""


class Forker(ConversationRecords):
    """Forks conversations."""

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
            ref: the origin.
            turn: a turn of it, also a hidden one; None for the place at which its own next turn would go on.
            step: the last step of that turn that the fork has; None for all of it.
            prompt: the first prompt of the new session.
            options: how it differs from its origin.

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
        plan, _ = plan_turn(loaded.config, start, home=self._layout.home, notes=loaded.notes)
        mark = _fork_mark(opened, turn, step, self.asker)
        settings = loaded.config.settings_for(start.agent, start.options)
        taken = self._taken(start.session_id, mark, settings).with_prompt(agent_named(start.agent), prompt)
        text = prompt
        if taken.how == "retold":
            steps = visible_steps(self._layout, self._store, source, source.history(), Place(turn, step))
            text = retold(origin.cwd, steps, prompt, agent_named(start.agent).expands)
        elif taken.follows is not None:
            before = self._store.one_turn(*taken.follows)
            text = with_instructions(before.mode if before is not None else None, plan.terms.mode, prompt)
        launch = launch_of(
            plan,
            agent_named(start.agent),
            prompt=text,
            cwd=start.cwd,
            session_id=start.session_id,
            turn=1,
            agent_session=taken.conversation,
            fork=taken.fork,
            how=taken.how,
        )
        return self._begin(start, loaded.config, launch, recipe.env, mark)

    def _fork_place(self, source: Source, turn: int | None, step: int | None) -> tuple[int, int | None]:
        """Return the place of a fork.

        Raises:
            UsageError: there is no such turn or step.
            SessionBusyError: the turn has not ended, or the session runs on another host.
        """
        session = source.session
        if session.host != processes.host_name():
            raise SessionBusyError(f"Session {session.short_id} runs on {session.host}; fork it there.")
        if turn is None:
            shown = source.history().parts()[-1:]
            turn, step = next(((part.turn, part.through) for part in shown), (None, None))
            if shown and shown[0].mark is not None and shown[0].mark.kind in (MarkKind.COMPACT, MarkKind.CLEAR):
                turn = shown[0].mark.turn
        if not turn:
            raise UsageError("A fork begins behind a step. To begin with nothing, start a session: agentdash spawn")
        self._check_turn(source, turn)
        if turn == session.turn and not session.status.ended:
            raise busy(session, f"turn {turn} can be forked when it has ended")
        return turn, self._checked_step(source, turn, step)

    def _taken(self, session_id: str, fork: Mark, settings: AgentSettings) -> TakenUp:
        """Return how the first turn of a fork takes up its conversation."""
        return taken_up(self._layout, self._store, session_id, Recorded(None, (fork,)), settings)


def _fork_mark(opened: Opened, turn: int, step: int | None, asker: str) -> Mark:
    """Return the mark of a fork; it names the conversation of the agent, if there is one to be forked."""
    conversation = opened.recorded.conversations.get(turn)
    data = {"conversation": conversation} if conversation is not None else {}
    origin = opened.session.id
    return Mark(
        id=1, session="", kind=MarkKind.FORK, after=0, turn=turn, step=step, origin=origin, data=data, asked_by=asker
    )
