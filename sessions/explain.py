"""The facts behind a session's status, and the rule that made it of them."""

from msgspec import Struct

from .clock import now_ms
from .layout import Layout
from .model import ENDED, Session, Status, Turn
from .settling import agent_lives, survivors
from .supervision import locks, procs


class Fact(Struct, frozen=True):
    """One thing that is known."""

    name: str
    value: str
    source: str


class Explanation(Struct, frozen=True, kw_only=True):
    """Why a session has the status it has."""

    session: str
    status: Status
    reason: str | None
    rule: str
    facts: tuple[Fact, ...]


_RULES = {
    Status.QUEUED: "the turn is recorded and no runner has taken it yet",
    Status.STARTING: "a runner has taken the turn and has not started the agent yet",
    Status.RUNNING: "the runner holds its lock, the agent lives, and no final event was seen",
    Status.WAITING: "the agent asked a question and nobody has answered",
    Status.FINISHING: "the final event was seen and the agent's process still lives",
    Status.DONE: "the adapter saw the proper end of a good turn",
    Status.FAILED: "the turn ended without the proper end of a good turn",
    Status.STOPPED: "a stop was asked for before the turn ended",
    Status.LOST: "nothing lives, no exit code was recorded and the turn file holds no final event",
}


def explain(layout: Layout, session: Session, turn: Turn | None) -> Explanation:
    """Collect the facts; reads only."""
    folder = layout.session(session.id)
    held = locks.is_held(folder.lock)
    facts = [
        Fact("runner's lock", "held" if held else "free", str(folder.lock)),
        Fact(
            "host", f"{session.host}{'' if session.host == procs.host_name() else ' (not this one)'}", "sessions.host"
        ),
    ]
    if turn is not None:
        facts += _turn_facts(turn)
        facts += _process_facts(layout, turn, held)
        facts.append(_file_fact(layout, session, turn))
    return Explanation(
        session=session.id,
        status=session.status,
        reason=session.reason,
        rule=_RULES[session.status],
        facts=tuple(facts),
    )


def _turn_facts(turn: Turn) -> list[Fact]:
    exit_code = "not known" if turn.exit_code is None else str(turn.exit_code)
    return [
        Fact("turn", str(turn.n), "turns.n"),
        Fact("command", " ".join(turn.argv), "turns.launch"),
        Fact("proper end seen", turn.end or "none", "turns.end, by the adapter"),
        Fact("exit code", turn.signal or exit_code, "turns.exit_code, turns.signal, by wait4"),
        Fact("error", turn.error or "none", "turns.error, by the adapter"),
        Fact("stop asked for", _ago(turn.stop_requested_at), "turns.stop_requested_at"),
        Fact("receipt", turn.receipt.summary() if turn.receipt else "none", "turns.receipt"),
        Fact("unknown events", str(turn.unknown), "turns.unknown"),
    ]


def _process_facts(layout: Layout, turn: Turn, held: bool) -> list[Fact]:
    if turn.boot_id is not None and turn.boot_id != procs.boot_id():
        return [Fact("boot", "the machine was rebooted since", "turns.boot_id")]
    facts = []
    if turn.runner_pid is not None and turn.runner_start is not None:
        lives = "lives" if procs.alive(turn.runner_pid, turn.runner_start) else "is gone"
        facts.append(Fact("runner", f"pid {turn.runner_pid} {lives}", "turns.runner_pid, turns.runner_start"))
    if turn.agent_pid is not None:
        lives = "lives" if agent_lives(turn) else "is gone"
        facts.append(Fact("agent", f"pid {turn.agent_pid} {lives}", "turns.agent_pid, turns.agent_start"))
    if turn.status in ENDED:
        count = len(survivors(layout, turn))
        who = "the runner" if held else "nobody"
        facts.append(Fact("processes left", f"{count}{f', watched by {who}' if count else ''}", "a scan just now"))
    return facts


def _file_fact(layout: Layout, session: Session, turn: Turn) -> Fact:
    path = layout.session(session.id).output(turn.n)
    try:
        size = f"{path.stat().st_size} bytes"
    except OSError as error:
        size = error.strerror or str(error)
    return Fact("turn file", size, str(path))


def _ago(at: int | None) -> str:
    return "no" if at is None else f"{max(0, now_ms() - at) // 1000} s ago"
