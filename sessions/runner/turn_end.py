"""The end of a turn as its runner sees it, and the facts from which status, prompt and question are concluded."""

from collections.abc import Callable

from msgspec import Struct

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.model.session import Left, Receipt, Status
from agentdash.sessions.rules.prompts.delivery import PromptState, TurnEvidence, evidence
from agentdash.sessions.rules.prompts.questions import question
from agentdash.sessions.rules.status import EndFacts
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.storage.files.line_reader import FilePart

STDERR_BYTES = 8192
"""Bytes at the end of stderr that are searched for the reason of a failure."""


class Ending(Struct, frozen=True, kw_only=True):
    """The end of a turn, apart from what its agent printed."""

    child: AgentChild
    """The agent."""
    stopped_by: str | None
    """The requester of the stop, if one ended the turn."""
    lingered: bool
    """The process was ended after its proper end."""
    left: tuple[Left, ...]
    """The processes that outlive the turn."""
    receipt: Callable[[Status], Receipt] | None = None
    """Makes the receipt of the stop or the sweep that ended the turn, if there was one."""
    prompt: PromptState | None = None
    """The recorded way of a live agent's prompt, because such an agent prints also before it has the prompt."""
    adopted: bool = False
    """Another runner began the turn."""
    goes_on: bool = False
    """The live agent's process outlives the turn."""
    unusable: str | None = None
    """The reason why the live agent was ended before it took the prompt."""


def end_facts(ending: Ending, agent: Agent | None, facts: Facts, stderr: str) -> EndFacts:
    """Return the facts that ending and output give; limits and disk are not among them.

    Args:
        agent: the adapter; None if the turn was never followed.
    """
    child, receipt = ending.child, ending.receipt
    # For the adapter a signal is an exit code other than 0; None: no process could wait for the agent.
    code = child.exit_code if child.signal is None else -1
    return EndFacts(
        facts=facts,
        succeeded=agent is not None and agent.succeeded(facts, code),
        exit_code=child.exit_code,
        signal=child.signal,
        stopped_by=ending.stopped_by,
        stderr_reason=agent.stderr_reason(stderr) if agent is not None else None,
        stdout_reason=agent.stderr_reason("\n".join(facts.stray)) if agent is not None else None,
        runner_killed=ending.adopted,
        lingered=ending.lingered,
        ended=receipt(Status.STOPPED).summary() if receipt and not ending.goes_on else None,
        unusable=ending.unusable,
    )


def evidence_of(ending: Ending, agent: Agent | None, facts: Facts, steps: int) -> TurnEvidence:
    """Return what the output of a turn with this number of steps shows about the way of its prompt."""
    stopped = ending.stopped_by is not None
    # An agent names its conversation before it reads the prompt.
    named = int(stopped and facts.agent_session is not None)
    return evidence(
        ending.prompt,
        started=True,
        printed=steps > named or (agent is not None and not agent.prompted),
        proper_end=facts.end is not None,
        # An agent without an exit code ended by a signal; if no stop was requested, the signal is not ours.
        crashed=not stopped and ending.child.exit_code is None,
        stopped=stopped,
    )


def asked_at_the_end(status: Status, agent: Agent | None, message: str | None) -> str | None:
    """Return what the last message of a turn that is done asks the user; the output of a command asks nothing."""
    if status is not Status.DONE or message is None or agent is None or not agent.prompted:
        return None
    return question(message)


def end_of(stderr: FilePart) -> str:
    """Return the last `STDERR_BYTES` of stderr as text; empty if it cannot be read."""
    try:
        return stderr.last(STDERR_BYTES)[0].decode("utf-8", "replace")
    except OSError:
        return ""
