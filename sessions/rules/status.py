"""The status of a turn and its reason, from facts: pure, so that every rule can be read and tested here.

A turn is never ``done`` without the proper end that the adapter names.  After our own stop it is ``stopped`` with any
exit code, because claude gives -2, 0, 1 or 143 for the same stop (docs/protocols/claude.md, "Signals").
"""

from msgspec import Struct

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.attention import denials
from agentdash.sessions.rules.turn_facts import Facts


class NoRoom(Struct, frozen=True, kw_only=True):
    """Evidence that the agent's output did not fit on its disk."""

    what: str
    """A text such as ``the disk was full``, which begins or ends a reason."""
    evidence: str
    cut: bool
    """True if the end of the turn file seems to be cut."""


class EndFacts(Struct, frozen=True, kw_only=True):
    """The known facts when an agent's process is gone."""

    facts: Facts
    succeeded: bool
    """The adapter's verdict: the proper end of a good turn was seen."""
    exit_code: int | None = None
    """None if a signal killed the process, or no process could wait for it."""
    signal: str | None = None
    stopped_by: str | None = None
    """The actor that requested the stop, if its first signal was sent before the proper end was seen."""
    stderr_reason: str | None = None
    stdout_reason: str | None = None
    """A line on stdout that is not an event, if it gives the reason."""
    runner_killed: bool = False
    rebooted: bool = False
    lingered: bool = False
    """True if we ended the process because it stayed after its proper end."""
    crossed: tuple[str, ...] = ()
    """Limits that were crossed and only warn."""
    blind: str | None = None
    """The reason why a limit could not act, as a text."""
    ended: str | None = None
    """The processes that our stop or sweep ended, as its receipt sums them up."""
    unusable: str | None = None
    """The reason why a live agent did not take the prompt, so that its process was ended."""
    no_room: NoRoom | None = None


class Verdict(Struct, frozen=True):
    """A status, the line that explains it, and the rule that decided."""

    status: Status
    reason: str | None
    rule: str


_GOOD_END = "the agent reported a completed turn"
_STOPPED = "a stop was requested before the turn ended"
_LOST = "no process is alive, no exit code was recorded, and the output has no final event"
_UNUSABLE = "the live agent did not take the prompt, so its process was ended"
_GOOD_EXIT = "the command exited with code 0"
NO_PROOF = "exit 0 alone is no proof: the agent did not report a completed turn"
"""The rule behind a failed turn whose process ended well, and whose final event was not read."""


MEANINGS = {
    Status.QUEUED: "the turn is recorded; no runner has started it yet",
    Status.STARTING: "a runner has the turn and has not started the agent yet",
    Status.RUNNING: "the runner holds its lock, the agent is alive, no final event yet",
    Status.WAITING: "the agent asked a question and waits for the answer",
    Status.FINISHING: "final event seen, agent process still alive",
    Status.DONE: _GOOD_END,
    Status.FAILED: "the turn ended without being reported as completed",
    Status.STOPPED: _STOPPED,
    Status.LOST: _LOST,
}
"""The rule behind each status; a more exact one is recorded with an ended turn."""


def stop_reason(by: str) -> str:
    """Return the beginning of a stopped session's reason; ``by`` is the recorded actor of the stop."""
    return f"stopped by {by}"


def while_running(
    facts: Facts, crossed: tuple[str, ...] = (), blind: str | None = None, *, answered: bool = False
) -> tuple[Status, str | None]:
    """Return the status of a turn whose process lives, and its reason.

    ``answered``: all that the agent asks has an answer, which is on its way.
    """
    if facts.end is not None:
        return Status.FINISHING, "finished, process still exiting"
    if facts.waiting is not None and not answered:
        return Status.WAITING, facts.waiting
    remarks = (_denied(facts), facts.strange, facts.notice or _over_limit(crossed), blind)
    return Status.RUNNING, "; ".join(filter(None, remarks)) or None


