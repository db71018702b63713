"""The title of a step's document: kind, turn and step, ending, duration and start time."""

from ...sessions.model import Step, StepKind, StepStatus
from ...sessions.text import units
from ...sessions.text.sanitize import one_line
from ...sessions.transcript.blocks import ENDINGS, Description, Prose
from ...sessions.transcript.kind_names import kind_name
from ..document.model import NAME
from ..drawing import glyphs
from ..drawing.spans import Row, Span
from ..drawing.step_roles import ENDING_ROLES, error_role


def title(step: Step, described: Description) -> Row:
    """Short facts, to be shown with dots between them; unknown ones are left out."""
    kind: Span = (f"{glyphs.KINDS[step.kind]} {kind_name(step.kind)}", "strong")
    name = one_line(described.name, NAME)
    first = described.body[0]
    note = first.note if isinstance(first, Prose) else ""
    times = () if step.at is None else (described.took, units.moment(step.at))
    facts: list[Span] = [(fact, "dim") for fact in (note, *times) if fact]
    return (kind, *([(name, "name")] if name else []), *_place(step), *_ending(step), *facts)


def _place(step: Step) -> list[Span]:
    """The turn and the step; no number for the turn's prompt, which is its step 0."""
    facts = [f"turn {step.turn}"]
    if step.index > 0 or (step.index == 0 and step.kind is not StepKind.PROMPT):
        facts.append(f"step {step.index}")
    if step.parent:
        facts.append("by a sub-agent")
    return [(fact, "dim") for fact in facts]


def _ending(step: Step) -> list[Span]:
    """The ending with its mark from the list of steps, and always with a word."""
    if step.kind is StepKind.ERROR and step.fatal is not None:
        return [("fatal" if step.fatal else "not fatal", error_role(step.fatal))]
    if step.status is None:
        return [(f"exit {step.exit_code}", "dim")] if step.exit_code is not None else []
    sign = ENDINGS[step.status]
    word = _WORDS.get(step.status, "") if step.exit_code is None else f"exit {step.exit_code}"
    return [(" ".join(filter(None, (sign, word))), ENDING_ROLES[step.status])]


_WORDS = {StepStatus.OK: "ok", StepStatus.FAILED: "failed"}
"""Words for the endings whose signs have none."""
