"""Messages of other programs that claude holds instead of reading them, as asks (2.1.332).  Pure.

claude holds one whose sender runs with other permissions.  It shows its words, and waits for an answer without a limit
of time, once the host said that it shows held messages.  2.1.330 does neither: it drops the message after a while
(docs/protocols/claude.md, "Prompts of other programs").
"""

from msgspec import Struct, structs

from agentdash.sessions.agents.claude.live.control import request_line
from agentdash.sessions.agents.parsing.json_lines import Words
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict

SHOWS = "shows-held"
"""The id of the request that says so; claude announces held messages again after it."""

TOOL = "peer_message"
"""The name by which rules can mean such an ask."""

_KEY, _DECIDE = "held-", "decide-"
_LONGEST_ID = 100
_CAUSES = {
    "mode-mismatch": "its sender runs with other permissions than this session",
    "no-mode-asserted": "its sender does not say with which permissions it runs",
}


_UNDECIDABLE = "this version of claude takes no decision about it and drops it by itself; a denial only closes the ask"


class Preview(Struct):
    """The words of a held message."""

    text: Words = ""
    is_whole: bool = False
    """False if claude cut the text, or removed hidden characters or pictures."""


class Held(Struct):
    """The fields of ``system/peer_message_hold``."""

    state: str = ""
    hold_id: Words = ""
    message_uuid: Words = ""
    can_deliver: bool = False
    cause: str = ""
    outcome: str = ""
    preview: Preview | None = None

    @property
    def key(self) -> str:
        """The key of its ask; empty if it can have none."""
        name = self.hold_id or self.message_uuid
        return f"{_KEY}{name}" if 0 < len(name) <= _LONGEST_ID else ""


def ask_of_held(held: Held, cwd: str) -> Ask | None:
    """Return the ask of a held message; None before a version that shows its words has shown them."""
    if not held.key:
        return None
    title = "read a message from another program"
    base = Ask(key=held.key, kind=AskKind.TOOL, tool=TOOL, title=title, cwd=cwd, verdicts=(Verdict.DENY,))
    if not held.hold_id:
        return structs.replace(base, why=_UNDECIDABLE)
    if held.preview is None:
        return None
    whole, why = held.preview.is_whole, _CAUSES.get(held.cause, "the settings of claude hold it")
    if not whole:
        why += "; it has more than the shown text, so that it can only be dropped"
    verdicts = (Verdict.ALLOW, Verdict.DENY) if whole and held.can_deliver else base.verdicts
    return structs.replace(base, body=held.preview.text, why=why, verdicts=verdicts)


def decision(ask: Ask, answer: Answer) -> bytes | None:
    """Return the line that answers the ask of a held message; None for a verdict that it does not take."""
    if answer.verdict not in ask.verdicts:
        return None
    how, hold = "deliver" if answer.verdict is Verdict.ALLOW else "drop", ask.key.removeprefix(_KEY)
    return request_line(f"{_DECIDE}{hold}", "decide_held_peer_message", hold_id=hold, decision=how)


def failed_decision(request_id: str) -> str | None:
    """Return the key of the ask whose decision claude refused, by the id of the request; None for another request."""
    return f"{_KEY}{request_id.removeprefix(_DECIDE)}" if request_id.startswith(_DECIDE) else None
