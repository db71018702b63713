"""Makes the scripted agent one of agentdash's agents, in this process and in those that it starts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentdash.sessions.agents.registry import REGISTRY, Entry

FOLDER = Path(__file__).parents[1]
"""In PYTHONPATH it adds the agent to each process, by its ``sitecustomize.py``."""

ENTRY = Entry("scripted.adapter:Scripted")


def python_path() -> str:
    """Return the PYTHONPATH of processes that have the agent."""
    return os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH"))))


@contextmanager
def registered() -> Iterator[None]:
    """Add the agent to this process and to its environment."""
    before, given = REGISTRY.get("scripted"), os.environ.get("PYTHONPATH")
    REGISTRY["scripted"], os.environ["PYTHONPATH"] = ENTRY, python_path()
    try:
        yield
    finally:
        if before is None:
            del REGISTRY["scripted"]
        if given is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = given
