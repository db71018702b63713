"""The capabilities of an agent beyond a start and a stream: one struct for each group of them.

An adapter has None for a group that it cannot do.  A function without a default is one that the group always has; one
that is None is a thing that this agent cannot do.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args, get_type_hints

from msgspec import Struct

from agentdash.sessions.agents.names import PLAIN_NAME
from agentdash.sessions.agents.parsing.usage_meter import Measures, Meter
from agentdash.sessions.model.adjustments import From
from agentdash.sessions.model.steps import Change

if TYPE_CHECKING:
    from agentdash.sessions.agents.base import AgentSettings, LaunchRequest
    from agentdash.sessions.agents.dialogue import Dialogue
    from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt
    from agentdash.sessions.model.plan_windows import PlanWindow
    from agentdash.sessions.rules.costs.reports import Report
    from agentdash.sessions.rules.launch import Command, Launch, Prices


class Allowance(Struct, frozen=True, kw_only=True):
    """Options for the next turn that allow what the last one was refused."""

    options: Mapping[str, Any]
    """Keys of the agent's section; they replace those of the refused turn."""
    text: str
    """The change as a noun phrase: ``Bash allowed``, ``sandbox workspace-write``."""


class Expansions(Struct, frozen=True, kw_only=True):
    """The parts of a prompt that the agent replaces, and the change that keeps foreign text as it is.

    ``@/path`` in a prompt makes claude read that file without asking, also in the words of another agent.  So the words
    of agents are made inert for the agent that gets them; the user's own prompt never is.
    """

    anywhere: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Patterns of what it replaces at any place, each with the text to write for it, as ``re.sub`` takes it."""
    at_first: re.Pattern[str] | None = None
    """A beginning of a prompt that it replaces; a backslash before it keeps it as text."""
    note: str = ""
    """A sentence that explains the change to the agent."""

    def inert(self, text: str, *, at_first: bool = False) -> str:
        """Return a text that the agent does not replace; one that it would not replace is unchanged.

        Args:
            at_first: the prompt begins with it.
        """
        for pattern, written in self.anywhere:
            text = pattern.sub(written, text)
        begins = at_first and self.at_first is not None and self.at_first.match(text)
        return f"\\{text.lstrip()}" if begins else text

    def quoted(self, text: str) -> str:
        """Return a part of a prompt that quotes foreign text, with the note before it if that had to be changed."""
        inert = self.inert(text)
        return inert if inert == text else f"{self.note}\n\n{inert}"


Env = Mapping[str, str | None]
"""The environment of an agent, or the part of it that was recorded; None for a variable that was not set."""


class Modes(Struct, frozen=True, kw_only=True):
    """The setting for what the agent may do on its own: its sandbox or its permission mode.

    It is a Literal of the adapter's settings, an option of ``spawn``, and a field of the dialog that starts a session.
    """

    settings: "type[AgentSettings]"
    key: str
    help: str = "Permissions of the agent"
    """The help of that option, without the agent's name."""
    dangerous: frozenset[str] = frozenset()
    """The modes that do not limit the agent."""
    narrower: Mapping[str, frozenset[str]] = {}
    """By mode: the other modes that permit no more, which the settings of a project may choose instead."""
    ranks: Mapping[str, int] = {}
    """By mode: 0 if the agent only reads in it, 1 if it changes its workspace.  Others count as 2, without limits."""
    writing: frozenset[str] = frozenset()
    """The modes in which it writes in its folder without asking, and nowhere else."""
    unlimited: str | None = None
    """The setting ``full_danger``, named as a mode; None for an agent without that setting."""
    allowance: "Callable[[AgentSettings, Sequence[str]], Allowance | None] | None" = None
    """Returns the least change of settings that would have allowed refused actions; None if there is none.

    It never lifts all limits at once, as ``full_danger`` does.  It takes the agent's section with which the turn ran,
    and the refused tools and programs, as :class:`..rules.turn_facts.Facts` names them: untrusted text.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The values that the setting takes."""
        return tuple(str(value) for value in get_args(get_type_hints(self.settings)[self.key]))

    def options(self, mode: str) -> dict[str, Any]:
        """Return the keys of the agent's section that stand for one of :attr:`names`."""
        return {self.key: mode, **({"full_danger": False} if self.unlimited else {})}

    def permits_no_more(self, mode: str | None, than: str | None) -> bool:
        """Return whether a mode is known to permit less than another one, or nothing else."""
        return mode in self.narrower.get(than or "", ())


class Conversations(Struct, frozen=True, kw_only=True):
    """The agent's conversations, which a later turn can resume."""

    ids: re.Pattern[str] = PLAIN_NAME
    """The form of their ids: the agent prints them, and a start has them as arguments."""
    lost: str | None = None
    """The words in its error if it cannot find the conversation that it is to resume; None if they are not known."""
    clears: frozenset[str] = frozenset()
    """The commands that it answers, as a prompt, by beginning another conversation, whose id it then prints."""
    compact: str | None = None
    """Its command that compacts a conversation, in any turn; the user's wishes for the summary follow it."""
    given: "Callable[[Launch], str | None] | None" = None
    """Returns the id that agentdash itself gives to the conversation that a launch begins; None if it gives none."""

    def compact_prompt(self, words: str) -> str | None:
        """Return the prompt that compacts a conversation; None if the agent has none.  ``words`` are one line."""
        return f"{self.compact} {words}".strip() if self.compact is not None else None


class Forks(Struct, frozen=True):
    """A conversation can be copied up to a place, or at its end: the start then has ``fork``."""

    point: "Callable[[Iterable[bytes], int | None, str, AgentSettings], str | None]"
    """Returns the agent's own id of a place at which it can fork its conversation; None if it has none there.

    It takes the output of the turn, and the index of the last step before the place, as the parser counts (the prompt
    is -1; None for the end of the turn).  Then the transport of the process that printed the lines, and the agent's
    section with which the fork will be started.
    """


