"""The types of the sections of a settings file, on one page: what each may hold, its default and its description.

``[asks]``, ``[notify]``, ``[attention]``, ``[limits]``, ``[stop]``, ``[live]`` and those of the agents are with the
code that uses them, because runners load them without the settings.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field, structs

from agentdash.sessions.model import typed
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.limits.period_budgets import Action, Period, PeriodBudget
from agentdash.sessions.settings.toml_keys import merged
from agentdash.sessions.text.sanitize import one_line

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
    found = list(_budgets_of(settings, "", settings.action))
    for folder, section in settings.folders.items():
        found += _budgets_of(section, real(folder), section.action or settings.action)
    return tuple(found)


def project_budgets(stated: Mapping[str, Any], root: Path) -> tuple[PeriodBudget, ...]:
    """Return the budgets of a project's file, which bind the sessions in its folder beside the user's own.

    Args:
        stated: the tables of the file, which was checked.
    """
    settings = typed.convert(stated.get("budgets", {}), BudgetSettings)
    return tuple(_budgets_of(settings, real(str(root)), settings.action))


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


def _budgets_of(section: BudgetSettings | FolderBudget, folder: str, action: Action) -> list[PeriodBudget]:
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


class OrchestrationSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[orchestration]``: the limits of sessions that agents start, and the reach of an agent's commands."""

    reach: Annotated[
        Literal["own", "all"],
        Meta(description="Sessions that a command from inside a session can change: its own workers, or all."),
    ] = "own"
    allowed_dirs: Annotated[
        tuple[str, ...] | None,
        Meta(
            description='Folders besides its own in which an agent can start workers; ["*"] allows any.',
            examples=[["~/src"]],
            extra={"default": "the caller's folder and below"},
        ),
    ] = None
    agents: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Agents that an agent can start as workers.",
            examples=[["claude", "codex"]],
            extra={"default": "all but command"},
        ),
    ] = None
    mode: Annotated[
        Literal["read-only", "edit", "full"],
        Meta(description="The greatest permissions of a worker whose lead runs outside agentdash and names none."),
    ] = "edit"
    max_depth: Annotated[int, Meta(ge=0, description="Greatest number of leads above a worker.")] = 3
    max_workers: Annotated[int, Meta(ge=0, description="Greatest number of workers that one lead can start.")] = 20
    max_open: Annotated[int, Meta(ge=0, description="Greatest number of workers of one lead that are not ended.")] = 8
    max_rounds: Annotated[
        int, Meta(ge=0, description="Greatest number of prompts that agents can send to one worker; 0: no limit.")
    ] = 0
    budget: Budget = Budget()
    wait_seconds: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(
            description="Longest wait of one call of wait_for.",
            examples=[270.0],
            extra={"default": "by the client: 270, or 45"},
        ),
    ] = None
    escalate_seconds: Annotated[
        float,
        Meta(ge=0, description="Time after which a worker that needs an answer of its lead needs the user."),
    ] = 120.0
    wakes: Annotated[
        int,
        Meta(ge=0, description="Prompts by which a lead is woken when its workers have ended; 0 wakes none."),
    ] = 20

    @property
    def limits(self) -> FamilyLimits:
        """The part that travels with a start."""
        return FamilyLimits(
            max_depth=self.max_depth,
            max_workers=self.max_workers,
            max_open=self.max_open,
            max_rounds=self.max_rounds,
            budget=self.budget,
        )

    def allows(self, agent: str) -> bool:
        """Return whether workers may be of this agent."""
        return self.agents is None or agent in self.agents


Allowable = Literal["allowed_tools", "args", "config", "copies", "search"]
"""The keys that a project may set only if the user's own settings allow it: each can widen what an agent may do."""


class ProjectsSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[projects]``: whether the files of projects are read, and what they may set beyond the usual."""

    read: Annotated[
        bool,
        Meta(description="Use the .agentdash.toml of a project after you trusted it (agentdash trust)."),
    ] = True
    state: Annotated[
        bool,
        Meta(description="Keep the sessions of each project in a state folder of its own, by the current folder."),
    ] = False
    allow: Annotated[
        tuple[Allowable, ...],
        Meta(
            description="Keys that a trusted project may set although they can widen what an agent may do.",
            examples=[["search"]],
        ),
    ] = ()


PLACE = "{prompt}"
"""The placeholder for the text of one start in a preset's prompt; without it, the text follows the prompt."""

MOST_COPIES = 100


