"""Texts about forks, steps back, summaries and new sessions of a conversation: pure, so that words can be tested."""

from typing import TYPE_CHECKING

from agentdash.sessions.model.session import Session, Step
from agentdash.sessions.rules.conversation.history import place_words
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.conversation.words import mark_words
from agentdash.sessions.text.sanitize import one_line, shorten
from agentdash.sessions.text.units import count
from agentdash.tui.texts.act_texts import Said
from agentdash.tui.texts.screen_texts import title
from agentdash.widgets.drawing.short_forms import place

if TYPE_CHECKING:
    from agentdash.sessions.service.prompts.effects import Effect, Scope
    from agentdash.sessions.transcript.visible.going_back import Here


Fact = tuple[str, str]
"""A label and a text."""

READ_ONLY = "The dashboard is read-only."
NO_STEP = "No step selected."
STILL_LOADING = "The session is still being read. Try again when it is."
NOTHING_TO_TAKE_BACK = "Nothing to take back in this conversation."
FORK_HINT = "The first prompt of the fork"
COMPACT_HINT = "What the summary must hold (can be empty)"
NOTHING_BEFORE = "Nothing comes before the first prompt. Choose a later step."
NO_TABLE = "This screen shows no other session. Open it in the dashboard."

NOT_IN_TABLE = "The table does not show that session: it is filtered out, archived or deleted."

_FIRST_LINE = 200
"""Characters of the step that the user chose."""


def busy(session: Session) -> str:
    """Return why the conversation of a session cannot be changed now."""
    return Said(session, f" is {session.status}: its conversation can be changed when the turn has ended.")


def in_trash(session: Session) -> str:
    """Return why the conversation of a deleted session cannot be changed."""
    return Said(session, " is in the trash.")


def no_conversation(session: Session) -> str:
    """Return why a session has no conversation to change."""
    return Said(session, " is a plain command: it has no conversation.")


def fork_title(session: Session, here: "Here") -> str:
    """Return the title of the dialog that forks."""
    return f'Fork "{title(session)}" at {place_words(here.turn, here.step)}'


def rewind_title(session: Session, here: "Here") -> str:
    """Return the title of the dialog that goes back."""
    return f'Go back to {place_words(here.turn, here.step)} of "{title(session)}"?'


def undo_title(mark: Mark) -> str:
    """Return the title of the dialog that takes a mark back."""
    return "Take the summary back?" if mark.kind == MarkKind.COMPACT else "Show again what was hidden?"


def compact_title(session: Session) -> str:
    """Return the title of the dialog that compacts."""
    return f'Compact "{title(session)}"'


def kept(here: "Here", last: Step | None) -> Fact:
    """Return what stays: all up to the first words of the last step that stays."""
    if here.turn is None:
        return "keeps", "nothing: the conversation begins again"
    text = (last.text or last.command or last.tool or "") if last is not None else ""
    words = one_line(shorten(text.lstrip().partition("\n")[0], _FIRST_LINE))
    return "keeps", f'all up to "{words}"' if words else f"all up to {place_words(here.turn, here.step)}"


def hides(gone: "Scope", undo_key: str) -> Fact:
    """Return what a step back hides, and the key that shows it again."""
    return "hides", f"{amount(gone)}; {undo_key} takes it back" if gone.steps else "nothing"


def amount(scope: "Scope") -> str:
    """Return a number of turns and steps; a part of a turn counts as one."""
    return f"{count(scope.turns, 'turn')}, {count(scope.steps, 'step')}"


def goes_on(session: Session, how: str) -> Fact:
    """Return how the agent goes on at a place."""
    agent = one_line(session.agent)
    ways = {
        "native": f"natively: {agent} goes on in its own conversation from there",
        "retold": f"retold: {agent} reads the conversation up to there as text",
    }
    return "goes on", ways.get(how, f"in a new conversation of {agent}")


def stays(gone: "Scope", waiting: int) -> Fact:
    """Return what a step back does not undo: files, commands, the queue."""
    parts = [
        (gone.files_changed, count(gone.files_changed, "changed file")),
        (gone.commands, f"{count(gone.commands, 'command')} that ran"),
        (waiting, f"{count(waiting, 'prompt')} in the queue"),
    ]
    return "not undone", ", ".join(words for number, words in parts if number) or "nothing: no file changed"


def folder(session: Session) -> Fact:
    """Return where a fork works: the files are those of now, not those of then."""
    return "works in", f"{place(session.cwd)}, with the files as they are now"


def asked_again(here: "Here", draft: str) -> list[Fact]:
    """Return the effect of choosing a prompt: it comes back into the box, unless that has a draft."""
    if not here.prompt:
        return []
    comes = "the draft in the prompt box stays" if draft else "comes back into the prompt box"
    return [("prompt", f"{comes}: {one_line(shorten(draft or here.prompt, _FIRST_LINE))}")]


def taken_back(mark: Mark, effect: "Effect") -> list[Fact]:
    """Return the effect of taking a mark back."""
    shows, gone = effect.shown, effect.hidden
    facts = [("takes back", mark_words(mark)), ("shows", amount(shows) if shows.steps else "no other step")]
    return [*facts, *([("hides", amount(gone))] if gone.steps else [])]


def summarized(turns: int, undo_key: str) -> list[Fact]:
    """Return the effect of a summary."""
    return [
        ("stands for", f"{count(turns, 'turn')}: the agent goes on from the summary alone"),
        ("keeps", f"every step to be read here; {undo_key} takes the summary back"),
    ]


def lost(key: str) -> str:
    """Return the way on after the agent did not find its conversation."""
    return f"conversation not found: {key} to continue it in a new session"


def dialog_title(session: Session) -> str:
    """Return the title of the dialog that continues a session."""
    return f'Continue "{title(session)}"'
