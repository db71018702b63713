"""The verdict of claude's ``result``: the only event that decides how a turn ended (Claude Code 2.1.197 to 2.1.330).

Three of its fields decide; they are never guessed (docs/protocols/claude.md, "Results").

- ``is_error``: true, ``"true"`` and 1 mean an error; false, ``"false"``, 0 and null mean none; if it is missing,
  ``subtype`` alone decides.
- ``subtype``: ``success`` or the name of an error; if it is missing, an ``is_error`` of false decides.
- ``stop_reason``: why the model stopped (Messages API, "Stop reasons").  A cut answer is not a good end; if the field
  is missing or null, the stream broke off, unless no model was asked (:func:`is_local`).

If one of them has another type, or ``is_error`` and ``subtype`` are both missing, nothing proves a good end: the turn
failed, and the reason names the field.  Every other field can be missing or have any type.
"""

from collections.abc import Sequence

from agentdash.sessions.agents.claude.events import Result
from agentdash.sessions.agents.parsing.tolerant_decoder import Unread

DECIDING = ("is_error", "subtype", "stop_reason")
"""The fields that decide how the turn ended."""

CUT = {
    "max_tokens": "the answer was cut off: it reached the limit of output tokens (max_tokens)",
    "model_context_window_exceeded": "the answer was cut off: the model's context window is full"
    " (model_context_window_exceeded)",
    "refusal": "the model refused to answer (refusal)",
    "pause_turn": "the model paused and was not resumed (pause_turn)",
    "compaction": "the model paused for a compaction and was not resumed (compaction)",
}
"""Stop reasons that mean an incomplete answer.

``end_turn``, ``stop_sequence`` and ``tool_use`` (a tool or a hook ended the turn) mean a complete answer.  So does a
reason that a later version of the API adds, because ``is_error`` and ``subtype`` have called the turn a success.
"""


def is_local(event: Result) -> bool:
    """Return whether a success is that of a command of claude itself: no model was asked, so none gave a stop reason.

    Such a result has ``num_turns`` 0 and no ``terminal_reason`` (``/context``, ``/clear``, ``/compact``, an unknown
    command; 2.1.197 to 2.1.332); that of a cut answer has 1 and ``completed``.
    """
    good = event.subtype == "success" and event.is_error is False
    return good and event.num_turns == 0 and event.stop_reason is None and event.terminal_reason is None


def failure(event: Result, unread: Sequence[Unread], *, spoken: bool = True) -> str | None:
    """Return the reason why a result is not the proper end of a good turn; None if it is.

    Args:
        unread: its fields that could not be read.
        spoken: the model spoke since the last result, so that this one cannot be that of a command of claude itself.
    """
    if event.is_error or (event.subtype and event.subtype != "success"):
        return _error(event)
    for field in unread:
        if field.name in DECIDING:
            return f"the result's {field.name} could not be read: {field.value}"
    if event.is_error is None and not event.subtype:
        return "the result does not report success or failure"
    if is_local(event) and not spoken:
        return None
    if not event.stop_reason:
        return "the answer was cut off: no stop reason"
    return CUT.get(event.stop_reason)


def _error(event: Result) -> str:
    # An interrupted turn has a note of claude to itself in place of a reason.
    errors = [error for error in event.errors if not error.startswith("[ede_diagnostic]")]
    why = f" ({event.terminal_reason})" if event.terminal_reason else ""
    if not event.is_error and event.subtype and not event.subtype.startswith("error"):
        # Its text is the answer: nothing says that it is the reason.
        return f"the result is neither success nor an error: {event.subtype}{why}"
    return event.result or "\n".join(errors) or f"{event.subtype or 'error'}{why}".replace("_", " ")
