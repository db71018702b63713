"""The fields of the dialog that starts a session, also an agent's own: their values, and the start they describe."""

import asyncio
import os
import shlex
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import structs
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.limits.limits import parsed, typed
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.settings.sections import Preset
from agentdash.sessions.text.sanitize import one_line
from agentdash.tui.dialogs.starting.offer import FolderSettings, Offer, ToolsFor
from agentdash.tui.state.ui_state import LastStart
from agentdash.tui.texts.family_texts import AFTER
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.inputs.choice import Choice, Field
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.inputs.prompt_box import PromptInput


class FolderSuggester(Suggester):
    """Suggests the rest of a folder's path; reads the disk in a thread, because a dead network folder blocks."""

    def __init__(self, recent: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._recent = list(recent)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the whole path, or None."""
        return await asyncio.to_thread(completed, value, self._recent)


def completed(text: str, recent: Sequence[str]) -> str | None:
    """Return the first recent folder that begins with the text, else the first such folder on disk."""
    if not text:
        return None
    for folder in map(place, recent):
        if folder.startswith(text) and folder != text:
            return folder
    head, slash, start = text.rpartition("/")
    if not slash:
        return None
    names = sorted(_folders(Path(head + "/").expanduser(), start))
    return f"{head}/{names[0]}/" if names else None


def _folders(parent: Path, start: str) -> list[str]:
    """Return the folders whose names begin with ``start``; hidden ones only if it begins with a dot."""
    try:
        with os.scandir(parent) as entries:
            return [e.name for e in entries if _wanted(e, start)]
    except (OSError, RuntimeError):
        return []


def _wanted(entry: os.DirEntry[str], start: str) -> bool:
    hidden = entry.name.startswith(".") and not start.startswith(".")
    return entry.name.startswith(start) and not hidden and entry.is_dir()


SWITCH = {"default": None, "on": True, "off": False}
"""The choices of a switch, and their values."""


class OwnSettings(Vertical):
    """Shows a field for each setting that the chosen agent offers: a choice for a switch, else a text."""

    DEFAULT_CSS = "OwnSettings { height: auto; }"

    def __init__(self, agents: Sequence[AgentInfo]) -> None:
        super().__init__()
        self._agent: AgentInfo | None = None
        self._given: Mapping[str, object] = {}
        """The options that the fields were filled from."""
        offered = {one.key: one for agent in agents for one in agent.offered}
        self._fields: dict[str, Choice | HistoryInput] = {
            key: Choice(tuple(SWITCH), "", id=f"new-{key}") if one.switch else HistoryInput(id=f"new-{key}")
            for key, one in offered.items()
        }
        self._rows = {key: Field(key.replace("_", " "), field) for key, field in self._fields.items()}

    def compose(self) -> ComposeResult:
        """Yield the fields of all agents."""
        yield from self._rows.values()

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all fields."""
        return frozenset(self._fields)

    def fill(self, agent: AgentInfo, options: Mapping[str, object]) -> None:
        """Show the fields of an agent, for a start with these options; a text that the user wrote stays."""
        former, self._agent, self._given = self._given, agent, options
        offered = {one.key for one in agent.offered}
        for key, field in self._fields.items():
            self._rows[key].display = key in offered
            if isinstance(field, Choice):
                value = options.get(key, agent.values.get(key))
                field.offer(tuple(SWITCH), next((word for word, meant in SWITCH.items() if meant is value), "default"))
                continue
            if field.value == _shown(former, key):
                field.value = _shown(options, key)
            field.placeholder = _shown(agent.values, key) or "none"

    def options(self) -> dict[str, object]:
        """Return the options that the fields make: those that differ from the settings."""
        found: dict[str, object] = {}
        agent = self._agent
        for one in agent.offered if agent is not None else ():
            field, settings = self._fields[one.key], agent.values if agent is not None else {}
            if isinstance(field, Choice):
                value = SWITCH[field.value or "default"]
                found |= {one.key: value} if value is not settings.get(one.key) else {}
            elif text := field.value.strip():
                # A field has one line: an unchanged text keeps its others.
                unchanged = field.value == _shown(self._given, one.key)
                found[one.key] = self._given[one.key] if unchanged else text
        return found


def _shown(values: Mapping[str, object], key: str) -> str:
    return one_line(str(values.get(key) or ""))


class MoreFields(Static, can_focus=True):
    """The line in place of the second group of fields; reaching it with Tab, or a click, opens them."""

    def __init__(self, open_fields: Callable[[], None]) -> None:
        super().__init__("more ▸       title, limits, instructions, arguments, after, copies", id="new-folded")
        self._open = open_fields

    def on_focus(self) -> None:
        """Open the fields."""
        self._open()


NO_PRESET = "(none)"


class StartFields:
    """The fields of a start; the dialog lays them out and reports what the user changes.

    Args:
        offer: the choices, and the first values.
        tools: makes the tools of the prompt; None for a prompt without tools.
    """

    def __init__(self, offer: Offer, tools: ToolsFor | None = None) -> None:
        self._offer = offer
        self._agents = {agent.name: agent for agent in offer.agents}
        self._first = first = offer.first
        """The values before the user's changes: those of the chosen preset, if any."""
        self._installed = installed = [agent.name for agent in offer.agents if agent.installed]
        self._absent = [agent.name for agent in offer.agents if not agent.installed]
        without = f"not installed: {', '.join(self._absent)}" if self._absent else ""
        self._session_id = str(uuid.uuid4())
        self._presets = offer.presets
        self.preset = Choice([NO_PRESET, *offer.presets], NO_PRESET, id="new-preset")
        self._preset_row = Field("preset", self.preset)
        self._filled = Preset()
        self.prompt = PromptInput(id="new-prompt")
        if tools is not None:
            self.prompt.tools = tools(lambda: self.cwd, self._without_options)
        self._agent = Choice(installed, first.agent, without=without, id="new-agent")
        self.mode = Choice((), "", id="new-mode")
        self._mode_name = Label()
        self.folder = HistoryInput(first.cwd, suggester=FolderSuggester(offer.folders), id="new-cwd")
        self._model = HistoryInput(first.model or "", id="new-model")
        self.title = HistoryInput(placeholder="from the prompt", id="new-title")
        self.limits = HistoryInput(_limits(first), placeholder="none; e.g. wall=30m tokens=500k", id="new-limits")
        self._own = OwnSettings(offer.agents)
        self._more = HistoryInput(
            _arguments(first), placeholder="extra CLI flags, e.g. --add-dir ../lib", id="new-args"
        )
        self.after = HistoryInput(first.after, placeholder=AFTER, id="new-after")
        self.copies = Input("1", type="integer", max_length=3, compact=True, id="new-copies")

    def rows(self) -> Iterator[Widget]:
        """Yield the first group of fields, each beside its name."""
        yield self._preset_row
        yield Field("prompt", self.prompt)
        yield self.prompt.offers
        yield Field("agent", self._agent)
        yield Field(self._mode_name, self.mode)
        yield Field("folder", self.folder)
        yield Field("model", self._model)

    def more_rows(self) -> Iterator[Widget]:
        """Yield the second group of fields, which is closed at first."""
        yield Field("title", self.title)
        yield Field("limits", self.limits)
        yield self._own
        yield Field("arguments", self._more)
        yield Field("after", self.after)
        yield Field("copies", self.copies)

    def fill(self) -> None:
        """Fill in the first values, after the fields were mounted, and focus the prompt."""
        self._preset_row.display = bool(self._presets)
        self.folder.earlier.learn(map(place, self._offer.folders))
        self.prompt.earlier.learn(self._offer.prompts)
        self.prompt.text = self._offer.first.prompt
        self.prompt.move_cursor(self.prompt.document.end)
        self.prompt.focus()
        self.fill_for_agent()

    @property
    def agent(self) -> AgentInfo | None:
        """The chosen agent; None if none is installed."""
        return self._agents.get(self._agent.value or "")

    @property
    def cwd(self) -> str:
        """The folder."""
        return self.folder.value.strip()

    @property
    def dangerous(self) -> bool:
        """True if the agent is not limited in the chosen mode."""
        return self.agent is not None and self.mode.value in self.agent.unheld

    @property
    def uses_more(self) -> bool:
        """True if a field of the second group is filled in."""
        filled = self.limits.value or self._more.value or self.after.value
        return bool(filled or self.copies.value != "1" or self._own.options())

    @property
    def draft(self) -> str | None:
        """The text that the user wrote, without the preset's; None if it is the first text."""
        text = self._filled.text_in(self.prompt.text)
        return text if text != self._offer.first.prompt else None

    @property
    def missing(self) -> str:
        """A sentence if the preset, the repeated session or the settings name an agent that is not installed."""
        name = self._first.agent
        return f"{name} is not installed: using another agent." if name in self._absent else ""

    def fill_from_preset(self) -> None:
        """Fill the fields from the chosen preset; keep the text that the user wrote."""
        preset, first = self._presets.get(self.preset.value or "", Preset()), self._offer.first
        text = self._filled.text_in(self.prompt.text)
        if self.preset.value in self._presets:
            first = Start(
                "",
                agent=preset.agent or first.agent,
                cwd=preset.cwd or first.cwd,
                model=preset.model,
                options=preset.all_options(),
                copies=preset.copies,
            )
        self._first, self._filled = first, preset
        self._agent.offer(self._installed, first.agent)
        self.folder.value, self._model.value = first.cwd, first.model or ""
        self._more.value, self.copies.value = _arguments(first), str(first.copies or 1)
        self.limits.value = _limits(first)
        self.fill_for_agent()
        self.prompt.text = preset.prompt_with(text) if text else "".join(preset.frame())
        before = preset.frame()[0] + text
        self.prompt.cursor_location = (before.count("\n"), len(before) - before.rfind("\n") - 1)

    def fill_for_agent(self) -> None:
        """Show the fields of the chosen agent, filled in for it."""
        agent = self.agent
        if agent is not None:
            self._fill_own(agent)
            self._own.fill(agent, self._carried(agent))
            self.mode.offer(agent.choices, agent.choice_of(self._carried(agent)) or "", agent.unheld)
        key = agent.mode_key if agent else None
        self._mode_name.update((key or "").partition("_")[0])
        # Not by a height of 0: Tab would still reach the row.
        self.mode.display = self._mode_name.display = bool(key)
        self._model.placeholder = (agent and agent.model) or "default"

    def _fill_own(self, agent: AgentInfo) -> None:
        """Clear the model and the arguments that were filled in for another agent."""
        first = self._first
        for text, own in ((self._model, first.model or ""), (self._more, _arguments(first))):
            if agent.name == first.agent:
                text.value = text.value or own
            elif text.value == own:
                text.value = ""

    def _carried(self, agent: AgentInfo) -> dict[str, object]:
        """Return the preset's or repeated session's options that apply to an agent; for another agent, only limits."""
        options = self._first.options.items()
        return {key: value for key, value in options if agent.name == self._first.agent or key == "limits"}

    def use(self, settings: FolderSettings) -> None:
        """Replace the settings behind the fields; a choice of the user stays."""
        name = self._agent.value or ""
        before, after = self._agents.get(name), next((one for one in settings.agents if one.name == name), None)
        self._agents = {agent.name: agent for agent in settings.agents}
        self._presets = settings.presets
        self.preset.offer([NO_PRESET, *settings.presets], self.preset.value or NO_PRESET)
        self._preset_row.display = bool(settings.presets)
        if before is None or after is None or before == after:
            return
        unchanged = self.mode.value == before.choice_of(self._carried(before))
        mode = after.choice_of(self._carried(after)) if unchanged else self.mode.value
        self.mode.offer(after.choices, mode or "", after.unheld)
        self._own.fill(after, self._carried(after))
        self._model.placeholder = after.model or "default"

    def renew_id(self) -> None:
        """Choose a new id for the session."""
        self._session_id = str(uuid.uuid4())

    def start(self) -> Start:
        """Return the start that the fields describe.

        Raises:
            UsageError: the limits cannot be read.
        """
        copies = int(self.copies.value) if self.copies.value.isdecimal() else 0
        return structs.replace(self._without_options(), options=self.options(), copies=copies)

    def _without_options(self) -> Start:
        return Start(
            self.prompt.text.rstrip("\n"),
            agent=self._agent.value or "",
            model=self._model.value.strip() or None,
            cwd=self.cwd,
            title=self.title.value.strip(),
            session_id=self._session_id,
            after=self.after.value.strip(),
        )

    def options(self) -> dict[str, object]:
        """Return the options that differ from the settings; of a repeated session, also those without a field here.

        Raises:
            UsageError: the limits cannot be read.
        """
        agent = self.agent
        if agent is None:
            return {}
        shown = {"args", "full_danger", "limits", agent.mode_key, *self._own.keys}
        options = {key: value for key, value in self._carried(agent).items() if key not in shown}
        options |= agent.options_of(self.mode.value) | self._own.options()
        if more := self._more.value.strip():
            options["args"] = _split(more)
        if limits := self.limits.value.strip():
            unchanged = limits == _limits(self._first)
            given = self._first.options["limits"] if unchanged else parsed(limits.split(), name_of_field="The field")
            options["limits"] = given
        return options

    def choices(self, start: Start) -> LastStart | None:
        """Return the choices of a start for the next dialog; None if they are a preset's."""
        if self.preset.value in self._presets:
            return None
        mode = self.mode.value or ""
        held = mode not in self._agents[start.agent].unheld
        return LastStart(agent=start.agent, mode=mode if held else "", model=start.model or "")


def _limits(start: Start) -> str:
    limits = start.options.get("limits")
    return typed(limits) if isinstance(limits, Mapping) else ""


def _arguments(start: Start) -> str:
    arguments = start.options.get("args", ())
    return shlex.join(map(str, arguments)) if isinstance(arguments, list | tuple) else ""


def _split(text: str) -> list[str]:
    """Split arguments as a shell does; at blanks while a quotation mark is open."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
