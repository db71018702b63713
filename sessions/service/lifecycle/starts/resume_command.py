"""The shell command that resumes a session's conversation in the agent's own interface."""

import os
import shlex
import shutil
from collections.abc import Callable, Mapping

from msgspec import Struct

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.names import check_names
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Session
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules.conversation.continuation import Continuation, Recorded
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.launch import requested_model
from agentdash.sessions.runner.work_folder import FolderError, check
from agentdash.sessions.service.lifecycle.starts.launch_plan import recorded_profile, session_folder
from agentdash.sessions.settings.config import Config
from agentdash.sessions.settings.place import CONFIG
from agentdash.sessions.storage.queries import Recipe


class ResumeCommand(Struct, frozen=True, kw_only=True):
    """The command, as a line for a POSIX shell and as its parts."""

    session: str
    command: str
    cwd: str
    env: Mapping[str, str | None]
    """Variables to set, as they were recorded with the session; None: to unset."""
    argv: tuple[str, ...]
    conversation: str
    """The agent's conversation."""


def resume_command(
    session: Session,
    recipe: Recipe,
    config_of: Callable[[str | None], Config],
    env: Mapping[str, str] = os.environ,
    *,
    mode: TurnMode | None = None,
    recorded: Recorded | None = None,
) -> ResumeCommand:
    """Return the command that resumes a session's conversation.

    Args:
        recipe: the options and the environment that were recorded with it.
        config_of: returns the settings under a profile: the one with which the session began.
        mode: the settings with which its newest turn ran.
        recorded: the records of its conversation, if it has marks.

    Raises:
        UsageError: its agent has no such command, has not named its conversation yet, or its folder is gone or
            another one; or the session went back, and its agent has no conversation that ends there.
        ConfigError: the settings cannot be used.
    """
    going_on = recorded.continuation() if recorded is not None else Continuation(session.agent_session)
    if recorded is not None and (going_on.fork is not None or going_on.conversation is None):
        newest = recorded.history.undoable()
        undo = f" Or take it back: agentdash rewind {session.short_id} --undo"
        raise UsageError(
            f"The next prompt of session {session.short_id} begins the conversation that goes on from there: "
            f"send it first.{undo if newest is not None and newest.kind == MarkKind.REWIND else ''}"
        )
    agent, conversation = agent_named(session.agent), going_on.conversation or ""
    settings = config_of(recorded_profile(recipe.env)).settings_for(session.agent, recipe.options)
    request = LaunchRequest(
        prompt="", cwd=session.cwd, session_id=session.id, agent_session=conversation, settings=settings,
        model=requested_model(recipe.options, mode),
    )  # fmt: skip
    if agent.interface is None:
        raise UsageError(
            f"{agent.title} has no command that resumes a session." if agent.prompted
            else "A plain command has no conversation to resume."
        )  # fmt: skip
    argv = agent.interface.resume(request)
    if not conversation:
        raise UsageError(f"{agent.title} has not reported a conversation id for session {session.short_id} yet.")
    check_names(agent, request)
    cwd = session_folder(session)
    try:
        check(cwd)
    except FolderError as error:
        raise UsageError(f"Session {session.short_id} cannot be opened: {error}.") from None
    argv = (_command(argv[0], recipe.env, env), *argv[1:])
    # Variables without a value in the session are unset, if they are set only now.
    recorded_env = ((name, value) for name, value in recipe.env.items() if name not in ("PATH", CONFIG))
    variables = {name: value for name, value in recorded_env if value is not None or name in env}
    line = f"cd {shlex.quote(cwd)} && {' '.join([*_assignments(variables), shlex.join(argv)])}"
    return ResumeCommand(session=session.id, command=line, cwd=cwd, env=variables, argv=argv, conversation=conversation)


def _command(name: str, recorded: Mapping[str, str | None], env: Mapping[str, str]) -> str:
    """Return the command's path if the session found another program by this name than a shell would find now."""
    there = shutil.which(name, path=recorded.get("PATH"))
    return name if there is None or there == shutil.which(name, path=env.get("PATH")) else there


def _assignments(variables: Mapping[str, str | None]) -> list[str]:
    unset = [word for name, value in variables.items() if value is None for word in ("-u", name)]
    settings = [f"{name}={shlex.quote(value)}" for name, value in variables.items() if value is not None]
    return [*(["env", *unset] if unset else []), *settings]
