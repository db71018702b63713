"""The effect of an act on a conversation: the steps that it hides and shows, and the things that it leaves."""

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.conversation.history import place_words, step_is_visible
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.digest.collect import digest
from agentdash.sessions.rules.launch import Way
from agentdash.sessions.transcript.visible.visible_steps import Source

Visible = Mapping[int, int | None]
"""The visible turns, each with the number of its last visible step; None for all of them."""


class Scope(Struct, frozen=True, kw_only=True):
    """A number of steps, and what was done in them."""

    turns: int = 0
    """Turns with at least one of the steps."""
    steps: int = 0
    messages: int = 0
    """Prompts, and messages of the agent."""
    commands: int = 0
    files_changed: int = 0
    """Different files."""
    files: tuple[str, ...] = ()
    """The first of them, relative to the session's folder."""


class Effect(Struct, frozen=True, kw_only=True):
    """The effect of a rewind, an undo or a fork: before it, to decide by; after it, as a report."""

    session: str
    kind: MarkKind
    turn: int | None
    """The turn behind which the next one goes on; None for the beginning."""
    step: int | None
    """The step of that turn behind which it goes on; None for its end."""
    how: Way
    """The way in which the agent goes on there: ``native``, ``retold`` or ``new``."""
    hidden: Scope = Scope()
    """The steps that are no longer visible.  Their commands and changes to files are not undone."""
    shown: Scope = Scope()
    """The steps that are visible again."""
    waiting: int = 0
    """Prompts that wait in the queue, and stay there."""
    mark: Mark | None = None
    """The mark that was made; None before."""

    @property
    def place(self) -> str:
        """The place in words."""
        return place_words(self.turn, self.step)


def scope(source: Source, inside: Visible, outside: Visible) -> Scope:
    """Return the scope of the steps that are visible in one view and not in another.

    Only turns of which the visible part differs are read, and one step at a time is in memory.

    Raises:
        StoreError: a file cannot be read.
    """
    changed = {turn for turn in inside if turn not in outside or inside[turn] != outside[turn]}
    if not changed:
        return Scope()
    turns: Counter[int] = Counter()
    messages = 0

    def counted() -> Iterator[Step]:
        nonlocal messages
        for step in source.steps(changed):
            at = step.turn, step.index
            if step_is_visible(inside, *at) and not step_is_visible(outside, *at):
                turns[step.turn] += 1
                messages += step.kind in (StepKind.PROMPT, StepKind.MESSAGE) and step.parent is None
                yield step

    facts = digest(counted(), source.session.cwd)
    return Scope(
        turns=len(turns), steps=turns.total(), messages=messages,
        commands=facts.commands, files_changed=facts.files_changed, files=facts.files,
    )  # fmt: skip
