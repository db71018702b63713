"""Full views of one object: a session, its processes, a receipt, an explanation, a dry run."""

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.compaction import RecordedCompaction
from agentdash.sessions.model.session import MESSAGE_CHARACTERS, Ended, Prompt, Receipt, Session, Turn, short_id
from agentdash.sessions.rules.conversation.words import compaction_words
from agentdash.sessions.rules.costs.cost import cost_words
from agentdash.sessions.rules.costs.usage_totals import session_cost, session_tokens, turn_cost, turn_tokens
from agentdash.sessions.rules.family_facts import family_words
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.prompts.delivery import queue_state
from agentdash.sessions.rules.prompts.mode_changes import ModeChange, changes_by_turn
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.sessions.text.sanitize import cell_width, clean, one_line, pad
from agentdash.sessions.text.units import count, duration, moment, share, size, tokens
from agentdash.tui.render.prompts.prompts import adjustment_line
from agentdash.tui.render.sessions.table import session_line
from agentdash.tui.render.style import Style
from agentdash.tui.texts.context_texts import compact_command, compaction_advised
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.short_forms import command, place

if TYPE_CHECKING:
    from agentdash.sessions.service.lifecycle.explain import Explanation


def session_card(
    session: Session,
    turns: Sequence[Turn],
    prompts: Sequence[Prompt],
    style: Style,
    adjustments: Sequence[Adjustment] = (),
    compactions: Sequence[RecordedCompaction] = (),
) -> list[str]:
    """Return all facts of a session."""
    not_read = dict.fromkeys(one_line(name) for turn in turns for name in turn.unreadable)
    facts = _session_facts(session) | {"not read": ", ".join(not_read)}
    lines = [session_line(session, style)]
    lines += [f"{style.paint(f'{name:>8}', 'dim')}  {value}" for name, value in facts.items() if value]
    changes = changes_by_turn(turns)
    for turn in turns:
        lines += _turn_lines(turn, changes.get(turn.n, ()), style)
        here = (one for one in compactions if one.turn == turn.n)
        lines += [f"          context compacted, {compaction_words(one)}".rstrip(", ") for one in here]
    lines += [f" changed  {adjustment_line(one)} (during turn {one.turn}, by {one.asked_by})" for one in adjustments]
    waiting = [prompt for prompt in prompts if prompt.state != "seen"]
    lines += [f"{prompt.state:>8}  {one_line(prompt.text, max(20, style.width - 10))}" for prompt in waiting]
    if session.last_message:
        lines += ["", *clean(session.last_message).split("\n")]
        if len(session.last_message) >= MESSAGE_CHARACTERS:
            lines.append(style.paint(f"in full: agentdash trajectory --messages {session.short_id}", "dim"))
    return lines


def receipt_text(receipt: Receipt, title: str, style: Style) -> list[str]:
    """Return the summary, then the processes that each signal ended, then those left and the reasons."""
    took = f", {duration(receipt.duration_ms)}" if receipt.duration_ms is not None else ""
    lines = [f'{short_id(receipt.session)}  {receipt.status}  "{one_line(title, 40)}": {receipt.summary()}{took}']
    if receipt.reason:
        lines.append(f"  reason    {one_line(receipt.reason)}")
    for how, processes in receipt.by_signal().items():
        lines += _ended_lines(how, processes, style)
    for left in receipt.left:
        text = f"  left      {one_line(left.command, 60)} {left.pid}: {one_line(left.reason)}"
        lines.append(style.paint(text, "danger"))
    return [*lines, f"  {one_line(receipt.note)}"] if receipt.note else lines


def _ended_lines(how: str, processes: Sequence[Ended], style: Style) -> list[str]:
    """Return one line if it fits, else a line for each command with the ids of its processes."""
    pids: dict[str, list[str]] = {}
    for process in processes:
        pids.setdefault(one_line(process.command, 60), []).append(str(process.pid))
    commands = [f"{command} {' '.join(numbers)}" for command, numbers in pids.items()]
    whole = ", ".join(commands)
    rows = [whole] if cell_width(whole) + 12 <= style.width else commands
    return [f"  {pad(how if n == 0 else '', 9)} {row}" for n, row in enumerate(rows)]


def explanation_text(explanation: "Explanation", style: Style) -> list[str]:
    """Return the state, the rule that decided it, and every fact with its source."""
    reason = f" ({one_line(explanation.reason)})" if explanation.reason else ""
    status = explanation.status
    lines = [
        f"{short_id(explanation.session)}  {glyphs.STATES[status]} {status}{reason}",
        f"rule: {one_line(explanation.rule)}",
    ]
    rows = [[one_line(text) for text in (fact.name, fact.value, fact.source)] for fact in explanation.facts]
    names, values = (max((cell_width(row[n]) for row in rows), default=0) for n in (0, 1))
    for name, value, source in rows:
        origin = style.paint(source, "dim")
        lines.append(f"  {pad(name, names)}  {pad(value, min(values, 40))}  {origin}".rstrip())
    return lines


