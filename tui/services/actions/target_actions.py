"""The actions of keys that need only the sessions that they act on."""

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from ...keys.action_target import ActionTarget
from ...texts import screen_texts as texts
from .session_actions import SessionActions

Act = Callable[[SessionActions, ActionTarget], Coroutine[Any, Any, None] | None]
"""Begins an action; returns the rest of it, if it goes on in a worker."""


def _new_session(operations: SessionActions, target: ActionTarget) -> Coroutine[Any, Any, None]:
    return operations.starting.ask_what_to_start(target.current.cwd if target.current is not None else str(Path.cwd()))


def _new_like(operations: SessionActions, target: ActionTarget) -> Coroutine[Any, Any, None] | None:
    session = target.current
    return operations.starting.ask_what_to_start(session.cwd, session) if session is not None else None


def _new_after(operations: SessionActions, target: ActionTarget) -> Coroutine[Any, Any, None] | None:
    session = target.current
    return operations.starting.ask_what_to_start(session.cwd, after=session) if session is not None else None


def _continue(operations: SessionActions, target: ActionTarget) -> Coroutine[Any, Any, None] | None:
    return operations.continuing.ask(target.current) if target.current is not None else None


def _rename(operations: SessionActions, target: ActionTarget) -> None:
    if target.current is not None:
        operations.ask_for_title(target.current)


def _processes(operations: SessionActions, target: ActionTarget) -> None:
    from ...dialogs.processes import ProcessesScreen

    if (session := target.current) is not None:
        operations.app.push_screen(ProcessesScreen(texts.title(session), operations.processes_of(session)))


TARGET_ACTIONS: Mapping[str, Act] = {
    "new_session": _new_session,
    "new_like": _new_like,
    "new_after": _new_after,
    "start_waiting": lambda operations, target: operations.chains.start(target.current),
    "wait_for": lambda operations, target: operations.chains.choose(target.current),
    "continue": _continue,
    "stop": lambda operations, target: operations.stopping.stop_chosen(target.chosen),
    "kill": lambda operations, target: operations.stopping.kill_chosen(target.chosen, target.current),
    "interrupt_turn": lambda operations, target: operations.prompts.interrupt(target.current),
    "mode": lambda operations, target: operations.adjust.choose_mode(target.current),
    "take_over": lambda operations, target: operations.interfaces.take_over(target.current),
    "delete": lambda operations, target: operations.putting_away.delete_chosen(target.chosen),
    "archive": lambda operations, target: operations.putting_away.archive_chosen(target.chosen, target.current),
    "rename": _rename,
    "trust": lambda operations, target: operations.starting.review_project(
        target.current.cwd if target.current else ""
    ),
    "processes": _processes,
}
"""The actions by their ids in the registry."""
