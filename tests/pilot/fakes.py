"""A manager that only remembers what it was asked, and five sessions of different fates."""

import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from factories import T0
from msgspec import structs

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.facts import Fact
from agentdash.sessions.model.session import Changes, Ended, Left, Receipt, Status, Step, StepKind
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.service.lifecycle.explain import Explanation
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.sessions.service.lifecycle.starts.continue_plan import Continued
from agentdash.sessions.service.lifecycle.starts.resume_command import ResumeCommand
from agentdash.sessions.service.lifecycle.stop_family import GENTLY, StopPreview, ends_too
from agentdash.sessions.service.managing.housekeeping import Housekeeping
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.service.reading.steps import StepsReader
from agentdash.sessions.storage.prompts.prompt_history import MOST_PROMPTS, PastPrompt
from agentdash.sessions.storage.prompts.queued_prompt import Unconfirmed
from agentdash.sessions.storage.turns.takeovers import ByHand
from agentdash.sessions.transcript.index.kind_codes import encoded
from agentdash.sessions.transcript.mark_steps import Marking, marking
from agentdash.sessions.transcript.session_steps import Growth
from agentdash.sessions.transcript.snapshot import View
from pilot.examples import SESSIONS, STEPS, session
from pilot.fake_adjuster import FakeAdjuster
from pilot.fake_asks import FakeAsks
from pilot.fake_chains import FakeChains
from pilot.fake_conversation import FakeCompactor, FakeConversation
from pilot.fake_outputs import FakeOutputs
from pilot.fake_prompts import FakePrompts, FakeQueue
from pilot.fake_settings import FakeSettings
from pilot.fake_usage import FakeUsage
from pilot.gate import Gate


class FakeTurn:
    """The steps of one turn, in memory."""

    def __init__(self, turn):
        self.turn = turn
        self.steps = []
        self.kinds = bytearray()
        self.diffs = {}
        """What can be found, by the place of the step."""
        self.sought = []

    def fill(self, place):
        self.sought.append(place)
        step, diff = self.steps[place], self.diffs.get(place)
        if diff is None or not step.lacks_diffs:
            return False
        self.steps[place] = structs.replace(step, changes=(structs.replace(step.changes[0], diff=diff),))
        return True

    def put(self, step):
        """Add a step, or put it into the place of the one with its index; whether it is another form of that."""
        earlier = step.index < len(self.steps)
        if not earlier:
            self.steps.append(step)
            self.kinds.append(0)
        self.steps[step.index] = step
        self.kinds[step.index] = encoded(step)
        return earlier

    def step(self, place):
        return self.steps[place]

    whole = step
    block_count = 1

    def block_of(self, place):
        return 0

    def block(self, number):
        return dict(enumerate(self.steps))

    def where(self, place):
        return 100 * place, 100


class FakeTrajectory:
    """Steps that come when a test puts them into ``fresh``."""

    def __init__(self, steps, turns=(), session_id="", marks=tuple):
        self.fresh = list(steps)
        self._id, self._marks = session_id, marks
        self._related, self._marking = ([], ()), Marking()
        self.turns = {}
        self.facts = tuple(turns)
        self.looks = 0
        self.closed = False
        self._view = View()

    def refresh(self):
        self.looks += 1
        fresh, self.fresh = self.fresh, []
        changed = [step for step in fresh if self.turns.setdefault(step.turn, FakeTurn(step.turn)).put(step)]
        related = list(self.turns), self._marks()
        if fresh or related != self._related:
            self._related, self._marking = related, marking(self._id, *related)
            self._view = View(self._marking.among(self.turns.values()))
        items = frozenset(self._view.item(self.turns[step.turn], step.index) for step in changed)
        marks = tuple(self._marking.sections.values())
        return Growth(self._view, items, self.facts, shown=self._marking.shown, marks=marks)

    def close(self):
        self.closed = True


class ManagerPart:
    """What one part of the real manager has, of the fake; another name is an error as it would be there."""

    def __init__(self, fake, kind, **parts):
        self._fake, self._kind = fake, kind
        for name, part in parts.items():
            setattr(self, name, part)

    def __getattr__(self, name):
        if not hasattr(self._kind, name):
            raise AttributeError(f"{self._kind.__name__} has no {name}")
        return getattr(self._fake, name)


