"""The events that only a live scripted agent prints; the others are those of :mod:`.events`."""

from msgspec import field

from agentdash.sessions.agents.parsing.json_lines import Count
from agentdash.sessions.rules.asks.model import Ask
from scripted import events
from scripted.events import Event


class Ready(Event, tag="ready"):
    """The process takes prompts; its first line."""

    conversation: str
    model: str = ""


class TurnBegan(Event, tag="turn_began"):
    """A turn began."""

    key: str | None = None
    """The prompt that began it; None if the agent began by itself."""
    conversation: str | None = None
    model: str | None = None


class TurnEnded(Event, tag="turn_ended"):
    """The turn ended; the last line of the turn."""

    status: str
    """``completed``, ``failed`` or ``interrupted``."""
    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    cost_usd: float | None = None
    error: str | None = None


class PromptState(Event, tag="prompt"):
    """The state of a prompt."""

    key: str
    state: str
    """``accepted``, ``seen``, ``withdrawn`` or ``refused``."""
    text: str = ""
    """The prompt, when it is seen."""
    again: bool = False
    """It was sent with a key that the agent has: this repeats its state, and nothing else follows from it."""
    reason: str = ""
    """Why it was refused."""


class Asked(Ask, tag_field="type", tag="ask", frozen=True, kw_only=True, omit_defaults=True):
    """The agent asks and waits."""


class Answered(Event, tag="answered"):
    """The agent has the answer to an ask."""

    key: str
    verdict: str
    message: str = ""
    values: dict[str, list[str]] = field(default_factory=dict)
    """The answers by the key of the question, without those that are secret."""


class AskCancelled(Event, tag="ask_cancelled"):
    """The agent no longer waits for an answer."""

    key: str


class Declined(Event, tag="declined"):
    """The agent would have asked, and may not ask: it goes on without permission."""

    kind: str
    title: str
    tool: str = ""
    body: str = ""


class Changed(Event, tag="changed"):
    """A setting of the process changed."""

    what: str
    """``model`` or ``mode``."""
    value: str


class CommandOutput(Event, tag="command.output"):
    """A running command printed lines."""

    id: str
    text: str


AnyLiveEvent = (
    events.AnyEvent
    | Ready
    | TurnBegan
    | TurnEnded
    | PromptState
    | Asked
    | Answered
    | AskCancelled
    | Declined
    | Changed
    | CommandOutput
)
