"""The tool ``delegate``: a worker with a task, an agent, a mode and a folder of its own."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from agentdash.sessions.mcp.orchestration.calls import Calls
from agentdash.sessions.mcp.orchestration.quoting import words
from agentdash.sessions.mcp.orchestration.refusals import refusal, refused
from agentdash.sessions.mcp.orchestration.schemas import Delegate, Delegated
from agentdash.sessions.mcp.orchestration.waits import wait_for_one
from agentdash.sessions.model.errors import AgentdashError, UsageError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.keys import check_same_task
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.families.joining import allowed_folder, check_agent
from agentdash.sessions.settings.sections import OrchestrationSettings, preset_named
from agentdash.sessions.text.sanitize import clean

if TYPE_CHECKING:
    from agentdash.sessions.service.lifecycle.agent_list import AgentInfo


_GENERAL: Mapping[str, Mapping[str, str]] = {
    "claude": {"read-only": "plan", "edit": "acceptEdits", "full": "bypassPermissions"},
    "codex": {"read-only": "read-only", "edit": "workspace-write", "full": "danger-full-access"},
}
"""By agent: its own mode for each general word."""


def mode_options(agent: "AgentInfo", mode: str) -> dict[str, Any]:
    """Return the options of a start in a mode; none for no mode.

    Raises:
        RefusalError: the agent has no such mode.
    """
    if not mode:
        return {}
    own = _GENERAL.get(agent.name, {}).get(mode, mode)
    if own in agent.choices:
        return agent.options_of(own)
    known = ", ".join([*_GENERAL.get(agent.name, {}), *agent.choices])
    fact = f"{agent.name} has no mode {words(mode, 40)!r}."
    raise refusal("unknown_mode", fact, f"choose one of: {known}." if known else "leave mode out.")


def worker_folder(given: str, root: str, allowed: Sequence[str] | None) -> str:
    """Return the folder in which a worker is started, without symbolic links.

    Args:
        given: the folder that the lead names; relative to ``root``, and empty for it.
        root: the folder of the lead as it was recorded, which is always allowed with what is below it.
        allowed: ``orchestration.allowed_dirs``.

    Raises:
        RefusalError: it does not exist, or it is not allowed.
    """
    try:
        folder = os.path.realpath(Path(root, Path(given).expanduser()))
        exists = Path(folder).is_dir()
    except (ValueError, OSError, RuntimeError):  # a NUL byte, an unknown user
        folder, exists = given, False
    if not exists:
        what = "is not a folder" if "\0" not in folder and Path(folder).exists() else "does not exist"
        raise refusal("no_such_folder", f"The folder {words(folder, 300)} {what}.", "give an existing folder.")
    with refused():
        return allowed_folder(folder, root, allowed)


START_SECONDS = 3.0
"""The time in which an agent leaves the queue, if there is room."""

FIRST_SIGN_SECONDS = 1.5
"""The time in which an agent that starts prints something, and one that cannot start has failed."""

_STDERR_BYTES = 4_096


def delegate(calls: Calls, arguments: Delegate) -> Delegated:
    """Start a worker with a task of its own.

    Raises:
        RefusalError: the task, the agent, the folder or a right forbids it, or the start failed.
    """
    with refused("not_started", "correct the arguments, or ask the user."):
        session = _existing(calls, arguments)
        existing = session is not None
        if session is None:
            before = {one.id for one in calls.family().sessions}
            session = calls.manager.spawn(_start(calls, arguments))
            existing = session.id in before
            session = _under_way(calls, session)
            _check_started(calls, session)
        waited = wait_for_one(calls, session.id, arguments.wait_s)
        session, place = calls.manager.reader.by_id(session.id), 0
        if session.status is Status.QUEUED and session.after is None:
            waiting = calls.manager.reader.sessions(statuses=[Status.QUEUED])
            place = sum(one.created_at <= session.created_at and one.after is None for one in waiting)
        return Delegated(
            session=calls.family().name(session.id),
            status=str(session.status),
            agent=session.agent,
            model=words(session.model or "", 80),
            cwd=words(session.cwd, 400),
            place=place,
            existing=existing,
            warnings=tuple(words(one, 200) for one in calls.manager.reader.warnings(session.id)[:5]),
            ended=waited.ended if waited else (),
            needs_you=waited.needs_you if waited else (),
            overview=calls.overview(),
            next=waited.next if waited else "delegate the other tasks, then wait_for.",
        )


def _existing(calls: Calls, arguments: Delegate) -> Session | None:
    """Return the caller's worker that has this key, also if it could not be started now."""
    key = arguments.key
    session = next((one for one in calls.family().own() if one.key == key), None) if key else None
    if session is not None:
        asked = _with_preset(calls, Start(arguments.task, cwd=session.cwd), arguments.preset).prompt
        check_same_task(key, f"worker {session.short_id}", session.task, asked)
    return session


