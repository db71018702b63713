"""The prompts in the scripted agent's own record of a conversation."""

from pathlib import Path

from agentdash.sessions.agents.names import PLAIN_NAME
from agentdash.sessions.agents.parsing.sent_prompt import CLOCK_MS, SentPrompt, is_readable
from scripted.conversation import Conversation


def conversation_has(home: Path, sent: SentPrompt) -> bool | None:
    """Return whether a conversation has a prompt: its key, or its text since its turn began if it has none.

    None if the conversation is not known or the folder cannot be read.

    Args:
        home: the state folder.
        sent: the prompt.
    """
    name = sent.agent_session or _named_in(sent.launch.argv)
    if name is None or not is_readable(home) or PLAIN_NAME.fullmatch(name) is None:
        return None
    conversation = Conversation(home, name)
    if sent.key:
        return conversation.has(sent.key)
    text = sent.text.strip()
    return any(kept.text.strip() == text and kept.at >= sent.at - CLOCK_MS for kept in conversation.kept)


def _named_in(argv: tuple[str, ...]) -> str | None:
    """Return the conversation that a start of the scripted agent names."""
    for option in ("--resume", "--conversation"):
        if option in argv[:-1]:
            return argv[argv.index(option) + 1]
    return None
