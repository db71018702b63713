"""A live agent as its runner has it: the process, its standard input, and the dialogue with it."""

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.dialogue import Changed, Dialogue, Event, NotChanged
from agentdash.sessions.agents.parsing.line_parts import by_parts
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.prompts.images import IMAGE
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.channel import Channel, LineTooLongError
from agentdash.sessions.storage.files.line_reader import LineReader
from agentdash.sessions.storage.paths import SessionFolder

SEND_SECONDS = 0.01
"""Interval between two attempts to write a line that waits until the agent has read the one before."""

MOST_BETWEEN = 10_000
"""Lines with events between two turns that are kept; no agent prints this many, and the limit bounds memory."""

REPEAT_SECONDS = 2.0
"""Time that an adopted agent is given to answer the handshake of its dead runner, before it is written again.

codex 0.169.0 starts in 1.2 s.  It refuses a second ``initialize``, which does no harm, and a second ``thread/start``
begins a thread that is never used: the first one that it names is the conversation.
"""


class _Line(NamedTuple):
    """A line that waits to be written."""

    text: bytes
    written: Callable[[], None]
    refused: Callable[[LineTooLongError], None]


def _fixed(mode: TurnMode) -> TurnMode:
    """Return the settings that a process keeps."""
    return structs.replace(mode, model=None, permissions=None, dangerous=False)


