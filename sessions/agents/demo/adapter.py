"""The demo agents: a real child process that plays a script, with real commands, files and children.

They demonstrate agentdash without an account, and give the tests an agent whose behaviour they choose.  They start only
inside `agentdash demo` (see :mod:`.place`).
"""

import re
import sys
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from ...errors import UsageError
from ...launch import Launch
from ..base import Agent, AgentSettings, LaunchRequest, TurnParser
from ..usage_meter import Measurable, Measures, When

_EVENTS = frozenset({"started", "command.started", "command.ended"})
_MARKER = re.compile(r"\[\[demo:([a-z0-9_-]+)\]\]")


class DemoSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.demo]``."""

    script: Annotated[
        str | None,
        Meta(
            description="Script to play first; [[demo:NAME]] in a prompt overrides it.",
            examples=["tree"],
            extra={"default": "done"},
        ),
    ] = None
    speed: Annotated[float, Meta(gt=0, le=1000, description="Speed factor: 2 is twice as fast.")] = 1.0


class Demo(Agent):
    """The demo agent."""

    name = "demo"
    title = "Demo"
    demo_only = True
    offered = False
    settings_type = DemoSettings

    def launch(self, request: LaunchRequest) -> Launch:
        """Build the argv of the player, a Python process; the prompt's marker chooses the script."""
        from .script import SCRIPTS

        settings = request.settings if isinstance(request.settings, DemoSettings) else DemoSettings()
        marker = _MARKER.search(request.prompt)
        chosen = marker[1] if marker else settings.script if request.turn == 1 else None
        script = chosen or ("followup" if request.agent_session else "done")
        if script not in SCRIPTS:
            raise UsageError(f"Unknown demo script {script!r}. Choose one of: {', '.join(SCRIPTS)}.")
        argv = [sys.executable, "-P", "-m", "agentdash.sessions.agents.demo.player"]
        argv += ["--script", script, "--speed", f"{settings.speed:g}"]
        argv += ["--resume" if request.agent_session else "--conversation", request.agent_session or request.session_id]
        return Launch(argv=(*argv, *settings.args), stdin=request.prompt, model="demo-1")

    def measures(self, launch: Launch, env: Mapping[str, str]) -> Measures:  # noqa: ARG002
        """Return when tokens and cost are known: both are in the last line."""
        at_the_end = Measurable(When.END, "the demo agent reports it only when a turn ends")
        return Measures(tokens=at_the_end, cost=at_the_end)

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether this is the first line or a command event."""
        return kind in _EVENTS and ("conversation" in event or "id" in event)

    def parser(self, turn: int = 1, transport: str = "") -> TurnParser:  # noqa: ARG002
        """Return a new parser for one turn."""
        from .turn_parser import DemoParser  # only a process that reads turns needs it

        return DemoParser(turn)


class CodexDemo(Demo):
    """A demo agent that stands for codex."""

    name = "codex-demo"
    title = "Codex (demo)"
    offered = True


class ClaudeDemo(Demo):
    """A demo agent that stands for claude."""

    name = "claude-demo"
    title = "Claude Code (demo)"
    offered = True