class Preset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[presets.NAME]``: the start that ``spawn --preset NAME`` makes, unless its own options override it."""

    agent: Annotated[
        str | None,
        Meta(description="Agent to start.", examples=["codex"], extra={"default": "default_agent"}),
    ] = None
    model: Annotated[str | None, Meta(description="Model to request.", extra={"default": "the agent's own"})] = None
    cwd: Annotated[
        str | None,
        Meta(
            description="Working folder; a relative path starts at the current folder.",
            examples=["~/code/api"],
            extra={"default": "the current folder"},
        ),
    ] = None
    prompt: Annotated[
        str,
        Meta(
            description="Prompt; the text given at the start replaces {prompt} in it, or is appended.",
            examples=["Review {prompt}. Change nothing."],
        ),
    ] = ""
    options: Annotated[
        dict[str, Any],
        Meta(
            description="Keys of the agent's section, e.g. sandbox or permission_mode.",
            examples=[{"sandbox": "read-only"}],
        ),
    ] = field(default_factory=dict)
    limits: Limits = Limits()
    copies: Annotated[int, Meta(ge=1, le=MOST_COPIES, description="Number of copies to start.")] = 1

    @property
    def wants_text(self) -> bool:
        """True if its prompt is incomplete without a text."""
        return PLACE in self.prompt or not self.prompt.strip()

    def frame(self) -> tuple[str, str]:
        """Return the parts of the prompt before and after the text of a start."""
        before, place, after = self.prompt.partition(PLACE)
        return (before, after) if place else (f"{before.rstrip()}\n\n" if before.strip() else "", "")

    def prompt_with(self, text: str) -> str:
        """Return the whole prompt with the text of one start; the bare prompt if the text is blank."""
        if not text.strip():
            return "".join(self.frame()).strip()
        if PLACE in self.prompt:
            return self.prompt.replace(PLACE, text)
        return f"{self.frame()[0]}{text}"

    def text_in(self, prompt: str) -> str:
        """Return the text of one start in a prompt made by :meth:`prompt_with`; all of a prompt that was rewritten."""
        before, after = (part.strip() for part in self.frame())
        if len(prompt) < len(before) + len(after) or not (prompt.startswith(before) and prompt.endswith(after)):
            return prompt
        return prompt[len(before) : len(prompt) - len(after)].strip()

    def all_options(self) -> dict[str, Any]:
        """Return its options including its limits, as a start takes them."""
        limits = {key: value for key, value in structs.asdict(self.limits).items() if value is not None}
        stated = self.options.get("limits")
        merged = {**stated, **limits} if isinstance(stated, Mapping) else limits
        return self.options | ({"limits": merged} if limits else {})

    def completing(self, start: Start, default_agent: str) -> Start:
        """Complete the start with this preset; the start's own values win.

        An agent other than the preset's takes its prompt, folder and limits, but neither its model nor its options.

        Raises:
            UsageError: the preset is incomplete without a text, and there is none.
        """
        if self.wants_text and not start.prompt.strip():
            raise UsageError("The preset needs a prompt. Pass it as an argument or on stdin.")
        theirs = self.agent or default_agent
        preset = self if start.agent in ("", theirs) else structs.replace(self, model=None, options={})
        return structs.replace(
            start,
            prompt=preset.prompt_with(start.prompt),
            agent=start.agent or theirs,
            model=start.model or preset.model,
            cwd=start.cwd or preset.cwd or "",
            options=merged(preset.all_options(), start.options),
            copies=start.copies or (preset.copies if preset.copies > 1 else None),
        )


def preset_named(presets: Mapping[str, Preset], name: str) -> Preset:
    """Return the preset of this name.

    Raises:
        UsageError: there is none; the message lists the known presets.
    """
    if name in presets:
        return presets[name]
    known = f"Known presets: {', '.join(presets)}." if presets else "The settings have no presets."
    raise UsageError(f"Unknown preset {name!r}. {known}")


FIELDS: Mapping[str, str] = {
    "agent": "its agent",
    "branch": "the git branch of its folder",
    "cwd": "its folder",
    "id": "its id",
    "last_message": "the agent's last message, in full",
    "title": "its title",
}
"""The fields by name, each with its value for a session."""

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}?")
"""An escaped brace, or a field; a field that is not closed is found too, so that it is reported."""


class PromptTemplate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[templates.NAME]``: a prompt for any session."""

    text: Annotated[
        str,
        Meta(
            description=f"Prompt; {', '.join(f'{{{name}}}' for name in FIELDS)} are filled in; {{{{ is a brace.",
            examples=["Rebase {branch} onto main."],
        ),
    ] = ""
    description: Annotated[str, Meta(description="Purpose of the template, for lists.", examples=["Rebase"])] = ""

    @property
    def fields(self) -> frozenset[str]:
        """The names of its fields."""
        return frozenset(field for _, field in _text_parts(self.text) if field is not None)

    def filled(self, value_of: Callable[[str], str]) -> str:
        """Return the text with the value of each field in its place; a value is never searched for fields."""
        return "".join(text if field is None else value_of(field) for text, field in _text_parts(self.text))


def unusable_field(text: str) -> str | None:
    """Return why a template's text cannot be used; None if it can."""
    for written, name in _text_parts(text):
        if name is not None and (name not in FIELDS or not written.endswith("}")):
            known = ", ".join(f"{{{name}}}" for name in FIELDS)
            return f"Unknown field {one_line(written, 40)}. Fields: {known}. Write {{{{ for a brace."
    return None


def _text_parts(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the text in parts, each with the name of its field; None for a part that is sent as it is."""
    end = 0
    for match in _TOKEN.finditer(text):
        yield text[end : match.start()], None
        yield (match[0][0], None) if match[1] is None else (match[0], match[1])
        end = match.end()
    yield text[end:], None


def template_named(templates: Mapping[str, PromptTemplate], name: str) -> PromptTemplate:
    """Return the template of this name.

    Raises:
        UsageError: there is none, and the message lists the known templates; or it has no text.
    """
    if name in templates and templates[name].text.strip():
        return templates[name]
    if name in templates:
        raise UsageError(f"Template {name} has no text.")
    known = f"Known templates: {', '.join(templates)}." if templates else "The settings have no templates."
    raise UsageError(f"Unknown template {name!r}. {known}")
