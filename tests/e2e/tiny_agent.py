"""The adapter of an agent CLI that agentdash does not have: the one module that adding an agent takes."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, cast

from msgspec import Meta, Struct

from agentdash.sessions.agents.base import Agent, AgentSettings, LaunchRequest, TranscriptFormat
from agentdash.sessions.agents.capabilities import Modes
from agentdash.sessions.agents.parsing.event_parser import EventParser
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.agents.parsing.transcript_parser import TranscriptParser
from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.launch import Command


class Begin(Struct, tag_field="type", tag="tiny.begin"):
    """A turn begins."""

    talk: str


class Say(Struct, tag_field="type", tag="tiny.say"):
    """The model says something."""

    text: str = ""


class Tool(Struct, tag_field="type", tag="tiny.tool"):
    """A tool was called."""

    name: str
    at: str = ""


class End(Struct, tag_field="type", tag="tiny.end"):
    """The turn ends."""

    ok: bool = False


class TinySettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.tiny]``."""

    reach: Annotated[Literal["near", "far"], Meta(description="How far tiny may go.")] = "near"
    full_danger: Annotated[bool, Meta(description="No bounds at all.")] = False


class TinyParser(EventParser):
    """Reads one turn."""

    decoder: ClassVar[TolerantDecoder[Any]] = TolerantDecoder(Begin | Say | Tool | End)

    def event(self, event: Begin | Say | Tool | End, line: bytes, at: int | None) -> list[Step]:
        """The steps of one event."""
        match event:
            case Begin():
                return [self._converses(event.talk, at)]
            case Say():
                self.facts.last_message = event.text
                return [self._new(StepKind.MESSAGE, event.text, at=at)]
            case Tool():
                arguments = {"at": event.at}
                return [
                    self._new(
                        StepKind.TOOL_CALL,
                        event.name,
                        at=at,
                        tool=event.name,
                        arguments=arguments,
                        status=StepStatus.OK,
                    )
                ]
            case End():
                self.facts.end = "completed" if event.ok else "failed"
        return []


class Tiny(Agent):
    """A tiny agent."""

    name = "tiny"
    title = "Tiny"
    binary = "tiny"
    install_hint = "Install it with `make tiny`."
    tested_versions = ("1.2.0", "1.4.0")
    settings_type = TinySettings
    parsers: ClassVar = {"": TinyParser}
    event_types = frozenset({"tiny.begin", "tiny.say", "tiny.tool", "tiny.end"})
    modes = Modes(settings=TinySettings, key="reach", help="How far the agent may go", unlimited="no-bounds")
    polling_tools = frozenset({"peek"})

    def command(self, request: LaunchRequest) -> Command:
        """The mode, and the talk that goes on."""
        settings = cast("TinySettings", request.settings)
        reach = "--no-bounds" if settings.full_danger else f"--reach={settings.reach}"
        talk = () if request.agent_session is None else (f"--talk={request.agent_session}",)
        return Command(argv=(settings.bin or "tiny", reach, *talk), stdin=request.prompt)


class LogLine(Struct):
    """A line of the agent's own log."""

    tiny_log: str
    text: str = ""


class TinyLogParser(TranscriptParser):
    """Reads the agent's own log."""

    decoder: ClassVar[TolerantDecoder[Any]] = TolerantDecoder(LogLine)

    def event(self, event: LogLine, line: bytes, at: int | None) -> list[Step]:
        """The steps of one line."""
        if event.tiny_log == "user":
            return [*(self._begin_turn(at) if self.state.prompted else []), self._prompt(event.text, at)]
        return [self._new(StepKind.MESSAGE, event.text, at=at)]


class TinyLog(TranscriptFormat):
    """The agent's own log."""

    name = "tiny-log"

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Each line says who speaks."""
        return "tiny_log" in event

    def parser(self, turn: int = 1, transport: str = "") -> TurnParser:
        """A fresh parser, beginning with this turn."""
        return TinyLogParser(turn)