def launch_text(launch: Launch) -> list[str]:
    """Return the exact start as a shell command, the first lines for a live agent, its stdin and its environment."""
    lines = [clean(shlex.join(launch.argv)), *(f"line:  {clean(line)}" for line in launch.opening)]
    if launch.stdin is not None:
        lines.append(f"stdin: {count(len(launch.stdin.encode('utf-8', 'replace')), 'byte')}")
    return lines + [f"env:   {key}={clean(value)}" for key, value in launch.env.items()]


def _session_facts(session: Session) -> dict[str, str | None]:
    return {
        "reason": one_line(session.reason or ""),
        "id": session.id,
        "agent": one_line(" ".join(filter(None, (session.agent, session.model, session.agent_session)))),
        "where": one_line(place(session.cwd)),
        "task": one_line(session.task, 400),
        "created": moment(session.created_at),
        "ended": moment(session.ended_at),
        "tokens": session_tokens(session),
        "cost": cost_words(session_cost(session), "?"),
        "context": _context(session),
        "exit": " ".join(str(v) for v in (session.exit_code, session.signal) if v is not None),
        "unknown": count(session.unknown, "line") if session.unknown else None,
        "left": count(session.left, "process", "processes") if session.left else None,
        "warm": "its process waits for prompts" if session.warm_since is not None else None,
        "queue": f"{queue_state(session)}: agentdash queue {session.short_id}"
        if session.queued or session.held
        else None,
        "by hand": f"{taken.holder}, since {moment(taken.since)}" if (taken := session.taken_by) is not None else None,
        "asks": f"{session.asking} without an answer: agentdash asks {session.short_id}" if session.asking else None,
        "parent": session.parent,
        "family": "; ".join(family_words(session)),
    }


def _queue(session: Session) -> str | None:
    """Return what waits in the queue, and the verb that shows it; None if nothing does."""
    waits = session.queued or session.held
    return f"{queue_state(session)}: agentdash queue {session.short_id}" if waits else None


def _context(session: Session) -> str | None:
    """Return the use of the model's context; None if it is not known."""
    if session.context_tokens is None:
        return None
    part = share(session.context_tokens, session.context_window)
    of = f" of {tokens(session.context_window)} ({part})" if part else ""
    advice = f": {compact_command(session)}" if compaction_advised(session) else ""
    return f"{tokens(session.context_tokens)}{of}{advice}"


def _turn_lines(turn: Turn, changes: Sequence[ModeChange], style: Style) -> list[str]:
    """Return the line of a turn and, if any of its settings changed, a line with these."""
    words = "  ".join(style.paint(change.text, "danger" if change.dangerous else "dim") for change in changes)
    return [_turn_line(turn), *([f"          {words}"] if words else [])]


def _turn_line(turn: Turn) -> str:
    parts = (
        f"{glyphs.STATES[turn.status]} {turn.status}",
        "" if turn.duration_ms is None else duration(turn.duration_ms),
        f"{turn_tokens(turn)} tok",
        cost_words(turn_cost(turn), "?"),
        count(turn.steps, "step"),
        one_line(turn.reason or ""),
    )
    return f"  turn {turn.n}  " + "  ".join(filter(None, parts))


def processes_text(processes: Sequence[ProcessInfo], style: Style) -> Iterator[str]:
    """Yield one line per process, children indented below their parents, and a last line with the sums."""
    if not processes:
        yield "No processes running."
        return
    yield style.paint("    pid     cpu      mem  process", "dim")
    depths: dict[int, int] = {}
    for process in processes:
        depth = depths[process.pid] = depths.get(process.parent, -1) + 1
        ports = "".join(f":{port} " for port in process.ports)
        name = command(process.command, max(12, style.width - 26 - 2 * depth - len(ports)))
        yield f"{process.pid:>7}  {_cpu(process.cpu_s):>6}  {_mem(process.rss_bytes):>7}  {'  ' * depth}{ports}{name}"
    cpu = sum(process.cpu_s or 0 for process in processes)
    rss = sum(process.rss_bytes or 0 for process in processes)
    yield style.paint(f"{len(processes):>7}  {_cpu(cpu):>6}  {_mem(rss):>7}  total", "dim")


def _cpu(seconds: float | None) -> str:
    return "?" if seconds is None else duration(round(seconds * 1000))


def _mem(value: int | None) -> str:
    return "?" if value is None else size(value)