class LiveAgent:
    """One process that serves turn after turn.

    Args:
        stream: the number of its files.
    """

    def __init__(self, child: AgentChild, channel: Channel, dialogue: Dialogue, *, launch: Launch, stream: int) -> None:
        self.child = child
        self.channel = channel
        self.dialogue = dialogue
        self.launch = launch
        self.stream = stream
        self.position = 0
        """The offset behind the last line of its output that the dialogue got."""
        self.end_byte = 0
        """The offset behind the output of its last turn: the next turn begins there."""
        self.end_error_byte = 0
        """The same of its stderr."""
        self.model = launch.mode.model if launch.mode is not None else None
        """The model that it uses; None if it has not named one."""
        self.refusal: str | None = None
        """The agent's reason for keeping another model or mode than the turn has."""
        self.unsure = False
        """A change of the mode was written that the agent has not answered."""
        self._requested = self.model
        """The model as it was last requested: the agent may report an alias by its whole name."""
        self._changing: set[tuple[str, str]] = set()
        """The settings of the turn that the agent has not confirmed."""
        self.listener: Callable[[Event], None] = lambda _: None
        """Handles each event as its line is read; none those that a runner before this one handled."""
        self._lines: deque[_Line] = deque()
        self._between: dict[int, list[Event]] = {}
        """The events of lines between two turns, by the offset behind the line."""
        self._repeats_at: float | None = None
        """Time on the monotonic clock at which the handshake of a dead runner is written again; None if it is ours."""

    @property
    def alive(self) -> bool:
        """True if the process lives."""
        return not self.child.gone

    @property
    def waits(self) -> bool:
        """True if a line is to be written."""
        return bool(self._lines)

    @property
    def changing(self) -> bool:
        """True if the agent has not confirmed the settings of the turn: its prompt waits for that."""
        return bool(self._changing)

    def serves(self, launch: Launch, agent: Agent) -> bool:
        """Return whether a turn can run on this process: it lives, and needs changes of model and mode at most.

        Its whole start is compared, so that the settings that are recorded with a turn are those of its process.
        A turn behind a mark needs a process of its own, because this one remembers what the mark hides.
        Permissions without limits need a process of their own: if a change were refused, the turn would have others.
        """
        if launch.how or not self.alive or self.launch.transport != launch.transport or self.launch.env != launch.env:
            return False
        own, asked, live = self.launch.mode, launch.mode, agent.live
        if own is None or asked is None or live is None or live.fixed_start(self.launch) != live.fixed_start(launch):
            return False
        if _fixed(own) != _fixed(asked) or own.dangerous != asked.dangerous:
            return False
        if asked.permissions != own.permissions and (asked.dangerous or not self._takes("mode", asked.permissions)):
            return False
        return not self._is_other(asked.model) or self._takes("model", asked.model)

    def adjust(self, launch: Launch, *, again: bool = False) -> None:
        """Change the model and the mode of the process to those of the next turn.

        ``again`` changes them although another runner did: it may have been killed before it wrote them.
        """
        own, asked = self.launch.mode, launch.mode
        self.refusal = None
        if own is None or asked is None:
            return
        if asked.model is not None and (again or self._is_other(asked.model)):
            self._change("model", asked.model)
        unsure = (again or self.unsure) and not asked.dangerous
        if asked.permissions is not None and (unsure or asked.permissions != own.permissions):
            self._change("mode", asked.permissions, dangerous=asked.dangerous)

    def _change(self, what: str, value: str, *, dangerous: bool = False) -> None:
        line = self.dialogue.change(what, value)
        if line is not None:
            self._changing.add((what, value))
            self.send(line)
            self.adjusted(what, value, dangerous=dangerous)

    def _note(self, event: Event) -> None:
        """Conclude whether the agent has the settings of the turn."""
        match event:
            case Changed(what=what, value=value):
                self._changing.discard((what, value))
            case NotChanged(what=what, value=value, reason=reason) if (what, value) in self._changing:
                self._changing.discard((what, value))
                self.refusal = f"it refuses the {what} {value}{f': {reason}' if reason else ''}"

    def adjusted(self, what: str, value: str, *, dangerous: bool = False) -> None:
        """Take in a setting that the process has: the next turns begin with it.

        ``dangerous`` is True for a mode that does not limit the agent.
        """
        mode = self.launch.mode
        if what == "model":
            self.model = self._requested = value
        elif mode is not None:
            changed = structs.replace(mode, permissions=value, dangerous=dangerous)
            self.launch = structs.replace(self.launch, mode=changed)

    def _takes(self, what: str, value: str | None) -> bool:
        return value is not None and self.dialogue.change(what, value) is not None

    def _is_other(self, model: str | None) -> bool:
        return model is not None and model not in (self.model, self._requested)

    def prompt(self, key: str, attempt: int, text: str) -> bytes:
        """Return the line that sends a prompt, with the images whose marks are in it."""
        if IMAGE in text:
            from agentdash.sessions.storage.files.images import pictures_in  # few prompts have images

            if pictures := pictures_in(SessionFolder(self.channel.path.parent), text):
                return self.dialogue.prompt_with(key, attempt, text, pictures)
        return self.dialogue.prompt(key, attempt, text)

    def shake_hands(self) -> None:
        """Write the lines of the handshake that can be written."""
        for line in self.dialogue.opening():
            self.send(line)

    def catch_up(self, output: Path, end: int) -> None:
        """Feed the dialogue the output up to an offset, which an earlier runner has handled."""
        self._repeats_at = time.monotonic() + REPEAT_SECONDS
        with LineReader(output, end=end) as reader:
            for position, line in by_parts(reader.lines()):
                self.feed(line, position)
            # A turn may end in the middle of a line.
            for position, line in by_parts([(end, reader.rest() or b"")]):
                self.feed(line, position)

    def feed(self, line: bytes, position: int, *, between: bool = False) -> None:
        """Give a line to the dialogue once.

        Args:
            between: it came between two turns.  The next turn reads it again, and its listener gets the same events.
        """
        if position <= self.position:
            for event in self._between.pop(position, ()):
                self.listener(event)
            return
        self.position = position
        events = list(self.dialogue.feed(line))
        for event in events:
            self._note(event)
            self.listener(event)
        if between and events:
            self._between[position] = events
            if len(self._between) > MOST_BETWEEN:
                del self._between[next(iter(self._between))]
        if not self.dialogue.ready and self._repeats_at is None:
            self.shake_hands()

    def repeat_handshake(self) -> None:
        """Write what is missing of the handshake, if the agent has not answered that of its dead runner in time."""
        if self.repeat_due == 0:
            self._repeats_at = None
            self.shake_hands()

    @property
    def repeat_due(self) -> float | None:
        """Seconds until the handshake is written again; None if it is over, or is our own."""
        if self._repeats_at is None or self.dialogue.ready:
            return None
        return max(0.0, self._repeats_at - time.monotonic())

    def send(
        self,
        line: bytes | None,
        written: Callable[[], None] = lambda: None,
        refused: Callable[[LineTooLongError], None] = lambda _: None,
    ) -> None:
        """Write a line as soon as the agent has read those before.

        Args:
            line: the line with its newline; nothing is written for None.
            written: called when it was written.
            refused: called if it can never be written.
        """
        if line is not None:
            self._lines.append(_Line(line, written, refused))

    def flush(self) -> None:
        """Write the lines that can be written.

        Raises:
            OSError: the FIFO is broken; the line is dropped, because a part of it may be in the FIFO.
        """
        while self._lines:
            line = self._lines.popleft()
            try:
                if not self.channel.write(line.text):
                    self._lines.appendleft(line)
                    return
            except LineTooLongError as error:
                line.refused(error)
            else:
                line.written()
