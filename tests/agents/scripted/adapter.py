"""The agent of the tests: a real child process that plays a script, with real commands, files and children.

Each test chooses what the agent does.  It is no part of agentdash: ``sitecustomize.py`` beside this package adds it.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from agentdash.sessions.agents.base import Agent, LaunchRequest, LiveSettings
from agentdash.sessions.agents.capabilities import Live, OwnFiles, Use
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.parsing.usage_meter import Measurable, Measures, When
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Command, Launch, Prices

if TYPE_CHECKING:
    from agentdash.sessions.agents.dialogue import Dialogue
    from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt

TRANSPORT = "scripted-lines"
"""The protocol of the live scripted agent."""

_EVENTS = frozenset({"ready", "started", "command.started", "command.ended"})


class ScriptedSettings(LiveSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.scripted]``."""

    script: Annotated[
        str | None,
        Meta(
            description="Script to play first; [[script:NAME]] in a prompt overrides it.",
            examples=["tree"],
            extra={"default": "done"},
        ),
    ] = None
    speed: Annotated[float, Meta(gt=0, le=1000, description="Speed factor: 2 is twice as fast.")] = 1.0
    live: Annotated[bool, Meta(description="Serve all turns with one process, which can be steered and asks.")] = False


def _parser(turn: int) -> TurnParser:
    """Return a parser that reads every transport, because a file does not name its own."""
    from scripted.live_parser import LiveScriptedParser  # only a process that reads turns needs it

    return LiveScriptedParser(turn)


def _fixed_start(launch: Launch) -> tuple[object, ...]:
    """Return the argv without its conversation; a live player takes the model and the mode from its stdin."""
    words = iter(launch.argv)
    kept: list[str] = []
    for word in words:
        if word in ("--resume", "--conversation"):
            next(words, None)
        else:
            kept.append(word)
    return (tuple(kept),)


def _dialogue(opening: Sequence[str]) -> "Dialogue":
    from scripted.dialogue import ScriptedDialogue

    return ScriptedDialogue(opening)


def _has_prompt(sent: "SentPrompt") -> bool | None:
    """Search the conversation's file in the state folder; None for a process of one turn."""
    if sent.launch.transport != TRANSPORT:
        return None
    from agentdash.sessions.storage.paths import default_home
    from scripted.sent import conversation_has  # only needed if a turn broke off

    home = sent.env.get("AGENTDASH_HOME")
    return conversation_has(Path(home) if home else default_home(), sent)


def _measures(_: Command, __: Prices, ___: Mapping[str, str]) -> Measures:
    at_the_end = Measurable(When.END, "the scripted agent reports it only when a turn ends")
    return Measures(tokens=at_the_end, cost=at_the_end)


class Scripted(Agent):
    """The scripted agent."""

    name = "scripted"
    title = "Scripted"
    parsers: ClassVar = {"": _parser}
    settings_type = ScriptedSettings

    live = Live(
        transport=TRANSPORT,
        dialogue=_dialogue,
        fixed_start=_fixed_start,
        prints=lambda event: event.get("type") == "ready",
        adjusts_from="step",
    )
    use = Use(measures=_measures)
    own_files = OwnFiles(has_prompt=_has_prompt)

    def command(self, request: LaunchRequest) -> Command:
        """Build the argv of the player, a Python process; the prompt's marker chooses the script.

        A live player reads the markers itself, because it gets later prompts too.
        """
        from scripted.script import SCRIPTS, named_script, unknown_script

        settings = request.settings if isinstance(request.settings, ScriptedSettings) else ScriptedSettings()
        named = named_script(request.prompt)
        model = request.model or settings.model or "scripted-1"
        chosen = named or (settings.script if request.turn == 1 else None)
        first = settings.script or "done"
        script = chosen or ("followup" if request.agent_session else "done")
        for name in (script, first) if settings.live else (script,):
            if name not in SCRIPTS:
                raise UsageError(unknown_script(name))
        plain = _argv("player", script, request, settings)
        if not settings.live:
            return Command(argv=plain, stdin=request.prompt, env=_ENV, model=model)
        return Command(
            argv=_argv("live_player", first, request, settings, "--approvals", settings.approvals),
            stdin=request.prompt,
            env=_ENV,
            model=model,
            transport=TRANSPORT,
            plain_argv=plain,
        )

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether this is a first line or a command event."""
        return kind in _EVENTS and ("conversation" in event or "id" in event)


_FOLDER = Path(__file__).parents[1]
_ENV = {"PYTHONPATH": os.pathsep.join(map(str, (_FOLDER, _FOLDER.parents[1] / "src")))}
"""A runner of another installation starts the player too."""


def _argv(player: str, script: str, request: LaunchRequest, settings: ScriptedSettings, *more: str) -> tuple[str, ...]:
    """Return the argv of a player module; the user's own arguments are its last."""
    argv = [sys.executable, "-P", "-m", f"scripted.process.{player}"]
    argv += ["--script", script, "--speed", f"{settings.speed:g}"]
    # A later turn without a conversation begins another one.
    begun = request.session_id if request.turn == 1 else f"{request.session_id}-{request.turn}"
    argv += ["--resume" if request.agent_session else "--conversation", request.agent_session or begun]
    return (*argv, *more, *settings.args)
