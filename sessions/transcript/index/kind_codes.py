"""A step's kind in one byte, so that a hundred thousand steps can be counted, filtered and searched at once.

Many lines in a row that are not events are found so too: a program that prints between them can print hundreds of
thousands."""

import re
from collections.abc import Iterable, Iterator

from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.step_outcome import failed
from agentdash.sessions.text.units import count

_NUMBERS = {kind: number for number, kind in enumerate(StepKind)}
_KIND_BITS = 0x0F

FAILED = 0x10
"""The step failed or was declined, or it is an error."""

NESTED = 0x20
"""The step of a sub-agent."""

OPEN = 0x40
"""The step has not ended."""

FATAL = 0x80
"""The error that made the turn fail."""


def encoded(step: Step) -> int:
    """Return the byte of a step."""
    value = _NUMBERS[step.kind]
    if step.kind is StepKind.ERROR or step.status is StepStatus.DECLINED or failed(step):
        value |= FAILED
    if step.parent is not None:
        value |= NESTED
    if step.is_open:
        value |= OPEN
    if step.kind is StepKind.ERROR and step.fatal:
        value |= FATAL
    return value


def table(kinds: Iterable[StepKind] = StepKind, *, having: int = 0, lacking: int = 0) -> bytes:
    """Return 256 ones and zeros: a one for each byte of these kinds with the marks ``having``, without ``lacking``."""
    wanted = {_NUMBERS[kind] for kind in kinds}
    return bytes(
        (value & _KIND_BITS) in wanted and value & having == having and not value & lacking for value in range(256)
    )


def pattern(marked: bytes) -> re.Pattern[bytes]:
    """Return a pattern that matches the bytes that a table marks."""
    values = b"".join(b"\\x%02x" % value for value in range(256) if marked[value])
    return re.compile(b"[" + values + b"]" if values else b"(?!)", re.DOTALL)


def tally(values: bytes | bytearray) -> dict[int, int]:
    """Count the occurrences of each byte."""
    # One pass for each byte that occurs, and few do: faster than one pass that counts them all.
    return {value: values.count(value) for value in set(values)}


ENDS = 50
"""Steps at each end of such a run that are shown."""

_UNKNOWN = re.escape(bytes([encoded(Step(kind=StepKind.UNKNOWN))]))
_RUN = re.compile(_UNKNOWN + b"{%d,}+" % (2 * ENDS + 2))


def middles(kinds: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """Yield the middle of each run by the kinds of the steps: the first place, and the place behind it."""
    for run in _RUN.finditer(kinds):
        yield run.start() + ENDS, run.end() - ENDS


def remark(turn: int, place: int, number: int) -> Step:
    """Return the notice that stands for a number of steps."""
    text = f"{count(number, 'more line')} that could not be read as events: add --full"
    return Step(turn=turn, index=place, kind=StepKind.NOTICE, text=text, event="left out")