def _start(calls: Calls, arguments: Delegate) -> Start:
    reader, manager = calls.manager.reader, calls.manager
    config = reader.settings.config()
    folder = worker_folder(arguments.working_dir, calls.root(), config.orchestration.allowed_dirs)
    start = Start(
        arguments.task,
        agent=arguments.agent.strip(),
        model=arguments.model.strip() or None,
        cwd=folder,
        title=arguments.title,
        lifecycle=arguments.lifecycle,
        key=arguments.key,
        call=manager.caller.call or "",
        budget=Budget(cost_usd=arguments.budget_usd, tokens=arguments.budget_tokens),
    )
    start = _with_preset(calls, start, arguments.preset)
    if not start.prompt.strip():
        raise refusal("empty_task", "The task is empty.", "describe the whole task: the worker sees nothing else.")
    agents = reader.settings.agents(folder)
    agent = _agent(start.agent or reader.settings.default_agent(folder), agents, config.orchestration)
    return structs.replace(start, agent=agent.name, options={**start.options, **mode_options(agent, arguments.mode)})


def _with_preset(calls: Calls, start: Start, name: str) -> Start:
    if not name:
        return start
    reader = calls.manager.reader
    try:
        preset = preset_named(reader.settings.presets(start.cwd), name)
        # The folder was checked already, and one call starts one worker.
        return structs.replace(
            preset.completing(start, reader.settings.default_agent(start.cwd)), cwd=start.cwd, copies=None
        )
    except UsageError as error:
        raise refusal("unknown_preset", error.fact, "leave preset out, or use a known one.") from None


def _agent(name: str, agents: "Sequence[AgentInfo]", settings: OrchestrationSettings) -> "AgentInfo":
    usable = [one.name for one in agents if one.installed and settings.allows(one.name)]
    choice = f"use one of: {', '.join(usable)}." if usable else "ask the user to install an agent."
    found = next((one for one in agents if one.name == name), None)
    if found is None:
        raise refusal("unknown_agent", f"There is no agent {words(name, 60)!r} for workers.", choice)
    if not found.installed:
        raise refusal("unknown_agent", f"The agent {name} is not installed.", choice)
    check_agent(name, settings)
    return found


def _under_way(calls: Calls, session: Session) -> Session:
    """Return a worker once it has printed something, has ended or waits for a place; or after a short time."""
    from agentdash.sessions.service.lifecycle.wait import wait_until

    manager = calls.manager
    session = manager.started(session.id, calls.slice(START_SECONDS))

    def signs() -> bool:
        now = manager.reader.by_id(session.id)
        return now.status.ended or now.status is Status.QUEUED or now.steps > 0 or now.agent_session is not None

    wait_until(manager.store, signs, calls.slice(FIRST_SIGN_SECONDS), settle=manager.housekeeping.settle)
    return manager.reader.by_id(session.id)


def _check_started(calls: Calls, session: Session) -> None:
    """Refuse the result of a start that failed: the worker is there, and can be read."""
    if session.status is not Status.FAILED or session.steps:
        return
    calls.reading.name_in_refusal(session)
    stderr = ""
    with suppress(AgentdashError):
        stderr = clean(calls.manager.reader.outputs.stderr_tail(session.id, most=_STDERR_BYTES)[0])
    first = next((line.strip() for line in stderr.splitlines() if line.strip()), "")
    name = calls.family().name(session.id)
    output = f" stderr: {words(first, 300)}" if first else ""
    fact = f"Worker {name} could not start: {words(session.reason or 'no reason is known', 300)}.{output}"
    raise refusal("start_failed", fact, f'read(session="{name}", part="stderr"), then delegate differently.')
