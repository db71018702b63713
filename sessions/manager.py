"""The one manager: what the dashboard, the command line and a model can do with sessions, each by one method.

There is no daemon.  Any number of managers in any number of processes work on the same state folder; what they
ask for is a row, and the runner of the session carries it out.
"""

import os
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from msgspec import Struct, structs

from . import refs
from .agents.base import Ladder, Launch
from .agents.table import AGENTS, agent_named
from .clock import monotonic, now_ms
from .config import Config, load_config
from .errors import SessionBusyError, UnknownSessionError, UsageError
from .explain import Explanation, explain
from .launching import poke
from .layout import Layout, default_home
from .model import ENDED, Changes, Prompt, Receipt, Session, Status, Step, StepKind, Turn
from .planning import build_launch, checked_folder, checked_prompt, checked_text, recorded_environment, retold, title_of
from .queue import pump
from .settling import settle, survivors
from .stopping import stop_session
from .store.store import NewSession, Store
from .supervision import locks, procs
from .supervision.kin import Kin
from .trajectory import Trajectory, merged

POLL_SECONDS = 0.03
"""How often a waiting call asks whether anything was committed."""

SETTLE_SECONDS = 2.0
"""How often a waiting call looks for runners that died."""


class ProcessInfo(Struct, frozen=True, kw_only=True):
    """One process of a session, as the stop dialog shows it."""

    pid: int
    parent: int
    command: str
    age_s: float | None


class AgentInfo(Struct, frozen=True, kw_only=True):
    """One agent CLI, and whether it can be started here."""

    name: str
    title: str
    installed: bool
    hint: str
    """How to install it."""
    model: str | None = None
    """The model of the settings."""
    mode_key: str | None = None
    """The option that says what it may do by itself: ``sandbox`` or ``permission_mode``."""
    modes: tuple[str, ...] = ()
    mode: str | None = None
    """The mode of the settings."""


class SessionTrajectory:
    """An open trajectory: each refresh reads only what is new."""

    def __init__(self, store: Store, session_id: str, trajectory: Trajectory) -> None:
        self._store = store
        self._session = session_id
        self._trajectory = trajectory

    def refresh(self) -> list[Step]:
        """New steps since the last call, and replacements by (turn, index)."""
        # Turns first: a turn that is seen as ended then has all its bytes on disk.
        turns = self._store.turns(self._session)
        return self._trajectory.refresh(turns, self._store.prompts(self._session))

    def close(self) -> None:
        """Close the files."""
        self._trajectory.close()


