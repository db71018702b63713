"""The windows of the plans of agents: how much of the five hours and of the week is used, and until when.  Pure.

Agents report them in their own way; every value is theirs, so that each is checked here and dropped if it is not a
number in its range.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct, structs

from agentdash.sessions.text.sanitize import cut, one_line

State = Literal["ok", "warning", "limited"]

MATTERS_PERCENT = 70.0
"""The use from which a window is shown before it is full."""

_HOUR_MS = 3_600_000
_LENGTHS = {"5 h": 5 * _HOUR_MS, "week": 168 * _HOUR_MS}
_LAST_MS = 253_402_300_799_000
"""The end of the year 9999: no date is later."""

_LEAST_MS = 946_684_800_000
"""The year 2000: a time before it is not the end of a window."""

_MILLISECONDS_FROM = 100_000_000_000
"""A greater number is milliseconds, a smaller one seconds."""

_NAME_CHARACTERS = 40
MOST_WINDOWS = 12
"""Windows of one report that are kept."""


class PlanWindow(Struct, frozen=True, kw_only=True):
    """The newest report of one window."""

    agent: str
    account: str = ""
    """The agent's name of the limit; empty if it has none."""
    window: str
    """``5 h``, ``week``, or the agent's own name."""
    used_percent: float | None = None
    """Between 0 and 100; None if the agent does not report it."""
    resets_at: int | None = None
    """UTC ms; None if the agent does not report it."""
    seen_at: int = 0
    """UTC ms."""
    status: State = "ok"

    @property
    def ends_at(self) -> int:
        """The time (UTC ms) after which the report says nothing: the reset, or one length of the window later."""
        return self.resets_at if self.resets_at is not None else self.seen_at + _LENGTHS.get(self.window, 5 * _HOUR_MS)

    def matters(self, now: int) -> bool:
        """Return whether the user should see it at ``now`` (UTC ms): it is limited, nearly so, or used to 70 %."""
        heavy = self.status != "ok" or (self.used_percent or 0.0) >= MATTERS_PERCENT
        return heavy and now < self.ends_at

    def same_as(self, other: "PlanWindow") -> bool:
        """Return whether a report differs by less than a whole percent and a minute, and not in its state."""
        used = _whole(self.used_percent) == _whole(other.used_percent)
        near = (self.resets_at is None) == (other.resets_at is None) and (
            abs((self.resets_at or 0) - (other.resets_at or 0)) < 60_000
        )
        return used and near and self.status == other.status


def window_words(window: PlanWindow, now: int) -> str:
    """Return a window on a few cells: ``codex 5 h 82 % until 14:20``, ``claude week limited until Mon 09:00``."""
    state = "limited" if window.status == "limited" else f"{_whole(window.used_percent)} %"
    if window.status != "limited" and window.used_percent is None:
        state = "nearly used" if window.status == "warning" else "in use"
    account = f" ({window.account})" if window.account and window.account != window.agent else ""
    return f"{window.agent}{account} {window.window} {state}{until_words(window.resets_at, now)}"


def short_words(window: PlanWindow) -> str:
    """Return a window on the fewest cells: ``codex 5 h 82 %``."""
    return window_words(structs.replace(window, resets_at=None, account=""), 0)


def until_words(at: int | None, now: int) -> str:
    """Return the end of a window in local time: `` until 14:20``, with the day if it is not today; empty for None."""
    if at is None:
        return ""
    end, today = (datetime.fromtimestamp(ms / 1000, UTC).astimezone() for ms in (at, now))
    days = (end.date() - today.date()).days
    form = "%H:%M" if days == 0 else "%a %H:%M" if 0 < days < 7 else "%Y-%m-%d"
    return f" until {end.strftime(form)}"


def those_that_matter(windows: Iterable[PlanWindow], now: int) -> list[PlanWindow]:
    """Return the windows that the user should see, the most used first."""
    found = [one for one in windows if one.matters(now)]
    return sorted(found, key=lambda one: (one.status != "limited", -(one.used_percent or 0.0), one.agent, one.window))


def current(windows: Iterable[PlanWindow], now: int) -> list[PlanWindow]:
    """Return the windows that have not ended, in their order."""
    return [one for one in windows if now < one.ends_at]


