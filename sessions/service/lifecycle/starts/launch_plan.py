"""Turn a request into an exact start: settings, model, conversation, argv."""

import os
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs, to_builtins

from agentdash.sessions.agents.base import Agent, AgentSettings, LaunchRequest
from agentdash.sessions.agents.names import command_of
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import Remedy, UsageError
from agentdash.sessions.model.session import Session
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules.launch import Command, Launch, Start, Terms, TurnPlan
from agentdash.sessions.rules.prompts.chain import FIELD
from agentdash.sessions.service.lifecycle.starts.limit_checks import judged
from agentdash.sessions.settings.config import PROFILE, Config
from agentdash.sessions.settings.place import CONFIG
from agentdash.sessions.settings.prices import in_force
from agentdash.sessions.text.sanitize import one_line

TITLE_CHARACTERS = 80
"""The maximum number of characters in a title made from the prompt."""

LONGEST_TITLE = 200
"""The maximum number of characters in a title that the user gives."""


PROMPT_CHARACTERS = 900_000
"""The most characters of a prompt.  codex (0.169.0) refuses more than 1,048,576, of which a conversation that is retold
with the prompt can take 120,000; claude (2.1.197) refuses more than 10 MB, and its context is full long before."""


def checked_prompt(prompt: str) -> str:
    """Return the prompt as it will be sent.

    Raises:
        UsageError: it is empty or too long, or cannot be encoded as UTF-8 (a lone surrogate in argv).
    """
    if len(prompt) > PROMPT_CHARACTERS:
        raise UsageError(
            f"The prompt is longer than {PROMPT_CHARACTERS:,} characters, which is more than the agents take. "
            "Put the text into a file, and name the file in the prompt."
        )
    if not prompt.strip():
        raise UsageError("The prompt is empty. Pass it as an argument, or - to read stdin.")
    return checked_text(prompt, "prompt")


def checked_text(text: str, what: str) -> str:
    """Return the text if it can be recorded and passed on.

    Raises:
        UsageError: it cannot be encoded as UTF-8 (a file name in another encoding), or holds a NUL byte.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"The {what} is not UTF-8 text.") from None
    if "\0" in text:
        raise UsageError(f"The {what} contains a NUL byte.")
    return text


def checked_folder(cwd: str | os.PathLike[str] | None) -> str:
    """Return the absolute folder to work in, without symbolic links: a link could lead elsewhere at a later turn.

    Raises:
        UsageError: it does not exist, is not a folder, or has a name that is not text.
    """
    try:
        path = Path(cwd if cwd is not None else Path.cwd()).expanduser()
        checked_text(str(path), "folder")
        path = Path(os.path.realpath(path))
    except FileNotFoundError:
        raise UsageError("The current folder no longer exists.") from None
    except RuntimeError as error:
        raise UsageError(f"The folder {cwd}: {error}") from None
    return _existing(path)


def _existing(path: Path) -> str:
    checked_text(str(path), "folder")
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        raise UsageError(f"The folder {path} {what}.")
    return str(path)


def session_folder(session: Session) -> str:
    """Return the folder of a session as it was recorded; each start opens it without following a link.

    Raises:
        UsageError: it is gone; the conversation can be continued in another one.
    """
    try:
        return _existing(Path(session.cwd))
    except UsageError as error:
        if not agent_named(session.agent).prompted:
            raise
        shell = f"Continue it in another one: agentdash continue {session.short_id} -C FOLDER"
        raise UsageError(str(error), Remedy.CONTINUE, shell) from None


def title_of(text: str) -> str:
    """Return the first line with words, shortened; a line that is only the answer of another session has none yet."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = next((line for line in lines if line != FIELD), "answer of another session" if lines else "")
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"


def new_title(text: str, task: str) -> str:
    """Return the title that the user gives, on one line; the automatic title if it is empty.

    Raises:
        UsageError: it is too long for a title.
    """
    title = one_line(checked_text(text, "title"))
    if len(title) > LONGEST_TITLE:
        raise UsageError(f"The title has {len(title)} characters; the maximum is {LONGEST_TITLE}.")
    return title or title_of(task)


class LaterTurn(Struct, frozen=True, kw_only=True):
    """The parts that a later turn is built from, besides the start of its session."""

    turn: int
    agent_session: str | None
    """The conversation to resume, if the agent has named one."""
    limits: Collection[str]
    """The limits that the request for this turn names itself."""
    env: Mapping[str, str | None]
    """The environment that was recorded with the session."""
    mode: TurnMode | None = None
    """The settings with which the turn before ran, if they were recorded."""
    options: Collection[str] = ()
    """The keys of the agent's section that the request for this turn names itself."""


