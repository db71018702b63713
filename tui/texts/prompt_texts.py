"""Texts about prompts: the queue, the next one, its mode, earlier ones, templates.  Pure, so words can be tested."""

from collections.abc import Collection, Mapping, Sequence

from textual.content import Content

from agentdash.sessions.agents.registry import is_agent, takes_prompts
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.attention import unconfirmed
from agentdash.sessions.rules.prompts.delivery import first_time
from agentdash.sessions.rules.prompts.due import clock_words
from agentdash.sessions.settings.sections import PromptTemplate
from agentdash.sessions.storage.prompts.prompt_history import PastPrompt
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt, Unconfirmed
from agentdash.sessions.text.sanitize import cell_width, cut, one_line, pad
from agentdash.sessions.text.units import age, count
from agentdash.tui.texts.screen_texts import quoted, title
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.spans import Row, Span
from agentdash.widgets.lists.row_list import Entry

_TITLE_CELLS = 30
_LABEL_CELLS = 40
"""Cells of a title and the effect beside it, so that a narrow pane shows the effect whole."""

_LEAST_TITLE = 12

_STEERS = "steers now: it reads this at its next step"


def effect(session: Session) -> str:
    """Return the effect of the next prompt: ``turn 4``, ``queued #2, after turn 3``, ``steers now: …``."""
    if session.held is None and _takes_prompts_now(session):
        return _STEERS
    place = f"queued #{session.queued + 1}"
    if session.taken_by is not None:
        return f"{place}, by hand: {one_line(session.taken_by.holder)}"
    if session.held is not None:
        return f"{place}, held: {one_line(session.held)}"
    if session.status.ended and (not session.queued or session.due_at is not None):  # those wait for a time
        return f"turn {session.turn + 1}{', at once' if session.warm_since is not None else ''}"
    return f"{place}, after turn {session.turn}"


def target(session: Session, answer_key: str) -> str:
    """Return the label of the prompt box for a session; ``answer_key`` shows what the session asks."""
    if session.deleted_at is not None:
        return "in the trash: no prompts"
    if not takes_prompts(session.agent):
        return "plain command: no prompts"
    what = f"{answer_key} answers first, or write: read after it" if session.asking else effect(session)
    room = max(_LEAST_TITLE, min(_TITLE_CELLS, _LABEL_CELLS - cell_width(what)))
    return f"→ {title(session, room)} ({what})"


FOR_ALL = "One prompt for all of them"
"""The hint in an empty prompt box for several sessions."""


def prompt_hint(session: Session | None, interrupt_key: str = "") -> str:
    """Return the hint in an empty prompt box; empty if the session takes no prompt."""
    if session is None:
        return "Describe a task"
    if session.deleted_at is not None or not takes_prompts(session.agent):
        return ""
    if session.status.ended:
        return "Reply"
    if session.asking:
        return "Read after your answer"
    instead = f" ({interrupt_key}: interrupt and send)" if interrupt_key else ""
    return f"{'Steer' if effect(session) == _STEERS else 'Queue a prompt'}{instead}"


def queue_lines(
    session: Session, prompts: Sequence[QueuedPrompt], width: int, *, most: int, queue_key: str
) -> list[Content]:
    """Return the lines above the prompt box: what waits, what it waits for, and the first prompts.

    Args:
        prompts: those that wait; empty if they are not read yet.
        width: cells of a line.
        most: the greatest number of lines.
        queue_key: the key that shows the whole queue.
    """
    if not (session.queued or session.unconfirmed or session.held):
        return []
    lines = [_queue_head(session, prompts, queue_key)]
    texts = [f"{place} {one_line(prompt.shown)}" for place, prompt in enumerate(prompts, 1)]
    room = width - lines[0].cell_length - cell_width(_APART)
    if texts and (most == 1 or len(texts) == 1) and room >= _LEAST_PROMPT:
        lines[0] += Content.styled(f"{_APART}{cut(texts.pop(0), room)}", MUTED)
    shown, more = texts[: most - 1], len(texts) - (most - 1)
    for number, text in enumerate(shown, 1):
        tail = f"{_APART}+{more} more" if more > 0 and number == len(shown) else ""
        lines.append(Content.styled(f"  {cut(text, width - 2 - cell_width(tail))}{tail}", MUTED))
    return lines


_APART = "   "
_LEAST_PROMPT = 20
"""Least cells of a prompt behind the number of prompts."""


def _queue_head(session: Session, prompts: Sequence[QueuedPrompt], queue_key: str) -> Content:
    """Return the number of prompts that wait, what they wait for, and the key that helps."""
    parts = []
    if session.unconfirmed:
        parts.append(Content.styled(unconfirmed(session.unconfirmed), "$text-error"))
    steering = sum(_steers(session, prompt) for prompt in prompts)
    queued = max(0, session.queued - steering)
    if steering:
        parts.append(Content.styled(f"{count(steering, 'steers', 'steer')} at the next step", MUTED))
    if session.held:
        number = f"{queued} queued, " if queued else ""
        parts.append(Content.styled(f"{number}held: {one_line(session.held)}", "bold $text-warning"))
    elif queued and session.taken_by is not None:
        parts.append(Content.styled(f"{queued} queued, by hand: {one_line(session.taken_by.holder)}", MUTED))
    elif queued and session.due_at is not None:
        parts.append(Content.styled(f"{queued} queued, {first_time(session)}", MUTED))
    elif queued:
        parts.append(Content.styled(f"{queued} queued, after turn {session.turn}", MUTED))
    head = Content(_APART).join(parts)
    what = "send it again" if session.unconfirmed else "release" if session.held else ""
    return head + Content.styled(f"{_APART}{queue_key} to {what}", MUTED) if what else head