class SessionManager:
    """Starts, prompts, follows and ends sessions.

    Args:
        home: the state folder; None takes ``$AGENTDASH_HOME`` or the platform's.
        config_path: the settings; None takes ``$AGENTDASH_CONFIG`` or the platform's.

    Raises:
        StoreError: the state folder cannot be used.
    """

    def __init__(self, home: Path | None = None, config_path: Path | None = None) -> None:
        self._layout = Layout(home or default_home())
        self._layout.create()
        self._config_path = config_path
        self._store = Store(self._layout.database)
        self._seen_version: tuple[tuple[int, int], int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; sessions go on."""
        self._store.close()

    @property
    def home(self) -> Path:
        """The state folder."""
        return self._layout.home

    @property
    def live_dir(self) -> Path:
        """Where the turn files that are being written have their second names."""
        return self._layout.live

    def config(self) -> Config:
        """The settings as they are on disk now.

        Raises:
            ConfigError: they cannot be used.
        """
        return load_config(self._config_path)

    def default_agent(self) -> str:
        """The agent that is started when none is named."""
        return self.config().default_agent

    def agents(self) -> list[AgentInfo]:
        """Every agent that takes a prompt, and whether its command is installed."""
        config = self.config()
        found = []
        for name in AGENTS:
            agent = agent_named(name)
            if not agent.prompted:
                continue
            settings = config.settings_for(name, {})
            binary = settings.bin or agent.binary
            found.append(
                AgentInfo(
                    name=name,
                    title=agent.title,
                    installed=binary is None or shutil.which(binary) is not None,
                    hint=agent.install_hint,
                    model=settings.model,
                    mode_key=agent.mode_key,
                    modes=agent.modes(),
                    mode=getattr(settings, agent.mode_key) if agent.mode_key else None,
                )
            )
        return found

    def recent_folders(self, limit: int = 30) -> list[str]:
        """Where sessions were started, the last one first."""
        return self._store.recent_folders(limit)

    def recent_prompts(self, limit: int = 200) -> list[str]:
        """What was said to agents lately, the last one first."""
        return self._store.recent_prompts(limit)

    def options(self, ref: str) -> dict[str, object]:
        """What the spawn of a session asked for beyond the settings."""
        return self._store.recipe(self.get(ref).id).options

    def ladder(self, ref: str) -> Ladder:
        """How long a stop gives each signal before the next one."""
        session = self.get(ref)
        launch = self._store.launch(session.id, session.turn)
        return (launch.ladder if launch else None) or agent_named(session.agent).ladder

    def plan(
        self,
        prompt: str,
        *,
        agent: str | None = None,
        model: str | None = None,
        cwd: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Launch:
        """The exact start that :meth:`spawn` would make; nothing is started or recorded."""
        config = self.config()
        return build_launch(
            config,
            agent or config.default_agent,
            prompt=checked_prompt(prompt),
            cwd=checked_folder(cwd),
            session_id=str(uuid.uuid4()),
            model=model,
            options=options,
        )

    def spawn(
        self,
        prompt: str,
        *,
        agent: str | None = None,
        model: str | None = None,
        cwd: str | None = None,
        title: str | None = None,
        options: Mapping[str, Any] | None = None,
        source: str = "user",
    ) -> Session:
        """Start a session; returns as soon as the intent is recorded and a runner is on its way.

        A start that fails is a visible failed session, not an exception.

        Raises:
            UsageError: empty prompt, no such folder, unknown agent or option, broken settings.
        """
        config = self.config()
        return self._start(
            config,
            agent or config.default_agent,
            prompt=checked_prompt(prompt),
            cwd=checked_folder(cwd),
            model=model,
            title=title,
            options=options or {},
            source=source,
        )

    def spawn_copies(self, copies: int, prompt: str, *, title: str | None = None, **named: Any) -> list[Session]:
        """The same start several times; what finds no free place waits in the queue, in this order.

        ``named`` are the other arguments of :meth:`spawn`.
        """
        name = title or title_of(prompt)
        titles = [f"{name} ({n}/{copies})" for n in range(1, copies + 1)] if copies > 1 else [title]
        return [self.spawn(prompt, title=one, **named) for one in titles]

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        title: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Session:
        """Start any command as a session.

        Raises:
            UsageError: nothing to run, no such folder, unknown option.
        """
        task = checked_text(" ".join(argv), "command")
        return self._start(
            self.config(),
            "command",
            prompt=task,
            cwd=checked_folder(cwd),
            model=None,
            title=title,
            options=options or {},
            argv=tuple(argv),
        )

    def _start(
        self,
        config: Config,
        agent: str,
        *,
        prompt: str,
        cwd: str,
        model: str | None,
        title: str | None,
        options: Mapping[str, Any],
        source: str = "user",
        argv: tuple[str, ...] = (),
    ) -> Session:
        session_id = str(uuid.uuid4())
        launch = build_launch(
            config,
            agent,
            prompt=prompt,
            cwd=cwd,
            session_id=session_id,
            model=model,
            options=options,
            argv=argv,
        )
        parent = os.environ.get(procs.SESSION_TAG)
        new = NewSession(
            id=session_id,
            agent=agent,
            title=checked_text(title or title_of(prompt), "title"),
            task=prompt,
            cwd=cwd,
            model=launch.model,
            host=procs.host_name(),
            options=options,
            command=argv,
            env=recorded_environment(agent),
            source=source,
            parent=parent if parent and self._store.session(parent) else None,
        )
        self._store.max_running(config.queue.max_running)
        folder = self._layout.session(session_id)
        folder.create()
        try:
            self._store.create(new, prompt, launch, str(uuid.uuid4()))
        except BaseException:
            shutil.rmtree(folder.path, ignore_errors=True)
            raise
        pump(self._layout, self._store)
        return self._fresh(session_id)

    def inject(self, ref: str, prompt: str) -> Session:
        """Say something more to a session that is not running: its next turn.

        Raises:
            UsageError: empty prompt.
            SessionBusyError: it is running, cannot be continued, or processes of a lost turn still live.
        """
        prompt = checked_prompt(prompt)
        session = self._settled(ref)
        return self._next_turn(session, prompt)

    def retry(self, ref: str) -> Session:
        """Send the newest prompt again, after a turn that failed, was stopped or was lost.

        A command runs again however it ended: nothing else continues it.

        Raises:
            SessionBusyError: the turn is running, or an agent did it well.
        """
        session = self._settled(ref)
        if session.status is Status.DONE and agent_named(session.agent).resumable:
            raise SessionBusyError(
                f"Session {session.id[:8]} is done: there is nothing to retry."
                f" `agentdash inject {session.id[:8]}` sends its next prompt."
            )
        return self._next_turn(session, self._store.prompts(session.id)[-1].text, again=True)

    def _next_turn(self, session: Session, prompt: str, *, again: bool = False) -> Session:
        self._check_free(session)
        folder = self._layout.session(session.id)
        if not folder.path.is_dir():
            folder.create()  # somebody removed it; what was said before is gone, the conversation is the agent's own
        agent = agent_named(session.agent)
        if not agent.resumable and not again:
            raise SessionBusyError(
                f"Session {session.id[:8]} is a {session.agent} session: it takes no further prompt."
                f" `agentdash retry {session.id[:8]}` runs it again."
            )
        recipe = self._store.recipe(session.id)
        turn = session.turn + 1
        text = prompt
        if session.agent_session is None and agent.resumable:
            text = retold(session, self.messages(session.id), prompt)
        config = self.config()
        self._store.max_running(config.queue.max_running)
        launch = build_launch(
            config,
            session.agent,
            prompt=text,
            cwd=checked_folder(session.cwd),
            session_id=session.id,
            turn=turn,
            agent_session=session.agent_session,
            model=session.model,
            options=recipe.options,
            argv=recipe.command,
        )
        self._store.add_turn(session.id, session.turn, prompt, launch, str(uuid.uuid4()))
        # A runner that only stays for processes that were left makes room for the next one.
        poke(self._layout.session(session.id).poke)
        pump(self._layout, self._store)
        return self._fresh(session.id)

    def _check_free(self, session: Session) -> None:
        short = session.id[:8]
        if not session.status.ended:
            raise SessionBusyError(
                f"Session {short} is {session.status} (turn {session.turn}): {session.agent} takes no prompt while a"
                f" turn runs. Wait for it (`agentdash wait {short}`) or stop it (`agentdash stop {short}`)."
            )
        if session.host != procs.host_name():
            raise SessionBusyError(f"Session {short} runs on {session.host}; continue it there.")
        if session.status is Status.LOST and survivors(self._layout, self._store.turns(session.id)[-1]):
            raise SessionBusyError(
                f"Processes of the lost turn of session {short} still live. `agentdash stop {short}` ends them."
            )

    def stop(self, ref: str, *, now: bool = False) -> Receipt:
        """Stop a session: ladder, sweep, receipt; ``now`` goes to SIGKILL at once.

        Raises:
            UnknownSessionError, AmbiguousSessionError: no such session, or several.
            AgentdashError: it could not be stopped.
        """
        session = self.get(ref, destructive=True)
        return stop_session(self._layout, self._store, session, settle=self.settle, now=now)

    def delete(self, ref: str) -> Receipt | None:
        """Stop a session if need be, then move its folder to the trash; the receipt if anything was stopped.

        Raises:
            SessionBusyError: a new turn was faster.
        """
        session = self.get(ref, destructive=True)
        receipt = self.stop(session.id)
        folder = self._layout.session(session.id)
        lock = locks.hold(folder.lock, timeout=5.0) if folder.path.is_dir() else None
        try:
            if not self._store.delete(session.id, session.turn):
                if self._store.session(session.id) is None:
                    raise UnknownSessionError(f"Session {session.id[:8]} was deleted meanwhile.")
                raise SessionBusyError(f"Session {session.id[:8]} was started again meanwhile; it was not deleted.")
            if folder.path.is_dir():
                folder.path.rename(self._layout.trash / session.id)
        finally:
            if lock is not None:
                lock.release()
        return receipt if receipt.ended or receipt.left else None

    def clean(self, keep_days: float = 7) -> int:
        """Delete ended sessions whose end is longer ago than ``keep_days``; how many went.

        Counted from the end, not from the start: a session that worked for a week and ended just now stays.
        """
        limit = now_ms() - keep_days * 86_400_000
        old = [s for s in self._store.sessions(ENDED) if s.ended_at is not None and s.ended_at < limit]
        for session in old:
            self.delete(session.id)
        return len(old)

    def get(self, ref: str, *, destructive: bool = False) -> Session:
        """The session with this id, a unique beginning of it, or ``@last``."""
        return refs.find_session(self._store, ref, destructive=destructive)

    def sessions(self, *, statuses: Collection[Status] = (), cwd: str | None = None) -> list[Session]:
        """Sessions, newest first."""
        found = self._store.sessions(statuses)
        return found if cwd is None else [session for session in found if session.cwd == cwd]

    def changes(self, since: int) -> Changes:
        """What changed after ``since``; when nobody has committed anything, no query is made."""
        version = self._store.data_version()
        if self._seen_version == (version, since):
            return Changes(seq=since)
        replaced = self._seen_version is not None and self._seen_version[0][0] != version[0]
        found = self._store.changes(0 if replaced else since)
        self._seen_version = (version, found.seq)
        return structs.replace(found, fresh=replaced)

    def turns(self, ref: str) -> list[Turn]:
        """The recorded facts of all turns."""
        return self._store.turns(self.get(ref).id)

    def prompts(self, ref: str) -> list[Prompt]:
        """What was said to the session."""
        return self._store.prompts(self.get(ref).id)

    def open_trajectory(self, ref: str) -> SessionTrajectory:
        """The session's steps, to be refreshed as they come."""
        session = self.get(ref)
        trajectory = Trajectory(self._layout.session(session.id), agent_named(session.agent))
        return SessionTrajectory(self._store, session.id, trajectory)

    def trajectory(self, ref: str, turn: int | None = None) -> list[Step]:
        """All steps of a session, or of one turn.

        Raises:
            UsageError: it has no such turn.
        """
        self._checked_turn(self.get(ref), turn)
        opened = self.open_trajectory(ref)
        try:
            steps = merged(opened.refresh())
        finally:
            opened.close()
        return steps if turn is None else [step for step in steps if step.turn == turn]

    def messages(self, ref: str) -> list[Step]:
        """The conversation: prompts and messages."""
        return [step for step in self.trajectory(ref) if step.kind in (StepKind.PROMPT, StepKind.MESSAGE)]

    def answer(self, ref: str) -> str | None:
        """What the agent itself said last in the newest turn, in full; None where it said nothing."""
        steps = self.trajectory(ref, self.get(ref).turn)
        said = (s.text for s in reversed(steps) if s.kind is StepKind.MESSAGE and s.parent is None)
        return next(said, None)

    def output(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> bytes:
        """What the agent printed in a turn, byte for byte; empty where there is no such file."""
        try:
            return self.output_path(ref, turn, stderr=stderr).read_bytes()
        except FileNotFoundError:
            return b""

    def output_path(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> Path:
        """The file with what the agent printed in a turn (default: the newest).

        Raises:
            UsageError: it has no such turn.
        """
        session = self.get(ref)
        folder = self._layout.session(session.id)
        n = self._checked_turn(session, turn)
        return folder.errors(n) if stderr else folder.output(n)

    def explain(self, ref: str) -> Explanation:
        """Why the session has the status it has."""
        session = self.get(ref)
        turns = self._store.turns(session.id)
        return explain(self._layout, session, turns[-1] if turns else None)

    def processes(self, ref: str) -> list[ProcessInfo]:
        """The session's living processes, parents before children."""
        session = self.get(ref)
        kin = Kin.of_turn(self._layout.session(session.id), self._store.turns(session.id)[-1])
        found = sorted(kin.find().values(), key=lambda process: process.start)
        return [ProcessInfo(pid=p.pid, parent=p.parent, command=p.command, age_s=procs.age_seconds(p)) for p in found]

    def mark_seen(self, ref: str) -> None:
        """Remember that somebody looked."""
        self._store.mark_seen(self.get(ref).id)

    def settle(self) -> None:
        """Find sessions whose runner died: adopt what lives, conclude what does not, send lost runners again."""
        settle(self._layout, self._store)

    def started(self, ref: str, timeout: float = 5.0) -> Session:
        """The session once its turn has left ``queued`` and ``starting``, or as it is after ``timeout`` seconds.

        One that waits for a free place is not waited for.
        """
        session_id = self.get(ref).id

        def under_way() -> bool:
            session = self._fresh(session_id)
            waits = session.status is Status.QUEUED and self._store.turns(session_id)[-1].launches == 0
            return waits or session.status not in (Status.QUEUED, Status.STARTING)

        self._wait_until(under_way, timeout)
        return self._fresh(session_id)

    def wait(self, refs: Iterable[str], *, any_: bool = False, timeout: float | None = None) -> list[Session]:
        """Wait until all sessions (or one of them) have ended.

        Raises:
            TimeoutError: they had not after ``timeout`` seconds.
        """
        ids = [self.get(ref).id for ref in refs]
        quantor = any if any_ else all
        if not self._wait_until(lambda: quantor(self._fresh(i).status.ended for i in ids), timeout):
            raise TimeoutError(f"still not ended after {timeout} s")
        return [self._fresh(i) for i in ids]

    def _wait_until(self, condition: Callable[[], bool], timeout: float | None) -> bool:
        """Look again whenever somebody has committed something."""
        deadline = None if timeout is None else monotonic() + timeout
        settled_at = 0.0
        version = None
        while True:
            current = self._store.data_version()
            if current != version:
                version = current
                if condition():
                    return True
            now = monotonic()
            if deadline is not None and now >= deadline:
                return condition()
            if now - settled_at >= SETTLE_SECONDS:
                settled_at = now
                self.settle()
            time.sleep(POLL_SECONDS)

    def _settled(self, ref: str) -> Session:
        session = self.get(ref)
        if session.status.ended:
            return session
        self.settle()
        return self._fresh(session.id)

    def _checked_turn(self, session: Session, turn: int | None) -> int:
        if turn is not None and not 1 <= turn <= session.turn:
            raise UsageError(f"Session {session.id[:8]} has no turn {turn}: its newest is {session.turn}.")
        return turn or session.turn

    def _fresh(self, session_id: str) -> Session:
        session = self._store.session(session_id)
        if session is None:
            raise UnknownSessionError(f"Session {session_id[:8]} was deleted.")
        return session
