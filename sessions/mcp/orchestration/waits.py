"""The tool ``wait_for``: it waits until something new happens to workers, and names each end once.

The end that a lead has read is a number in the worker's row (``reported_turn``), so an end is named once over restarts
and with several servers; :mod:`.calls` records it when the client has the answer.  A need of a running worker has no
such number: this process remembers what it named.
"""

import threading
from collections.abc import Sequence

from msgspec import Struct, structs

from agentdash.sessions.mcp.orchestration.calls import Calls, Family, need
from agentdash.sessions.mcp.orchestration.refusals import refused
from agentdash.sessions.mcp.orchestration.schemas import Waited, WaitFor
from agentdash.sessions.mcp.orchestration.views import MOST_AT_ONCE, Detail, Views, fitted
from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.session import Session

_REMEMBERED = 2_000

_named: dict[tuple[str, str | None, str | None, str], str] = {}
"""By state folder, caller and worker: the need, or the end of another lead's worker, that was named last."""
_lock = threading.Lock()


class Moment(Struct, frozen=True, kw_only=True):
    """The watched workers at one moment."""

    family: Family
    ended: Sequence[Session]
    """Ends that were not named, the oldest first."""
    needing: Sequence[Session]
    news: bool
    """One of them was not named before, or a worker was deleted."""
    at_work: Sequence[Session]
    gone: Sequence[str]
    before: Sequence[Session]
    """Workers whose ends another call named: those that were chosen, or all if nothing else is to be told."""


class Wait:
    """One wait of a call.

    Args:
        ids: the workers to watch; None for the caller's own.
        prompt: the number of a prompt that the call sent to the only worker: no turn before that of the prompt is
            its answer.
    """

    def __init__(self, calls: Calls, ids: Sequence[str] | None, prompt: int | None = None) -> None:
        self._calls = calls
        self._chosen = ids
        self._prompt = prompt
        family = calls.family()
        watched = ids if ids is not None else [one.id for one in family.own() if not one.status.ended]
        self._names = {session_id: family.name(session_id) for session_id in watched}
        self._told = ""
        self._held_elsewhere = False
        """An end was passed over, because another answer that names it is not written yet."""

    def until(self, quantor: str, seconds: float) -> Waited:
        """Return what is new as soon as something is, or what is at work when the time is over.

        Args:
            quantor: ``any`` for the first end, ``all`` for the last one.
            seconds: the longest wait; the client's own patience may end it earlier.

        Raises:
            RefusalError: the call was cancelled; nothing counts as named.
        """
        from agentdash.sessions.service.lifecycle.wait import POLL_SECONDS, SETTLE_SECONDS

        calls, version, settled_at = self._calls, None, 0.0
        store, housekeeping = calls.manager.store, calls.manager.housekeeping
        deadline = monotonic() + calls.slice(seconds)
        while True:
            self._check_cancelled()
            now, current = monotonic(), store.data_version()
            over = now >= deadline
            # Nothing can have changed without a commit, so that most rounds cost one query of the version.
            if current != version or over:
                version = current
                moment = self._moment()
                if over or moment.news or not moment.at_work or (quantor == "any" and moment.ended):
                    waited = self._answer(moment)
                    idle = not moment.at_work and not self._held_elsewhere
                    if over or waited.ended or waited.needs_you or waited.gone or idle:
                        return waited
                line = f"{len(moment.at_work)} at work, {len(moment.ended)} ended, {len(moment.needing)} need you"
                if line != self._told:
                    self._told = line
                    calls.progress(line)
            if now - settled_at >= SETTLE_SECONDS:
                settled_at = now
                housekeeping.settle()
                if self._held_elsewhere:
                    version = None  # the server that holds an end can be killed, which changes no row
            calls.cancelled.wait(max(0.0, min(POLL_SECONDS, deadline - now)))

    def _check_cancelled(self) -> None:
        if self._calls.cancelled.is_set():
            raise RefusalError("cancelled", "The call was cancelled. Next: call it again.")

    def _moment(self) -> Moment:
        family = self._calls.family()
        if self._chosen is None:
            watched = family.own()
        else:
            found = (family.get(one) or self._calls.manager.store.session(one) for one in self._chosen)
            watched = [one for one in found if one is not None]
        present = {one.id for one in watched}
        gone = [name for session_id, name in self._names.items() if session_id not in present]
        queue = self._calls.manager.store.queue
        under_way, prompt = queue.under_way(), queue.prompt(self._prompt) if self._prompt is not None else None
        sent_anyway = prompt is not None and prompt.at_once
        early = {one.id for one in watched if one.status.ended and self._goes_on(one, one.id in under_way)}
        over = [one for one in watched if one.status.ended and one.id not in early]
        fresh = [
            one
            for one in over
            if (one.reported_turn < one.turn if family.is_own(one) else self._is_unnamed(one, f"end {one.turn}"))
        ]
        needing = [one for one in watched if need(one) and one.id not in early]
        # What waits in a queue that is held waits for the user too.
        going_on = {one.id for one in watched if one.id in early and (one.held is None or sent_anyway)}
        at_work = [one for one in watched if not one.status.ended or one.id in going_on]
        read = [one for one in over if one not in fresh]
        quiet = not (fresh or needing or at_work)
        return Moment(
            family=family,
            ended=sorted(fresh, key=_ended_at),
            needing=needing,
            news=bool(gone) or any(self._is_unnamed(one, self._need_key(one)) for one in needing),
            at_work=at_work,
            gone=gone,
            # A call beside this one can have named the ends for which both wait.
            before=read if self._chosen is not None else sorted(read, key=_ended_at, reverse=True) if quiet else (),
        )

    def _goes_on(self, session: Session, under_way: bool) -> bool:
        """Return whether a prompt follows the turn that has ended, so that its end is not the answer to wait for.

        A prompt that was written into a running turn, and not read in it, becomes the next turn a moment later.
        """
        if self._prompt is None:
            waits = session.queued > 0 and session.held is None and session.taken_by is None
            return waits or under_way
        prompt = self._calls.manager.store.queue.prompt(self._prompt)
        if prompt is None or prompt.state == "cancelled":
            return False
        return prompt.state in ("queued", "sending", "sent") or (prompt.turn or 0) > session.turn

    def _answer(self, moment: Moment) -> Waited:
        views = Views(self._calls, moment.family)
        ends, left = self._calls.reading.claim(moment.ended, MOST_AT_ONCE, moment.family.is_own)
        self._held_elsewhere = len(ends) + left < len(moment.ended)

        def made(detail: Detail) -> Waited:
            needing, working = moment.needing[:MOST_AT_ONCE], [one for one in moment.at_work if not need(one)]
            listed = working[: detail.brief]
            return Waited(
                overview="",
                ended=tuple(views.whole(one, detail) for one in ends),
                needs_you=tuple(views.whole(one, detail) for one in needing),
                at_work=tuple(views.brief(one, detail) for one in listed),
                gone=tuple(moment.gone[: detail.brief]),
                ended_before=tuple(moment.family.name(one.id) for one in moment.before[: detail.brief]),
                more=left + len(moment.needing) - len(needing) + len(working) - len(listed),
            )

        waited = fitted(made)
        self._check_cancelled()  # reading the facts takes time
        for one in ends:
            if not moment.family.is_own(one):
                self._remember(one, f"end {one.turn}")
        for one in moment.needing:
            self._remember(one, self._need_key(one))
        waited = structs.replace(waited, ended=tuple(structs.replace(one, unread=False) for one in waited.ended))
        return structs.replace(waited, overview=self._calls.overview(), next=_next(waited, more=bool(moment.ended)))

    def _key(self, session: Session) -> tuple[str, str | None, str | None, str]:
        caller = self._calls.manager.caller
        return str(self._calls.manager.layout.home), caller.session, caller.lead, session.id

    def _need_key(self, session: Session) -> str:
        """Return the name of a need: a later one of the same kind has another name."""
        kind = need(session)
        if kind == "stuck":
            return f"stuck {session.stuck_at}"
        if kind == "waiting":
            return f"waiting {[ask.id for ask in self._calls.manager.reader.asks(session.id)]}"
        return f"{kind} {session.turn} {session.denied} {session.unconfirmed}"

    def _is_unnamed(self, session: Session, what: str) -> bool:
        with _lock:
            return _named.get(self._key(session)) != what

    def _remember(self, session: Session, what: str) -> None:
        with _lock:
            while len(_named) >= _REMEMBERED:
                del _named[next(iter(_named))]
            _named[self._key(session)] = what


