"""Answer what live agents ask, and remember what the command line printed whole.

A caller allows by its number only an ask that it could read.  The record is an empty file for each ask and caller,
beside those of notifications.  An hour later the caller reads it again.
"""

import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import NotAllowedError, SessionBusyError, UsageError
from agentdash.sessions.rules.asks.answers import check_answer, not_given, takes_none, title_is_whole
from agentdash.sessions.rules.asks.model import Answer
from agentdash.sessions.rules.asks.recorded import AskState, RecordedAsk
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.service.families.rights import acts
from agentdash.sessions.service.lifecycle.session_ref import check_here
from agentdash.sessions.service.managing.housekeeping import ManagerPart
from agentdash.sessions.storage.paths import TOLD_SECONDS
from agentdash.sessions.text.sanitize import one_line


class ShownAsks:
    """The asks that one caller was shown.

    Args:
        folder: the folder of the files; created when it is needed.
        caller: the session from inside which the caller comes; empty for the user.
    """

    def __init__(self, folder: Path, caller: str) -> None:
        self._folder = folder
        self._caller = caller

    def note(self, asks: Iterable[RecordedAsk]) -> None:
        """Record that these asks were printed whole; a folder that cannot be written records nothing."""
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for one in asks:
                os.close(os.open(self._path(one), os.O_CREAT | os.O_WRONLY, 0o600))
                os.utime(self._path(one))

    def has(self, recorded: RecordedAsk) -> bool:
        """Return whether the caller knows all of an ask: it was printed whole, or its title says everything."""
        if title_is_whole(recorded.ask):
            return True
        with suppress(OSError):
            return self._path(recorded).stat().st_mtime > time.time() - TOLD_SECONDS
        return False

    def _path(self, one: RecordedAsk) -> Path:
        # After a rebuild of the database another ask can have the number.
        name = f"ask\0{one.session}\0{one.id}\0{one.asked_at}\0{one.ask.body}\0{self._caller}"
        return self._folder / hashlib.sha256(name.encode(errors="replace")).hexdigest()[:32]


_ENDS_TURN = frozenset({"stop", "kill", "interrupt"})
"""The kinds of requests that end a turn."""


class SessionAsks(ManagerPart):
    """The asks of live agents that wait for the user, and the user's answers.

    An open ask is named by its number, which no other ask has.
    """

    @property
    def shown(self) -> ShownAsks:
        """The asks that the caller was shown whole."""
        return ShownAsks(self._layout.told, self.inside or "")

    def named(self, ref: str, name: str | None = None) -> RecordedAsk:
        """Return the open ask of a session with this number.

        Without a number no ask is meant: what is open now need not be what the caller was shown.

        Raises:
            UsageError: there is no number, or it is not that of an ask of the session.
            SessionBusyError: the session asks nothing, or the ask with this number is over.
        """
        session = self._reader.get(ref)
        waiting = self._reader.asks(session.id)
        numbers = ", ".join(str(one.id) for one in waiting)
        if name is None:
            if not waiting:
                raise SessionBusyError(f"Session {session.short_id} asks nothing.")
            named = "an open ask" if len(waiting) == 1 else f"{len(waiting)} open asks"
            raise UsageError(f"Session {session.short_id} has {named}: {numbers}. Give the number of the one you mean.")
        for one in waiting:
            if str(one.id) == name:
                return one
        for one in self._store.asks.of_session(session.id):
            if str(one.id) == name:
                raise SessionBusyError(takes_none(one, now_ms()))
        opened = f" Open: {numbers}." if waiting else " It asks nothing."
        raise UsageError(f"Session {session.short_id} has no ask {name}.{opened}")

    @acts("answer")
    def answer(self, ask_id: int, answer: Answer, by: str = "you") -> RecordedAsk:
        """Answer an open ask, and wake the runner that writes the answer to the agent.

        An answer from inside a session has that session as its author.

        Raises:
            UsageError: the ask does not take the verdict, the values do not fit its questions, or a session answers
                what it asks itself.
            SessionBusyError: it was answered before, the agent no longer waits, its turn is being ended, or it runs on
                another host.
            UnknownSessionError: its session was deleted.
            NotAllowedError: an agent allows what only the user can allow.
        """
        self._layout.check_writable()
        asked = self._reader.ask(ask_id)
        if self.inside == asked.session:
            raise UsageError("A session cannot answer what it asks itself.")
        author = self.asker if self.inside else by
        check_answer(asked.ask, answer)
        self._check_given(asked, answer)
        self._check_reachable(asked)
        self._check_not_ending(asked)
        if not self._store.asks.answer(ask_id, answer, author):
            raise SessionBusyError(takes_none(self._reader.ask(ask_id), now_ms()))
        if not poke(self._layout.session(asked.session).poke):
            self._housekeeping.settle()  # a new runner adopts the agent, and writes the answer
        return self._reader.ask(ask_id)

    def _check_given(self, asked: RecordedAsk, answer: Answer) -> None:
        """Refuse an agent what only the user can allow."""
        if self.rights.caller.acts_for_user:
            return
        if reason := not_given(asked.ask, answer.verdict, self._reader.by_id(asked.session).cwd):
            fact = f"Only the user can allow this: {one_line(reason, 300)}."
            raise NotAllowedError("needs_the_user", fact, "The user is asked. You can deny it.")

    def _check_reachable(self, asked: RecordedAsk) -> None:
        """Refuse an answer that no runner can write; the asks of a process that ended are then lost."""
        session = self._reader.by_id(asked.session)
        check_here(session, "answer it")
        session = self._housekeeping.settled(session.id)
        lives = not session.status.ended or runner_lock.is_held(self._layout.session(session.id).lock)
        if asked.state is AskState.OPEN and not lives:
            self._store.asks.lose(session.id, asked.stream)

    def _check_not_ending(self, asked: RecordedAsk) -> None:
        """Refuse an answer that the agent would not get: a stop or an interrupt is ending its turn."""
        if asked.state is not AskState.OPEN:
            return
        turn = self._store.one_turn(asked.session, asked.turn)
        if turn is None or turn.status.ended:
            return
        requested = _ENDS_TURN & set(self._store.open_requests(asked.session, asked.turn))
        if requested or turn.stop_requested_at is not None:
            raise SessionBusyError(f"Ask {asked.id} takes no answer: turn {turn.n} is being ended.")
