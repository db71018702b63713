"""The use of a running codex turn, from codex's own transcript (codex-cli 0.169.0).

The stream of ``codex exec`` has the tokens of the whole thread in its last line, and no cost
(docs/protocols/codex.md, "Usage").  The transcript gets a ``token_usage_record`` after each model call, and a
``token_count`` when the commands of that call have ended; earlier versions write only ``token_count``.
``turn_context`` names the model.  ``app_server/meter.py`` reads the transcript of a live codex.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic

from msgspec import Struct

from agentdash.sessions.agents.codex.items import Tokens
from agentdash.sessions.agents.codex.rollout.own_files import find_rollout
from agentdash.sessions.agents.parsing.json_lines import Count, milliseconds
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.agents.parsing.usage_meter import Meter
from agentdash.sessions.model.session import Usage
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import call_of, price_of
from agentdash.sessions.rules.costs.reports import MOST_PENDING, ROLLOUT, Report
from agentdash.sessions.storage.files.line_reader import LineReader

LOOK_SECONDS = 0.1
"""The approximate time limit of one read: a resumed thread's transcript may be long, and a stop must not wait."""

LINE_CAP = 1 << 20
"""Bytes; every relevant line is shorter."""

_LINES_BETWEEN_LOOKS = 256

_SEARCHES = 4
"""Searches for a transcript, about ten seconds in total, before it counts as missing."""

LONGEST_PAUSE = 60.0
"""Seconds at most between two searches for a missing transcript: a search may read many folders."""


class _Tokens(Tokens):
    input_tokens: Count | None = 0
    cached_input_tokens: Count | None = 0
    cache_write_input_tokens: Count | None = 0
    output_tokens: Count | None = 0
    reasoning_output_tokens: Count | None = 0


class _Context(Struct):
    model: str | None = None


class _Last(_Tokens):
    total_tokens: Count | None = 0


class _Info(Struct):
    total_token_usage: _Tokens | None = None
    last_token_usage: _Last | None = None
    model_context_window: Count | None = None


class _Counted(Struct, tag_field="type", tag="token_count"):
    info: _Info | None = None


class _Began(Struct, tag_field="type", tag="task_started"):
    turn_id: str | None = None


class _Completed(Struct, tag_field="type", tag="task_complete"):
    turn_id: str | None = None


class _Aborted(Struct, tag_field="type", tag="turn_aborted"):
    turn_id: str | None = None


class _Recorded(Struct):
    usage: _Tokens
    turn_id: str | None = None


class _ContextLine(Struct, tag_field="type", tag="turn_context"):
    payload: _Context


class _EventLine(Struct, tag_field="type", tag="event_msg"):
    payload: _Counted | _Began | _Completed | _Aborted
    timestamp: str = ""


class _RecordLine(Struct, tag_field="type", tag="token_usage_record"):
    payload: _Recorded
    timestamp: str = ""


_DECODER: TolerantDecoder[_ContextLine | _EventLine | _RecordLine] = TolerantDecoder(
    _ContextLine | _EventLine | _RecordLine
)

_MARKS = tuple(
    f'"{name}"'.encode()
    for name in ("token_usage_record", "token_count", "turn_context", "task_started", "task_complete", "turn_aborted")
)

_COMPACTED = re.compile(rb'\{"timestamp":"([^"]{1,40})",[^{]{0,100}"type":"compacted"', re.ASCII)
"""The beginning of the line of a compaction; its end has the new conversation, which may be longer than the cap."""


