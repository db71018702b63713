"""Sentences about what was done: each names the act and the sessions, ``Sent to "title" (turn 2)``.

The form is ``Act "title" (place): detail · hint``.  They are pure, so that the words can be tested.
"""

from collections.abc import Sequence

from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.session import Receipt, Session
from agentdash.sessions.rules.conversation.marks import Mark
from agentdash.sessions.rules.conversation.words import mark_words
from agentdash.sessions.service.prompts.compacting import Compacting
from agentdash.sessions.service.prompts.prompter import Sent
from agentdash.sessions.text.sanitize import cell_width, clean, cut, one_line
from agentdash.sessions.text.units import count
from agentdash.widgets.table.row_cells import cut_title

NAMED = 20
"""The most sessions that a sentence names; the others are counted."""

_LEAST = 10
"""The least cells of the titles in a sentence, with their quotation marks."""

HINT = " · "
"""Before a hint at the end of a sentence."""


class Said(str):
    """A sentence that names sessions: if a line is too narrow for it, their titles lose their ends first.

    It is made of texts and sessions: ``Said("Sent to ", session, " (turn 2)")``.
    """

    _parts: Sequence[str | Sequence[str]]

    def __new__(cls, *parts: str | Session | Sequence[Session]) -> "Said":
        """Join texts, which are cleaned, and the titles of sessions."""
        told = [clean(part) if isinstance(part, str) else _titles(part) for part in parts]
        said = str.__new__(cls, "".join(part if isinstance(part, str) else _quoted(part) for part in told))
        said._parts = told
        return said

    def __add__(self, more: str) -> "Said":
        """Return the sentence with more words behind it."""
        longer = str.__new__(Said, f"{self!s}{clean(more)}")
        longer._parts = [*self._parts, clean(more)]
        return longer

    def fitted(self, width: int) -> str:
        """Return the sentence in at most ``width`` cells."""
        shown = [part if isinstance(part, str) else _quoted(part) for part in self._parts]
        titles = [at for at, part in enumerate(self._parts) if not isinstance(part, str)]
        for at in sorted(titles, key=lambda at: -cell_width(shown[at])):
            over = sum(map(cell_width, shown)) - width
            if over > 0:
                shown[at] = _quoted(self._parts[at], max(_LEAST, cell_width(shown[at]) - over))
        return cut("".join(shown), width)


def _titles(named: Session | Sequence[Session]) -> Sequence[str]:
    sessions = [named] if isinstance(named, Session) else named
    return [one_line(session.label) for session in sessions]


def _quoted(titles: Sequence[str], room: int | None = None) -> str:
    """Return the titles that fit into ``room`` cells, and the number of the others; the first one is always there."""
    for shown in range(min(len(titles), NAMED), 0, -1):
        more = f" and {len(titles) - shown:,} more" if shown < len(titles) else ""
        text = ", ".join(f'"{title}"' for title in titles[:shown]) + more
        if room is None or cell_width(text) <= room:
            return text
    more = f" and {len(titles) - 1:,} more" if len(titles) > 1 else ""
    return f'"{cut_title(titles[0], max(1, (room or 0) - 2 - cell_width(more)))}"{more}' if titles else ""


def hinted(hint: str) -> str:
    """Return a hint as the end of a sentence; empty without one."""
    return HINT + hint.removesuffix(".") if hint else ""


def did(act: str, sessions: Session | Sequence[Session], hint: str = "", *, how: str = "") -> Said:
    """Return what was done to one session or several: ``Marked 2 sessions read: "a", "b" · u to undo all 2``."""
    if isinstance(sessions, Session) or len(sessions) == 1:
        return Said(f"{act} ", sessions, how + hinted(hint))
    names = ": " if sessions else ""
    return Said(f"{act} {count(len(sessions), 'session')}{how}{names}", sessions, hinted(hint))


def started(sessions: Session | Sequence[Session], hidden: str = "") -> Said:
    """Return that sessions were started; ``hidden`` names what hides the first one in the table."""
    first = sessions if isinstance(sessions, Session) else sessions[0]
    hint = f"hidden by {hidden}{HINT}Esc shows it" if hidden else ""
    return did("Started", sessions, hint, how=f" {first.short_id}" if sessions in (first, [first]) else "")


def forked(origin: Session, made: Session, hidden: str = "") -> Said:
    """Return that a conversation goes on in another session from one of its steps."""
    return _begun("Forked", origin, made, hidden)


def continued(origin: Session, made: Session, hidden: str = "") -> Said:
    """Return that a conversation goes on in a new session."""
    return _begun("Continued", origin, made, hidden)


