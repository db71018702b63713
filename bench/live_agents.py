"""The sessions of the benchmarks of live agents: each kind of agent live, and the same turn by turn."""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from real_agents import OPTIONS, REAL, environment, scripted_model
from sizes import TINY

from agentdash.sessions.model.session import Session, Turn
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.paths import Layout

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/agents"))
from scripted.registration import registered

PATIENCE_SECONDS = 120
SETTINGS = "[queue]\nmax_running = 1000\n[live]\nkeep_seconds = 3600\nkeep_most = 100\n"
"""Nothing waits for its place, and no agent is closed while it is measured."""


class Kind(NamedTuple):
    """An agent that is measured."""

    name: str
    options: dict[str, Any]
    quick: str
    """Begins a prompt that is answered at once."""
    slow: str
    """Begins a prompt that takes a while."""


SCRIPTED = Kind("scripted", {}, "[[script:quick]]", "[[script:silent]]")


class Bench:
    """A state folder of scripted and real agents.

    Args:
        manager: the manager of the state folder.
        folder: has the state folder, the settings, and the folder in which the agents work.
        kinds: the agents that can be started.
    """

    def __init__(self, manager: SessionManager, folder: Path, kinds: list[Kind]) -> None:
        self.manager = manager
        self.home = folder / "state"
        self.config = folder / "config.toml"
        self.kinds = kinds
        self._cwd = folder / "projects"

    def spawn(self, kind: Kind, prompt: str, *, live: bool) -> Session:
        """Start a session, live or turn by turn."""
        chosen = {**kind.options, "live": live}
        return self.manager.spawn(Start(prompt, agent=kind.name, cwd=str(self._cwd), options=chosen))

    def served(self, kind: Kind, *, live: bool) -> Session:
        """Start a session and return it after its first turn."""
        return self.until_idle(self.spawn(kind, f"{kind.quick} hello", live=live), live=live)

    def until_idle(self, session: Session, *, live: bool, turn: int = 1) -> Session:
        """Return the session when this turn has ended; if it is live, when its agent waits for the next prompt.

        Raises:
            TimeoutError: it takes longer than `PATIENCE_SECONDS`.
        """
        found = session

        def is_there() -> bool:
            nonlocal found
            found = self.manager.reader.get(session.id)
            return found.turn >= turn and found.status.ended and (found.warm_since is not None or not live)

        self.until(is_there, f"the end of turn {turn}")
        return found

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something.

        Raises:
            TimeoutError: it takes longer than `PATIENCE_SECONDS`.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} never came")
            time.sleep(0.01)

    def newest(self, session: Session) -> Turn:
        """Return the newest turn of a session."""
        return self.manager.reader.turns(session.id)[-1]

    def output(self, session: Session, stream: int) -> Path:
        """Return the file of a stream of the session."""
        return Layout(self.home).session(session.id).output(stream)

    def stop(self, session: Session) -> None:
        """End a session's processes."""
        self.manager.stop(session.id, NOW)


@contextmanager
def bench(*, scripted_only: bool = False) -> Iterator[Bench]:
    """Make a state folder with the scripted agent and the real agents that are installed; stop all that still runs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        stack.enter_context(registered())
        (folder / "projects").mkdir()
        (folder / "config.toml").write_text(SETTINGS)
        installed = {} if TINY or scripted_only else {name: binary for name, binary in REAL.items() if binary.exists()}
        if installed:
            os.environ |= environment(folder, stack.enter_context(scripted_model(folder)))
        kinds = [SCRIPTED, *(real_kind(name, binary) for name, binary in installed.items())]
        manager = stack.enter_context(SessionManager(folder / "state", folder / "config.toml"))
        try:
            yield Bench(manager, folder, kinds)
        finally:
            manager.stop_all([session.id for session in manager.reader.sessions()], NOW)


def real_kind(name: str, binary: Path) -> Kind:
    return Kind(name, {**OPTIONS[name], "bin": str(binary)}, "", "[[fake:slow_steps]]")
