"""Go back in the conversation of a session, and take that back.

An act appends a mark and rewrites nothing.  What the agent did is not undone: files, commands, and prompts that wait.
"""

from msgspec import structs

from ..conversation.history import History, Place, Position, Root
from ..conversation.marks import Mark, MarkKind
from ..conversation.places import place_words
from ..errors import UsageError
from ..families.guarded import acts
from ..model import MESSAGE_CHARACTERS, StepKind
from ..supervision.runner_process import poke
from ..supervision.taking_up import taken_up
from ..transcript.visible.visible_steps import Source
from .conversation_records import ConversationRecords, Opened
from .effects import Effect, scope


class Rewinder(ConversationRecords):
    """Rewinds conversations."""

    @acts("rewind")
    def rewind(self, ref: str, turn: int | None, step: int | None = None, *, dry_run: bool = False) -> Effect:
        """Go back: the next turn goes on behind an earlier step, also behind one that is hidden.

        Args:
            ref: the session.
            turn: the turn; None or 0 for the beginning.
            step: the last step of it that stays visible, 0 for its prompt; None for all of it.
            dry_run: only return the effect.

        Raises:
            UsageError: it has no such turn or step, or the conversation is there already.
            SessionBusyError: it works, takes no prompts, runs on another host, or changed meanwhile.
        """
        opened = self._opened_to_change(ref)
        session, turn = opened.session, turn or None
        if turn is not None:
            step = self._checked_step(opened.source, turn, step)
        place = {"turn": turn, "step": step if turn is not None else None}
        mark = _next(opened, MarkKind.REWIND, **place)
        effect = self._effect(opened, mark)
        if _with(opened.source, mark).position == opened.source.history().position:
            words = place_words(**place)
            raise UsageError(f"The conversation of session {session.short_id} goes on behind {words} already.")
        return effect if dry_run else self._made(opened, mark, effect)

    @acts("rewind")
    def undo(self, ref: str, mark: int | None = None, *, dry_run: bool = False) -> Effect:
        """Take the effect of a mark back: what was visible before it is visible again, exactly.

        Args:
            ref: the session.
            mark: the number of the mark; None for the newest rewind or compaction that was not taken back.
            dry_run: only return the effect.

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
        undo = _next(opened, MarkKind.UNDO, undoes=mark)
        effect = self._effect(opened, undo)
        return effect if dry_run else self._made(opened, undo, effect)

    def _effect(self, opened: Opened, mark: Mark) -> Effect:
        """Return the effect that a mark would have."""
        session, source, recorded = opened.session, opened.source, opened.recorded
        before, after = source.history(), _with(source, mark)
        place = _place_of(after, after.position)
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
            hidden=scope(self._layout, source, *views),
            shown=scope(self._layout, source, *reversed(views)),
            waiting=len(self._store.queue.waiting(session.id)),
        )

    def _made(self, opened: Opened, mark: Mark, effect: Effect) -> Effect:
        """Record a mark, and close the process that remembers what the mark hides."""
        session, source = opened.session, opened.source
        made = self._store.marks.add(
            session.id,
            MarkKind(mark.kind),
            after=mark.after,
            newest=opened.newest_mark,
            last_message=self._last_message(source, _with(source, mark)),
            turn=mark.turn,
            step=mark.step,
            undoes=mark.undoes,
            asked_by=self.asker,
        )
        if session.warm_since is not None:
            self._store.request_close(session, "you")
            poke(self._layout.session(session.id).poke)
        if self._layout.session(session.id).path.is_dir():
            self._housekeeping.record(self._layout.session(session.id))
        return structs.replace(effect, mark=made)

    def _last_message(self, source: Source, history: History) -> str | None:
        """Return the last visible message of the agent, as long as a row keeps it; None if the session has none."""
        for part in reversed(history.parts()):
            if part.turn is None:
                return None
            last = None
            for step in source.steps(self._layout, (part.turn,)):
                if step.kind is StepKind.MESSAGE and step.parent is None:
                    last = step.text if part.through is None or step.index <= part.through else last
            if last is not None:
                return last if len(last) <= MESSAGE_CHARACTERS else last[: MESSAGE_CHARACTERS - 1] + "…"
        return None


def _next(opened: Opened, kind: MarkKind, **fields: int | None) -> Mark:
    """Return the mark that would come next."""
    session = opened.session
    return Mark(id=opened.newest_mark + 1, session=session.id, kind=kind, after=session.turn, **fields)  # type: ignore[arg-type]


def _with(source: Source, mark: Mark) -> History:
    return History((turn.n for turn in source.turns), [*source.marks, mark])


def _place_of(history: History, position: Position) -> Place:
    """Return a position as the place that people are shown; turn 0 for the beginning."""
    if isinstance(position, Place):
        return position
    return Place(0) if isinstance(position, Root) else Place(history.parts(position)[0].turn or 0)
