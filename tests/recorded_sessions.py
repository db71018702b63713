"""Sessions of codex that are recorded as they were left: rows and turn files, without any process."""

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentdash.sessions.model.session import Prompt, Session, Status, Turn
from agentdash.sessions.rules.conversation.marks import Mark
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.files.session_record import Identity, restore
from agentdash.sessions.storage.queries import Recipe

Event = Mapping[str, Any]


def said(text: str, number: int = 0) -> Event:
    """A message of the agent."""
    return {"type": "item.completed", "item": {"id": f"item_{number}", "type": "agent_message", "text": text}}


def ran(command: str, exit_code: int | None = 0, output: str = "", number: int = 0) -> Event:
    """A command; one without an exit code has begun and not ended."""
    item = {"id": f"item_{number}", "type": "command_execution", "command": command, "aggregated_output": output}
    begun = {"type": "item.started", "item": item | {"exit_code": None, "status": "in_progress"}}
    done = {"type": "item.completed", "item": item | {"exit_code": exit_code, "status": "completed"}}
    return begun if exit_code is None else done


def lines(*events: Event) -> bytes:
    """A whole turn with these events."""
    usage = {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}
    turn = [{"type": "turn.started"}, *events, {"type": "turn.completed", "usage": usage}]
    return b"".join(json.dumps(event).encode() + b"\n" for event in turn)


def record(
    manager: SessionManager,
    turns: Sequence[tuple[str, bytes]],
    *,
    marks: Iterable[Mark] = (),
    last: Status = Status.DONE,
    options: Mapping[str, object] | None = None,
    **facts: Any,
) -> Session:
    """Record a session.

    Args:
        manager: a manager of the state folder.
        turns: the prompt and the output of each turn.
        marks: its marks; their session is set here.
        last: the status of the newest turn.
        options: the options of its start.
        facts: fields of the session; the newest turn used all that the session used.
    """
    session_id = facts.pop("id", None) or str(uuid.uuid4())
    folder = manager.layout.session(session_id)
    folder.create()
    rows, prompts = [], []
    for n, (prompt, output) in enumerate(turns, 1):
        status = last if n == len(turns) else Status.DONE
        ended = 3 if status.ended else None
        used = {name: facts[name] for name in ("usage", "cost_usd", "cost_about_usd") if name in facts}
        rows.append(
            Turn(
                session=session_id, n=n, status=status, run_id=f"r{n}", created_at=1, started_at=2, ended_at=ended,
                steps=1, argv=("codex",), boot_id=processes.boot_id(), pid_ns=processes.pid_namespace(),
                **(used if n == len(turns) else {}),
            )
        )  # fmt: skip
        prompts.append(Prompt(id=n, session=session_id, turn=n, text=prompt, state="seen", created_at=1))
        folder.output(n).write_bytes(output)
    usual: dict[str, Any] = {
        "agent": "codex", "title": turns[0][0], "task": turns[0][0], "cwd": str(Path.cwd()), "created_at": 1,
        "updated_at": 2, "ended_at": 3 if last.ended else None, "host": processes.host_name(),
    }  # fmt: skip
    session = Session(id=session_id, status=last, turn=len(turns), **(usual | facts))
    identity = Identity(
        session=session, recipe=Recipe(options=dict(options or {}), command=(), env={}), turns=tuple(rows),
        launches=(Launch(argv=("codex",)),) * len(rows), prompts=tuple(prompts),
        marks=tuple(Mark(**{name: getattr(mark, name) for name in mark.__struct_fields__} | {"session": session_id})
                    for mark in marks),
    )  # fmt: skip
    assert restore(manager.store, identity)
    return manager.reader.by_id(session_id)


def evidence(manager: SessionManager, session_id: str) -> tuple[dict[str, str], list[tuple[Any, ...]]]:
    """Everything that is recorded of a session, as digests of its files and as rows.

    Its place in the change feed is left out: front ends read a session again when another one is forked from it.
    """
    folder = manager.layout.session(session_id).path
    files = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    names = {"sessions": "id", "turns": "session", "prompts": "session", "queue": "session", "marks": "session"}
    rows = [
        tuple(value for name, value in dict(row).items() if name not in ("seq", "urgency_seq"))
        for table, key in names.items()
        for row in manager.store.database.rows(f"SELECT * FROM {table} WHERE {key} = ?", (session_id,))
    ]
    return files, rows
