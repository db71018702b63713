"""Sessions followed as plain lines: what is printed when the runner is a moment behind its agent."""

import asyncio

from unit.sessions.transcript.test_step_tail import DONE, Written, command

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.service.watch import Change
from agentdash.tui.cli import follow_lines
from agentdash.tui.render.style import Style


class Manager:
    """One session, as far as following asks about it."""

    def __init__(self, written, home):
        self.written = written
        self.home, self.live_dir = home, home / "live"
        self.reader = self.housekeeping = self.steps = self

    def get(self, _):
        turn = self.written.turns[-1]
        facts = {"id": "one", "agent": "codex", "title": "t", "task": "t", "cwd": "/", "created_at": 0, "updated_at": 0}
        return Session(status=turn.status, turn=turn.n, **facts)

    def open_trajectory(self, _):
        return self.written.steps()

    def settle(self):
        pass


def test_a_command_has_its_duration_though_its_arrival_is_recorded_after_its_end_is_seen(tmp_path, monkeypatch):
    written = Written(tmp_path)
    written.turn(command("started", "make"))
    written.arrived(1_000)
    lines, printed = [], asyncio.Event()

    def write(more):
        lines.extend(more)
        if sum("make" in line for line in lines) == 2:
            printed.set()

    async def events(home, live):
        yield Change(database=True, sweep=True)
        written.write(command("completed", "make", **DONE))
        yield Change(turn_files=frozenset({"one.1.jsonl"}))
        written.arrived(4_200)  # which the kernel does not report
        await asyncio.wait_for(printed.wait(), 60)
        written.end()
        yield Change(database=True)

    monkeypatch.setattr(follow_lines, "changes", events)
    manager = Manager(written, tmp_path)
    assert follow_lines.follow(
        manager, [manager.get("one")], follow_lines.Printer(Style(width=80), write), lines.append
    )
    begun, ended = [line for line in lines if "make" in line]
    assert "3.2s" not in begun
    assert ended.endswith("✓  3.2s")
    assert manager.get("one").status is Status.DONE
