"""The conversations of the fake manager: marks in memory, by the interface of the real one."""

from types import SimpleNamespace

from factories import T0
from msgspec import structs

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.conversation.history import History
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind, RelatedMark
from agentdash.sessions.service.prompts.effects import Effect, Scope

LOST = Scope(turns=1, steps=3, messages=1, commands=2, files_changed=1, files=("src/clock.py",))
"""The steps that every act hides or shows."""


class FakeConversation:
    """Goes back at once; a fork is a session that has done its first turn."""

    def __init__(self, manager):
        self._manager = manager
        self.related = {}
        """The marks of a session, and those of its forks."""
        self.how = "native"
        self.refusal = ""
        """Words with which everything is refused but the look at what would happen."""

    def marked(self, ref, kind, *, other="", **facts):
        """Record a mark, as another front end may do."""
        number = 1 + sum(map(len, self.related.values()))
        one = self._manager.get(ref)
        usual = {"after": one.turn, "asked_by": "you", "at": T0 - 60_000}
        mark = Mark(id=number, session=ref, kind=kind, **(usual | facts))
        self.related.setdefault(ref, []).append(RelatedMark(mark, other))
        self._manager.put(one)
        return mark

    def marks(self, ref):
        return tuple(self.related.get(ref, ()))

    def rewind(self, ref, turn, step=None, *, dry_run=False):
        effect = self._effect(ref, MarkKind.REWIND, turn, step, hidden=LOST)
        if dry_run:
            return effect
        self._asked("rewind", ref, turn, step)
        return structs.replace(effect, mark=self.marked(ref, MarkKind.REWIND, turn=turn, step=step))

    def undo(self, ref, mark=None, *, dry_run=False):
        own = [one.mark for one in self.related.get(ref, ())]
        turns = range(1, self._manager.get(ref).turn + 1)
        if mark is None:
            mark = History(turns, own).undoable().id
        effect = self._effect(ref, MarkKind.UNDO, 1, None, shown=LOST)
        if dry_run:
            return effect
        self._asked("undo", ref, mark)
        return structs.replace(effect, mark=self.marked(ref, MarkKind.UNDO, undoes=mark))

    def preview_fork(self, ref, turn=None, step=None):
        return self._effect(ref, MarkKind.FORK, turn, step)

    def fork(self, ref, turn, step, prompt, options=None):
        self._asked("fork", ref, turn, step, prompt)
        origin = self._manager.get(ref)
        made = structs.replace(
            origin, id="forked01", title=prompt, task=prompt, status=Status.DONE, turn=1, source=MarkKind.FORK,
            created_at=T0, updated_at=T0,
        )  # fmt: skip
        self._manager.put(made)
        mark = self.marked("forked01", MarkKind.FORK, other=origin.title, after=0, turn=turn, step=step, origin=ref)
        self.related.setdefault(ref, []).append(RelatedMark(mark, prompt))
        self._manager.put(origin)
        return made

    def _asked(self, *call):
        self._manager.asked(*call)
        if self.refusal:
            raise UsageError(self.refusal)

    def _effect(self, ref, kind, turn, step, **scopes):
        waiting = len(self._manager.queue.prompts(ref))
        return Effect(session=ref, kind=kind, turn=turn, step=step, how=self.how, waiting=waiting, **scopes)


class FakeCompactor:
    """Compacts at once."""

    def __init__(self, manager):
        self._manager = manager

    def compact(self, ref, words=""):
        self._manager.asked("compact", ref, words)
        self._manager.conversation.marked(ref, MarkKind.COMPACT, turn=self._manager.get(ref).turn)
        return SimpleNamespace(answer="turn 4: claude compacts its own conversation")
