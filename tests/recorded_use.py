"""Sessions whose reports of use are recorded as a runner records them, without a process."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

from agentdash.sessions.agents.parsing.usage_meter import Meter
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import Reported
from agentdash.sessions.rules.costs.usage_table import UsageQuery, UsageTable
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.storage.prompts.new_turn import begin_turn, insert_turn
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.use.use_queries import UseQueries

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
ID = "0fab5d3e-0000-4000-8000-00000000000{}"


class Recorded:
    """A store with turns that are recorded as a runner records them."""

    def __init__(self, path: Path) -> None:
        self.store = Store(path / "agentdash.db")
        self.turns: Counter[str] = Counter()

    def turn(
        self,
        lines: bytes | list[bytes],
        agent: str,
        transport: str = "",
        session: str = ID.format(1),
        at: int = 1_790_000_000_000,
        stream: int | None = None,
        forked: dict[str, Any] | None = None,
        home: Path | None = None,
        argv: tuple[str, ...] = (),
        meter: Meter | None = None,
        **start: Any,
    ) -> None:
        """Record one more turn of a session; ``at`` is the time of its first line, UTC ms.

        ``stream`` is the turn whose process serves it too; ``forked`` are facts of its start, if it forks; ``home`` is
        the folder with claude's transcripts, ``argv`` its arguments; ``meter`` is read when the turn has ended.
        """
        launch = Launch(argv=(agent, *argv), transport=transport, **(forked or {}))
        if not self.turns[session]:
            self.store.create(
                Start("do it", agent=agent, session_id=session, **({"cwd": "/p"} | start)), launch, "run", host="h"
            )
        else:
            with self.store.database.transaction() as db:
                insert_turn(db, session, self.turns[session] + 1, "more", launch, "run", 1, None)
                begin_turn(db, session, self.turns[session] + 1, None, 1)
        self.turns[session] += 1
        with self.store.database.transaction() as db:
            db.execute(
                "UPDATE turns SET stream = ? WHERE session = ? AND n = ?", (stream, session, self.turns[session])
            )
        log = TurnLog(self.store, session, self.turns[session], OWNER)
        assert log.claim()
        parser = agent_named(agent).parser(self.turns[session], transport)
        facts, env = parser.facts, {"CLAUDE_CONFIG_DIR": str(home)}
        facts.reported = Reported(Pricing())
        facts.thread_before = self.store.thread_total_before(session, self.turns[session])
        if home is not None and stream is None:
            facts.total_before = agent_named(agent).total_before(launch, env, at)
        for number, line in enumerate(lines.splitlines() if isinstance(lines, bytes) else lines):
            parser.feed(line, at + number)
            if meter is not None:
                meter.feed(line)
            if number % 5 == 0:
                log.progress(parser.facts, Status.RUNNING, None, number, None)
        if meter is not None:
            meter.take_rest(facts)
        if home is not None:
            agent_named(agent).count_broken_off(facts, env, at)
        done = Outcome(status=Status.DONE, reason=None, exit_code=0)
        assert log.end(parser.facts, done, 3, lambda *_: Launch(argv=()))

    def table(self, by: str = "session", **more: object) -> UsageTable:
        """Ask for the use."""
        return UseQueries(self.store.database).table(UsageQuery(by=by, **more))  # type: ignore[arg-type]

    def sessions(self, by: str, group: str | None, column: date | None, **more: object) -> list[int]:
        """Ask for the sessions of a group in a column, by their numbers."""
        query = UsageQuery(by=by, **more)  # type: ignore[arg-type]
        return [int(one[-1]) for one in UseQueries(self.store.database).sessions(query, group, column)]
