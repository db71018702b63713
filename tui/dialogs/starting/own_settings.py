"""The fields of the dialog for the settings that an agent offers by their own names: instructions, web search."""

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.text.sanitize import one_line
from agentdash.widgets.inputs.choice import Choice
from agentdash.widgets.inputs.field import Field
from agentdash.widgets.inputs.history import HistoryInput

SWITCH = {"default": None, "on": True, "off": False}
"""The choices of a switch, and their values."""


class OwnSettings(Vertical):
    """Shows a field for each setting that the chosen agent offers: a choice for a switch, else a text."""

    DEFAULT_CSS = """
    OwnSettings { height: auto; }
    """

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
