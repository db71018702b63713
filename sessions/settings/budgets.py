"""``[budgets]``: what all sessions together may use in a day and in a week, everywhere or in a folder."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from ..rules.limits.period_budgets import Action, Period, PeriodBudget
from ..values.membership import Budget

_Usd = Annotated[float, Meta(ge=0, le=1e12)]
_Tokens = Annotated[int, Meta(ge=0, lt=1 << 53)]


class FolderBudget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[budgets.folders.NAME]``: the budgets of the sessions in a folder and below it."""

    day_usd: Annotated[
        _Usd | None,
        Meta(description="US dollars per day in this folder and below.", examples=[5.0], extra={"default": "none"}),
    ] = None
    day_tokens: Annotated[
        _Tokens | None,
        Meta(description="Tokens per day in this folder and below.", examples=[1_000_000], extra={"default": "none"}),
    ] = None
    week_usd: Annotated[
        _Usd | None,
        Meta(description="US dollars per week in this folder and below.", examples=[20.0], extra={"default": "none"}),
    ] = None
    week_tokens: Annotated[
        _Tokens | None,
        Meta(description="Tokens per week in this folder and below.", examples=[5_000_000], extra={"default": "none"}),
    ] = None
    action: Annotated[
        Literal["warn", "stop"] | None,
        Meta(description="At the limit: warn, or start nothing and stop.", extra={"default": "as in [budgets]"}),
    ] = None


class BudgetSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[budgets]``: what all sessions together may use; a day and a week begin at the user's midnight."""

    day_usd: Annotated[
        _Usd | None,
        Meta(
            description="US dollars that all sessions may use in a day; 0: nothing starts.",
            examples=[20.0],
            extra={"default": "none"},
        ),
    ] = None
    day_tokens: Annotated[
        _Tokens | None,
        Meta(description="Tokens that all sessions may use in a day.", examples=[5_000_000], extra={"default": "none"}),
    ] = None
    week_usd: Annotated[
        _Usd | None,
        Meta(
            description="US dollars that all sessions may use in a week, which begins on Monday.",
            examples=[80.0],
            extra={"default": "none"},
        ),
    ] = None
    week_tokens: Annotated[
        _Tokens | None,
        Meta(
            description="Tokens that all sessions may use in a week, which begins on Monday.",
            examples=[20_000_000],
            extra={"default": "none"},
        ),
    ] = None
    action: Annotated[
        Literal["warn", "stop"],
        Meta(description="At the limit: warn, or start nothing and stop the turns that run."),
    ] = "stop"
    folders: dict[str, FolderBudget] = field(default_factory=dict)


def period_budgets(settings: BudgetSettings) -> tuple[PeriodBudget, ...]:
    """Return the user's budgets, those of all folders first."""
    found = list(_of(settings, "", settings.action))
    for folder, section in settings.folders.items():
        found += _of(section, real(folder), section.action or settings.action)
    return tuple(found)


def project_budgets(stated: Mapping[str, Any], root: Path) -> tuple[PeriodBudget, ...]:
    """Return the budgets of a project's file, which bind the sessions in its folder beside the user's own.

    Args:
        stated: the tables of the file, which was checked.
        root: the project's folder.
    """
    settings = msgspec.convert(stated.get("budgets", {}), BudgetSettings)
    return tuple(_of(settings, real(str(root)), settings.action))


def unusable_folder(name: str) -> str | None:
    """Return why a name in ``[budgets.folders]`` cannot be used; None if it can.

    A relative folder would be another one in each working directory, so its budget would bind no session.
    """
    if "\0" not in name and _expanded(name).is_absolute():
        return None
    return f"{name!r} is not an absolute path. It can begin with ~, or with the ~NAME of a user."


def real(folder: str) -> str:
    """Return the real path of a folder, which need not exist; ``~`` is the user's home."""
    return os.path.realpath(_expanded(folder))


def _expanded(folder: str) -> Path:
    """Return a folder with its ``~`` replaced; as it is if there is no such user."""
    try:
        return Path(folder).expanduser()
    except RuntimeError:
        return Path(folder)


def _of(section: BudgetSettings | FolderBudget, folder: str, action: Action) -> list[PeriodBudget]:
    """Return the budgets of a section, at most one for each period."""
    periods: tuple[tuple[Period, float | None, int | None], ...] = (
        ("day", section.day_usd, section.day_tokens),
        ("week", section.week_usd, section.week_tokens),
    )
    return [
        PeriodBudget(folder=folder, period=period, most=Budget(tokens=tokens, cost_usd=cost), action=action)
        for period, cost, tokens in periods
        if cost is not None or tokens is not None
    ]
