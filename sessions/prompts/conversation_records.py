"""The records of a session's conversation, checked for an act on it."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..agents.registry import agent_named
from ..conversation.continuation import Recorded
from ..conversation.marks import Mark
from ..conversation.places import ends_turn, place_text
from ..errors import Remedy, SessionBusyError, UnknownSessionError, UsageError
from ..families.guarded import Guarded
from ..families.rights import Rights
from ..launch import Launch, Start
from ..lifecycle.starts.launch_plan import recorded_profile
from ..lifecycle.taken_check import check_free
from ..managing.housekeeping import Housekeeping
from ..model import Session
from ..reader import SessionReader
from ..settings.config import Config, Loaded
from ..storage.paths import Layout
from ..storage.queries import Recipe
from ..storage.store import Store
from ..transcript.visible.visible_steps import Source, source_of
from .prompter import Prompter

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


class ConversationRecords(Guarded):
    """Reads and checks what the acts on conversations need.

    Args:
        rights: those of the caller.
        layout: the state folder.
        store: the rows.
        reader: every query.
        housekeeping: concludes sessions whose runner died.
        prompter: checks if a session can be sent prompts.
        begin: records a new session and sends its runner.
    """

    def __init__(
        self,
        rights: Rights,
        layout: Layout,
        store: Store,
        reader: SessionReader,
        housekeeping: Housekeeping,
        prompter: Prompter,
        begin: Begin,
    ) -> None:
        super().__init__(rights)
        self._layout = layout
        self._store = store
        self._reader = reader
        self._housekeeping = housekeeping
        self._prompter = prompter
        self._begin = begin

    def _opened(self, ref: str) -> Opened:
        """Return a session that takes prompts, with its records.

        Raises:
            SessionBusyError: it takes none.
        """
        session = self._housekeeping.settled(ref)
        if not agent_named(session.agent).resumable:
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
            raise busy(session, f"turn {session.turn} has to end first")
        check_free(session, "changed")
        self._prompter.check_reachable(session)
        return opened

    def _checked_step(self, source: Source, turn: int, step: int | None) -> int | None:
        """Return a step of a turn; None for the end of the turn, also if what follows the step adds nothing.

        Raises:
            UsageError: there is no such turn or step.
        """
        session = source.session
        self._check_turn(source, turn)
        if step is None:
            return None
        steps = list(source.steps(self._layout, (turn,)))
        if not any(one.index == step for one in steps):
            last = max((one.index for one in steps), default=0)
            raise UsageError(
                f"Session {session.short_id} has no step {place_text(turn, step)}: "
                f"the last step of turn {turn} is {place_text(turn, last)}."
            )
        return None if ends_turn(steps, step) else step

    def _check_turn(self, source: Source, turn: int) -> None:
        session = source.session
        if not any(one.n == turn for one in source.turns):
            raise UsageError(f"Session {session.short_id} has no turn {turn}: its newest is {session.turn}.")

    def _settings(self, source: Source) -> tuple[Loaded, Recipe]:
        """Return the settings under the profile with which a session began, and its own."""
        recipe = self._store.recipe(source.session.id)
        return self._reader.settings.in_folder(source.session.cwd, recorded_profile(recipe.env), later=True), recipe


def busy(session: Session, fact: str) -> SessionBusyError:
    """Return the error for a session that is at work."""
    short = session.short_id
    return SessionBusyError(
        f"Session {short} is {session.status}: {fact}.",
        Remedy.WAIT_OR_STOP,
        f"Wait for it: agentdash wait {short}, or stop it: agentdash stop {short}",
    )