def _begun(act: str, origin: Session, made: Session, hidden: str) -> Said:
    hint = f"hidden by {hidden}{HINT}Esc shows it" if hidden else ""
    return Said(f"{act} ", origin, " as ", made, f" {made.short_id}{hinted(hint)}")


def sent(done: Sent) -> Said:
    """Return that a prompt was accepted, and its place."""
    return Said("Queued for " if done.answer.startswith("queued") else "Sent to ", done.session, _place(done))


def retried(done: Sent, *, afresh: bool = False) -> Said:
    """Return that a prompt was sent again; ``afresh`` if a new process of the agent gets it."""
    return Said("Retried ", done.session, _place(done), ": in a new process, with the environment of now" * afresh)


def compacting(done: Compacting) -> Said:
    """Return that a summary was asked for."""
    how = done.answer.removeprefix(done.sent.answer).removeprefix(": ")
    return Said("Compacting ", done.sent.session, f"{_place(done.sent)}: {how}")


def _place(done: Sent) -> str:
    """Return the place of a prompt behind the session that got it: `` (turn 2)``, ``: #2, after turn 1``."""
    if done.answer.startswith("queued"):
        return f": {one_line(done.answer.removeprefix('queued '))}"
    turn = done.turn or done.session.turn
    return f" (turn {turn})" if done.answer.startswith("turn") else f": read at the next step of turn {turn}"


def changed_prompt(done: Sent) -> Said:
    """Return that the text of a queued prompt was replaced."""
    return Said("Saved a prompt of ", done.session, _place(done))


def interrupting(session: Session) -> Said:
    """Return that the turn of a session is being ended."""
    return Said("Interrupting ", session, f" (turn {session.turn})…")


def interrupted(session: Session, receipt: Receipt, sent_after: Sent | None) -> Said:
    """Return that a turn was interrupted, and what became of its processes."""
    after = f"{HINT}sent{_place(sent_after)}" if sent_after is not None else ""
    by_agent = not any(process.signal or not process.observed for process in receipt.ended)
    kept = "process kept" if session.steers and by_agent and not receipt.left else ""
    ended = receipt.summary() if receipt.ended or not kept else ""
    return Said("Interrupted ", session, f" (turn {session.turn}): {'; '.join(filter(None, (kept, ended)))}{after}")


def stop_heading(session: Session) -> str:
    """Return the act of a stop, before the title: of an ended session only its process that waits is ended."""
    if session.warm_since is not None:
        return "Ended the waiting process of "
    return "Stopped what is left of " if session.status.ended else "Stopped "


def stopped(session: Session, receipt: Receipt) -> Said:
    """Return that a session was stopped, with the number of its processes, or why no process had to be ended."""
    note = receipt.note if not receipt.ended and not receipt.left else None
    if note is not None and note.startswith("nothing to stop: "):
        return Said("Nothing to stop in ", session, f": {note.partition(': ')[2]}")
    return Said(stop_heading(session), session, f": {note or receipt.summary()}")


def renamed(before: Session, after: Session) -> Said:
    """Return that a session has another title."""
    return Said("Renamed ", before, " to ", after)


def adjusted(session: Session, adjustment: Adjustment) -> Said:
    """Return that the mode or the model of a session changed, and from when on."""
    to = f" to {one_line(adjustment.value)}: {adjustment.effect}"
    return Said(f"Changed the {adjustment.what} of ", session, to)


def queue_changed(verb: str, session: Session) -> Said:
    """Return what was done to the queue of a session."""
    return Said(_QUEUE_ACTS[verb], session)


_QUEUE_ACTS = {
    "move": "Moved a prompt in the queue of ",
    "cancel": "Cancelled a prompt of ",
    "dismiss": "Dismissed an unconfirmed prompt of ",
    "send": "Sends a queued prompt next to ",
    "hold": "Held the queue of ",
    "release": "Released the queue of ",
    "resend": "Sends an unconfirmed prompt again to ",
}


def went_back(session: Session, where: str, hidden: str, undo_key: str) -> Said:
    """Return that a conversation went back: to which place, and what that hides."""
    return Said("Went back in ", session, f" to {where}: {hidden} hidden{HINT}{undo_key} takes it back")


def took_back(session: Session, mark: Mark) -> Said:
    """Return that a step back or a summary was taken back."""
    return Said("Took back in ", session, f": {mark_words(mark)}")


def exported(session: Session, path: str, size: str) -> Said:
    """Return that a session was written to a file."""
    return Said("Exported ", session, f" to {path} ({size})")


def decided(session: Session, decision: str, note: str = "") -> Said:
    """Return the decision about what the agent of a session asks, ``allowed: run: make``, and a note behind it."""
    words, _, subject = decision.partition(": ")
    return Said(f"{words[:1].upper()}{words[1:]} in ", session, f": {subject}{note}")
