"""The headline of a session above its steps: its title, its state and the facts that fit."""

from collections.abc import Sequence

from msgspec import structs
from textual.content import Content

from agentdash.sessions.agents.registry import agent_named, is_agent
from agentdash.sessions.model.session import Session, Status, TurnMode, short_id
from agentdash.sessions.rules.costs.cost import cost_words
from agentdash.sessions.rules.costs.usage_totals import session_cost, session_tokens
from agentdash.sessions.rules.family_facts import family_forms
from agentdash.sessions.text.sanitize import cell_width, cut, one_line
from agentdash.tui.texts.context_texts import compaction_advised, context_forms
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.table.columns import state_mark, state_word
from agentdash.widgets.table.row_cells import cut_title


def headline(
    session: Session,
    width: int,
    place: str = "",
    *,
    following: bool,
    follow_key: str = "f",
    facts: bool = True,
    mode: TurnMode | None = None,
) -> Content:
    """Return the line above the steps; its end shows whether they are followed.

    Args:
        width: cells of the line.
        place: where the cursor is among the steps; the last word of the line.
        following: True if the newest step is followed.
        follow_key: the key that follows it.
        facts: True to show the facts behind the title as far as there is room: the state always, the others whole or
            not at all.  False if they have a line of their own.
        mode: the settings of its newest turn, whose permissions are one of the facts.
    """
    note = "following" if following else f"follow: off ({follow_key})"
    note += f"  {place}" if place else ""
    state = _state(session, width) if facts else Content("")
    room = width - cell_width(state.plain) - len(note) - 2
    if room < 0:
        return state
    title = cut_title(one_line(session.label), max(0, room - len(_GAP) if facts else room))
    text = Content(_GAP if facts and title else "").join([Content(title)] * bool(title) + [state] * facts)
    if facts:
        text = _with_facts(text, session, mode, width - len(note) - 2)
    gap = width - cell_width(text.plain) - len(note)
    return Content.assemble(text, " " * gap, (note, MUTED if following else "$text-warning"))


def headline_facts(session: Session, width: int, mode: TurnMode | None = None) -> Content:
    """Return the line below the title: the state, then the facts that there is room for."""
    return _with_facts(_state(session, width), session, mode, width)


_GAP = "   "
_BETWEEN = " · "


def _state(session: Session, width: int) -> Content:
    """Return the state with its mark, in its colour; only the word if there is no room for both."""
    word, style = state_word(session), _STATE_STYLES.get(session.status, MUTED)
    if session.taken_by is not None:
        style = "$text-primary"
    elif session.is_stuck or session.asks_user:
        style = "bold $text-warning"
    whole = f"{state_mark(session)} {word}"
    return Content.styled(
        whole if cell_width(whole) <= width else cut(word, width), MUTED if session.put_away else style
    )


_STATE_STYLES = {
    Status.STARTING: "$text-primary",
    Status.RUNNING: "$text-primary",
    Status.FINISHING: "$text-primary",
    Status.WAITING: "bold $text-warning",
    Status.DONE: "$text-success",
    Status.FAILED: "$text-error",
    Status.LOST: "$text-error",
}


def _with_facts(text: Content, session: Session, mode: TurnMode | None, width: int) -> Content:
    """Return the text with the facts that fit behind it, the most important first."""
    mode = _mode_in_force(session, mode)
    for forms in _facts(session, mode):
        room = width - cell_width(text.plain) - len(_BETWEEN)
        fact = next((form for form in forms if form and cell_width(form) <= room), "")
        if fact:
            alarming = mode is not None and mode.dangerous and fact == mode.permissions
            text += Content.styled(f"{_BETWEEN}{fact}", "$text-error" if alarming else MUTED)
    return text


def _mode_in_force(session: Session, mode: TurnMode | None) -> TurnMode | None:
    """Return the settings of a turn with the mode that a live agent took after its start.

    An agent that uses a change from the next turn on runs the present turn with the settings of its start.
    """
    if mode is None or session.mode is None or not is_agent(session.agent):
        return mode
    agent = agent_named(session.agent)
    if not session.status.ended and (agent.live is None or agent.live.adjusts_from == "turn"):
        return mode
    return structs.replace(mode, permissions=session.mode, dangerous=agent.is_dangerous(session.mode))


def _facts(session: Session, mode: TurnMode | None) -> Sequence[Sequence[str]]:
    """Return the facts of a headline, each with its forms, the longest first; "" is not known."""
    agent, tokens = one_line(session.agent), session.usage.total_tokens
    taken = session.taken_by
    context = context_forms(session)
    advised = compaction_advised(session)
    return (
        (one_line(taken.holder), one_line(taken.place)) if taken is not None else ("",),
        (one_line(f"{agent} {session.model or ''}"), agent),
        context if advised else ("",),
        (place(one_line(session.cwd)),),
        (one_line(mode.permissions or "") if mode else "",),
        *family_forms(session),
        (f"turn {session.turn}",),
        (f"after {short_id(session.predecessor)}" if session.predecessor else "",),
        ("warm: its process waits for prompts", "warm") if session.warm_since is not None else ("",),
        (f"{session_tokens(session)} tokens" if tokens is not None else "",),
        (cost_words(session_cost(session)),),
        ("",) if advised else context,
        (session.short_id,),
    )
