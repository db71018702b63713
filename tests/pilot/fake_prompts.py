"""The queue of the fake manager: prompts that wait, in memory, by the interface of the real one."""

from factories import T0
from msgspec import Raw, structs

from agentdash.sessions.model.errors import SessionBusyError, UsageError
from agentdash.sessions.model.session import Receipt, Status
from agentdash.sessions.rules.prompts.delivery import HELD_BY_USER
from agentdash.sessions.service.prompts.prompter import PromptOptions, Sent
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt


class FakePrompts:
    """Takes prompts for the fake manager: a free session begins a turn, a busy one queues."""

    def __init__(self, manager):
        self._manager = manager
        self.recorded = {}
        """The prompts of turns, by session."""

    def __call__(self, ref):
        """Return the prompts of a session, as the reader's method of this name does."""
        return self.recorded.get(ref, [])

    def inject(self, ref, prompt, options=None):
        options = options or PromptOptions()
        self._manager.asked("inject", ref, prompt, *filter(None, [dict(options.settings)]))
        one = self._manager.get(ref)
        if one.status.ended and (options.at_once or not one.held):
            return self._begun(one, prompt)
        return self._manager.queue.added(ref, prompt)

    def _begun(self, one, prompt):
        begun = structs.replace(one, status=Status.RUNNING, turn=one.turn + 1)
        self._manager.put(begun)
        waits = self._manager.queue.made(one.id, prompt)
        return Sent(session=begun, prompt=structs.replace(waits, state="taken", turn=begun.turn))

    def retry(self, ref, options=None, *, allow_denied=False):
        self._manager.asked("retry", ref, *(["allowed"] if allow_denied else []))
        return self._begun(self._manager.get(ref), self._manager.get(ref).task)

    def allowance(self, session):
        return self._manager.allowances.get(session.id)

    def interrupt(self, ref, say=None, options=None):
        self._manager.asked("interrupt", ref, *filter(None, [say, dict(options.settings) if options else None]))
        one = self._manager.get(ref)
        held = f"turn {one.turn} was stopped" if one.queued else None
        self._manager.put(structs.replace(one, status=Status.STOPPED, held=held))
        sent = None if say is None else self._begun(self._manager.get(ref), say)
        return Receipt(session=ref, status=Status.STOPPED, ended=(), duration_ms=900), sent


class FakeQueue:
    """The prompts that wait, by session."""

    def __init__(self, manager):
        self._manager = manager
        self._waiting = {}
        self._number = 0

    def prompts(self, ref):
        return list(self._waiting.get(ref, ()))

    def made(self, ref, text):
        """Return a new prompt, which waits nowhere yet."""
        self._number += 1
        return QueuedPrompt(
            id=self._number, session=ref, key=f"key-{self._number}", text=text, state="queued",
            recorded_plan=Raw(b"{}"), created_at=T0 - 60_000 * self._number, changed_at=T0,
        )  # fmt: skip

    def added(self, ref, text):
        """Add a prompt, as another front end may do."""
        prompt = self.made(ref, text)
        self._waiting.setdefault(ref, []).append(prompt)
        self._count(ref)
        return self._sent(prompt)

    def taken(self, ref):
        """Make the next prompt a turn, as a runner does."""
        prompt = self._waiting[ref].pop(0)
        one = self._manager.get(ref)
        self._manager.put(structs.replace(one, turn=one.turn + 1, queued=len(self._waiting[ref])))
        return prompt

    def edit(self, prompt, text, options=None):
        self._manager.asked("edit", prompt.id, text)
        self._check(prompt, "edited")
        changed = structs.replace(prompt, text=text)
        waiting = self._waiting[prompt.session]
        waiting[self._place(prompt)] = changed
        self._count(prompt.session)
        return self._sent(changed)

    def move(self, prompt, position):
        self._manager.asked("move", prompt.id, position)
        self._check(prompt, "moved")
        waiting = self._waiting[prompt.session]
        waiting.insert(position - 1, waiting.pop(self._place(prompt)))
        self._count(prompt.session)
        return self._sent(prompt)

    def cancel(self, prompt):
        self._manager.asked("cancel", prompt.id)
        self._check(prompt, "cancelled")
        self._waiting[prompt.session].pop(self._place(prompt))
        self._count(prompt.session)
        return self._sent(structs.replace(prompt, state="cancelled"))

    def send_now(self, prompt):
        self._manager.asked("send_now", prompt.id)
        self._check(prompt, "sent")
        waiting = self._waiting[prompt.session]
        waiting.insert(0, waiting.pop(self._place(prompt)))
        self._count(prompt.session)
        return self._sent(prompt)

    def hold(self, ref):
        self._manager.asked("hold", ref)
        return self._held(ref, HELD_BY_USER)

    def release(self, ref):
        self._manager.asked("release", ref)
        return self._held(ref, None)

    def dismiss(self, prompt):
        self._manager.asked("dismiss", prompt.session, prompt.turn, *filter(None, [prompt.steered]))
        self._manager.put(structs.replace(self._manager.get(prompt.session), unconfirmed=0))
        return self._manager.get(prompt.session)

    def resend(self, prompt):
        self._manager.asked("resend", prompt.session, prompt.turn, *filter(None, [prompt.steered]))
        if not self._manager.get(prompt.session).unconfirmed:
            raise UsageError(f"The prompt of turn {prompt.turn} is not unconfirmed.")
        self._manager.put(structs.replace(self._manager.get(prompt.session), unconfirmed=0))
        return self.added(prompt.session, "sent again")

    def _held(self, ref, reason):
        self._manager.put(structs.replace(self._manager.get(ref), held=reason))
        return self._manager.get(ref)

    def _count(self, ref):
        self._manager.put(structs.replace(self._manager.get(ref), queued=len(self._waiting[ref])))

    def _place(self, prompt):
        return next((n for n, one in enumerate(self._waiting[prompt.session]) if one.id == prompt.id), None)

    def _check(self, prompt, verb):
        if self._place(prompt) is None:
            raise SessionBusyError(f"Not {verb}: it was sent as turn 4.")

    def _sent(self, prompt):
        place = self._place(prompt)
        return Sent(
            session=self._manager.get(prompt.session), prompt=prompt, position=None if place is None else place + 1
        )