def _ended_at(session: Session) -> int:
    return session.ended_at or session.updated_at


def _next(waited: Waited, *, more: bool) -> str:
    """Return the next step; ``more``: something ended, which another answer names if this one does not."""
    if asks := [ask for one in waited.needs_you for ask in one.asks]:
        of_user = all(ask.decides for ask in asks)
        return "the user decides; wait_for again, or do other work." if of_user else "answer what they ask."
    if waited.needs_you:
        return "read the steps of those that need you; send_message with interrupt, or stop_sessions."
    if waited.more:
        return "wait_for names the others."
    if waited.at_work:
        return "wait_for again, or do other work; they go on meanwhile."
    if waited.ended:
        return ""
    otherwise = "wait_for again: another call names the ends." if more else "delegate starts a worker."
    return "read shows their answers; send_message goes on with them." if waited.ended_before else otherwise


def wait_for(calls: Calls, arguments: WaitFor) -> Waited:
    """Wait until a worker ends or needs its lead, or the time is over."""
    with refused():
        family, chosen = calls.family(), None
        if arguments.sessions is not None:
            chosen = list(dict.fromkeys(calls.find(ref, family).id for ref in arguments.sessions))
        return Wait(calls, chosen).until(arguments.until, arguments.seconds)


def wait_for_one(calls: Calls, session_id: str, seconds: float, prompt: int | None = None) -> Waited | None:
    """Wait for one worker, for the tools that offer it; None if no wait is requested.

    ``prompt`` is the number of the prompt that the call sent, whose turn is the one to wait for.
    """
    return Wait(calls, [session_id], prompt).until("any", seconds) if seconds > 0 else None