class CodexMeter(Meter):
    """Follows the transcript of one turn's thread.

    Args:
        began: the start of the turn, UTC ms; the use of the thread's earlier turns is not counted.
        prices: the user's own, which override the list; None if the cost is not needed.
    """

    seeks = True

    def __init__(self, home: Path, began: int, prices: Mapping[str, Price] | None) -> None:
        super().__init__()
        self._home = home
        self._began = began
        self._prices = prices
        self._reader: LineReader | None = None
        self._lines: Iterator[tuple[int, bytes]] | None = None
        self._pause = 0.5
        self._next_search = 0.0
        self._searches = 0
        self._at = 0
        """The offset behind the current line, in bytes."""
        self._total = Usage()
        self._calls = 0
        self._context: int | None = None
        """The tokens of the last call, which are those of the model's context."""
        self._recorded = False
        """True if this turn has records of single calls; the sums then add nothing."""
        self._call_is_open = False
        self._sums = 0
        """The sums since the last record of a call."""

    @property
    def trouble(self) -> str | None:
        """The reason why a limit cannot act: a model without a price, or no transcript."""
        if self.seeks and self._searches > _SEARCHES:
            return "its token and cost limits do not work: codex's transcript was not found"
        return super().trouble

    def read_new(self, agent_session: str | None) -> bool:
        """Find the transcript and read its new lines; return whether there are more."""
        if self._reader is None:
            self._open(agent_session)
        if self._reader is None:
            return False
        deadline = monotonic() + LOOK_SECONDS
        # An unfinished iterator holds lines that have been read already.
        self._lines = self._lines or self._reader.lines()
        try:
            for count, (end, line) in enumerate(self._lines, 1):
                self._at = end
                if any(mark in line for mark in _MARKS):
                    for event in _DECODER.every(line):
                        self._count_event(event)
                elif (compacted := _COMPACTED.match(line)) is not None:
                    self._compacted(compacted[1].decode())
                if count % _LINES_BETWEEN_LOOKS == 0 and monotonic() >= deadline:
                    return True
        except OSError:
            pass
        self._lines = None
        return False

    def close(self) -> None:
        """Close the transcript."""
        if self._reader is not None:
            self._reader.close()

    def _open(self, thread: str | None) -> None:
        now = monotonic()
        if thread is None or now < self._next_search:
            return
        self._next_search, self._pause = now + self._pause, min(2 * self._pause, LONGEST_PAUSE)
        self._searches += 1
        path = find_rollout(self._home, thread, self._began)
        if path is not None:
            self._reader, self.path, self.seeks = LineReader(path, cap=LINE_CAP), path, False

    @property
    def misses_call(self) -> bool:
        """True if the turn's last model call was under way when the transcript ended, by the order of codex's records.

        A call gets its record before its commands run, and the sum of the thread follows when they have ended; the
        next call then begins.  An interrupt writes the sum again before ``turn_aborted``, and behind the commands that
        it ended for the first time (0.169.0, 0.171.0).  What a call that was under way has used is recorded nowhere.
        """
        return self._call_is_open

    def _call_began(self) -> None:
        """Take the beginning of the turn: its first call follows."""
        self._call_is_open, self._sums = True, 1

    def _count_event(self, event: _ContextLine | _EventLine | _RecordLine) -> None:
        match event:
            case _ContextLine():
                self._take_model(event.payload.model)
            case _RecordLine():
                if self._is_ours(event.timestamp, event.payload.turn_id):
                    self._recorded = True
                    self._call_is_open, self._sums = False, 0
                    used = event.payload.usage.counted()
                    self.context_tokens = used.total_tokens or self.context_tokens
                    self._count(used, event.timestamp)
                else:
                    self._skip(event.payload.usage.counted())
            case _EventLine(payload=_Counted() as counted):
                self._note_sum(counted.info, event.timestamp)
            case _EventLine(payload=_Began() | _Completed() | _Aborted() as edge):
                if not self._is_ours(event.timestamp, edge.turn_id):
                    return
                if isinstance(edge, _Began):
                    self._call_began()
                else:
                    self._call_is_open = isinstance(edge, _Aborted) and self._sums > 1

    def _take_model(self, model: str | None) -> None:
        self.model = model or self.model

    def _skip(self, used: Usage) -> None:
        """Take a call of an earlier turn: a killed turn has calls behind its last sum."""
        self.thread_before = self.thread_before.plus(used)

    def _note_sum(self, info: _Info | None, timestamp: str) -> None:
        """Take the sum of the thread, which codex writes before the next call."""
        ours = self._is_ours(timestamp)
        if ours:
            self._call_is_open, self._sums = True, self._sums + 1
        if info is None or info.total_token_usage is None:
            return
        total = info.total_token_usage.counted()
        last = info.last_token_usage  # after a compaction, codex estimates it in place of the last call's
        self.context_tokens = (last.total_tokens if last is not None else 0) or self.context_tokens
        self.context_window = info.model_context_window or self.context_window
        self._take_sum(total, timestamp, ours=ours)

    def _take_sum(self, total: Usage, timestamp: str, *, ours: bool) -> None:
        if not ours:
            self.thread_before = total
        elif not self._recorded:
            self._count(_rest(total, self._total), timestamp)
        self._total = self.thread_usage = total

    def _is_ours(self, timestamp: str, turn: str | None = None) -> bool:  # noqa: ARG002 - codex exec names no turn
        """Return whether the current line belongs to the turn: by its position, else by its time."""
        if self.earlier is not None:
            return self.path != self.earlier.path or self._at > self.earlier.size
        at = milliseconds(timestamp)
        return at is None or at >= self._began

    def _compacted(self, timestamp: str) -> None:
        if self._is_ours(timestamp) and len(self.compactions) < MOST_PENDING:
            before, self._context = self._context, None
            self.compactions.append((milliseconds(timestamp), before))

    def _count(self, used: Usage, timestamp: str) -> None:
        if used.total_tokens == 0:
            return  # the same sum, repeated because another value changed
        self.usage = self.usage.plus(used)
        self._context = used.total_tokens
        self._calls += 1
        if len(self.reports) < MOST_PENDING:
            self.reports.append(
                Report(
                    source=ROLLOUT,
                    key=str(self._calls),
                    kind="call",
                    model=self.model,
                    usage=used,
                    at=milliseconds(timestamp),
                )
            )
        if self._prices is None:
            return
        price, call = price_of(self.model, self._prices) if self.model else None, call_of(used)
        if price is None or call is None:
            self.unpriced = self.model or "a model not named in its transcript"
            return
        self.cost_usd = (self.cost_usd or 0.0) + price.cost(call)


def configured_model(home: Path) -> str | None:
    """Return the top-level model of codex's own settings; None if they name none or cannot be read."""
    import tomllib

    try:
        model = tomllib.loads((home / "config.toml").read_text("utf-8")).get("model")
    except (OSError, ValueError):
        return None
    return model if isinstance(model, str) else None


def _rest(total: Usage, before: Usage) -> Usage:
    """Return the use since the last sum; the whole sum if codex has restarted its count."""
    return total if (total.input_tokens or 0) < (before.input_tokens or 0) else total.minus(before)
