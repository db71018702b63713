"""What a step is in one byte: a hundred thousand of them can then be counted, filtered and searched at once."""

import re
from collections.abc import Iterable

from ..model import Step, StepKind, StepStatus

_NUMBERS = {kind: number for number, kind in enumerate(StepKind)}
_KIND_BITS = 0x0F

FAILED = 0x10
"""It failed or was declined, or it is an error."""

NESTED = 0x20
"""A sub-agent did it."""

OPEN = 0x40
"""It has not ended."""

FATAL = 0x80
"""The turn failed by it."""


def encoded(step: Step) -> int:
    """The byte of a step."""
    value = _NUMBERS[step.kind]
    if step.kind is StepKind.ERROR or step.status in (StepStatus.FAILED, StepStatus.DECLINED):
        value |= FAILED
    if step.parent is not None:
        value |= NESTED
    if step.status is StepStatus.RUNNING:
        value |= OPEN
    if step.kind is StepKind.ERROR and step.fatal:
        value |= FATAL
    return value


def table(kinds: Iterable[StepKind] = StepKind, *, having: int = 0, lacking: int = 0) -> bytes:
    """Which bytes are of one of these kinds, with and without these marks: 256 ones and zeros."""
    wanted = {_NUMBERS[kind] for kind in kinds}
    return bytes(
        (value & _KIND_BITS) in wanted and value & having == having and not value & lacking for value in range(256)
    )


def pattern(marked: bytes) -> re.Pattern[bytes]:
    """What finds the bytes that a table marks."""
    values = b"".join(b"\\x%02x" % value for value in range(256) if marked[value])
    return re.compile(b"[" + values + b"]" if values else b"(?!)", re.DOTALL)


def tally(values: bytes | bytearray) -> dict[int, int]:
    """How many there are of each byte."""
    # One pass for each byte that occurs, and few do: faster than one pass that counts them all.
    return {value: values.count(value) for value in set(values)}
