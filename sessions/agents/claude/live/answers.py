"""The user's answer to an ask as claude expects it in a ``control_response``.  Pure.

claude reads these answers, and prints each of them once (docs/protocols/claude.md, "Approvals").
"""

from typing import Any

import msgspec
from msgspec import Raw

from ....asks.model import Answer, Ask, AskKind, Verdict
from ...mcp_forms import content_of
from ...parsing.json_lines import NULL, UNREADABLE
from ..control_events import Request
from .permissions import for_session
from .questions import answers_of

_NO_WORDS = "The user does not allow this."
"""claude needs words with each denial: they are the result of the call."""

CANCELLED: dict[str, Any] = {"action": "cancel"}
"""The answer to a form that is closed without a decision."""

_AGREES = frozenset({Verdict.ALLOW, Verdict.ALWAYS})
_ANSWERS = _AGREES | {Verdict.ANSWER}


def response_to(ask: Ask, request: Request, answer: Answer) -> dict[str, Any] | None:
    """Return the answer to a request; None if the request cannot be answered in this way.

    An ``always`` for which claude has no suggestion allows it once.
    """
    verdict = answer.verdict
    if ask.kind is AskKind.FORM:
        if verdict in _ANSWERS:
            return {"action": "accept", "content": content_of(ask.questions, answer.values)}
        return CANCELLED if verdict is Verdict.STOP else {"action": "decline"}
    if verdict in (Verdict.DENY, Verdict.STOP):
        denied: dict[str, Any] = {"behavior": "deny", "message": answer.message or _NO_WORDS}
        return denied | ({"interrupt": True} if verdict is Verdict.STOP else {})
    if ask.kind is AskKind.QUESTION:
        members = _members(request.input)
        return {"behavior": "allow", "updatedInput": {**members, "answers": answers_of(answer)}}
    if verdict not in _AGREES:
        return None
    allowed = {"behavior": "allow", "updatedInput": request.input if request.input != NULL else {}}
    if verdict is Verdict.ALWAYS and ask.always:
        allowed["updatedPermissions"] = for_session(request.permission_suggestions)
    return allowed


def _members(given: Raw) -> dict[str, Raw]:
    try:
        return msgspec.json.decode(given, type=dict[str, Raw])
    except UNREADABLE:
        return {}