def at_the_end(end: EndFacts) -> Verdict:
    """Return the verdict on a turn whose process is gone."""
    verdict = _by_its_end(end)
    return verdict if end.no_room is None else _without_room(verdict, end, end.no_room)


def _without_room(verdict: Verdict, end: EndFacts, room: NoRoom) -> Verdict:
    """Return the verdict with the disk's part in it; exit code 0 does not prove that a command's output is complete."""
    rule = f"{verdict.rule}; {room.what} ({room.evidence})"
    if verdict.status is Status.DONE and end.facts.end is None and room.cut:
        rule = f"{room.what} ({room.evidence}), and its output is cut off"
        return Verdict(Status.FAILED, f"its output is incomplete: {room.what} (exit 0)", rule)
    if verdict.status is Status.FAILED and not (end.facts.end == "failed" and end.facts.error):
        return Verdict(verdict.status, f"{room.what}: {verdict.reason}", rule)
    if verdict.status is Status.DONE:
        missing = "some of its output may be missing" if end.facts.end is None else "steps may be missing"
        return Verdict(verdict.status, "; ".join(filter(None, (verdict.reason, f"{room.what}: {missing}"))), rule)
    return Verdict(verdict.status, "; ".join(filter(None, (verdict.reason, room.what))), rule)


def _by_its_end(end: EndFacts) -> Verdict:
    if end.stopped_by is not None:
        reason = "; ".join(filter(None, (stop_reason(end.stopped_by), end.ended)))
        return Verdict(Status.STOPPED, reason, _STOPPED)
    if end.unusable is not None and end.facts.end is None:
        return Verdict(Status.FAILED, f"the live agent could not be used: {end.unusable}", _UNUSABLE)
    note = "the machine was rebooted" if end.rebooted else "the runner was killed" if end.runner_killed else None
    if end.succeeded or (end.lingered and end.facts.end == "completed"):
        return Verdict(Status.DONE, _done_note(end, note), _GOOD_END if end.facts.end else _GOOD_EXIT)
    if end.facts.end is not None or end.exit_code is not None or end.signal is not None:
        reason = _failure(end)
        return Verdict(Status.FAILED, f"{reason} ({note})" if note else reason, _failure_rule(end))
    return Verdict(Status.LOST, f"{note or 'its end was not seen'}, and the agent ended without a final event", _LOST)


def _done_note(end: EndFacts, note: str | None) -> str | None:
    notes = [_denied(end.facts), end.facts.strange]
    if end.lingered:
        notes.append("the process stayed after its final event and was ended")
    elif end.ended:
        notes.append(f"swept: {end.ended}")
    return "; ".join(filter(None, (*notes, _over_limit(end.crossed), end.blind, note))) or None


def _denied(facts: Facts) -> str | None:
    return denials(facts.denied, facts.denied_names) if facts.denied else None


def _over_limit(crossed: tuple[str, ...]) -> str | None:
    return f"over limit: {', '.join(crossed)}" if crossed else None


def _failure(end: EndFacts) -> str:
    if end.facts.end == "failed" and end.facts.error:
        return end.facts.error
    if end.signal is not None and not end.lingered:
        return f"killed by {end.signal}, not by agentdash"
    what = end.stderr_reason or end.facts.error or end.stdout_reason
    if end.exit_code:
        exit_text = f"exit {end.exit_code}: {what}" if what else f"exit {end.exit_code}"
        return f"completed, then {exit_text}" if end.facts.end == "completed" else exit_text
    if end.facts.end == "failed":
        return what or "the agent reported a failure"
    if end.facts.end == "completed":
        code = "exit code unknown" if end.exit_code is None else "exit 0 alone does not mean success for this agent"
        return f"completed, but {code}"
    return f"ended without a final event (exit 0){f': {what}' if what else ''}"


def _failure_rule(end: EndFacts) -> str:
    if end.facts.end == "failed":
        return "the agent's final event says that the turn failed"
    if end.signal is not None:
        return "a signal that agentdash did not send ended the agent"
    if end.exit_code:
        return "the exit code is not 0"
    return NO_PROOF
