"""Results that come before their calls: claude may write a call that runs beside others after its result."""

from msgspec import Raw, Struct, field

from ...model import Step
from ...rules.truncate import trimmed
from ..parsing.json_lines import NULL

_MOST = 20
_CHARACTERS, _BYTES = 64_000, 64_000
"""The most that is kept of a result, because it is a part of each checkpoint."""


class EarlyResult(Struct, array_like=True):
    """A result without a call so far: its step, and what the call needs to read it."""

    step: Step
    text: str
    is_error: bool
    json: bytes
    """The line's ``tool_use_result``."""

    @property
    def details(self) -> Raw:
        """The line's ``tool_use_result``, to be decoded."""
        return Raw(self.json)


class EarlyResults(Struct):
    """The newest results whose calls have not come, by the call's id."""

    waiting: dict[str, EarlyResult] = field(default_factory=dict)

    def keep(self, key: str, step: Step, text: str, details: Raw, *, is_error: bool) -> None:
        """Keep a result, without the end of a very long one."""
        kept = details if len(bytes(details)) <= _BYTES else NULL
        self.waiting[key] = EarlyResult(trimmed(step), text[:_CHARACTERS], is_error, bytes(kept))
        if len(self.waiting) > _MOST:
            del self.waiting[next(iter(self.waiting))]

    def take(self, key: str) -> EarlyResult | None:
        """Return the result of a call that comes after it, and forget it; None if there is none."""
        return self.waiting.pop(key, None)
