"""Sessions, turns and steps for tests: a test names what it is about, and everything else is ordinary."""

import uuid
from collections.abc import Mapping
from typing import Any

from agentdash.sessions.model.session import Session, Status, Step, StepKind, Turn
from agentdash.sessions.rules.launch import Launch, Terms, TurnPlan
from agentdash.sessions.storage.prompts.queued_prompt import Request
from agentdash.sessions.storage.store import Store

T0 = 1_790_000_000_000
"""The moment of the tests, UTC ms."""


def session(sid: str = "s1", /, **facts: Any) -> Session:
    """Make a session: codex in its first turn, running, if nothing else is said."""
    usual: dict[str, Any] = {
        "id": sid, "agent": "codex", "title": f"task of {sid}", "task": "task", "status": Status.RUNNING,
        "cwd": "/home/ann/code/api", "turn": 1, "created_at": T0, "updated_at": T0,
    }  # fmt: skip
    return Session(**(usual | facts))


def turn(n: int = 1, /, **facts: Any) -> Turn:
    """Make a turn: done, if nothing else is said."""
    usual: dict[str, Any] = {"session": "s1", "n": n, "status": Status.DONE, "run_id": "r", "created_at": 0}
    return Turn(**(usual | facts))


def step(index: int, kind: StepKind, took: int | None = None, **facts: Any) -> Step:
    """Make a step of the first turn, a second and a half after the one before it; ``took`` is in ms."""
    began = T0 + 1_500 * index
    return Step(turn=1, index=index, kind=kind, at=began, ended_at=None if took is None else began + took, **facts)


def request(session_id: str, text: str = "more", /, **facts: Any) -> Request:
    """Make a request for a prompt, with a key of its own if none is given."""
    usual: dict[str, Any] = {"key": str(uuid.uuid4()), "plan": TurnPlan(settings={}, terms=Terms())}
    return Request(session=session_id, text=text, **(usual | facts))


def add_turn(
    store: Store,
    session_id: str,
    after: int,
    text: str,
    launch: Launch,
    asked_by: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> int | None:
    """Queue a prompt that becomes a turn at once, if turn ``after`` is the newest and has ended."""
    asked = request(session_id, text, asked_by=asked_by, options=options, only_after=after)
    return store.queue.add(asked, lambda *_: launch).turn


def no_prompts(*_: object) -> Launch:
    """Stand in for the maker of starts where no prompt waits."""
    raise AssertionError("a prompt waits")