def _steers(session: Session, prompt: QueuedPrompt) -> bool:
    """Return whether a prompt that waits is read in the turn that runs."""
    free = prompt.at_once or session.held is None
    return free and prompt.steers and _takes_prompts_now(session)


def _takes_prompts_now(session: Session) -> bool:
    """Return whether the agent reads prompts in the turn that runs; during a stop it reads none."""
    return session.steers and session.stopping is None


def queue_row(session: Session, place: int, prompt: QueuedPrompt, now: int, width: int) -> list[Row]:
    """Return a prompt as a line of the queue dialog: position, age, state, first words."""
    steers = "steers" if _steers(session, prompt) else ""
    waits = "held" if session.held else "by hand" if session.taken_by is not None else "queued"
    if prompt.due_at is not None and waits == "queued":
        waits = f"until {clock_words(prompt.due_at, now)}"
    state = steers or ("next" if prompt.at_once else waits)
    role = "attention" if state == "held" else "dim"
    return _row(str(place), prompt.created_at, (state, role), prompt.shown, now, width)


def _row(place: str, since: int, state: Span, text: str, now: int, width: int) -> list[Row]:
    head = f"{place:>3}  ", pad(age(now - since), 5), pad(state[0], 12)
    words = one_line(text, max(0, width - sum(map(cell_width, head))))
    return [((head[0], "text"), (head[1], "dim"), (head[2], state[1]), (words, "text"))]


def queue_holder(session: Session) -> str:
    """Return who holds up the queue of a session that is open by hand; empty if it is not."""
    return f"by hand: {one_line(session.taken_by.holder)}" if session.taken_by is not None else ""


def unconfirmed_row(prompt: Unconfirmed, now: int, width: int) -> list[Row]:
    """Return an unconfirmed prompt as a line of the queue dialog."""
    return _row(f"t{prompt.turn}", prompt.created_at, ("unconfirmed", "failure"), prompt.text, now, width)


def queue_keys(session: Session, *, on_queued: bool, on_unconfirmed: bool) -> str:
    """Return the keys of the queue dialog that apply now."""
    keys = ["Enter edit", "J K move", "s send now", "D cancel"] if on_queued else []
    keys += ["R send again", "D dismiss"] if on_unconfirmed else []
    keys += ["r release" if session.held else "h hold", "Esc close"]
    return "   ".join(keys)


NOTHING_ALLOWS = "No setting allows what was denied."


def retry_offers(allowance: str, *, unchanged: bool) -> list[tuple[str, str]]:
    """Return the ways to send the prompt of a turn again that was denied something, each with its letter."""
    return [("a", f"again, with {one_line(allowance)}"), *([("r", "again, unchanged")] if unchanged else [])]


def interrupt_effect(session: Session) -> str:
    """Return the effect of interrupting the turn of a session; a live agent keeps its process."""
    held = f" {count(session.queued, 'queued prompt is', 'queued prompts are')} held." if session.queued else ""
    ends = "Ends the turn and keeps its process for" if session.steers else "Ends its process and resumes with"
    return f"{ends} the next prompt.{held}"


def no_modes(session: Session | None) -> str:
    """Return why no permission mode can be chosen."""
    if session is None:
        return "A permission mode is chosen for one session."
    if not is_agent(session.agent):
        return f"This version of agentdash does not have the agent {one_line(session.agent)}."
    return f"{one_line(session.agent)} has no permission modes."


def editing(place: int) -> str:
    """Return the label of the prompt box while it has a queued prompt."""
    return f"editing queued #{place}: Enter saves, Esc cancels"


NO_TEMPLATES = "No templates: add [templates.NAME] to the settings."
NO_PROMPTS = "No earlier prompts."
EDITED_FILE = "prompt.md"


def prompt_entries(prompts: Sequence[PastPrompt], now: int) -> list[Entry]:
    """Return the lines of the search in earlier prompts."""
    return [Entry(head=age(now - prompt.at), text=prompt.text) for prompt in prompts]


def template_entries(templates: Mapping[str, PromptTemplate]) -> list[Entry]:
    """Return the lines of the list of templates."""
    return [Entry(head=name, note=one.description, text=one.text) for name, one in templates.items()]


def broadcast_effect(text: str, skipped: int, *, template: str = "") -> str:
    """Return the effect of a prompt to several sessions; of a template, ``text`` is the first session's prompt."""
    sends = f"Sends template {template} to each, filled in. The first gets" if template else "Sends"
    others = f" Skips {count(skipped, 'session')} that cannot take a prompt." if skipped else ""
    return f"{sends} {quoted(text)}{'.' if template else ' to each.'}{others}"


_LETTERS = "abcdefghi"


def mode_offers(modes: Sequence[str], following: str | None, dangerous: Collection[str]) -> list[tuple[str, str]]:
    """Return the modes of an agent, each with its letter.

    The mode of the next prompt and those without limits are marked.
    """
    return [(letter, mode + _marks(mode, following, dangerous)) for letter, mode in zip(_LETTERS, modes, strict=False)]


UNLIMITED = "Nothing of what its agent does will be asked for or refused."


def _marks(mode: str, following: str | None, dangerous: Collection[str]) -> str:
    marks = ["no limits"] * (mode in dangerous) + ["next prompt"] * (mode == following)
    return f" ({', '.join(marks)})" if marks else ""


def heading(session: Session) -> str:
    """Return the title of the list of modes."""
    return f"Mode of {one_line(session.label, 30)} from now on"
