"""Sessions whose turns are rows and files that a test makes: no process runs."""

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factories import add_turn, no_prompts, request

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.conversation.marks import Mark
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.prompts.prompter import PromptOptions
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
CODEX = Launch(argv=("codex",))
THREAD, THREAD_2 = (f"0190f7a2-0000-7000-8000-{number:012d}" for number in (1, 2))
"""Conversations of codex."""


class Talk:
    """A session of codex, turn by turn: each turn has a prompt, a start, two messages and an end (steps 0 to 4)."""

    def __init__(self, manager: SessionManager, session_id: str, cwd: Path, mark: Mark | None = None) -> None:
        self.manager, self.store, self.id = manager, manager.store, session_id
        self.folder = manager.layout.session(session_id)
        self.folder.create()
        project = cwd / "project"  # the state is beside it: an agent that works above it is refused
        project.mkdir(exist_ok=True)
        start = Start("prompt 1", agent="codex", title="talk", cwd=str(project), session_id=session_id)
        self.store.create(start, CODEX, "r", host=processes.host_name(), mark=mark)

    def answered(self, *, conversation: str | None = THREAD, torn: bool = False, **facts: Any) -> int:
        """End the newest turn with two messages; return its number.  The last line of a torn one has no newline."""
        n = self.store.newest_turn(self.id).n
        log = TurnLog(self.store, self.id, n, OWNER)
        assert log.claim() is not None
        lines = [
            {"type": "thread.started", "thread_id": conversation},
            *(
                {"type": "item.completed", "item": {"id": str(at), "type": "agent_message", "text": f"{n}.{at + 2}"}}
                for at in range(2)
            ),
            {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
        ]
        output = "\n".join(json.dumps(line) for line in lines)
        self.folder.output(n).write_text(output if torn else output + "\n")
        facts = {"end": "completed", "agent_session": conversation} | facts
        assert log.end(Facts(**facts), Outcome(status=Status.DONE, reason=None), 4, no_prompts)
        return n

    def turn(self, **facts: Any) -> int:
        """Add a turn and let it end."""
        after = self.store.newest_turn(self.id).n
        assert add_turn(self.store, self.id, after, f"prompt {after + 1}", CODEX)
        return self.answered(**facts)

    def say(self, text: str, **settings: Any) -> Launch:
        """Begin the turn of a prompt as the queue would, and return its start; no runner is sent."""
        manager, session = self.manager, self.manager.reader.by_id(self.id)
        plan = manager.prompts.plan(session, text, PromptOptions(settings=settings))
        turn = self.store.queue.add(request(self.id, text, plan=plan), builder(manager.layout, self.store)).turn
        launch = self.store.launch(self.id, turn) if turn is not None else None
        assert launch is not None
        return launch

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Own the newest turn as a runner does, so that no runner is sent to it."""
        lock = runner_lock.hold(self.folder.lock)
        assert lock is not None
        with lock:
            assert TurnLog(self.store, self.id, self.store.newest_turn(self.id).n, OWNER).claim() is not None
            yield

    def visible(self) -> list[tuple[int, int]]:
        """The places of the prompts and messages that are visible."""
        shown, steps = self.manager.reader.steps.shown(self.id), self.manager.reader.steps.messages(self.id)
        return [(step.turn, step.index) for step in steps if not shown.cuts(step.turn, step.index)]

    def hashes(self) -> dict[str, str]:
        """The SHA-256 of all its turn files and of its rows of turns and prompts."""
        files = {path.name: path.read_bytes() for path in sorted(self.folder.turns.iterdir())}
        for table in ("turns", "prompts"):
            rows = self.store.database.rows(f"SELECT * FROM {table} WHERE session = ? ORDER BY 1, 2", (self.id,))
            files[table] = repr([tuple(row) for row in rows]).encode()
        return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}

    def act(self, what: str, *arguments: Any) -> bool:
        """Do something to the conversation; return whether it was not refused."""
        try:
            getattr(self.manager.conversation, what)(self.id, *arguments)
        except AgentdashError:
            return False
        return True
