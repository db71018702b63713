"""Actions on several sessions: one question that lists them, one line with the result."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Receipt, Session
from agentdash.sessions.service.lifecycle.stop_family import StopHow
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.dialogs.asking.confirm import Answer, ConfirmScreen
from agentdash.tui.keys.availability import can_retry, can_stop
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.texts import act_texts
from agentdash.tui.texts import screen_texts as texts
from agentdash.tui.texts.act_texts import Said
from agentdash.tui.texts.takeover_texts import put_away_warning
from agentdash.widgets.drawing.text_lines import CommandLine, TitledLine

LISTED = 50
"""Maximum number of sessions that a question lists."""

SHOWN_FROM = 10
"""Number of sessions from which the screen shows progress."""

SHOWN_EVERY_SECONDS = 0.1

PART = 200
"""Number of sessions that are marked in one transaction."""


class BulkActions(Actions):
    """Stops, retries, deletes and archives several sessions; a failure is reported and the rest continue."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.moving = asyncio.Lock()
        """Held while sessions move to or from the archive or the trash; an undo waits for it."""
        self.progress: Callable[[str], object] = lambda _: None
        """Shows the progress on the screen; called with "" at the end."""
        self.unmark: Callable[[Iterable[str]], int] = lambda _: 0
        """Removes all marks but those of some sessions; returns how many are left."""

    async def stop(self, sessions: Sequence[Session]) -> bool:
        """Stop the sessions at the same time, after a question; return whether the user agreed."""
        return await self._end("Stop", sessions, "Sends SIGINT to all of them.", now=False)

    async def kill(self, sessions: Sequence[Session]) -> bool:
        """Stop the sessions without a grace period, after a question; return whether the user agreed."""
        return await self._end("Kill", sessions, "Sends SIGKILL to all of them.", now=True)

    async def _end(self, verb: str, sessions: Sequence[Session], consequence: str, *, now: bool) -> bool:
        running = [session for session in sessions if can_stop(session)]
        if not running:
            self._requests.show_refusal(texts.none_of(sessions, "stop"))
            return False
        if not await self.confirmed(verb, running, texts.stop_effect(running, consequence)):
            return False
        ids = [session.id for session in running]
        with self.showing("Stopping", len(ids)):
            receipts = await self._requests.ask(
                lambda: self._access.manager("stop all").stop_all(ids, StopHow(now=now))
            )
        failed = [key for key, one in zip(ids, receipts or [], strict=False) if not isinstance(one, Receipt)]
        self._requests.show_message(stopped(receipts or [], running) + self.marks_left(failed))
        self.desk.did("stop")
        return True

    def marks_left(self, failed: Iterable[str]) -> str:
        """Remove the marks of an action that was done, but for those of sessions that it failed for; say how many."""
        left = self.unmark(failed)
        return f" {units.count(left, 'session')} not changed and still marked." if left else ""

    async def retry(self, sessions: Sequence[Session]) -> bool:
        """Send each session its last prompt again, after a question; return whether any session got it."""
        ended = [session for session in sessions if can_retry(session)]
        if not ended:
            self._requests.show_refusal(texts.none_of(sessions, "retry"))
            return False
        if not await self.confirmed("Retry", ended, "Resends the last prompt of each."):
            return False
        return bool(await self._each(ended, self._access.manager("retry").prompts.retry, "retried"))

    async def delete(self, sessions: Sequence[Session], *, undo_key: str) -> list[str]:
        """Move the sessions to the trash after a question; return the ids of those that were moved."""
        consequence = f"{texts.trash(sessions)} {texts.undoable(sessions, undo_key)}"
        if not await self.confirmed("Delete", sessions, _warned(sessions, consequence)):
            return []
        async with self.moving:
            return await self._each(
                sessions, lambda key: self._access.manager("delete").delete(key), "deleted", undo_key=undo_key
            )

    async def archive(self, sessions: Sequence[Session], *, undo_key: str) -> list[str]:
        """Archive the sessions that have ended, after a question; return the ids of the archived ones."""
        ended = [session for session in sessions if session.status.ended and not session.put_away]
        if not ended:
            self._requests.show_refusal(texts.none_of(sessions, "archive"))
            return []
        left = len(sessions) - len(ended)
        others = f" {units.count(left, 'session', 'sessions')} of {len(sessions)} cannot be archived." if left else ""
        if not await self.confirmed("Archive", ended, _warned(ended, f"{texts.undoable(ended, undo_key)}{others}")):
            return []
        async with self.moving:
            return await self._archive(ended, undo_key)

    async def pin(self, sessions: Sequence[Session], pinned: bool, *, undo_key: str) -> list[str]:
        """Pin the sessions, or unpin them, after a question; return the ids of those that changed."""
        changing = [session for session in sessions if bool(session.pinned_at) is not pinned]
        if not await self.confirmed("Pin" if pinned else "Unpin", changing, texts.undoable(changing, undo_key)):
            return []
        return await self.pin_again([session.id for session in changing], pinned, undo_key=undo_key)

    async def pin_again(self, session_ids: Sequence[str], pinned: bool, *, undo_key: str = "") -> list[str]:
        """Pin sessions, or unpin them, without a question."""
        sessions = await self._requests.ask(lambda: [self._reader.get(key) for key in session_ids]) or []
        done = "pinned" if pinned else "unpinned"
        return await self._each(
            sessions, lambda key: self._access.manager("pin").housekeeping.pin(key, pinned), done, undo_key=undo_key
        )

    async def mark(self, sessions: Sequence[Session], seen: bool, *, undo_key: str) -> list[Session]:
        """Mark the sessions read or unread after a question; return those that were marked as they were before."""
        how = "read" if seen else "unread"
        if not await self.confirmed("Mark", sessions, texts.undoable(sessions, undo_key), how=f" {how}"):
            return []
        housekeeping = self._access.manager("mark read").housekeeping
        went = await self._in_parts(
            sessions, lambda part: housekeeping.mark_all_seen([one.id for one in part], seen=seen)
        )
        if went:
            hint = texts.undoable(went, undo_key) + self.marks_left(())
            self._requests.show_message(act_texts.did("Marked", went, hint, how=f" {how}"))
        return went

    async def recall_seen(self, before: Sequence[Session]) -> None:
        """Undo a mark: the sessions are read and unread again as they were."""
        housekeeping = self._access.manager("mark read").housekeeping
        went = await self._in_parts(before, lambda part: housekeeping.recall_seen([one.id for one in part], part))
        if went:
            self._requests.show_message(act_texts.did("Marked", went, how=" as before"))

    async def _in_parts(
        self, sessions: Sequence[Session], mark: Callable[[Sequence[Session]], object]
    ) -> list[Session]:
        """Mark sessions part after part, and show the progress; return those that were marked."""
        went: list[Session] = []

        def all_of_them() -> None:
            for begin in range(0, len(sessions), PART):
                part = sessions[begin : begin + PART]
                mark(part)
                went.extend(part)
                show(len(went))

        with self.showing("Marking", len(sessions)) as show:
            await self._requests.done(all_of_them)
        return went

    async def _archive(self, sessions: Sequence[Session], undo_key: str) -> list[str]:
        ids = [session.id for session in sessions]
        with self.showing("Archiving", len(ids)) as show:

            def archive() -> list[str]:
                return self._access.manager("archive all").housekeeping.archive_all(ids, each=show)

            went = await self._requests.ask(archive) or []
        if went:
            archived = [session for session in sessions if session.id in went]
            self._requests.show_message(act_texts.did("Archived", archived, texts.undoable(went, undo_key)))
        failed = [key for key in ids if key not in went]
        marks = self.marks_left(failed)
        if failed:
            left = units.count(len(failed), "session")
            self._requests.show_error(f"{left} not archived: running again, or already archived or deleted.{marks}")
        return went

    async def restore(self, session_ids: Sequence[str]) -> list[Session]:
        """Restore sessions from the archive and the trash, and show the result; return the restored sessions."""

        def unarchive() -> list[str]:
            return self._access.manager("archive all").housekeeping.archive_all(session_ids, away=False)

        async with self.moving:
            back: list[Session] = []
            archived = await self._requests.ask(unarchive) or []
            refused: list[str] = []

            def bring(session_id: str) -> Session:
                if session_id in archived:
                    return self._reader.get(session_id)
                return self._access.manager("restore").housekeeping.restore(session_id)

            def restore() -> None:
                for number, session_id in enumerate(session_ids, 1):
                    try:
                        back.append(bring(session_id))
                    except AgentdashError as error:
                        refused.append(clean(self._requests.worded(error)))
                    show(number)

            with self.showing("Restoring", len(session_ids)) as show:
                await self._requests.done(restore)
        if back:
            self._requests.show_message(act_texts.did("Restored", back))
        if refused:
            self._requests.show_error("\n".join([f"{len(refused)} not restored:", *refused]))
        return back

    @contextmanager
    def showing(self, doing: str, count: int) -> Iterator[Callable[[int], None]]:
        """Yield a function that shows how many sessions are done; any thread may call it.

        Below ``SHOWN_FROM`` sessions it shows nothing: they take no time.
        """
        loop = asyncio.get_running_loop()
        due = [0.0]

        def show(number: int) -> None:
            if count >= SHOWN_FROM and monotonic() >= due[0]:
                due[0] = monotonic() + SHOWN_EVERY_SECONDS
                loop.call_soon_threadsafe(self.progress, f"{doing} {number:,} of {count:,}…")

        show(0)
        try:
            yield show
        finally:
            loop.call_soon(self.progress, "")

    async def _each(
        self, sessions: Sequence[Session], act: Callable[[str], object], done: str, *, undo_key: str = ""
    ) -> list[str]:
        """Act on the sessions in turn, show the count and the failures, and return the ids that succeeded."""
        went: list[Session] = []
        refused: list[str] = []

        def all_of_them() -> None:
            for number, session in enumerate(sessions, 1):
                try:
                    act(session.id)
                    went.append(session)
                except AgentdashError as error:
                    refused.append(f'"{texts.title(session)}": {clean(self._requests.worded(error))}')
                show(number)

        with self.showing(done.capitalize(), len(sessions)) as show:
            well = await self._requests.done(all_of_them)
        if well:
            hint = texts.undoable(went, undo_key) if undo_key and went else ""
            self._requests.show_message(act_texts.did(done.capitalize(), went, hint))
            marks = self.marks_left({one.id for one in sessions} - {one.id for one in went})
            if refused:
                self._requests.show_error("\n".join([f"{len(refused)} not {done}:{marks}", *refused]))
        return [session.id for session in went]

    async def confirmed(self, verb: str, sessions: Sequence[Session], consequence: str, *, how: str = "") -> bool:
        """Ask a question that lists the sessions; return whether the user agreed."""
        with self._app.keys_held():
            question = f"{verb} {units.count(len(sessions), 'session')}{how}?"
            lines: list[str | CommandLine | TitledLine] = [*texts.listing(sessions[:LISTED])]
            lines += [f"and {len(sessions) - LISTED:,} more"] if len(sessions) > LISTED else []
            answer = self._app.push_screen(
                ConfirmScreen(question, lines, consequence, verb.partition(" ")[0].lower()), wait_for_dismiss=True
            )
        return await answer is not Answer.NO


def _warned(sessions: Sequence[Session], consequence: str) -> str:
    """Return the consequence below the warning of sessions that users of other machines have, if there are any."""
    return "\n".join(filter(None, (put_away_warning(sessions), consequence)))


def stopped(receipts: Sequence[Receipt | AgentdashError], named: Sequence[Session] = ()) -> Said:
    """Return the result of several stops in one line; it counts the workers that ended with their leads.

    ``named`` are the sessions that the user chose.
    """
    done = [receipt for receipt in receipts if isinstance(receipt, Receipt)]
    ended, left = sum(len(receipt.ended) for receipt in done), sum(len(receipt.left) for receipt in done)
    sessions = {session for receipt in done for session in (receipt.session, *receipt.workers)}
    counts = f"Stopped {units.count(len(sessions), 'session')}: {units.count(ended, 'process', 'processes')} ended"
    failed = [clean(error.fact) for error in receipts if not isinstance(error, Receipt)]
    whose = ": " if named else ""
    return Said(f"{counts}, {left} left{whose}", named, "".join(f". {fact}" for fact in failed))