class Interface(Struct, frozen=True):
    """The agent's own interface, in which the user can go on by hand."""

    resume: "Callable[[LaunchRequest], tuple[str, ...]]"
    """Returns the argv that resumes a conversation in it.

    The request has the conversation and no prompt.  The interface opens with what the agent may do on its own in the
    session's next turn.
    """
    shown: Callable[[int, Env], str | None] | None = None
    """Returns the conversation that it shows, as the process of this pid; None if that is not known."""


class Live(Struct, frozen=True, kw_only=True):
    """A process that serves several turns."""

    transport: str
    """The protocol, as a launch names it."""
    dialogue: "Callable[[Sequence[str]], Dialogue]"
    """Returns a new dialogue with a process with this transport, from the lines of its handshake."""
    fixed_start: "Callable[[Launch], tuple[object, ...]]"
    """Returns the start without its conversation, its model and its mode: a process serves only turns with the same."""
    prints: Callable[[Mapping[str, Any]], bool]
    """Returns whether only these processes print such an event."""
    format: str = ""
    """The name of the format that they print, if it is not that of one turn."""
    adjusts_from: From = "turn"
    """The moment from which a process uses a changed model or mode."""
    compacts: bool = False
    """True if it compacts the conversation on request, without wishes for the summary."""


class Images(Struct, frozen=True, kw_only=True):
    """Images in prompts."""

    transports: frozenset[str]
    """The transports of the processes that take them; the empty one for a process of one turn."""
    most_bytes: int
    """Bytes of all images of a prompt."""
    arguments: "Callable[[tuple[str, ...], Sequence[str]], tuple[str, ...]] | None" = None
    """Adds image files to the argv of a process of one turn; a live process gets them by its dialogue."""


class Use(Struct, frozen=True, kw_only=True):
    """The tokens and the cost of a turn."""

    measures: "Callable[[Command, Prices, Mapping[str, str]], Measures]"
    """Returns when the tokens and the cost of a start will be known, so that the caller can judge its limits.

    It takes the command, the prices of the user, and the environment in which the agent will run.
    """
    meter: "Callable[[Launch, Env, int], Meter | None] | None" = None
    """Returns a new meter that follows the use of a running turn; None if nothing needs it.

    It takes the agent's environment and the start of the turn (UTC ms), as the others do.
    """
    final_meter: "Callable[[Launch, Env, int], Meter | None] | None" = None
    """Returns a meter that is read once, when a turn without another meter has ended."""
    calls: "Callable[[str, Env, int], Sequence[Report] | None] | None" = None
    """Returns the finished model calls of a turn of a conversation; None if they cannot be read.

    From the agent's own files, if the turn ended without the agent's sum of its use
    (:attr:`..rules.turn_facts.Facts.unsummed`).
    """
    total_before: "Callable[[Launch, Env, int], Sequence[Report] | None] | None" = None
    """Returns the running totals of use that a process takes over from the conversation that it resumes or forks.

    From the agent's own files; None if they do not show it.
    """


class Plan(Struct, frozen=True):
    """The reports about the user's plan with the agent."""

    mark: bytes
    """Bytes that each line with a report contains."""
    windows: "Callable[[bytes], tuple[PlanWindow, ...]]"
    """Returns the windows that such a line reports."""
    at_end: "Callable[[str, Env, int], tuple[PlanWindow, ...]] | None" = None
    """Returns the windows that only the agent's own record of an ended turn has.

    It takes the conversation, the environment of the turn, and its start (UTC ms).
    """


class RecordedEdit(Struct, frozen=True, kw_only=True):
    """One edit of an agent's own transcript, with the diffs that its stream lacks."""

    at: int
    """The time of the edit, UTC ms."""
    changes: tuple[Change, ...]


class Transcript(Protocol):
    """The edits in an agent's own transcript of one conversation."""

    def read_on(self) -> Iterator[RecordedEdit]:
        """Yield the edits since the last call, in order."""


class OwnFiles(Struct, frozen=True, kw_only=True):
    """The files in which the agent keeps its conversations."""

    has_prompt: "Callable[[SentPrompt], bool | None]"
    """Returns whether a conversation has a prompt; None if no file can be read.

    Used if a turn broke off: only the agent's own record shows if the prompt became part of the conversation.
    """
    transcript: Callable[[str, Env, int], Path | None] | None = None
    """Returns the transcript of a conversation, which the adapter's parser of ``BY_HAND`` reads; None if not found.

    It takes the recorded environment of the session, and the approximate start of the conversation (UTC ms).
    """
    edits: Callable[[str, Env, int], Transcript | None] | None = None
    """Returns the transcript with the diffs of the agent's edits, for an agent whose stream has none."""
    line_id: Callable[[bytes], str | None] | None = None
    """Returns the agent's own id of a line of its transcript, by which a line that is written again is known."""


class Complaints(Struct, frozen=True):
    """The complaints that only stderr has."""

    refusals: Callable[[str], Iterable[str]]
    """Returns the refused tools and programs."""
    failed_edits: Callable[[str], int]
    """Returns the number of edits that failed."""


class Leading(Struct, frozen=True):
    """The agent can lead others, with the tools of agentdash's MCP server; its settings are ``LeadSettings``."""

    setup_lines: Callable[[], tuple[str, ...]]
    """Returns the lines by which the user adds the server to the agent's own settings; comments begin with #."""
    known_server: Callable[[Mapping[str, str]], Mapping[str, Any] | None]
    """Returns the server as the agent's own settings have it; None if they do not.

    It raises OSError or ValueError if the settings cannot be read.
    """