def next_end(windows: Sequence[PlanWindow], now: int) -> int | None:
    """Return the time (UTC ms) at which the first of the windows that matter ends; None if none matters."""
    return min((one.ends_at for one in windows if one.matters(now)), default=None)


def from_claude(info: Any, agent: str) -> tuple[PlanWindow, ...]:
    """Return the windows of a ``rate_limit_info`` of claude: its own window, and those beside it.

    ``utilization`` is a part of 1 (claude 2.1.330, its own schema).
    """
    if not isinstance(info, dict):
        return ()
    found = {}
    beside = info.get("unifiedWindows")
    for name, one in list(beside.items())[:MOST_WINDOWS] if isinstance(beside, dict) else ():
        if isinstance(one, dict):
            found[_claude_name(name)] = _claude(agent, name, one)
    if info.get("rateLimitType") is not None:
        found[_claude_name(info["rateLimitType"])] = _claude(agent, info["rateLimitType"], info)
    return tuple(found.values())


def from_codex(limits: Any, agent: str) -> tuple[PlanWindow, ...]:
    """Return the windows of ``rate_limits`` of a transcript of codex, or ``rateLimits`` of its app-server (0.169.0).

    A limit that is reached is that of the window with the greatest use.
    """
    if not isinstance(limits, dict):
        return ()
    account = _text(_either(limits, "limit_id", "limitId"))
    reached = _either(limits, "rate_limit_reached_type", "rateLimitReachedType") is not None
    found = [_codex(agent, account, limits.get(name)) for name in ("primary", "secondary")]
    windows = [one for one in found if one is not None]
    fullest = max((one.used_percent or 0.0 for one in windows), default=0.0)
    return tuple(
        structs.replace(one, status="limited") if reached and (one.used_percent or 0.0) == fullest else one
        for one in windows
    )


def _claude(agent: str, name: Any, values: dict[Any, Any]) -> PlanWindow:
    part = _number(values.get("utilization"))
    status = values.get("status")
    return PlanWindow(
        agent=agent,
        window=_claude_name(name),
        used_percent=None if part is None else _percent(100 * part),
        resets_at=_time(values.get("resetsAt")),
        status="limited" if status == "rejected" else "warning" if status == "allowed_warning" else "ok",
    )


def _claude_name(name: Any) -> str:
    known = {"five_hour": "5 h", "seven_day": "week"}
    if isinstance(name, str) and name in known:
        return known[name]
    text = _text(name)
    return text.replace("seven_day_", "week ").replace("_", " ") or "plan"


def _codex(agent: str, account: str, values: Any) -> PlanWindow | None:
    if not isinstance(values, dict):
        return None
    used = _number(_either(values, "used_percent", "usedPercent"))
    minutes = _number(_either(values, "window_minutes", "windowDurationMins"))
    percent = None if used is None else _percent(used)
    return PlanWindow(
        agent=agent,
        account="" if account == agent else account,
        window=_length(minutes),
        used_percent=percent,
        resets_at=_time(_either(values, "resets_at", "resetsAt")),
        status="limited" if percent is not None and percent >= 100 else "ok",
    )


def _length(minutes: float | None) -> str:
    if minutes is None or not 0 < minutes < 1_000_000:
        return "plan"
    hours = round(minutes / 60)
    if abs(hours - 168) <= 1:
        return "week"
    return f"{hours // 24} days" if hours >= 48 else f"{max(1, hours)} h"


def _either(values: dict[Any, Any], first: str, second: str) -> Any:
    return values.get(first) if first in values else values.get(second)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _percent(value: float) -> float:
    return min(100.0, max(0.0, value))


def _time(value: Any) -> int | None:
    number = _number(value)
    if number is None:
        return None
    ms = number if number > _MILLISECONDS_FROM else number * 1000
    return int(ms) if _LEAST_MS <= ms <= _LAST_MS - 86_400_000 else None


def _text(value: Any) -> str:
    return cut(one_line(value), _NAME_CHARACTERS) if isinstance(value, str) else ""


def _whole(percent: float | None) -> int | None:
    return None if percent is None else math.floor(percent)