def completed(start: Start, config: Config, recorded: str | None = None) -> Start:
    """Return the start with an agent, an absolute folder and an id for its session.

    Args:
        config: the settings in its folder.
        recorded: the folder of the session that it goes on from, which is taken as it was recorded.

    Raises:
        UsageError: no such folder.
    """
    return structs.replace(
        start,
        agent=start.agent or config.default_agent,
        cwd=checked_folder(start.cwd or None) if recorded is None else recorded,
        session_id=start.session_id or str(uuid.uuid4()),
    )


def build_launch(config: Config, start: Start, *, later: LaterTurn | None = None, notes: Sequence[str] = ()) -> Launch:
    """Build one exact start; the arguments and errors are those of :func:`plan_turn`."""
    plan, command = plan_turn(config, start, later=later, notes=notes)
    return plan.launch(command)


def plan_turn(
    config: Config, start: Start, *, later: LaterTurn | None = None, notes: Sequence[str] = ()
) -> tuple[TurnPlan, Command]:
    """Return the plan of a turn, and the command that its agent would make of it now.

    Args:
        start: a :func:`completed` start.
        later: the parts of a later turn; None for the first one.
        notes: sentences about the settings, which become warnings of the turn.

    Raises:
        UsageError: an option or a setting that the agent cannot take, or a requested limit that can never act.
    """
    agent = agent_named(start.agent)
    settings = config.settings_for(start.agent, start.options)
    settings = structs.replace(settings, instructions=_instructions(agent, settings, later))
    command = command_of(agent, _request(start, settings, later))
    asked, env = (later.limits, later.env) if later else (start.options.get("limits") or (), {})
    limits, prices = settings.limits.over(config.limits), in_force(config)
    merged = {**os.environ, **env, **command.env}
    environment = {name: value for name, value in merged.items() if value is not None}
    unable = judged(limits, agent.measures(command, prices, environment), asked)
    terms = Terms(
        ladder=config.ladder_for(agent.ladder, settings),
        limits=limits,
        family=config.orchestration.limits,
        led=start.led,
        prices=prices,
        warnings=(*command.warnings, *unable, *notes),
        attention=config.attention,
        after_turn=settings.stop.after_turn or config.stop.after_turn or "keep",
        hook=config.notify.command,
        mode=agent.turn_mode(settings, command.model) if agent.prompted else None,
        warm=config.live,
        asks=config.asks,
    )
    plain, on_failure = to_builtins(settings), config.queue.on_failure
    return TurnPlan(settings=plain, model=start.model, argv=start.argv, terms=terms, on_failure=on_failure), command


def _request(start: Start, settings: AgentSettings, later: LaterTurn | None) -> LaunchRequest:
    return LaunchRequest(
        prompt=start.prompt, cwd=start.cwd, session_id=start.session_id, model=start.model, settings=settings,
        turn=later.turn if later else 1, agent_session=later.agent_session if later else None,
        argv=start.argv, led=start.led,
    )  # fmt: skip


def _instructions(agent: Agent, settings: AgentSettings, later: LaterTurn | None) -> str | None:
    """Return the instructions of a turn: a conversation keeps its own until a request for a turn names others."""
    given = checked_text(settings.instructions or "", "instruction text")
    if given and not agent.takes_instructions:
        raise UsageError(f"{agent.title} takes no instructions.")
    if later is None or later.mode is None or later.agent_session is None:
        return given or None
    return (given if "instructions" in later.options else later.mode.instructions) or None


def recorded_environment(agent_name: str, settings: Path) -> dict[str, str | None]:
    """Return the current values of the variables that later turns of this agent need; None if unset; never secrets.

    They include the file and the profile of the settings, so that the session keeps the settings it began with: for
    each later turn, whatever the caller's own profile, and for everything that the agent itself starts.
    """
    names = (*agent_named(agent_name).env_keys, PROFILE)
    return {name: os.environ.get(name) for name in names} | {CONFIG: str(settings)}


def adopt_settings(recorded: Mapping[str, str | None]) -> None:
    """Let this process read the settings with which a session began, whatever its own environment names.

    A session whose record was lost has neither.
    """
    for name in {CONFIG, PROFILE} & recorded.keys():
        value = recorded[name]
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


def recorded_profile(env: Mapping[str, str | None]) -> str | None:
    """Return the profile with which a session began: "" for no profile, None if it was not recorded."""
    return (env[PROFILE] or "") if PROFILE in env else None