def folder_of(start):
    return str(Path(start.cwd or ".").expanduser())


class RecordedTurns(dict):
    """The recorded turns by session; called, as the reader's method is, those of one."""

    def __call__(self, ref):
        return list(self.get(ref, ()))


class FakeTrust:
    """Trusts and forgets the settings of each folder's project."""

    def __init__(self, manager):
        self._manager = manager

    def trust(self, review):
        self._manager.asked("trust", str(review.path))
        self._manager.settings.project = structs.replace(review, state="trusted")
        return self._manager.settings.project

    def forget(self, place):
        self._manager.asked("forget", place)
        self._manager.settings.project = structs.replace(self._manager.settings.project, state="untrusted")
        return Path(place)


class FakeManager:
    """Sessions in memory, by the interface of the real manager, of its reader and of its housekeeping."""

    def __init__(self, home: Path, sessions=SESSIONS):
        self.home = home
        self.settings = FakeSettings()
        self.outputs = FakeOutputs(self)
        self.reader = ManagerPart(
            self, SessionReader, settings=self.settings, steps=ManagerPart(self, StepsReader), outputs=self.outputs
        )
        self.housekeeping = ManagerPart(self, Housekeeping)
        self.prompts = FakePrompts(self)
        self.queue = FakeQueue(self)
        self.asks = FakeAsks(self)
        self.adjuster = FakeAdjuster(self)
        self.chains = FakeChains(self)
        self.conversation = FakeConversation(self)
        self.compacting = FakeCompactor(self)
        self.used = FakeUsage()
        self.options_of = {}
        self.allowances = {}
        """What would have allowed a refused turn, by session."""
        self.live_dir = home / "live"
        self.live_dir.mkdir(parents=True)
        self.calls = []
        self.settled = 0
        self.looked_at = []
        """Sessions whose processes were asked for."""
        self.seq = 0
        self.log = []
        self.lock = threading.Lock()
        self.trajectories = {}
        self.steps = {"waiting1": STEPS}
        """The steps of a session; one that is not named has only its task."""
        self.turns = RecordedTurns()
        self.error = None
        self.projects = FakeTrust(self)
        self.may_end = Gate()
        """Cleared: a stop goes on until it is set."""
        self.may_end.set()
        self.archived = {}
        self.trash = {}
        for one in reversed(sessions):
            self.put(one)

    def put(self, one):
        with self.lock:
            self.seq += 1
            self.log.append((self.seq, one.id, one))
        (self.home / "agentdash.db-wal").write_text(str(self.seq))

    def drop(self, sid):
        with self.lock:
            self.seq += 1
            self.log.append((self.seq, sid, None))
        (self.home / "agentdash.db-wal").write_text(str(self.seq))

    def changes(self, since):
        with self.lock:
            newest = {sid: one for seq, sid, one in self.log if seq > since}
            updated = tuple(one for one in newest.values() if one is not None)
            return Changes(seq=self.seq, updated=updated, removed=tuple(s for s, one in newest.items() if one is None))

    def usage(self, query):
        return self.used.usage(query)

    def sessions_of_usage(self, query, group=None, column=None):
        return self.used.sessions_of_usage(query, group, column)

    def ask(self, ask_id):
        return self.asks.one(ask_id)

    def sessions(self, *, statuses=(), cwd=None, archived=False):
        return sorted(self.changes(0).updated, key=lambda one: one.created_at, reverse=True)

    def get(self, ref, *, destructive=False):
        return next(one for _, sid, one in reversed(self.log) if sid == ref)

    def asked(self, *call):
        self.calls.append(call)
        if self.error is not None:
            raise self.error

    def spawn(self, start):
        self.asked("spawn", start.prompt, start.agent or None, start.model, folder_of(start), start.options)
        return self.made_of(start)

    def continued(self, ref, start, *, inherits=True, words=None):
        assert not inherits  # the dialog shows all that runs
        self.plan(start)
        source = self.get(ref)
        if source.id == "failed11":
            raise UsageError("The folder /gone does not exist.")
        return Continued(
            source=source, start=start, launch=self.plan(start), origin=ref, turn=1, step=None, messages=14, actions=3,
            left_out=0,
        )  # fmt: skip

    def continue_session(self, continued):
        start = continued.start
        self.asked("continue", continued.source.id, start.prompt, start.agent, folder_of(start), start.options)
        return self.made_of(start)

    def made_of(self, start):
        one = session("spawned1", Status.RUNNING, start.prompt, created=-10, agent=start.agent or "codex")
        self.put(one)
        return one

    def take_over(self, ref):
        self.asked("take_over", ref)
        one = self.get(ref)
        return SimpleNamespace(session=one, argv=("codex", "resume"), cwd=one.cwd, env={}, started=lambda pid: None)

    def give_back(self, takeover, exit_code=None):
        self.asked("give_back", takeover.session.id, exit_code)
        return ByHand(session=takeover.session.id, turn=3, prompts=2, seconds=240.0, exit_code=exit_code)

    def queued(self, ref):
        return self.queue.prompts(ref)

    def unconfirmed(self, ref):
        return [
            Unconfirmed(session=one.session, turn=one.turn, text=one.text, created_at=one.created_at)
            for one in self.prompts(ref)
            if one.state == "unconfirmed"
        ]

    def plan(self, start):
        if self.error is not None:
            raise self.error
        sandbox = start.options.get("sandbox", "workspace-write")
        arguments = ("--model", start.model) if start.model else ()
        more = tuple(start.options.get("args", ()))
        return Launch(
            argv=(start.agent or "codex", "exec", "--sandbox", sandbox, "--cd", folder_of(start), *arguments, *more),
            stdin=start.prompt,
        )

    def options(self, ref):
        return {"sandbox": "read-only", "args": ["--skip-git-repo-check"], **self.options_of.get(ref, {})}

    def recent_folders(self, limit=30):
        return ["/home/ann/code/web", "/home/ann/code/api"]

    def past_prompts(self, text="", limit=MOST_PROMPTS):
        return [PastPrompt(text=one, session="done0001", at=T0 - 60_000) for one in self.recent_prompts()]

    def answer(self, ref, turn=None):
        return self.get(ref).last_message

    def recent_prompts(self, limit=200):
        return ["write the migration", "add dark\nmode"]

    def stop_preview(self, ref):
        ending, going_on = ends_too(self.descendants(ref), self.get(ref) or self.archived[ref])
        return StopPreview(processes=self.processes(ref), ending=ending, going_on=going_on)

    def stop(self, ref, how=GENTLY, *, turn=None):
        self.asked("stop", ref, how.now)
        if not how.now:
            self.may_end.wait()
        self.put(structs.replace(self.get(ref), status=Status.STOPPED, reason=None))
        ended = (
            Ended(pid=4121, command="codex exec", signal="SIGINT"),
            Ended(pid=4190, command="sleep 600", signal="SIGKILL"),
        )
        left = (Left(pid=9, command="sudo x", reason="belongs to another user"),)
        return Receipt(session=ref, status=Status.STOPPED, ended=ended, left=left, duration_ms=1200)

    def stop_all(self, refs, how=GENTLY):
        self.asked("stop_all", tuple(refs), how.now)
        return [Receipt(session=ref, status=Status.STOPPED) for ref in refs]

    def stop_family(self, refs, how=GENTLY):
        self.asked("stop_family", tuple(refs), how.now)
        return [(self.get(ref), Receipt(session=ref, status=Status.STOPPED)) for ref in refs]

    def delete(self, ref):
        self.asked("delete", ref)
        self.trash[ref] = structs.replace(self.archived.pop(ref, None) or self.get(ref), deleted_at=T0)
        self.drop(ref)

    def archive(self, ref):
        self.asked("archive", ref)
        self.archived[ref] = structs.replace(self.get(ref), archived_at=T0)
        self.drop(ref)

    def archive_all(self, session_ids, *, away=True, each=lambda _: None):
        self.asked("archive_all", tuple(session_ids), away)
        changed = [ref for ref in session_ids if away is not (ref in self.archived)]
        for number, ref in enumerate(changed, 1):
            if away:
                self.archived[ref] = structs.replace(self.get(ref), archived_at=T0)
                self.drop(ref)
            else:
                self.put(structs.replace(self.archived.pop(ref), archived_at=None))
            each(number)
        return changed

    def put_away(self, *, archived=True, deleted=True):
        return [*(self.archived.values() if archived else ()), *(self.trash.values() if deleted else ())]

    def count_put_away(self):
        return len(self.archived), len(self.trash)

    def rename(self, ref, title):
        self.asked("rename", ref, title)
        one = structs.replace(self.get(ref), title=title or "the automatic title")
        self.put(one)
        return one

    def pin(self, ref, pinned=True):
        self.asked("pin", ref, pinned)
        one = structs.replace(self.get(ref), pinned_at=T0 if pinned else None)
        self.put(one)
        return one

    def restore(self, ref):
        self.asked("restore", ref)
        self.archived.pop(ref, None)
        self.trash.pop(ref, None)
        one = next(one for _, sid, one in reversed(self.log) if sid == ref and one is not None)
        self.put(one)
        return one

    def spawn_copies(self, start):
        self.asked("spawn_copies", start.copies, start.prompt)
        return [self.spawn(start) for _ in range(start.copies)]

    def descendants(self, ref):
        return [one for one in {sid: one for _, sid, one in self.log}.values() if one and one.parent == ref]

    def processes(self, ref):
        self.looked_at.append(ref)
        return [
            ProcessInfo(pid=4121, parent=1, command="codex exec --json", age_s=60.0),
            ProcessInfo(pid=4188, parent=4121, command="bash -c 'pytest [-q]'", age_s=3.0),
            ProcessInfo(
                pid=4190, parent=4188, command="pytest -q", age_s=2.0, cpu_s=12.3, rss_bytes=1_500_000, ports=(8000,)
            ),
        ]

    def open_trajectory(self, ref):
        task = Step(turn=1, index=0, kind=StepKind.PROMPT, text=f"task of {ref}")
        steps = self.steps.get(ref, [task])
        marks = partial(self.conversation.marks, ref)
        self.trajectories[ref] = FakeTrajectory(steps, self.turns.get(ref, ()), ref, marks)
        return self.trajectories[ref]

    def explain(self, ref):
        one = self.get(ref)
        facts = (Fact("runner's lock", "free", "runner.lock"), Fact("exit code", "1", "turns.exit_code"))
        return Explanation(session=ref, status=one.status, reason=one.reason, rule="because it is so", facts=facts)

    def resume_command(self, ref):
        one = self.get(ref)
        if one.agent == "command":
            raise UsageError("A plain command has no conversation to resume.")
        argv = (one.agent, "resume", "0199a213")
        line = f"cd {one.cwd} && {' '.join(argv)}"
        return ResumeCommand(session=ref, command=line, cwd=one.cwd, env={}, argv=argv, conversation="0199a213")

    def each_step(self, ref, turn=None, *, brief=False):
        return iter(STEPS)

    def shown(self, ref):
        return Shown(marks=(), kept={step.turn: None for step in STEPS})

    def mark_seen(self, ref, steps=None):
        self.calls.append(("mark_seen", ref))

    def mark_all_seen(self, refs, *, seen=True):
        self.asked("mark_all_seen", tuple(refs), seen)
        for ref in refs:
            one = self.get(ref)
            self.put(structs.replace(one, seen_at=one.updated_at + 1 if seen else 0, seen_steps=one.steps))
        return [self.get(ref) for ref in refs]

    def was_requested(self, text, since):
        return False

    def recall_seen(self, refs, before):
        self.asked("recall_seen", tuple(refs))
        for one in before:
            self.put(structs.replace(self.get(one.id), seen_at=one.seen_at, seen_steps=one.seen_steps))
        return [self.get(ref) for ref in refs]

    def settle(self):
        self.settled += 1
