"""Texts about the queue of a session and about its next prompt: pure functions, so that the words can be tested."""


from ..sessions.agents.registry import takes_prompts
from ..sessions.model import Receipt, Session
from ..sessions.prompts.prompter import Sent
from ..sessions.text.sanitize import cell_width, one_line
from ..sessions.text.units import count
from .keys.actions import can_interrupt
from .texts import title

_TITLE_CELLS = 30
_LABEL_CELLS = 44
"""Cells of a title and the effect beside it, so that a narrow pane shows the effect whole."""

_LEAST_TITLE = 12


def effect(session: Session) -> str:
    """Return the effect of the next prompt: ``turn 4``, ``queued #2, after turn 3``, ``queued #1, held: …``."""
    place = f"queued #{session.queued + 1}"
    if session.held is not None:
        return f"{place}, held: {one_line(session.held)}"
    if session.status.ended and not session.queued:
        return f"turn {session.turn + 1}"
    return f"{place}, after turn {session.turn}"


def target(session: Session) -> str:
    """Return the label of the prompt box for a session."""
    if session.deleted_at is not None:
        return "in the trash: no prompts"
    if not takes_prompts(session.agent):
        return "plain command: no prompts"
    what = effect(session)
    room = max(_LEAST_TITLE, min(_TITLE_CELLS, _LABEL_CELLS - cell_width(what)))
    return f"→ {title(session, room)} ({what})"


def prompt_hint(session: Session | None, interrupt_key: str = "") -> str:
    """Return the hint in an empty prompt box; empty if the session takes no prompt."""
    if session is None:
        return "Describe a task"
    if session.deleted_at is not None or not takes_prompts(session.agent):
        return ""
    if session.status.ended:
        return "Reply"
    instead = f" ({interrupt_key}: interrupt and send)" if interrupt_key and can_interrupt(session) else ""
    return f"Queue the next prompt{instead}"


NOTHING_ALLOWS = "No setting allows what was denied."


def retry_offers(allowance: str, *, unchanged: bool) -> list[tuple[str, str]]:
    """Return the ways to send the prompt of a turn again that was denied something, each with its letter."""
    return [("a", f"again, with {one_line(allowance)}"), *([("r", "again, unchanged")] if unchanged else [])]


def interrupt_effect(session: Session) -> str:
    """Return the effect of interrupting the turn of a session."""
    held = f" {count(session.queued, 'queued prompt is', 'queued prompts are')} held." if session.queued else ""
    return f"Ends its process and resumes with the next prompt.{held}"


def interrupted(session: Session, receipt: Receipt, sent_after: Sent | None) -> str:
    """Return the message after a turn was interrupted."""
    after = f" Sent: {sent_after.answer}." if sent_after is not None else ""
    return f"Interrupted turn {session.turn}: {receipt.summary()}.{after}"


def no_modes(session: Session | None) -> str:
    """Return why no permission mode can be chosen."""
    if session is None:
        return "A permission mode is chosen for one session."
    return f"{one_line(session.agent)} has no permission modes."


def editing(place: int) -> str:
    """Return the label of the prompt box while it has a queued prompt."""
    return f"editing queued #{place}: Enter saves, Esc cancels"


def sent(answer: str) -> str:
    """Return the message after a prompt was accepted."""
    return f"{answer[:1].upper()}{answer[1:]}."
