"""The images that the user gives with a prompt: checked and copied when they are used."""

from collections.abc import Sequence

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.prompts import images
from agentdash.sessions.storage.files.images import with_images
from agentdash.sessions.storage.paths import SessionFolder


def has_images(text: str, files: Sequence[str], *, by_user: bool) -> bool:
    """Return whether a prompt may have images: files beside it, or ``@shot.png`` in the user's own words."""
    return bool(files) or (by_user and bool(images.typed(text)))


def attached(
    agent: Agent, transport: str, folder: SessionFolder, text: str, files: Sequence[str], cwd: str, *, by_user: bool
) -> str:
    """Return a prompt with the marks of its images, which are copied into the session's folder.

    ``@shot.png`` stays a name in the text for an agent that takes no images.

    Args:
        transport: that of the process that will get the prompt.
        files: the files to add behind the text.
        cwd: the session's folder.
        by_user: the words are the user's own, so that they may name files.

    Raises:
        UsageError: the agent takes no images, or a file cannot be used.
    """
    if agent.images is not None and transport in agent.images.transports:
        return with_images(folder, text, files, cwd if by_user else None, agent.images.most_bytes)
    if files:
        alone = " in a process of one turn (live = false)" if agent.images is not None else ""
        raise UsageError(f"{agent.title} takes no images{alone}. Name the file in the prompt instead: @shot.png")
    return text
