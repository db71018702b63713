"""The notes in the list of steps: each turn's end, prompt and changes of settings; marks of the conversation."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from agentdash.sessions.agents.lost_conversation import lost_conversation
from agentdash.sessions.model.session import Step, Turn
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.rules.prompts.mode_changes import BETWEEN, ModeChange, changes_by_turn
from agentdash.sessions.text.units import duration
from agentdash.sessions.transcript.mark_steps import MarkStep
from agentdash.sessions.transcript.session_steps import Growth
from agentdash.tui.messages import OtherSessionAsked
from agentdash.tui.texts import conversation_texts
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.steps.headed_steps import NO_CUTS, Cuts, TurnNote


def turn_notes(
    turns: Sequence[Turn],
    prompt_states: Mapping[int, str] | None = None,
    *,
    retry_key: str = "",
    queue_key: str = "",
    continue_key: str = "",
) -> dict[int, TurnNote]:
    """Return the note of each turn, by its number.

    Args:
        retry_key: the key that sends an unconfirmed prompt of the newest turn again.
        queue_key: the key of the dialog in which those of earlier turns can be sent again.
        continue_key: the key that continues a conversation in a new session.
    """
    changes, states = changes_by_turn(turns), prompt_states or {}
    notes = {turn.n: TurnNote(_ending(turn, states.get(turn.n, "")), _line(changes.get(turn.n, ()))) for turn in turns}
    for turn in turns:
        if states.get(turn.n) == PromptState.UNCONFIRMED:
            key = retry_key if turn is turns[-1] and turn.status.ended else queue_key
            warning = f"prompt unconfirmed: {key} to send it again" if key else "prompt unconfirmed"
            notes[turn.n] = structs.replace(notes[turn.n], prompt=((warning, "failure"),))
        elif continue_key and turn is turns[-1] and lost_conversation(turn):
            way = conversation_texts.lost(continue_key)
            notes[turn.n] = structs.replace(notes[turn.n], prompt=((way, "failure"),))
    return notes


def _ending(turn: Turn, state: str) -> str:
    """Return the status of a turn, its duration if it has ended, and its prompt's state if that is not plain."""
    took = duration(turn.duration_ms) if turn.duration_ms is not None and turn.status.ended else ""
    status = "by hand" if turn.by_hand else str(turn.status)
    return "  ".join(filter(None, (status, took, _TOLD.get(state, ""))))


_TOLD: Mapping[str, str] = {
    PromptState.SENDING: "sending prompt",
    PromptState.SENT: "prompt sent",
    PromptState.UNSENT: "prompt unsent",
    PromptState.RESENT: "prompt sent again",
    PromptState.DISMISSED: "prompt dismissed",
}
"""The states that the status of the turn does not show already; an unconfirmed prompt has a line of its own."""


def _line(changes: Sequence[ModeChange]) -> Row:
    spans: list[tuple[str, str]] = []
    for change in changes:
        spans += [(BETWEEN, "dim")] if spans else []
        spans.append((change.text, "failure" if change.dangerous else "dim"))
    return tuple(spans)


def cuts_of(growth: Growth, undo_key: str, open_key: str) -> Cuts:
    """Return what the list shows of the marks and their keys; of a session without marks always the same value."""
    if not growth.marks:
        return NO_CUTS
    hints = {step.mark.id: f"{open_key} opens it" for section in growth.marks for step in section.steps if step.opens}
    undoable = growth.shown.undoable if growth.shown is not None else None
    if undoable is not None and undo_key:
        hints[undoable.id] = f"{undo_key} takes it back"
    return Cuts(growth.shown, hints)


def other_session(step: Step | None) -> OtherSessionAsked | None:
    """Return the request to open the other session of a fork; None for another step."""
    if not isinstance(step, MarkStep) or step.opens is None or step.mark.kind != MarkKind.FORK:
        return None
    mark = step.mark
    is_origin = step.opens == mark.origin and mark.turn is not None
    place = mark.turn or 1, _LAST_STEP if mark.step is None else mark.step
    return OtherSessionAsked(step.opens, place if is_origin else None)


_LAST_STEP = 1 << 30
"""An index beyond the last step of every turn: a place of that index is the last step."""
