"""The state of prompts that wait, and the fate of one whose turn ended: it arrived, can be sent again, or is not known.

Pure."""

from enum import StrEnum

from msgspec import Struct

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.prompts.due import clock_words
from agentdash.sessions.text.sanitize import one_line

HELD_BY_USER = "by you"
"""The reason of a hold that the user asked for; other holds end when nothing is left to hold."""


class PromptState(StrEnum):
    """The state of a prompt on its way to the agent."""

    QUEUED = "queued"
    """It waits for the turn before, or for a runner."""
    SENDING = "sending"
    """Its runner is about to start the agent with it."""
    SENT = "sent"
    """The agent was started with it."""
    SEEN = "seen"
    """The agent printed something since, or its own transcript has the prompt."""
    CANCELLED = "cancelled"
    UNSENT = "unsent"
    """Its turn ended before the agent got it."""
    UNCONFIRMED = "unconfirmed"
    """It is not known whether the agent got it; only the user can send it again."""
    RESENT = "resent"
    """It was unconfirmed, and the user sent it again."""
    DISMISSED = "dismissed"
    """It was unconfirmed, and the user does not want to send it again."""


class TurnEvidence(Struct, frozen=True, kw_only=True):
    """The facts about a turn that ended, as far as they concern its prompt."""

    started: bool
    """The agent's process may have been started."""
    printed: bool
    """The agent printed something; true for a command, which is its own prompt."""
    proper_end: bool
    """The agent reported the end of the turn."""
    crashed: bool
    """A signal that agentdash did not send ended the agent, or its end was not seen."""
    stopped: bool = False
    """A stop or an interrupt ended the turn."""
    live: bool = False
    """The agent is live: it was started without the prompt, which was written to it later."""
    in_transcript: bool | None = None
    """The agent's own transcript has the prompt; None if it has no transcript that can be read."""


class Fate(Struct, frozen=True):
    """The final state of a prompt, and if it goes back to the head of the queue."""

    state: PromptState
    again: bool = False


def evidence(
    way: PromptState | None, *, started: bool, printed: bool, proper_end: bool, crashed: bool, stopped: bool
) -> TurnEvidence:
    """Return the evidence about the prompt of a turn.

    Args:
        way: the recorded state of a live agent's prompt, which decides if there is one: such an agent runs and prints
            also before it has the prompt.  None for a process of one turn.
        started, printed, proper_end, crashed, stopped: as in :class:`TurnEvidence`, by process and output.
    """
    if way is not None:
        started, printed = way is not PromptState.QUEUED, way is PromptState.SEEN
    return TurnEvidence(
        started=started,
        printed=printed and started,
        proper_end=proper_end and started,
        crashed=crashed,
        stopped=stopped,
        live=way is not None,
    )


def fate(turn: TurnEvidence) -> Fate:
    """Return the fate of the prompt of an ended turn.

    A prompt goes back to the queue only if it certainly never reached the conversation, and a crash, a stop or an
    interrupt was the reason: an agent that refuses to start would refuse again.
    """
    if turn.proper_end or turn.in_transcript:
        return Fate(PromptState.SEEN)
    again = turn.crashed or turn.stopped
    if not turn.started:
        return Fate(PromptState.UNSENT, again=again)
    if turn.in_transcript is None:
        silent = PromptState.UNCONFIRMED if turn.crashed or (turn.stopped and turn.live) else PromptState.SENT
        return Fate(PromptState.SEEN if turn.printed else silent)
    # Absent from the transcript: an agent that printed something may still have acted on the prompt.
    return Fate(PromptState.UNCONFIRMED) if turn.printed else Fate(PromptState.UNSENT, again=again)


def fate_of_steered(in_transcript: bool | None) -> PromptState:
    """Return the state of a prompt that was, or may have been, written into a turn whose agent is gone.

    ``in_transcript`` is as in :class:`TurnEvidence`.  If it cannot be known, only the user sends the prompt again.
    """
    if in_transcript is None:
        return PromptState.UNCONFIRMED
    return PromptState.SEEN if in_transcript else PromptState.QUEUED


def needs_transcript(turn: TurnEvidence) -> bool:
    """Return whether the agent's own transcript has to decide."""
    unknown = turn.crashed or (turn.stopped and not turn.printed)
    return turn.started and unknown and not turn.proper_end


def queue_state(session: Session) -> str:
    """Return the number of prompts that wait, and what they wait for."""
    unconfirmed = f", {session.unconfirmed} unconfirmed" if session.unconfirmed else ""
    if session.held:
        return f"{session.queued} queued{unconfirmed}, held: {one_line(session.held)}"
    after = f", {first_time(session)}" if session.queued else ""
    return f"{session.queued} queued{unconfirmed}{after}"


def first_time(session: Session) -> str:
    """Return the end of a turn, or the time, for which the prompts of a session wait."""
    after = f"after turn {session.turn}"
    if session.due_at is None:
        return after
    until_then = f"{'' if session.queued == 1 else 'the first '}until {clock_words(session.due_at)}"
    return until_then if session.status.ended else f"{after}, {until_then}"
