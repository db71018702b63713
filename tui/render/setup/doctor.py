"""The doctor's findings: one line each, and the remedy below it."""

from collections.abc import Sequence

from agentdash.sessions.doctor.model import Finding, State
from agentdash.sessions.model.session import StepKind, StepStatus
from agentdash.sessions.text.sanitize import cell_width, one_line, pad
from agentdash.sessions.text.units import count
from agentdash.sessions.transcript.blocks import ENDINGS
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing import glyphs

_ROLES: dict[State, str] = {"ok": "good", "warn": "attention", "fail": "danger"}
_MARKS: dict[State, str] = {
    "ok": ENDINGS[StepStatus.OK],
    "warn": glyphs.KINDS[StepKind.ERROR],
    "fail": ENDINGS[StepStatus.FAILED],
}


def findings_text(findings: Sequence[Finding], style: Style) -> list[str]:
    """Return a line for each finding and its remedy, then the number of findings of each state."""
    width = max((cell_width(finding.name) for finding in findings), default=0)
    lines = [line for finding in findings for line in _lines(finding, width, style)]
    states = [finding.state for finding in findings]
    warnings, errors = count(states.count("warn"), "warning"), count(states.count("fail"), "error")
    return [*lines, f"{states.count('ok')} ok, {warnings}, {errors}"]


def _lines(finding: Finding, width: int, style: Style) -> list[str]:
    mark = style.paint(_MARKS[finding.state], _ROLES[finding.state])
    lines = [f"{mark} {pad(finding.name, width)}  {finding.found}"]
    if finding.state != "ok" and finding.remedy:
        lines.append(f"  {glyphs.BELOW} {one_line(finding.remedy)}")
    return lines
